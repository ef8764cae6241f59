"""The official SDK's low-level server with its own transport, stateless, answering JSON."""

import json
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from benchmarks.doors.contenders.payload import PAGES, RESOURCE

ANSWERS = {
    asked: types.CallToolResult(content=[types.TextContent(text=text)], structured_content=json.loads(text))
    for asked, text in PAGES.items()
}


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    return ANSWERS[f"{params.name} {(params.arguments or {})['limit']}"]


async def read_resource(_context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    found = types.TextResourceContents(uri=params.uri, mime_type="application/json", text=RESOURCE)
    return types.ReadResourceResult(contents=[found])


server: Server[Any] = Server("contender", version="1.0.0", on_call_tool=call_tool, on_read_resource=read_resource)
application = server.streamable_http_app(json_response=True, stateless_http=True)
