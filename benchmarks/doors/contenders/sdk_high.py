"""The official SDK's high-level server with its own transport, stateless, answering JSON."""

import json

from mcp.server import MCPServer
from mcp_types import CallToolResult, TextContent

from benchmarks.doors.contenders.payload import PAGES, RESOURCE

ANSWERS = {
    asked: CallToolResult(content=[TextContent(text=text)], structured_content=json.loads(text)) for asked, text in PAGES.items()
}
server = MCPServer("contender", version="1.0.0", log_level="WARNING")


@server.tool()
async def search_wire(query: str, limit: int = 10, detail: str = "full", since: str | None = None) -> CallToolResult:  # noqa: ARG001
    """Search."""
    return ANSWERS[f"search_wire {limit}"]


@server.tool()
async def get_category(category: str, limit: int = 20, detail: str = "full") -> CallToolResult:  # noqa: ARG001
    """A category."""
    return ANSWERS[f"get_category {limit}"]


@server.resource("wire://story/{story_id}", mime_type="application/json")
async def story(story_id: str) -> str:  # noqa: ARG001
    """A story."""
    return RESOURCE


application = server.streamable_http_app(json_response=True, stateless_http=True)
