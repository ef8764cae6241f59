"""FastMCP's client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client
from harness import Answer, Ask, main


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    async with Client(url) as client:

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            return Answer(result.content[0].text, result.is_error)

        yield ask


if __name__ == "__main__":
    main(connect)
