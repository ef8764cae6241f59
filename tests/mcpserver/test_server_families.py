"""A family of servers, beside a server at the same address: which of them a path is."""

import asyncio
from typing import Any, Final

import pytest

from config.http.request_guard import Edge
from tests.mcpserver.asgi import http_scope

SERVERS: Final = {"/mcp": "wire", "/mcp/timeline": "timeline", "/mcp/timeline/": "timeline", "/mcp/articles/": "articles"}


@pytest.mark.parametrize(
    ("typed", "meant", "is_mcp"),
    [
        ("/mcp", "/mcp", True),
        ("/mcp/", "/mcp", True),
        ("/mcp/timeline", "/mcp/timeline", True),
        ("/mcp/timeline/", "/mcp/timeline", True),
        ("/mcp/timeline/moon", "/mcp/timeline/moon", True),
        ("/mcp/timeline/moon/", "/mcp/timeline/moon", True),
        ("/mcp/articles", "/mcp/articles/", True),
        ("/mcp/articles/", "/mcp/articles/", True),
        ("/mcp/articles/chef", "/mcp/articles/chef", True),
        ("/mcp/articles/chef/server-card", "/mcp/articles/chef/server-card", False),
        ("/mcp/v2", "/mcp/v2", False),
        ("/mcp//", "/mcp//", False),
        ("/articles/chef/", "/articles/chef/", False),
        ("/", "/", False),
        ("", "", False),
    ],
)
def test_a_path_is_a_servers_a_members_or_the_sites(typed: str, meant: str, is_mcp: bool) -> None:
    seen: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["path"])

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(sent: Any) -> None:
        if sent["type"] == "http.response.start":
            seen.append(sent["status"])

    edge = Edge(app, SERVERS)
    asyncio.run(edge(http_scope("GET", typed), receive, send))
    asyncio.run(edge(http_scope("GET", typed, {"origin": "https://evil.example"}), receive, send))
    assert seen == [meant, 403 if is_mcp else meant]
