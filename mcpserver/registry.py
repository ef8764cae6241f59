"""The MCP servers of this process: their routes, streams, usage counts, and the lifespan that they share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

from mcpserver.cards.endpoint import build_card_endpoint
from mcpserver.http.transport import McpEndpoint, StreamingEndpoint
from mcpserver.server_families import Family
from mcpserver.servers import SERVERS
from mcpserver.tooling import batched_counter

FLUSH: Final = 10.0  # seconds between two writes of counts


def build_endpoints(servers: Mapping[str, str]) -> dict[str, McpEndpoint]:
    doors = dict[str, McpEndpoint]()
    for path, module_name in servers.items():
        if path.endswith("/"):
            continue
        module, name = import_module(module_name), module_name.rpartition(".")[2]
        if getattr(module, "STREAMS", True):
            door: McpEndpoint = StreamingEndpoint(path, name, module)
        else:
            door = McpEndpoint(name, module.build(), module.usage_name)
        for offered in ("sessions", "admit", "quick", "start", "close"):
            setattr(door, offered, getattr(module, offered, None))
        door.uncached = getattr(module, "UNCACHED", frozenset())
        if hasattr(module, "CARDS"):
            door.with_cards = build_card_endpoint(name, module.build(), module.CARDS, module.usage_name, name)
        doors[path] = door
    return doors


doors: Final = build_endpoints(SERVERS)
families: Final = {
    path: Family(path, name.rpartition(".")[2], import_module(name)) for path, name in SERVERS.items() if path.endswith("/")
}


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Runs the SDK's stream applications and the background task while the process serves."""
    async with contextlib.AsyncExitStack() as stack:
        for door in _streaming():
            await stack.enter_async_context(door.sdk.router.lifespan_context(door.sdk))
            await door.tools_changed()
        for start in (door.start for door in doors.values()):
            if start is not None:
                start()
        flushing = asyncio.create_task(_keep_flushing())
        try:
            yield
        finally:
            flushing.cancel()
            await batched_counter.flush()
            for close in (door.close for door in doors.values()):
                if close is not None:
                    await close()


async def announce_publish() -> None:
    for door in _streaming():
        await door.announce()


def _streaming() -> list[StreamingEndpoint]:
    return [door for door in doors.values() if isinstance(door, StreamingEndpoint)]


async def _keep_flushing() -> None:
    while True:
        await asyncio.sleep(FLUSH)
        await batched_counter.flush()
