"""AutoGen: tools of mcp_server_tools, called through the workbench that its assistant makes of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from autogen_core.tools import StaticWorkbench
from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools
from harness import Answer, Ask, drop_empty, main


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    tools = await mcp_server_tools(StreamableHttpServerParams(url=url))
    workbench = StaticWorkbench(tools)
    schemas = {tool.name: tool.schema["parameters"]["properties"] for tool in tools}  # what a model is given

    async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
        result = await workbench.call_tool(tool, drop_empty(arguments, schemas[tool]))
        return Answer(result.to_text(), result.is_error)

    yield ask


if __name__ == "__main__":
    main(connect)
