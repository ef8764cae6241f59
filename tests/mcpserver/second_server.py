"""Another MCP server for the same process: its one tool is named as one of the wire's is, and says who answered."""

from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

NAME: Final = "second"
ANSWER: Final = "The second server answers."
Context = ServerRequestContext[Any, Any]


async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    tool = types.Tool(name="search_wire", description=ANSWER, input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool], ttl_ms=60_000, cache_scope="public")


async def call_tool(_context: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=ANSWER)])


def usage_name(method: str, given: str) -> str:
    return given if (method, given) == ("tools/call", "search_wire") else ""


def build() -> Server[Any]:
    return Server(NAME, version="1", on_list_tools=list_tools, on_call_tool=call_tool)
