"""The gateway of this process: made of the settings and of what the desk overrides, when it is first asked."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import connection

from config.database import routing
from config.database.threads import in_thread
from sources.gateway.gateway import Gateway
from sources.gateway.models import Override
from sources.gateway.policy import Policy
from sources.gateway.policy_file import load
from sources.gateway.reach import made

T = TypeVar("T")

# One thread: what it does are short transactions, which would wait for each other anyway.
_writer: Final = ThreadPoolExecutor(1, thread_name_prefix="gateway")
_lock: Final = threading.Lock()
_gateway: Gateway | None = None


async def write(work: Callable[[], T]) -> T:
    """Do blocking work that writes, in the gateway's own thread."""

    def run() -> T:
        routing.look_after_connection()
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            # What a power cut takes of limits, entries and accounts nobody misses; a wait for the disk at each attempt would show.
            connection.cursor().execute("PRAGMA synchronous=NORMAL")
        return routing.write(work)

    return await asyncio.get_running_loop().run_in_executor(_writer, run)


async def read(work: Callable[[], T]) -> T:
    return await in_thread(partial(routing.read, work))


def policy() -> Policy:
    """The policy with the desk's numbers. Raises: PolicyError."""
    return _renumbered(load(settings.WIRE_GATEWAY_POLICY))


def _renumbered(found: Policy) -> Policy:
    """With the desk's numbers. Raises: PolicyError."""
    numbers: dict[str, dict[str, float]] = {}
    for row in Override.objects.all():
        numbers.setdefault(row.resource, {})[row.number] = row.value
    return found.overridden(numbers)


async def gateway() -> Gateway:
    """This process's. Raises: PolicyError."""
    if _gateway is None:
        renumbered = partial(_renumbered, load(settings.WIRE_GATEWAY_POLICY))
        _made(await read(renumbered), renumbered)
    assert _gateway is not None  # noqa: S101
    return _gateway


def ready() -> Gateway | None:
    """This process's, if it was asked already."""
    return _gateway


def _made(found: Policy, policy_now: Callable[[], Policy]) -> None:
    global _gateway
    with _lock:
        if _gateway is None:
            _gateway = Gateway(
                found,
                made(settings.WIRE_GATEWAY_REACH, found),
                run=write,
                read=read,
                max_bytes=settings.WIRE_GATEWAY_CACHE_BYTES,
                log_rows=settings.WIRE_GATEWAY_LOG_ROWS,
                policy_now=policy_now,
            )


def replace(other: Gateway | None) -> None:
    """Another gateway for this process; None makes it anew of the settings."""
    global _gateway
    _gateway = other


async def close() -> None:
    """When the process ends."""
    if _gateway is not None:
        await _gateway.close()


def in_writer(work: Callable[[], Any]) -> Any:
    """For tests: what the writer's thread does."""
    return _writer.submit(work).result()
