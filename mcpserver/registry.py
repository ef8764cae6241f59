"""The MCP servers of this process: their routes, families, streams, usage counts, and the lifespan that they share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from config.errors import NotFound, WireError
from config.http import memory_cache
from config.http.request_guard import Receive, Refusal, Scope, Send
from mcpserver.cards.endpoint import build_card_endpoint
from mcpserver.http.threads import run_query
from mcpserver.http.transport import McpEndpoint, StreamingEndpoint
from mcpserver.servers import SERVERS
from mcpserver.tooling import batched_counter

FLUSH: Final = 10.0  # seconds between two writes of counts
DOOR_BYTES: Final = 20_000  # of memory, about, that a server takes with its handlers


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
        for offered in ("sessions", "admit", "find_fast_path", "start", "close"):
            setattr(door, offered, getattr(module, offered, None))
        door.uncached = getattr(module, "UNCACHED", frozenset())
        if hasattr(module, "CARDS"):
            door.with_cards = build_card_endpoint(name, module.build(), module.CARDS, module.usage_name, name)
        doors[path] = door
    return doors


class Family:
    """The ASGI application of a family: a server for each row of a table, below `path`, made when it is asked for. `kind` offers
    what `mcpserver.servers` says of a family's module.

    Servers are kept in the answer cache, so a changed row shows like any other change. They have no streams: the SDK's would have
    to be entered in the task of the lifespan, which is over when a row is added. All members are read at once, so that a name
    that nobody has costs no query.
    """

    def __init__(self, path: str, name: str, kind: ModuleType) -> None:
        self.path = path
        self.name = name
        self._kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        member = scope["path"][len(self.path) :]
        try:
            door: McpEndpoint = await memory_cache.answers.get_or_make(
                ("door", self.name, member), partial(self._make_endpoint, member)
            )
        except WireError as error:
            await Refusal.from_error(error).send(send, jsonrpc=True)
            return
        await door(scope, receive, send)

    async def _make_endpoint(self, member: str) -> tuple[McpEndpoint, int]:
        kind, members = self._kind, await memory_cache.answers.get_or_make(("members", self.name), self._list_members)
        row = members.get(member, NotFound("There is no such server.", kind.UNKNOWN))
        if isinstance(row, NotFound):
            raise row
        usage_hook = kind.usage_hook(row) if hasattr(kind, "usage_hook") else None
        name = f"{self.name}/{member}"
        door = McpEndpoint(name, kind.build(row), kind.usage_name, self.name, usage_hook)
        if not hasattr(kind, "CARDS"):
            return door, DOOR_BYTES
        door.with_cards = build_card_endpoint(name, kind.build(row), kind.CARDS, kind.usage_name, self.name)
        return door, 2 * DOOR_BYTES

    async def _list_members(self) -> tuple[Mapping[str, Any], int]:
        found: Mapping[str, Any] = await run_query(self._kind.members)
        return found, 1_000 * (1 + len(found))


doors: Final = build_endpoints(SERVERS)
families: Final = {
    path: Family(path, name.rpartition(".")[2], import_module(name)) for path, name in SERVERS.items() if path.endswith("/")
}


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Runs the SDK's stream applications and the background task while the process serves."""
    async with contextlib.AsyncExitStack() as stack:
        for door in _list_streaming_endpoints():
            await stack.enter_async_context(door.sdk.router.lifespan_context(door.sdk))
            await door.has_tool_list_changed()
        for start in (door.start for door in doors.values()):
            if start is not None:
                start()
        flushing = asyncio.create_task(_flush_counts_forever())
        try:
            yield
        finally:
            flushing.cancel()
            await batched_counter.flush_all()
            for close in (door.close for door in doors.values()):
                if close is not None:
                    await close()


async def announce_publish() -> None:
    for door in _list_streaming_endpoints():
        await door.announce_list_changes()


def _list_streaming_endpoints() -> list[StreamingEndpoint]:
    return [door for door in doors.values() if isinstance(door, StreamingEndpoint)]


async def _flush_counts_forever() -> None:
    while True:
        await asyncio.sleep(FLUSH)
        await batched_counter.flush_all()
