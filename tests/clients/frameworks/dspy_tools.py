"""DSPy: tools made of MCP tools, called as its agents call them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import dspy
from harness import Answer, Ask, main
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = {tool.name: dspy.Tool.from_mcp_tool(session, tool) for tool in (await session.list_tools()).tools}
        for tool in tools.values():
            tool.format_as_litellm_function_call()  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            try:
                output = await tools[tool].acall(**arguments)
            except Exception as error:  # as its agents do, which give the text to the model
                return Answer(str(error), is_error=True)
            return Answer(output if isinstance(output, str) else output[0], is_error=False)

        yield ask


if __name__ == "__main__":
    main(connect)
