"""Google's SDK: declarations that it makes of MCP tools, in both of its forms, and its own calls."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.genai import types
from google.genai._mcp_utils import mcp_to_gemini_tools
from harness import Answer, Ask, main
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        listed = (await session.list_tools()).tools
        for is_agent_platform in (False, True):
            declared = mcp_to_gemini_tools(listed, is_agent_platform)
            assert len(declared) == len(listed)
        for tool in listed:
            schema = types.Schema.from_json_schema(json_schema=types.JSONSchema(**tool.inputSchema))
            for name, argument in tool.inputSchema["properties"].items():
                told = (schema.properties or {})[name]
                is_optional = name not in tool.inputSchema.get("required", [])
                inner = argument["anyOf"][0] if is_optional else argument
                assert bool(told.nullable) == is_optional, (tool.name, name)
                assert (told.type or told.any_of[0].type).lower() == inner["type"], (tool.name, name)
                assert (told.enum or None) == inner.get("enum"), (tool.name, name)

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await session.call_tool(tool, arguments)
            return Answer(result.content[0].text, result.isError)

        yield ask


if __name__ == "__main__":
    main(connect)
