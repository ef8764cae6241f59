"""The one ASGI application: the edge, and behind it the MCP servers and Django."""

import asyncio
import contextlib
import gc
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.core.asgi import get_asgi_application
from django.db import connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_in_django: Any = get_asgi_application()  # settings must be ready before the rest is imported

from django.conf import settings  # noqa: E402

from config.api import parameters_of  # noqa: E402
from config.database import routing  # noqa: E402
from config.http import answer_cache  # noqa: E402
from config.http.cached_app import CachedApp  # noqa: E402
from config.http.django_reads import DjangoReads  # noqa: E402
from config.http.edge import App, Edge, Receive, Refusal, Scope, Send, shared_limit  # noqa: E402
from config.logs import identified  # noqa: E402
from wire import queries  # noqa: E402
from wire.site.cached import parameters_of as site_parameters_of  # noqa: E402

_mcp: Any = None
if settings.WITH_MCP:
    from mcpserver import door as _mcp
_doors: Final = _mcp.doors if _mcp is not None else {}

logger = logging.getLogger(__name__)

LOOK: Final = 0.5  # seconds between two looks at the wire version: a publish of another process shows within one
RESERVED: Final = Refusal(404, "not_found", "/mcp/v2 is reserved for a future version.", "The MCP server is at /mcp.")

_django: App = identified(_in_django)  # cached answers and MCP have no log lines that would need an id
_reads: App = identified(DjangoReads())
_rest = CachedApp(_django, _reads, answer_cache.answers, parameters_of)
_site = CachedApp(_django, _reads, answer_cache.answers, site_parameters_of)


async def _route(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        return
    path = scope["path"]
    if path in _doors:
        await _doors[path](scope, receive, send)
    elif path.startswith("/api/"):
        await _rest(scope, receive, send)
    elif path == "/mcp/v2":
        await RESERVED.send(send, jsonrpc=False)
    else:
        await _site(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    async with shared_limit(), _mcp.lifespan() if _mcp is not None else contextlib.nullcontext():
        watching = asyncio.create_task(_watch())
        gc.freeze()  # what was imported stays: each full collection would look through all of it, and requests would wait
        await send({"type": "lifespan.startup.complete"})
        await receive()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    await send({"type": "lifespan.shutdown.complete"})


async def _watch() -> None:
    """Follow every publish, whichever process made it, and the database itself: while it is away, the last good answers go on."""
    seen: int | None = None
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "wire-version")
    try:
        while True:
            try:
                source, version = await loop.run_in_executor(thread, routing.source.look, queries.wire_version)
            except Exception as error:
                routing.source.lose(error)
                answer_cache.answers.mark_stale()
            else:
                answer_cache.answers.set_version((source, version))
                if version != seen and seen is not None and _mcp is not None:
                    await _mcp.announce_publish()
                seen = version
            await asyncio.sleep(LOOK)
    finally:
        answer_cache.answers.set_version(None)
        thread.submit(connections.close_all)
        thread.shutdown()


application = Edge(_route, {path: door.name for path, door in _doors.items()})
