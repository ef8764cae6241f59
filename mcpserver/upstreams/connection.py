"""The MCP client of one upstream: opened by the first question, kept open, opened anew after it broke.

A task of its own owns the client, since a client must be closed by the task that opened it. The SDK's cache is off: the gateway has
its own, and a server that says ttlMs 0 would turn that one off.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import httpx2
import mcp_types as types
from mcp import Client, ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from config.env import Networks
from mcpserver.upstreams import client_interface, error_mapping, guarded_http
from mcpserver.upstreams.client_interface import INVALID, SERVER_ERROR, UNREACHABLE, UpstreamAnswer, UpstreamCall, UpstreamError
from mcpserver.upstreams.config import Adapter, Upstream, read_secrets
from mcpserver.upstreams.contents import OWN_FORMS, fits_schema, list_all_pages, read_contents, read_listing
from mcpserver.upstreams.http_transport import HttpDispatcher, HttpSession
from mcpserver.upstreams.mapping import clean_json, fill_arguments, map_data
from mcpserver.upstreams.stdio import ENDED, ChildProcess

T = TypeVar("T")

log = logging.getLogger(__name__)
logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for each request, with its address
logging.getLogger("mcp.client").setLevel(logging.WARNING)

OPENING: Final = 20.0  # seconds in which a server must be ready
MAX_HANGS: Final = 2  # timeouts in a row after which the connection, or the child, is taken for dead
_BROKEN: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, httpx2.TransportError, OSError)
_PLAIN: Final = Adapter()
_closing: Final[set[asyncio.Task[None]]] = set()


class Connection:
    def __init__(self, upstream: Upstream, allow: Networks) -> None:
        self._upstream = upstream
        self._allow = allow
        self._addresses = [upstream.address, *upstream.failover]  # the first is asked
        self._tools: dict[str, types.Tool] | None = None
        self._owner: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[ClientSession] | None = None
        self._stop: asyncio.Event | None = None
        self._child: ChildProcess | None = None
        self._transport: guarded_http.GuardedTransport | None = None
        self._hangs = 0

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    async def ask(self, call: UpstreamCall) -> UpstreamAnswer:
        """Return what the upstream answers, mapped and cleaned, against no schema. Raises: UpstreamError."""
        adapter = self._upstream.adapters.get(call.resource, _PLAIN)
        answer = await self.run_with_retry(partial(self._request, adapter=adapter, call=call))
        data, untrusted = clean_json(map_data(adapter, answer.data), is_exact=call.is_exact)
        return replace(answer, data=data, untrusted=untrusted)

    async def run_with_retry(self, work: Callable[[ClientSession], Awaitable[T]]) -> T:
        """Return what `work` makes of an open client. Another address is tried where one does not work. Raises: UpstreamError."""
        try:
            for _ in self._addresses[1:]:
                try:
                    return await self._run_once(work)
                except UpstreamError as error:
                    if error.code not in (UNREACHABLE, SERVER_ERROR) or error.is_of_call:
                        raise
                    log.warning("%s: %s The next address is tried.", self._upstream.name, error.detail)
                    self._switch_address()
            return await self._run_once(work)
        except asyncio.CancelledError:  # the gateway waited long enough
            if len(self._addresses) == 1 and self._ready is not None and not self._ready.done():
                raise  # it is starting still, for which it has a time of its own
            self._hangs += 1
            if self._hangs >= MAX_HANGS or len(self._addresses) > 1:
                log.warning("%s hangs; its connection is closed.", self._upstream.name)
                self._switch_address()
            raise

    async def _run_once(self, work: Callable[[ClientSession], Awaitable[T]], *, is_last: bool = False) -> T:
        faults: list[UpstreamError] = []
        guarded_http.faults.set(faults)
        was_open, name = self._owner is not None, self._upstream.name
        try:
            done = await work(await self._get_session())
            self._hangs = 0
            return done
        except (MCPError, *_BROKEN) as error:
            is_child, rpc = self._child is not None, error if isinstance(error, MCPError) else None
            if is_last and faults and faults[-1].is_of_call:
                faults.pop()  # the session is new, so that was not it
            fault = self._explain_broken_child(faults[-1] if faults else error_mapping.from_rpc(name, rpc))
            has_child_fault = self._child is not None and bool(self._child.fault)
            if rpc is None or has_child_fault or fault.code in (UNREACHABLE, INVALID):
                self.drop_session()
            # A server that restarted, or closed an idle connection, is asked once more. A child that died is a failure.
            is_stale = not is_child and was_open and fault.code == UNREACHABLE and (not faults or faults[-1].is_of_call)
            if is_last or not is_stale:
                raise fault from error
        except ValueError as error:
            raise UpstreamError(INVALID, f"{name} sends an answer that is not valid MCP.") from error
        except RuntimeError as error:  # such as a tool whose structured content contradicts its own schema
            raise UpstreamError(INVALID, f"{name} sends an answer that breaks its own schema.") from error
        return await self._run_once(work, is_last=True)

    def _switch_address(self) -> None:
        self.drop_session()
        self._addresses.append(self._addresses.pop(0))

    async def _request(self, client: ClientSession, adapter: Adapter, call: UpstreamCall) -> UpstreamAnswer:
        if call.answers == "listing":
            resources = await list_all_pages(client.list_resources)
            return UpstreamAnswer(read_listing(resources, await list_all_pages(client.list_resource_templates)))
        if adapter.tool:
            arguments = fill_arguments(adapter.arguments, call)
            return UpstreamAnswer(await self._call_tool(client, adapter.tool, arguments, call.answers))
        uri = str(fill_arguments({"uri": adapter.resource}, call).get("uri", "")) if adapter.resource else call.uri
        result = await client.read_resource(uri)
        answer = UpstreamAnswer(read_contents(result.contents, call.answers))
        if result.ttl_ms == 0 and result.cache_scope == "private":
            return answer  # what the SDK sends for a server that says neither
        return replace(answer, ttl=result.ttl_ms / 1000, is_private=result.cache_scope == "private")

    async def _call_tool(self, client: ClientSession, name: str, arguments: dict[str, Any], answers: str) -> Any:
        result = await (client.call_tool_with_relisting if isinstance(client, HttpSession) else client.call_tool)(name, arguments)
        if result.is_error:
            if self._tools is None:
                self._tools = {tool.name: tool for tool in await list_all_pages(client.list_tools)}
            are_valid = name in self._tools and fits_schema(self._tools[name].input_schema, arguments)
            words = " ".join(content.text for content in result.content if isinstance(content, types.TextContent))
            raise error_mapping.from_tool(self._upstream.name, words, result.meta, are_arguments_valid=are_valid)
        if result.structured_content is not None and answers not in OWN_FORMS:
            return result.structured_content
        return read_contents(result.content, answers)

    async def _get_session(self) -> ClientSession:
        """Return the open client, opened if there is none. Raises: UpstreamError."""
        if self._child is not None and self._child.has_ended:
            self.drop_session()
        if self._ready is None or (self._owner is not None and self._owner.done()):
            if missing := self._upstream.find_missing_secret():
                raise UpstreamError(client_interface.UNCONFIGURED, f"{self._upstream.name} needs {missing}, which is not set.")
            self._ready = asyncio.get_running_loop().create_future()
            self._stop = asyncio.Event()
            self._owner = asyncio.create_task(self._hold_session(self._ready, self._stop))
        return await asyncio.shield(self._ready)

    async def _hold_session(self, ready: "asyncio.Future[ClientSession]", stop: asyncio.Event) -> None:
        upstream = self._upstream
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(OPENING):
                    client = await stack.enter_async_context(Client(self._build_transport(), mode=upstream.mode, cache=None))
                    session = client.session
                    if self._transport is not None and client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                        # From 2026-07-28 on a session of ours asks faster than the SDK's client over HTTP.
                        dispatcher = HttpDispatcher(self._addresses[0], self._transport, read_secrets(upstream.headers))
                        faster: Any = HttpSession(dispatcher=dispatcher)
                        faster.adopt(client.session.discover_result)
                        session = await stack.enter_async_context(faster)
                ready.set_result(session)
                await stop.wait()
        except (Exception, asyncio.CancelledError) as error:
            if not ready.done():
                ready.set_exception(self._explain_not_opened(error))
                ready.exception()  # looked at: whoever asked may have left
            elif not isinstance(error, asyncio.CancelledError):
                log.debug("%s was closed: %r", upstream.name, error)

    def _build_transport(self) -> Any:
        upstream = self._upstream
        if upstream.kind == "stdio":
            self._child = ChildProcess(upstream.name, upstream.command, read_secrets(upstream.env))
            return self._child.open()
        self._transport = guarded_http.GuardedTransport(upstream.name, upstream.networks, self._allow, upstream.oauth)
        return guarded_http.open_streams(self._addresses[0], self._transport, read_secrets(upstream.headers))

    def _explain_not_opened(self, error: BaseException) -> UpstreamError:
        faults, name = guarded_http.faults.get(), self._upstream.name
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        if faults:
            return faults[-1]
        if isinstance(error, UpstreamError):
            return error
        if isinstance(error, FileNotFoundError | PermissionError):
            command = "".join(self._upstream.command[:1])  # uvloop's errors name no file
            return UpstreamError(UNREACHABLE, f"{name} cannot be started: {error.strerror}.", words=command)
        if isinstance(error, TimeoutError):
            return UpstreamError(UNREACHABLE, f"{name} was not ready within {OPENING:g} s.")
        return self._explain_broken_child(error_mapping.from_rpc(name, error if isinstance(error, MCPError) else None))

    def _explain_broken_child(self, fault: UpstreamError) -> UpstreamError:
        """Say why a child's connection ended. What cannot be read is an invalid answer, not an unreachable server."""
        if self._child is None or not self._child.fault or fault.code not in (UNREACHABLE, SERVER_ERROR):
            return fault
        code = UNREACHABLE if self._child.fault == ENDED else INVALID
        return UpstreamError(code, f"{self._upstream.name} broke off: {self._child.fault}.")

    def drop_session(self) -> None:
        """Close the client, and end the child; the next question opens another."""
        if self._stop is not None:
            self._stop.set()
        if self._owner is not None:
            _closing.add(self._owner)
            self._owner.add_done_callback(_closing.discard)
        self._ready = self._stop = self._owner = self._child = self._tools = None

    async def close(self) -> None:
        owner = self._owner
        self.drop_session()
        if owner is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(owner), 5)


async def wait_until_closed() -> None:
    """Wait for every connection that was dropped, five seconds at most."""
    if _closing:
        await asyncio.wait(list(_closing), timeout=5)
