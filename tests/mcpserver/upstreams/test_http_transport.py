"""Requests to modern HTTP upstreams by plain POST: whatever a server may answer, and the connections below."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, DiscoverResult, TextResourceContents

from mcpserver.upstreams import guarded_http
from mcpserver.upstreams.client_interface import UpstreamError
from mcpserver.upstreams.http_transport import HttpDispatcher, HttpSession

READ = {"contents": [{"uri": "x://y", "text": "[]"}], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
DISCOVERED = DiscoverResult.model_validate(
    {"supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "public", "resultType": "complete"}
)
Reply = tuple[int, dict[str, str], bytes]
Answering = Callable[[str, dict[str, str], Any], Awaitable[Reply]]


class Stand:
    """A server of a few lines, which counts its connections."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self.connections = self.open = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                first, *lines = head.strip().split("\r\n")
                headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
                message = json.loads(await reader.readexactly(int(headers["content-length"])))
                status, more, body = await self._answering(first.split()[1], headers, message)
                told = "".join(f"{name}: {value}\r\n" for name, value in {**more, "Content-Length": str(len(body))}.items())
                writer.write(f"HTTP/1.1 {status} X\r\n{told}\r\n".encode() + body)
                await writer.drain()
                if more.get("Connection") == "close":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def session(answering: Answering) -> Any:
    stand = Stand(answering)
    server = await asyncio.start_server(stand.serve, "127.0.0.1", 0)
    stand.port = server.sockets[0].getsockname()[1]
    async with (
        server,
        guarded_http.GuardedTransport("them", (), (ip_network("127.0.0.0/8"),)) as checked,
        HttpSession(dispatcher=HttpDispatcher(f"http://127.0.0.1:{stand.port}/mcp", checked, {"x-key": "k"})) as asker,
    ):
        asker.adopt(DISCOVERED)
        yield asker, stand


def result(message: Any, found: Any = READ) -> Reply:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": found}).encode()
    return 200, {"Content-Type": "application/json"}, body


def asked(answering: Answering) -> str:
    """The text that is read from such a server. Raises: MCPError, httpx2.TransportError."""

    async def run() -> str | Exception:
        async with session(answering) as (asker, _):
            try:
                content = (await asker.read_resource("x://y")).contents[0]
            except (MCPError, httpx2.TransportError) as error:
                return error  # a session that is left by an error makes a group of it
            assert isinstance(content, TextResourceContents)
            return content.text

    found = asyncio.run(run())
    if isinstance(found, Exception):
        raise found
    return found


def test_a_request_is_whole_in_itself() -> None:
    seen: list[tuple[dict[str, str], Any]] = []

    async def answering(_path: str, headers: dict[str, str], message: Any) -> Reply:
        seen.append((headers, message))
        return result(message)

    assert asked(answering) == "[]"
    [(headers, message)] = seen
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert (headers["mcp-method"], headers["mcp-name"], headers["x-key"]) == ("resources/read", "x://y", "k")
    assert headers["accept-encoding"] == "identity"
    assert message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


def test_a_stream_of_events_is_read_up_to_the_result() -> None:
    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": READ}
        events = "".join(f"event: message\ndata: {json.dumps(one)}\n\n" for one in (note, answer))
        return 200, {"Content-Type": "text/event-stream"}, events.encode()

    assert asked(answering) == "[]"


def test_a_redirect_is_followed_within_the_origin_only() -> None:
    paths: list[str] = []

    async def to_slash(path: str, _headers: dict[str, str], message: Any) -> Reply:
        paths.append(path)
        return result(message) if path == "/mcp/" else (307, {"Location": "/mcp/"}, b"")

    async def elsewhere(_path: str, _headers: dict[str, str], _message: Any) -> Reply:
        return 307, {"Location": "http://127.0.0.2:1/mcp"}, b""

    assert asked(to_slash) == "[]"
    assert paths == ["/mcp", "/mcp/"]
    with pytest.raises(MCPError, match="307"):
        asked(elsewhere)


@pytest.mark.parametrize(
    ("status", "kind", "body", "code"),
    [
        (400, "application/json", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"No such thing"}}', -32602),
        (200, "application/json", b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"429"}}', -32000),
        (404, "text/plain", b"", -32601),
        (418, "text/plain", b"tea", -32603),
        (202, "", b"", -32600),
        (200, "text/html", b"<html>", -32600),
        (200, "application/json", b"<html>", -32700),
        (200, "application/json", b"[]", -32700),
        (200, "application/json", b'{"jsonrpc":"2.0","id":99,"result":{}}', -32700),
        (200, "text/event-stream", b"data: nothing\n\n", -32700),
    ],
)
def test_what_is_no_answer_is_an_error(status: int, kind: str, body: bytes, code: int) -> None:
    async def answering(_path: str, _headers: dict[str, str], _message: Any) -> Reply:
        return status, {"Content-Type": kind}, body

    with pytest.raises(MCPError) as raised:
        asked(answering)
    assert raised.value.code == code


def test_a_compressed_answer_is_refused_since_it_may_grow_without_bound() -> None:
    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        status, headers, body = result(message)
        return status, {**headers, "Content-Encoding": "gzip"}, gzip.compress(body)

    with pytest.raises(httpx2.ReadError, match="compressed"):
        asked(answering)


def test_a_tool_that_wants_arguments_in_headers_is_called_again_once_it_was_listed() -> None:
    methods: list[tuple[str, str | None]] = []
    schema = {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}

    async def answering(_path: str, headers: dict[str, str], message: Any) -> Reply:
        method, city = message["method"], headers.get("mcp-param-city")
        methods.append((method, city))
        if method == "tools/list":
            listed = {"tools": [{"name": "weather", "inputSchema": schema}], "ttlMs": 0, "cacheScope": "public"}
            return result(message, {**listed, "resultType": "complete"})
        if city is None:
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": HEADER_MISMATCH, "message": "City is missing"}}
            return 400, {"Content-Type": "application/json"}, json.dumps(error).encode()
        return result(message, {"content": [], "resultType": "complete"})

    async def run() -> None:
        async with session(answering) as (asker, _):
            await asker.call_tool_with_relisting("weather", {"city": "Graz"})

    asyncio.run(run())
    assert methods == [("tools/call", None), ("tools/list", None), ("tools/call", "Graz")]


def test_connections_are_used_again_and_there_are_no_more_than_may_be() -> None:
    together = 0
    most = 0

    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        nonlocal together, most
        together += 1
        most = max(most, together)
        await asyncio.sleep(0.01)
        together -= 1
        return result(message)

    async def run() -> None:
        async with session(answering) as (asker, stand):
            for _ in range(3):
                await asker.read_resource("x://y")
            assert stand.connections == 1
            await asyncio.gather(*(asker.read_resource("x://y") for _ in range(50)))
            assert (most, stand.connections) == (guarded_http.MAX_CONNECTIONS, guarded_http.MAX_CONNECTIONS)

    asyncio.run(run())


def test_a_question_that_was_given_up_leaves_its_place_to_others() -> None:
    hangs = True

    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        if hangs:
            await asyncio.sleep(5)
        return result(message)

    async def run() -> None:
        nonlocal hangs
        async with session(answering) as (asker, _):
            waiting = [asyncio.create_task(asker.read_resource("x://y")) for _ in range(guarded_http.MAX_CONNECTIONS + 5)]
            await asyncio.sleep(0.1)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            hangs = False
            async with asyncio.timeout(1):
                await asyncio.gather(*(asker.read_resource("x://y") for _ in range(guarded_http.MAX_CONNECTIONS)))

    asyncio.run(run())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used() -> None:
    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        status, headers, body = result(message)
        return status, {**headers, "Connection": "close"}, body

    async def run() -> None:
        async with session(answering) as (asker, stand):
            for _ in range(3):
                await asker.read_resource("x://y")
            assert stand.connections == 3

    asyncio.run(run())


def test_an_address_that_may_not_be_dialled_is_not() -> None:
    async def run() -> None:
        noted: list[UpstreamError] = []
        guarded_http.faults.set(noted)
        async with (
            guarded_http.GuardedTransport("them", (), ()) as checked,
            HttpSession(dispatcher=HttpDispatcher("http://127.0.0.1:9/mcp", checked, {})) as asker,
        ):
            asker.adopt(DISCOVERED)
            with pytest.raises(httpx2.ConnectError, match="not a public address"):
                await asker.read_resource("x://y")
        assert [one.code for one in noted] == ["unreachable"]

    asyncio.run(run())
