"""Python frameworks that fewer people use, each called as its agents call tools; the first argument names the package."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from harness import Answer, Ask, Connect, drop_empty, main


@asynccontextmanager
async def connect_strands(url: str) -> AsyncIterator[Ask]:
    from strands.tools.mcp import MCPClient

    client = MCPClient(url=url)
    try:
        tools = {tool.tool_name: tool for tool in await client.load_tools()}
        for tool in tools.values():
            assert tool.tool_spec["inputSchema"]["json"]["type"] == "object"  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            events = [event async for event in tools[tool].stream({"toolUseId": "1", "name": tool, "input": arguments}, {})]
            result = events[-1].tool_result
            return Answer(result["content"][0]["text"], result["status"] == "error")

        yield ask
    finally:
        await asyncio.to_thread(client.stop, None, None, None)


@asynccontextmanager
async def connect_praisonai(url: str) -> AsyncIterator[Ask]:
    from praisonaiagents import MCP

    with await asyncio.to_thread(MCP, url) as server:
        tools = {tool.__name__: tool for tool in server}
        assert {tool["function"]["name"] for tool in server.to_openai_tool()} == set(tools)  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await asyncio.to_thread(tools[tool], **arguments)
            return Answer(str(result), not isinstance(result, str))

        yield ask


@asynccontextmanager
async def connect_crewai(url: str) -> AsyncIterator[Ask]:
    from crewai_tools import MCPServerAdapter

    server = await asyncio.to_thread(MCPServerAdapter, {"url": url, "transport": "streamable-http"})
    try:
        tools = {tool.name: tool.to_structured_tool() for tool in server.tools}
        schemas = {
            name: tool.args_schema.model_json_schema()["properties"] for name, tool in tools.items()
        }  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            tool = tool.replace("-", "_")  # as the adapter names them
            try:
                result = await asyncio.to_thread(tools[tool].invoke, drop_empty(arguments, schemas[tool]))
            except Exception as error:  # as its agents do, which give the text to the model
                return Answer(str(error), is_error=True)
            return Answer(str(result), is_error=False)

        yield ask
    finally:
        await asyncio.to_thread(server.stop)


@asynccontextmanager
async def connect_beeai(url: str) -> AsyncIterator[Ask]:
    from beeai_framework.tools import ToolError
    from beeai_framework.tools.mcp import MCPTool
    from mcp.client.streamable_http import streamablehttp_client

    tools = {tool.name: tool for tool in await MCPTool.from_client(streamablehttp_client(url))}
    # What a model is given.
    schemas = {name: tool.input_schema.model_json_schema()["properties"] for name, tool in tools.items()}

    async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
        try:
            output = await tools[tool].run(drop_empty(arguments, schemas[tool]))
        except ToolError as error:  # as its agents do, which give the text to the model
            return Answer(error.explain(), is_error=True)
        return Answer(output.get_text_content(), is_error=False)

    yield ask


CONNECT: Final[dict[str, Connect]] = {
    "strands-agents": connect_strands,
    "praisonaiagents": connect_praisonai,
    "crewai-tools": connect_crewai,
    "beeai-framework": connect_beeai,
}

if __name__ == "__main__":
    main(CONNECT[sys.argv[1]])
