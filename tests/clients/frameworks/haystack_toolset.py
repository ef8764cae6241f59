"""Haystack: tools of MCPToolset, invoked as its ToolInvoker invokes them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from haystack_integrations.tools.mcp import MCPToolset, StreamableHttpServerInfo


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    toolset = await asyncio.to_thread(MCPToolset, server_info=StreamableHttpServerInfo(url=url))
    try:
        await asyncio.to_thread(toolset.warm_up)
        tools = {tool.name: tool for tool in toolset}

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            try:
                text = await asyncio.to_thread(tools[tool].invoke, **arguments)
            except Exception as error:  # as its invoker does, which gives the text to the model
                return Answer(str(error), is_error=True)
            return Answer(str(text), is_error=False)

        yield ask
    finally:
        await asyncio.to_thread(toolset.close)


if __name__ == "__main__":
    main(connect)
