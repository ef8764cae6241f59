"""The one ASGI application: the edge, and behind it the MCP door and Django."""

import asyncio
import contextlib
import gc
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.core.asgi import get_asgi_application
from django.db import close_old_connections, connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_in_django: Any = get_asgi_application()

from django.conf import settings  # noqa: E402

from config import kept  # noqa: E402
from config.api import parameters_of  # noqa: E402
from config.edge import App, Receive, Refusal, Scope, Send, edge, one_limit  # noqa: E402  settings must be ready first
from config.logs import identified  # noqa: E402
from config.rest import kept_rest  # noqa: E402
from wire import queries  # noqa: E402

_mcp: Any = None
if settings.WITH_MCP:
    from mcpserver import door as _mcp

logger = logging.getLogger(__name__)

LOOK: Final = 0.5  # seconds between two looks at the wire version: a publish of another process shows within one
RESERVED: Final = Refusal(404, "not_found", "/mcp/v2 is reserved for a future version.", "The MCP door is at /mcp.")

_django: App = identified(_in_django)  # kept answers and MCP have no log lines that would need an id
_rest: App = kept_rest(_django, kept.answers, parameters_of)


async def _route(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        return
    path = scope["path"]
    if _mcp is not None and path == "/mcp":
        await _mcp.application(scope, receive, send)
    elif path.startswith("/api/"):
        await _rest(scope, receive, send)
    elif path == "/mcp/v2":
        await RESERVED.send(send, jsonrpc=False)
    else:
        await _django(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    async with one_limit(), _mcp.lifespan() if _mcp is not None else contextlib.nullcontext():
        watching = asyncio.create_task(_watch())
        gc.collect()
        gc.freeze()  # what was imported stays: looking through it again at each collection would make requests wait
        await send({"type": "lifespan.startup.complete"})
        await receive()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    await send({"type": "lifespan.shutdown.complete"})


async def _watch() -> None:
    """Follow every publish, whichever process made it. While the database is away, the last good answers go on."""
    seen = None
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "wire-version")
    try:
        while True:
            try:
                version = await loop.run_in_executor(thread, _version)
            except Exception:
                logger.exception("the wire version cannot be read; trying again")
                await asyncio.sleep(10 * LOOK)
                continue
            kept.answers.renew(version)
            if version != seen and seen is not None and _mcp is not None:
                await _mcp.announce_publish()
            seen = version
            await asyncio.sleep(LOOK)
    finally:
        kept.answers.renew(None)
        thread.submit(connections.close_all)
        thread.shutdown()


def _version() -> int:
    close_old_connections()
    return queries.wire_version()


application: App = edge(_route)
