"""Between the MCP SDK's async world and Django's queries: one thread hop."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from django.db import DataError

from config.database import routing
from config.database.threads import run_in_thread
from config.errors import Unavailable
from config.http import error_counts

T = TypeVar("T")


async def run_query(query: Callable[..., T], *args: Any, goes_outside: bool = False) -> T:
    """Run a query in a thread; `goes_outside`: it may ask somebody else's server. Raises: Unavailable, what the query raises."""
    try:
        if routing.source.away:
            raise Unavailable  # without waiting for a thread
        return await _run_in_thread(partial(routing.run_query, partial(query, *args)), goes_outside=goes_outside)
    except Unavailable:
        error_counts.counts["mcp"] += 1  # by hand, for the answer's HTTP status is 200
        raise


async def run_write(change: Callable[[], T]) -> T:
    """Write in such a thread. Raises: what `change` raises."""
    return await _run_in_thread(partial(routing.run_write, change))


async def _run_in_thread(call: Callable[[], T], *, goes_outside: bool = False) -> T:
    try:
        return await run_in_thread(call, goes_outside=goes_outside)
    except DataError as error:
        raise routing.build_nul_error(error) from error
