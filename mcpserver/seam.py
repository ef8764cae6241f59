"""The seam between the MCP SDK's async world and Django's queries: one thread hop, and errors by meaning."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from config import reading
from config.errors import NotInRoster, Unavailable, WireError

T = TypeVar("T")

THREADS: Final = 4  # queries of one process that may wait for the database at the same time
_POOL: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="mcp-query")
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
        reading.look_after_connection()
        return do(what)

    return await asyncio.get_running_loop().run_in_executor(_POOL, run)


def protocol_error(error: WireError) -> MCPError | None:
    """The errors that are the protocol's, not the tool's: a `source` outside the roster. None for all others."""
    if isinstance(error, NotInRoster):
        return MCPError(INVALID_PARAMS, f"{error.message} {error.hint}", error.as_dict())
    return None


def resource_not_found(uri: str, error: WireError, *, modern: bool) -> MCPError:
    """The protocol's own error for a resource that is not there, or not there yet, with a hint for the model."""
    data = {"uri": uri, "hint": error.hint}
    return MCPError(INVALID_PARAMS if modern else RESOURCE_NOT_FOUND, f"{error.message} {error.hint}", data)
