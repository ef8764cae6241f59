"""FastMCP, stateless, answering JSON."""

import json
from typing import Any

from fastmcp import FastMCP  # type: ignore[import-not-found]  # of another environment
from fastmcp.resources import ResourceContent, ResourceResult  # type: ignore[import-not-found]
from fastmcp.tools.base import ToolResult  # type: ignore[import-not-found]

from benchmarks.doors.contenders.payload import PAGES, RESOURCE

ANSWERS = {asked: ToolResult(content=text, structured_content=json.loads(text)) for asked, text in PAGES.items()}
STORY = ResourceResult([ResourceContent(RESOURCE, mime_type="application/json")])
server: Any = FastMCP("contender", version="1.0.0")


async def search_wire(query: str, limit: int = 10, detail: str = "full", since: str | None = None) -> ToolResult:  # noqa: ARG001
    """Search."""
    return ANSWERS[f"search_wire {limit}"]


async def get_category(category: str, limit: int = 20, detail: str = "full") -> ToolResult:  # noqa: ARG001
    """A category."""
    return ANSWERS[f"get_category {limit}"]


async def story(story_id: str) -> ResourceResult:  # noqa: ARG001
    """A story."""
    return STORY


server.tool(search_wire)
server.tool(get_category)
server.resource("wire://story/{story_id}", mime_type="application/json")(story)
application = server.http_app(path="/mcp", json_response=True, stateless_http=True)
