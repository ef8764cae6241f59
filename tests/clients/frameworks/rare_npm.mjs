// Loads every tool through an npm package and calls what standard input asks for, a line a call; rare_npm.py writes and reads the lines.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const GEMINI_KEYS = new Set([
  "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required", "minProperties",
  "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default",
]);

// What Gemini's API says to a field that its `Schema` does not have, or to a list in `type`.
function refuseWhatGeminiRefuses(schema, path) {
  const unknown = Object.keys(schema).filter((key) => !GEMINI_KEYS.has(key));
  if (unknown.length) throw new Error(`${path}: unknown field ${unknown}`);
  if ("type" in schema && typeof schema.type !== "string") throw new Error(`${path}: type is not a text`);
  for (const [name, child] of Object.entries(schema.properties ?? {})) refuseWhatGeminiRefuses(child, `${path}.${name}`);
  for (const child of [schema.items ?? [], schema.anyOf ?? []].flat()) refuseWhatGeminiRefuses(child, path);
}

// A stand-in for Gemini's API, which returns the declarations that it was sent.
async function captureDeclarations(bindAndAsk) {
  const payloads = [];
  const server = createServer(async (request, response) => {
    payloads.push(JSON.parse((await request.toArray()).join("")));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "Yes." }] }, finishReason: "STOP" }] }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    await bindAndAsk(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
  }
  return payloads[0].tools.flatMap((tool) => tool.functionDeclarations);
}

const readable = (result) => (typeof result === "string" ? result : JSON.stringify(result));
const fromResult = (result) => ({ text: result.content[0].text, is_error: Boolean(result.isError) });

const CONNECT = {
  "@ai-sdk/mcp": async (url) => {
    const { createMCPClient } = await import("@ai-sdk/mcp");
    const { generateText } = await import("ai");
    const { MockLanguageModelV4 } = await import("ai/test");
    const client = await createMCPClient({ transport: { type: "http", url } });
    const tools = await client.tools();
    return async (tool, args) => {
      const call = { type: "tool-call", toolCallId: "1", toolName: tool, input: JSON.stringify(args) };
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      const doGenerate = { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] };
      const { content } = await generateText({ model: new MockLanguageModelV4({ doGenerate }), tools, prompt: "What is new?" });
      const read = content.find((part) => part.type === "tool-result" || part.type === "tool-error");
      return read.type === "tool-error" ? { text: String(read.error), is_error: true } : fromResult(read.output);
    };
  },
  "@langchain/mcp-adapters": async (url) => {
    const { MultiServerMCPClient } = await import("@langchain/mcp-adapters");
    const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
    const { AIMessage } = await import("@langchain/core/messages");
    const { ToolNode } = await import("@langchain/langgraph/prebuilt");
    const client = new MultiServerMCPClient({ wire: { transport: "http", url } });
    const tools = await client.getTools();
    const declared = await captureDeclarations((baseUrl) =>
      new ChatGoogleGenerativeAI({ model: "gemini-2.5-flash", apiKey: "none", baseUrl }).bindTools(tools).invoke("What is new?"),
    );
    if (declared.length !== tools.length) throw new Error(`${declared.length} of ${tools.length} tools reach Gemini`);
    const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    for (const { name, parameters = { properties: {} } } of declared) { // a tool without arguments is declared without `parameters`
      refuseWhatGeminiRefuses(parameters, name);
      const missing = Object.keys(byName[name].schema.properties).filter((argument) => !(argument in parameters.properties));
      if (missing.length) throw new Error(`${name} reaches Gemini without ${missing}`);
    }
    const node = new ToolNode(tools); // what runs the calls of its agents
    return async (tool, args) => {
      const call = new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "1", name: tool, args }] });
      const [message] = await node.invoke([call]);
      return { text: readable(message.content), is_error: message.status === "error" };
    };
  },
  "@mastra/mcp": async (url) => {
    const { MCPClient } = await import("@mastra/mcp");
    const { wire } = await new MCPClient({ servers: { wire: { url: new URL(url) } } }).listToolsets();
    return async (tool, args) => {
      try {
        const result = await wire[tool].execute(args, {});
        return { text: result.error ? result.message : readable(result), is_error: Boolean(result.error) };
      } catch (error) { // as its agents do, which give the text to the model
        return { text: error.message, is_error: true };
      }
    };
  },
  "@genkit-ai/mcp": async (url) => {
    const { genkit } = await import("genkit");
    const { createMcpHost } = await import("@genkit-ai/mcp");
    const ai = genkit({});
    const tools = await createMcpHost({ name: "test", mcpServers: { wire: { url } } }).getActiveTools(ai);
    const byName = Object.fromEntries(tools.map((tool) => [tool.__action.name.replace(/^.*\//, ""), tool]));
    return async (tool, args) => {
      const result = await byName[tool](args);
      return { text: readable(result), is_error: Boolean(result.error) };
    };
  },
  mcporter: async (url) => {
    const { createRuntime } = await import("mcporter");
    const runtime = await createRuntime({ servers: [{ name: "wire", command: { kind: "http", url: new URL(url) } }] });
    await runtime.listTools("wire", { includeSchema: true });
    return async (tool, args) => fromResult(await runtime.callTool("wire", tool, { args }));
  },
};

const [name, url] = process.argv.slice(2);
const ask = await CONNECT[name](url);
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, args } = JSON.parse(line);
  const answer = await ask(tool, args).catch((error) => ({ raised: String(error) }));
  process.stdout.write(`ANSWER ${JSON.stringify(answer)}\n`); // packages may print as well
}
process.exit(0);
