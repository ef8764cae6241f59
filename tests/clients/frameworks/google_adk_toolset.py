"""Google's Agent Development Kit: tools of McpToolset, declared as Gemini gets them and run as its runner does it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from harness import Answer, Ask, main


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=url))
    try:
        tools = {tool.name: tool for tool in await toolset.get_tools()}
        for tool in tools.values():
            assert tool._get_declaration().name == tool.name  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await tools[tool].run_async(args=arguments, tool_context=None)
            if "content" not in result:
                return Answer(str(result), is_error=True)
            return Answer(result["content"][0]["text"], bool(result.get("isError")))

        yield ask
    finally:
        await toolset.close()


if __name__ == "__main__":
    main(connect)
