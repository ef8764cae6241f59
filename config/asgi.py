"""The one ASGI application: the edge, and behind it the MCP door and Django."""

import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django: Any = get_asgi_application()

from django.conf import settings  # noqa: E402

from config.edge import App, Receive, Refusal, Scope, Send, edge  # noqa: E402  settings must be ready first

_mcp: Any = None
if settings.WITH_MCP:
    from mcpserver import door as _mcp

RESERVED = Refusal(404, "not_found", "/mcp/v2 is reserved for a future version.", "The MCP door is at /mcp.")


async def _route(scope: Scope, receive: Receive, send: Send) -> None:
    if _mcp is not None and scope["path"] == "/mcp":
        await _mcp.application(scope, receive, send)
    elif scope["path"] == "/mcp/v2":
        await RESERVED.send(send, jsonrpc=False)
    else:
        await _django(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    async with _mcp.lifespan():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


_edge: App = edge(_route)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan" and _mcp is not None:
        await _lifespan(receive, send)
    elif scope["type"] == "http":
        await _edge(scope, receive, send)
