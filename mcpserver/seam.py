"""The seam between the MCP SDK's async world and Django's queries: one thread hop, and errors by meaning."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from django.db import close_old_connections, connection
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from config.errors import NotInRoster, WireError

T = TypeVar("T")

THREADS: Final = 4  # queries of one process that may wait for the database at the same time
_POOL: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="mcp-query")
RESOURCE_NOT_FOUND: Final = -32002  # handshake revisions; 2026-07-28 has -32602 for it


async def ask(query: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run a query in a thread that keeps its database connection. Raises: what the query raises."""

    def run() -> T:
        _look_after_connection()
        return query(*args, **kwargs)

    return await asyncio.get_running_loop().run_in_executor(_POOL, run)


def _look_after_connection() -> None:
    """Close a connection that broke. SQLite's stays open as long as its thread: to open one takes longer than most queries; on
    Postgres it goes back to the pool.
    """
    if connection.vendor == "sqlite":
        connection.close_at = None
        connection.close_if_unusable_or_obsolete()
    else:
        close_old_connections()


def protocol_error(error: WireError) -> MCPError | None:
    """The errors that are the protocol's, not the tool's: a `source` outside the roster. None for all others."""
    if isinstance(error, NotInRoster):
        return MCPError(INVALID_PARAMS, f"{error.message} {error.hint}", error.as_dict())
    return None


def resource_not_found(uri: str, error: WireError, *, modern: bool) -> MCPError:
    """The protocol's own error for a resource that is not there, or not there yet, with a hint for the model."""
    data = {"uri": uri, "hint": error.hint}
    return MCPError(INVALID_PARAMS if modern else RESOURCE_NOT_FOUND, f"{error.message} {error.hint}", data)
