"""The one ASGI application: the edge, and behind it the MCP door and Django."""

import asyncio
import contextlib
import gc
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.core.asgi import get_asgi_application
from django.db import connections

gc.disable()  # until all is imported: a fifth of a start went to looking for garbage among modules
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_in_django: Any = get_asgi_application()

from django.conf import settings  # noqa: E402

from config import kept, reading  # noqa: E402
from config.api import parameters_of  # noqa: E402
from config.edge import App, Edge, Finished, Receive, Refusal, Scope, Send, one_limit  # noqa: E402  settings must be ready first
from config.logs import identified  # noqa: E402
from config.rest import KeptRest  # noqa: E402
from wire import queries  # noqa: E402
from wire.site.kept import parameters_of as site_parameters_of  # noqa: E402

_mcp: Any = None
if settings.WITH_MCP:
    from mcpserver import door as _mcp

logger = logging.getLogger(__name__)

LOOK: Final = 0.5  # seconds between two looks at the wire version: a publish of another process shows within one
RESERVED: Final = Refusal(404, "not_found", "/mcp/v2 is reserved for a future version.", "The MCP door is at /mcp.")

_django: App = identified(_in_django)  # kept answers and MCP have no log lines that would need an id
_rest = KeptRest(_django, kept.answers, parameters_of)
_site = KeptRest(_django, kept.answers, site_parameters_of)


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
        await _site(scope, receive, send)


def _kept(scope: Scope, body: bytes) -> Finished | None:
    path = scope["path"]
    if _mcp is not None and path == "/mcp":
        answer: Finished | None = _mcp.application.at_once(scope, body)
        return answer
    return (_rest if path.startswith("/api/") else _site).at_once(scope)


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    async with one_limit(), _mcp.lifespan() if _mcp is not None else contextlib.nullcontext():
        watching = asyncio.create_task(_watch())
        gc.freeze()  # what was imported stays: looking through it again at each collection would make requests wait
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
                source, version = await loop.run_in_executor(thread, reading.source.look, queries.wire_version)
            except Exception as error:
                reading.source.lose(error)
            else:
                kept.answers.renew((source, version))
                if version != seen and seen is not None and _mcp is not None:
                    await _mcp.announce_publish()
                seen = version
            await asyncio.sleep(LOOK)
    finally:
        kept.answers.renew(None)
        thread.submit(connections.close_all)
        thread.shutdown()


application = Edge(_route, _kept)
gc.enable()
