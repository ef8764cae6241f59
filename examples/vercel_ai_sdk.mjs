// Ask the wire with the Vercel AI SDK. Needs: npm install ai @ai-sdk/mcp zod
import { createMCPClient } from "@ai-sdk/mcp";

const WIRE_URL = process.env.WIRE_URL ?? "http://localhost:8000";

const client = await createMCPClient({ transport: { type: "http", url: `${WIRE_URL}/mcp` } });
try {
  const tools = await client.tools();
  console.log(`${Object.keys(tools).length} tools: ${Object.keys(tools).join(", ")}`);
  // With a model: generateText({ model, tools, stopWhen: isStepCount(5), prompt: "What is new about OpenAI?" }), from "ai".
  // Without one, this is the call that the model would make:
  const question = { query: "OpenAI", limit: 1, detail: "standard" };
  const answer = await tools.search_wire.execute(question, { toolCallId: "1", messages: [] });
  for (const story of answer.structuredContent.stories) {
    console.log(story.headline);
    console.log(story.citation_objects.layered_ready);
  }
} finally {
  await client.close();
}
