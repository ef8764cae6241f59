"""One upstream's MCP client: opened when it is first asked, kept open, opened anew after it broke.

A task of its own owns the client, since it must be closed by whoever opened it; who asks only borrows it. The SDK's cache is off:
the gateway has its own, and a server that says ttlMs 0 would turn that one off.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from config import env
from config.env import Networks
from mcpserver.upstreams import adapting, checked_http, faults
from mcpserver.upstreams.posting import Posting, Straight
from mcpserver.upstreams.stdio import ENDED, Child
from mcpserver.upstreams.texts import parsed
from sources.gateway.policy import Adapter, Upstream
from sources.gateway.reach import INVALID, SERVER_ERROR, UNCONFIGURED, UNREACHABLE, Call, UpstreamError

log = logging.getLogger(__name__)

OPENING: Final = 20.0  # seconds in which a server must be ready
HANGS: Final = 2  # timeouts in a row after which the connection, or the child, is taken for dead
_BROKEN: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, httpx2.TransportError, OSError)
PLAIN: Final = Adapter()
Asker = Client | Straight


class Connection:
    """For one event loop."""

    def __init__(self, upstream: Upstream, allow: Networks) -> None:
        self._upstream = upstream
        self._allow = allow
        self._owner: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Asker] | None = None
        self._stop: asyncio.Event | None = None
        self._child: Child | None = None
        self._checked: checked_http.Checked | None = None
        self._hangs = 0

    @property
    def pid(self) -> int | None:
        """Of the child, where there is one."""
        return self._child.pid if self._child is not None else None

    def missing(self) -> str:
        """The secret that the policy names and the environment does not hold; "" if none."""
        values = (*self._upstream.env.values(), *self._upstream.headers.values())
        named = (value.removeprefix("env:") for value in values if value.startswith("env:"))
        return next((name for name in named if not env.text(name)), "")

    async def ask(self, call: Call) -> Any:
        """What the upstream answers, as JSON values, before the contract is looked at. Raises: UpstreamError."""
        adapter = self._upstream.adapters.get(call.resource, PLAIN)
        try:
            found = await self._asked(adapter, call)
        except asyncio.CancelledError:  # the gateway waited long enough
            self._hangs += 1
            if self._hangs >= HANGS:
                log.warning("%s hangs; its connection is closed.", self._upstream.name)
                self.drop()
            raise
        self._hangs = 0
        return adapting.data(adapter, found)

    async def _asked(self, adapter: Adapter, call: Call) -> Any:
        for is_last in (False, True):
            noted: list[UpstreamError] = []
            checked_http.faults.set(noted)
            owner = self._owner
            try:
                client = await self._client()
                return await self._answer(client, adapter, call)
            except UpstreamError:
                raise
            except MCPError as error:
                fault = self._with_reason(noted[-1] if noted else faults.of_mcp(self._upstream.name, error))
                lost = _lost_session(error)
                is_child, is_closed = self._child is not None, error.error.code == CONNECTION_CLOSED and not noted
                if lost or fault.code in (UNREACHABLE, INVALID) or (self._child is not None and self._child.fault):
                    self.drop()
                if (lost or (is_closed and owner is not None and not is_child)) and not is_last:
                    continue  # a server that restarted knows nothing of us: once more, over a new connection
                raise fault from error
            except _BROKEN as error:
                fault, is_child = self._with_reason(noted[-1] if noted else _gone(self._upstream.name)), self._child is not None
                self.drop()
                if owner is not None and not noted and not is_last and not is_child:
                    continue  # a connection that was idle and is gone; a child that died is told of
                raise fault from error
            except ValueError as error:  # an answer that is no result of MCP
                raise UpstreamError(INVALID, f"{self._upstream.name} answers what MCP has not.") from error
            except RuntimeError as error:  # such as a tool whose structured content contradicts its own schema
                raise UpstreamError(INVALID, f"{self._upstream.name} answers against its own schema.") from error
        raise _gone(self._upstream.name)

    async def _answer(self, client: Asker, adapter: Adapter, call: Call) -> Any:
        name = self._upstream.name
        if not adapter.tool:
            uri = adapter.resource or call.uri
            read = await client.read_resource(uri)
            texts = [one.text for one in read.contents if isinstance(one, types.TextResourceContents)]
            if not texts or not texts[0].strip():
                raise UpstreamError(INVALID, f"{name} answers with empty text.")
            return parsed(texts[0])
        arguments = adapting.arguments(adapter, call)
        call_tool = client.call_once_listed if isinstance(client, Straight) else client.call_tool
        result = await call_tool(adapter.tool, arguments)
        texts = [one.text for one in result.content if isinstance(one, types.TextContent)]
        if result.is_error:
            raise faults.of_tool(name, " ".join(texts), result.meta)
        if result.structured_content is not None:
            return result.structured_content
        if not texts or not texts[0].strip():
            raise UpstreamError(INVALID, f"{name} answers with empty text.")
        return parsed(texts[0])

    async def _client(self) -> Asker:
        """The open client, opened if there is none. Raises: UpstreamError."""
        if self._child is not None and self._child.has_ended:
            self.drop()
        if self._ready is None or (self._owner is not None and self._owner.done()):
            if missing := self.missing():
                raise UpstreamError(UNCONFIGURED, f"{missing} is not set, which {self._upstream.name} needs.")
            self._ready = asyncio.get_running_loop().create_future()
            self._stop = asyncio.Event()
            self._owner = asyncio.create_task(self._own(self._ready, self._stop))
        return await asyncio.shield(self._ready)

    async def _own(self, ready: "asyncio.Future[Asker]", stop: asyncio.Event) -> None:
        """Open the client, and hold it until it is dropped."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(OPENING):
                    transport = self._transport()
                    client = await stack.enter_async_context(Client(transport, mode=self._upstream.mode, cache=None))
                    asker = await self._straight(client, stack)
                ready.set_result(asker)
                await stop.wait()
        except (Exception, asyncio.CancelledError) as error:
            if not ready.done():
                ready.set_exception(self._not_opened(error))
                ready.exception()  # looked at: whoever asked may have left
            elif not isinstance(error, asyncio.CancelledError):
                log.debug("%s was closed: %r", self._upstream.name, error)

    async def _straight(self, client: Client, stack: contextlib.AsyncExitStack) -> Asker:
        """Who asks faster than this client, where there is somebody: over HTTP, from 2026-07-28 on."""
        if self._checked is None or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return client
        found = Straight(dispatcher=Posting(self._upstream.address, self._checked, self._secrets(self._upstream.headers)))
        assert client.session.discover_result is not None  # noqa: S101
        found.adopt(client.session.discover_result)
        return await stack.enter_async_context(found)

    def _not_opened(self, error: BaseException) -> UpstreamError:
        noted, name = checked_http.faults.get(), self._upstream.name
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        if noted:
            return noted[-1]
        if isinstance(error, UpstreamError):
            return error
        if isinstance(error, FileNotFoundError | PermissionError):
            return UpstreamError(UNREACHABLE, f"{name} cannot be started: {error.strerror}: {error.filename}.")
        if isinstance(error, MCPError):
            return self._with_reason(faults.of_mcp(name, error))
        if isinstance(error, TimeoutError):
            return UpstreamError(UNREACHABLE, f"{name} was not ready within {OPENING:g} s.")
        return self._with_reason(_gone(name))

    def _with_reason(self, fault: UpstreamError) -> UpstreamError:
        """With why a child's connection ended. What cannot be read is an invalid answer, not an unreachable server."""
        if self._child is None or not self._child.fault or fault.code not in (UNREACHABLE, SERVER_ERROR):
            return fault
        code = UNREACHABLE if self._child.fault == ENDED else INVALID
        return UpstreamError(code, f"{self._upstream.name} broke off: {self._child.fault}.")

    def _transport(self) -> Any:
        one = self._upstream
        if one.kind == "stdio":
            self._child = Child(one.name, one.command, self._secrets(one.env))
            return self._child.opened()
        self._checked = checked_http.Checked(one.name, one.networks, self._allow)
        return _http(one, self._checked, self._secrets(one.headers))

    def _secrets(self, named: Mapping[str, str]) -> dict[str, str]:
        return {key: env.text(value[4:]) if value.startswith("env:") else value for key, value in named.items()}

    def drop(self) -> None:
        """Close the client, and end the child; the next question opens another."""
        if self._stop is not None:
            self._stop.set()
        self._ready = self._stop = None
        if self._owner is not None:
            _closing.add(self._owner)
            self._owner.add_done_callback(_closing.discard)
            self._owner = None
        self._child = None

    async def close(self) -> None:
        owner = self._owner
        self.drop()
        if owner is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(owner), 5)


_closing: Final[set[asyncio.Task[None]]] = set()


async def closed() -> None:
    """Until every connection that was dropped is closed."""
    if _closing:
        await asyncio.wait(list(_closing), timeout=5)


@asynccontextmanager
async def _http(one: Upstream, checked: checked_http.Checked, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    async with checked_http.client(checked, headers) as client, streamable_http_client(one.address, http_client=client) as streams:
        yield streams


def _gone(name: str) -> UpstreamError:
    return UpstreamError(UNREACHABLE, f"{name} broke the connection off.")


def _lost_session(error: MCPError) -> bool:
    return "session" in error.error.message.lower() and error.error.code in (-32600, -32000, -32001, 404)
