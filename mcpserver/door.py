"""Every MCP server of this process behind one door: routes, streams, usage counts, and the lifespan that they share."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

from mcpserver import usage
from mcpserver.servers import SERVERS
from mcpserver.transport import Door

logger = logging.getLogger(__name__)

FLUSH: Final = 10.0  # seconds between two writes of usage counts


def opened(servers: Mapping[str, str]) -> dict[str, Door]:
    """The ASGI application of each server, by path."""
    doors = {}
    for path, module_name in servers.items():
        module = import_module(module_name)
        doors[path] = Door(path, module_name.rpartition(".")[2], module.build(), module.usage_name)
    return doors


doors: Final = opened(SERVERS)


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Runs the SDK's stream applications and the background task while the process serves."""
    async with contextlib.AsyncExitStack() as stack:
        for door in doors.values():
            await stack.enter_async_context(door.sdk.router.lifespan_context(door.sdk))
        flushing = asyncio.create_task(_keep_flushing())
        try:
            yield
        finally:
            flushing.cancel()
            with contextlib.suppress(Exception):
                await usage.flush()


async def announce_publish() -> None:
    """Tell every open stream, of each server and either era, that resources changed."""
    for door in doors.values():
        await door.announce()


async def _keep_flushing() -> None:
    while True:
        await asyncio.sleep(FLUSH)
        try:
            await usage.flush()
        except Exception:
            logger.exception("usage cannot be written; it is kept for the next try")
