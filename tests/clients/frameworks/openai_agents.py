"""OpenAI Agents SDK: function tools as an agent has them, invoked with the JSON that a model would write."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents import Agent
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext
from harness import Answer, Ask, main

IS_STRICT = "strict" in sys.argv


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    async with MCPServerStreamableHttp({"url": url}, client_session_timeout_seconds=30) as server:
        context: RunContextWrapper[Any] = RunContextWrapper(context=None)
        found = await MCPUtil.get_function_tools(server, IS_STRICT, context, Agent(name="reader"))
        tools = {tool.name: tool for tool in found}
        if IS_STRICT:
            for tool in tools.values():
                schema = tool.params_json_schema
                # What takes no argument is an open object to the SDK, since no schema says `additionalProperties: false`.
                assert tool.strict_json_schema or not schema["properties"], tool.name
                assert set(schema.get("required", [])) == set(schema["properties"]), tool.name

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            if IS_STRICT:  # a model must write all that are required
                arguments = dict.fromkeys(tools[tool].params_json_schema["properties"]) | arguments
            written = json.dumps(arguments)
            given = ToolContext(context=None, tool_name=tool, tool_call_id="1", tool_arguments=written)
            output = await tools[tool].on_invoke_tool(given, written)
            text = output if isinstance(output, str) else json.dumps(output)
            text = json.loads(text)["text"] if text.startswith('{"type": "text"') else text
            return Answer(text, not text.startswith("{") and "error" in text[:200].lower())

        yield ask


if __name__ == "__main__":
    main(connect)
