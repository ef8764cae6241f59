"""Every MCP server of this process behind one door: routes, streams, usage counts, and the lifespan that they share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

from mcpserver import tally
from mcpserver.family import Family
from mcpserver.servers import SERVERS
from mcpserver.transport import StreamingDoor

FLUSH: Final = 10.0  # seconds between two writes of counts


def opened(servers: Mapping[str, str]) -> dict[str, StreamingDoor]:
    """The ASGI application of each server that stands alone, by path."""
    doors = {}
    for path, module_name in servers.items():
        if not path.endswith("/"):
            module = import_module(module_name)
            name, tools_made_of = module_name.rpartition(".")[2], getattr(module, "tools_made_of", None)
            doors[path] = StreamingDoor(path, name, module.build(), module.usage_name, tools_made_of)
            doors[path].uncached = getattr(module, "UNCACHED", frozenset())
            doors[path].quick = getattr(module, "quick", None)
            doors[path].close = getattr(module, "close", None)
    return doors


def gathered(servers: Mapping[str, str]) -> dict[str, Family]:
    """The ASGI application of each family of servers, by the beginning of their paths."""
    return {
        path: Family(path, module_name.rpartition(".")[2], import_module(module_name))
        for path, module_name in servers.items()
        if path.endswith("/")
    }


doors: Final = opened(SERVERS)
families: Final = gathered(SERVERS)


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Runs the SDK's stream applications and the background task while the process serves."""
    async with contextlib.AsyncExitStack() as stack:
        for door in doors.values():
            await stack.enter_async_context(door.sdk.router.lifespan_context(door.sdk))
            await door.tools_changed()
        flushing = asyncio.create_task(_keep_flushing())
        try:
            yield
        finally:
            flushing.cancel()
            await tally.flush()
            for door in doors.values():
                if door.close is not None:
                    await door.close()


async def announce_publish() -> None:
    """Tell every open stream, of each server and either era, which lists changed."""
    for door in doors.values():
        await door.announce()


async def _keep_flushing() -> None:
    while True:
        await asyncio.sleep(FLUSH)
        await tally.flush()
