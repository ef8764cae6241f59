"""mcp-use: a session of MCPClient, and the LangChain tools that its agent makes of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from mcp_use import MCPClient


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    client = MCPClient({"mcpServers": {"wire": {"url": url}}})
    session = await client.create_session("wire")
    try:

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await session.call_tool(tool, arguments)
            return Answer(result.content[0].text, bool(result.isError))

        yield ask
    finally:
        await client.close_all_sessions()


if __name__ == "__main__":
    main(connect)
