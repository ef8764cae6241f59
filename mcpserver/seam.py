"""The seam between the MCP SDK's async world and Django's queries: one thread hop, and errors by meaning."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from config import reading
from config.errors import NotInRoster, Unavailable, WireError

T = TypeVar("T")

THREADS: Final = 4  # queries of one process that may wait for the database at the same time
_POOL: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="mcp-query")
_own: Final = threading.local()
RESOURCE_NOT_FOUND: Final = -32002  # handshake revisions; 2026-07-28 has -32602 for it


async def ask(query: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run a query in a thread that keeps its database connection. Raises: Unavailable, what the query raises."""
    if reading.source.away:
        raise Unavailable  # without waiting for a thread
    return await _in_thread(reading.read, partial(query, *args, **kwargs))


async def store(change: Callable[[], T]) -> T:
    """Write in such a thread. Raises: what `change` raises."""
    return await _in_thread(reading.write, change)


async def _in_thread(do: Callable[[Callable[[], T]], T], what: Callable[[], T]) -> T:
    def run() -> T:
        _look_after_connection()
        return do(what)

    return await asyncio.get_running_loop().run_in_executor(_POOL, run)


def _look_after_connection() -> None:
    """Close a connection that broke. SQLite's stays open as long as its thread and its file: to open one takes longer than most
    queries; on Postgres it goes back to the pool.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    if database.vendor != "sqlite":
        close_old_connections()
        return
    file = _file(database.settings_dict["NAME"])
    if getattr(_own, "file", file) != file:
        database.close()  # another was put in its place: a backup that was restored
    _own.file = file
    database.close_at = None
    database.close_if_unusable_or_obsolete()


def _file(name: str) -> tuple[int, int] | None:
    """Which file the database is."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def protocol_error(error: WireError) -> MCPError | None:
    """The errors that are the protocol's, not the tool's: a `source` outside the roster. None for all others."""
    if isinstance(error, NotInRoster):
        return MCPError(INVALID_PARAMS, f"{error.message} {error.hint}", error.as_dict())
    return None


def resource_not_found(uri: str, error: WireError, *, modern: bool) -> MCPError:
    """The protocol's own error for a resource that is not there, or not there yet, with a hint for the model."""
    data = {"uri": uri, "hint": error.hint}
    return MCPError(INVALID_PARAMS if modern else RESOURCE_NOT_FOUND, f"{error.message} {error.hint}", data)
