"""A family of MCP servers: one for each row of a table, all of one module, made when they are asked for."""

from collections.abc import Mapping
from functools import partial
from types import ModuleType
from typing import Any, Final

from config.errors import NotFound, WireError
from config.http import memory_cache
from config.http.request_guard import Receive, Refusal, Scope, Send
from mcpserver.cards.endpoint import build_card_endpoint
from mcpserver.http.threads import run_query
from mcpserver.http.transport import McpEndpoint

DOOR_BYTES: Final = 20_000  # of memory, about, that a server takes with its handlers


class Family:
    """The ASGI application of all servers below `path`. `kind` offers what `mcpserver.servers` says of a family's module.

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
        teller = kind.teller(row) if hasattr(kind, "teller") else None
        name = f"{self.name}/{member}"
        door = McpEndpoint(name, kind.build(row), kind.usage_name, self.name, teller)
        if not hasattr(kind, "CARDS"):
            return door, DOOR_BYTES
        door.with_cards = build_card_endpoint(name, kind.build(row), kind.CARDS, kind.usage_name, self.name)
        return door, 2 * DOOR_BYTES

    async def _list_members(self) -> tuple[Mapping[str, Any], int]:
        found: Mapping[str, Any] = await run_query(self._kind.members)
        return found, 1_000 * (1 + len(found))
