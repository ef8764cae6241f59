"""LlamaIndex: function tools of McpToolSpec, called as an agent calls them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    found = await McpToolSpec(client=BasicMCPClient(url)).to_tool_list_async()
    tools = {tool.metadata.name: tool for tool in found}
    for tool in tools.values():
        tool.metadata.to_openai_tool()  # what a model is given

    async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
        if None in arguments.values():  # it does not check calls itself; but what a model is given must allow null
            tools[tool].metadata.fn_schema.model_validate(arguments)
        output = await tools[tool].acall(**arguments)
        result = output.raw_output
        return Answer(result.content[0].text, bool(result.is_error))

    yield ask


if __name__ == "__main__":
    main(connect)
