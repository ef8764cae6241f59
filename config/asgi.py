"""The one ASGI application: the edge, and behind it the MCP servers and Django."""

import asyncio
import contextlib
import gc
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.core.asgi import get_asgi_application
from django.db import connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_in_django: Any = get_asgi_application()  # settings must be ready before the rest is imported

from django.conf import settings  # noqa: E402

from config.api import get_path_parameters  # noqa: E402
from config.database import routing  # noqa: E402
from config.database.threads import run_in_thread  # noqa: E402
from config.http import memory_cache, publish_waiters  # noqa: E402
from config.http.accept_header import prefers_html  # noqa: E402
from config.http.error_counts import count_errors  # noqa: E402
from config.http.request_guard import App, Edge, Receive, Refusal, Scope, Send, get_family_path, share_rate_limit  # noqa: E402
from config.http.response_cache import READS, CachedApp, DjangoReads  # noqa: E402
from config.http.traces import add_traces  # noqa: E402
from config.logs import add_request_ids  # noqa: E402
from config.plugins import list_plugins  # noqa: E402
from wire import queries  # noqa: E402
from wire.api.streaming import StreamingMiddleware  # noqa: E402
from wire.site.cache_rules import get_cached_parameters as site_parameters_of  # noqa: E402

_mcp: Any = None
if settings.WITH_MCP:
    from mcpserver import registry as _mcp
_doors: Final = _mcp.doors if _mcp is not None else {}
_families: Final = _mcp.families if _mcp is not None else {}

_plugins: Final = list_plugins()
_page_rules: Final[list[Callable[[str], frozenset[str] | None]]] = [
    site_parameters_of,
    *(plugin.get_page_parameters for plugin in _plugins),
]
_key_paths: Final = tuple(f"/api/{plugin.label}/" for plugin in _plugins if plugin.knows_keys)

logger = logging.getLogger(__name__)

LOOK: Final = 0.5  # seconds between two looks at the wire version: a publish of another process shows within one
RESERVED: Final = Refusal(404, "not_found", "/mcp/v2 is reserved for a future version.", "The MCP server is at /mcp.")

_django: App = add_request_ids(_in_django)  # cached answers and MCP have no log lines that would need an id
_reads: App = add_request_ids(DjangoReads())


def _get_parameters(path: str) -> frozenset[str] | None:
    if path.startswith("/api/"):
        return None if any(plugin.is_slow(path) for plugin in _plugins) else get_path_parameters(path)
    return next((known for parameters in _page_rules if (known := parameters(path)) is not None), None)


_rest = StreamingMiddleware(CachedApp(_django, _reads, memory_cache.answers, _get_parameters, refuses_unknown=True))
_site = CachedApp(_django, _reads, memory_cache.answers, _get_parameters)
_files = CachedApp(_django, _reads, memory_cache.answers, site_parameters_of, refuses_unknown=True)
_server_pages = CachedApp(_django, _reads, memory_cache.answers, lambda _path: frozenset())


def _find_mcp_server(path: str) -> Any:
    return _doors.get(path) or _families.get(get_family_path(path))


def _name_surface(path: str, server: Any) -> str:
    if server is not None:
        return "mcp"
    return "rest" if path.startswith("/api/") else "desk" if path.startswith("/admin/") else "site"


async def _route_request(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await receive()
        async with running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
    if scope["type"] != "http":
        return
    path = scope["path"]
    server = _find_mcp_server(path)
    send = count_errors(_name_surface(path, server), send)
    if server is not None and scope["method"] in READS and prefers_html(dict(scope["headers"]).get(b"accept", b"")):
        await _server_pages(scope, receive, send)
    elif server is not None:
        await server(scope, receive, send)
    elif path.startswith(_key_paths) and any(name == b"authorization" for name, _ in scope["headers"]):
        await _django(scope, receive, send)  # what is asked for with a key is neither cached nor answered from the cache
    elif path.startswith("/api/"):
        await _rest(scope, receive, send)
    elif path.startswith("/export/") or path.endswith((".ndjson", ".manifest.json")):
        await _files(scope, receive, send)
    elif path == "/mcp/v2":
        await RESERVED.send(send, jsonrpc=False)
    else:
        await _site(scope, receive, send)


async def _get_publisher_limit(path: str) -> tuple[str, int] | None:
    for plugin in _plugins:
        if plugin.get_rate_limit is not None and (limit := await plugin.get_rate_limit(path)) is not None:
            return limit
    return None


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[None]:
    """Keep the application at work. For another ASGI application that has this one mounted: only the outer one has a lifespan."""
    async with share_rate_limit(), _mcp.lifespan() if _mcp is not None else contextlib.nullcontext():
        tasks = [asyncio.create_task(_watch_publishes())]
        if settings.WIRE_WEBSUB_HUB:
            tasks.append(asyncio.create_task(_announce_to_hub()))
        gc.freeze()  # what was imported stays: each full collection would look through all of it, and requests would wait
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _watch_publishes() -> None:
    """Follow every publish, whichever process made it, and the database itself: while it is away, the last good answers go on."""
    seen: int | None = None
    settling: deque[tuple[float, int]] = deque()
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "wire-version")
    try:
        while True:
            try:
                source, version = await loop.run_in_executor(thread, routing.source.choose_database, queries.get_wire_version)
                if version != seen:
                    last = await loop.run_in_executor(thread, routing.run_query, queries.get_last_number)
                    if seen is None:
                        publish_waiters.settled.number = last
                    else:  # once all other processes have looked too, these changes are told
                        settling.append((loop.time() + 2 * LOOK, last))
                memory_cache.answers.set_version((source, version))
                seen = version
            except Exception as error:
                routing.source.mark_unreachable(error)
                memory_cache.answers.mark_stale()
            else:
                while settling and settling[0][0] <= loop.time():
                    publish_waiters.settled.number = settling.popleft()[1]
                    publish_waiters.wake_waiters()
                    if _mcp is not None:
                        await _mcp.announce_publish()
            await asyncio.sleep(LOOK)
    finally:
        memory_cache.answers.set_version(None)
        publish_waiters.settled.number = None
        thread.submit(connections.close_all)
        thread.shutdown()


async def _announce_to_hub() -> None:
    """Announce changed feeds after each publish, once every process shows it: the hub reads them at once."""
    from wire.publishing import websub  # few installations have a hub

    def announce() -> float:
        return routing.run_write(lambda: websub.announce_changes(publish_waiters.settled.number))

    with publish_waiters.Watch() as watch:
        while True:
            pause = 60.0
            try:
                pause = await run_in_thread(announce, goes_outside=True)
            except Exception as error:
                logger.warning("The WebSub hub was not notified of changes: %s. Trying again in %.0f s.", error, pause)
            await watch.wait(pause)


_edge = Edge(_route_request, {path: server.name for path, server in (_doors | _families).items()}, _get_publisher_limit)
application = add_traces(_edge, lambda path: _name_surface(path, _find_mcp_server(path)))
