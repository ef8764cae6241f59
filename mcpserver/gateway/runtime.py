"""The resolver of this process: built by the first question, of the settings and of what the desk overrides."""

import asyncio
import logging
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.conf import settings
from django.db import connection

from config.database import routing
from config.database.threads import run_in_thread
from mcpserver.gateway.models import Override
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.resolver import LONGEST_WAIT, Resolver
from mcpserver.gateway.resource_policy import Policy, PolicyError, load_policy

if TYPE_CHECKING:
    from mcpserver.upstreams.upstream_clients import Upstreams

T = TypeVar("T")
log = logging.getLogger(__name__)

# One thread: what it does are short transactions, which would wait for each other anyway.
_writer: Final = ThreadPoolExecutor(1, thread_name_prefix="gateway")
_lock: Final = threading.Lock()
_resolver: Resolver | None = None
_is_outdated = False
_retiring: Final[set[asyncio.Task[None]]] = set()


async def run_write(work: Callable[[], T]) -> T:
    def run() -> T:
        routing.recycle_connection()
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            # What a power cut takes of limits, entries and accounts nobody misses; a wait for the disk at each attempt would show.
            connection.cursor().execute("PRAGMA synchronous=NORMAL")
        return routing.run_write(work)

    return await asyncio.get_running_loop().run_in_executor(_writer, run)


async def run_read_query(work: Callable[[], T]) -> T:
    return await run_in_thread(partial(routing.run_query, work))


def load_current_policy() -> Policy:
    return _apply_overrides(load_policy(settings.WIRE_GATEWAY_POLICY))


def _apply_overrides(found: Policy) -> Policy:
    numbers: dict[str, dict[str, float]] = defaultdict(dict)
    for row in Override.objects.all():
        numbers[row.resource][row.number] = row.value
    return found.with_overrides(numbers)


def build_upstreams(found: Policy) -> "Upstreams":
    from mcpserver.upstreams.upstream_clients import Upstreams  # loads the MCP SDK, which takes a second

    return Upstreams(found.upstreams)


async def get_resolver() -> Resolver:
    """Return this process's resolver. Raises: PolicyError."""
    global _resolver, _is_outdated
    before = _resolver
    if before is not None and not _is_outdated:
        return before
    _is_outdated = False
    try:
        read_policy = partial(_apply_overrides, load_policy(settings.WIRE_GATEWAY_POLICY))
        found = await run_read_query(read_policy)
    except PolicyError as error:
        if before is None:
            raise
        log.error("The policy was read again but cannot be used; the previous one stays: %s", error)
        return before
    with _lock:
        if _resolver is before:
            _resolver = Resolver(
                found,
                build_upstreams(found),
                ProcessContext(run_write, run_read_query),
                max_bytes=settings.WIRE_GATEWAY_CACHE_BYTES,
                log_rows=settings.WIRE_GATEWAY_LOG_ROWS,
                journal=Path(settings.WIRE_DATA_DIR) / "gateway",
                read_policy=read_policy,
                reload=reload_policy,
            )
            if before is not None:
                log.warning("The policy and its secrets were read again.")
                task = asyncio.create_task(_close_resolver_later(before))
                _retiring.add(task)
                task.add_done_callback(_retiring.discard)
        assert _resolver is not None  # noqa: S101
        return _resolver


async def _close_resolver_later(before: Resolver) -> None:
    await asyncio.sleep(LONGEST_WAIT)
    await before.close()


def reload_policy(*_signal: Any) -> None:
    global _is_outdated
    _is_outdated = True


def watch_sighup() -> None:
    with suppress(ValueError):  # not the main thread
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            signal.signal(signal.SIGHUP, reload_policy)


def get_ready_resolver() -> Resolver | None:
    return None if _is_outdated else _resolver


def replace_resolver(other: Resolver | None) -> None:
    """Set another resolver for this process; None builds it anew of the settings."""
    global _resolver
    _resolver = other


async def close_resolver() -> None:
    if _resolver is not None:
        await _resolver.close()
