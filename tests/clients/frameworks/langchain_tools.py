"""LangChain: tools of langchain-mcp-adapters, called as an agent calls them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.client import MultiServerMCPClient


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    client = MultiServerMCPClient({"wire": {"url": url, "transport": "streamable_http"}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    for tool in tools.values():
        convert_to_openai_tool(tool, strict=True)  # what a model is given

    async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
        message = await tools[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        text = message.content if isinstance(message.content, str) else message.content[0]["text"]
        return Answer(text, message.status == "error")

    yield ask


if __name__ == "__main__":
    main(connect)
