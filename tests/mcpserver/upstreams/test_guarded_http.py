"""Requests to HTTP upstreams: compressed answers, redirects, and the connections below the SDK's client."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest

from mcpserver.upstreams import guarded_http
from mcpserver.upstreams.config import Upstream
from mcpserver.upstreams.connection import Connection
from mcpserver.upstreams.protocol import UpstreamCall, UpstreamError

READ = {"contents": [{"uri": "x://y", "text": "[]"}], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
DISCOVERED = {
    **{"supportedVersions": ["2026-07-28"], "capabilities": {"resources": {}}, "serverInfo": {"name": "them", "version": "1"}},
    **{"ttlMs": 0, "cacheScope": "public", "resultType": "complete"},
}
CALL = UpstreamCall("them", "things", "x://y", {})
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
                if message["method"] == "server/discover":
                    status, more, body = result(message, DISCOVERED)
                else:
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
async def connect(answering: Answering) -> Any:
    stand = Stand(answering)
    server = await asyncio.start_server(stand.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    connection = Connection(Upstream("them", "http", address=address), (ip_network("127.0.0.0/8"),))
    async with server:
        try:
            yield connection, stand
        finally:
            await connection.close()


def result(message: Any, found: Any = READ) -> Reply:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": found}).encode()
    return 200, {"Content-Type": "application/json"}, body


def ask(answering: Answering) -> Any:
    async def run() -> Any:
        async with connect(answering) as (connection, _):
            return await connection.ask(CALL)

    return asyncio.run(run())


def test_a_redirect_is_followed_within_the_origin_only() -> None:
    paths: list[str] = []

    async def to_slash(path: str, _headers: dict[str, str], message: Any) -> Reply:
        paths.append(path)
        return result(message) if path == "/mcp/" else (307, {"Location": "/mcp/"}, b"")

    async def elsewhere(_path: str, _headers: dict[str, str], _message: Any) -> Reply:
        return 307, {"Location": "http://127.0.0.2:1/mcp"}, b""

    assert ask(to_slash) == []
    assert paths == ["/mcp", "/mcp/"]
    with pytest.raises(UpstreamError):
        ask(elsewhere)


def test_a_compressed_answer_is_refused_since_it_may_grow_without_bound() -> None:
    async def answering(_path: str, headers: dict[str, str], message: Any) -> Reply:
        assert headers["accept-encoding"] == "identity"
        status, more, body = result(message)
        return status, {**more, "Content-Encoding": "gzip"}, gzip.compress(body)

    with pytest.raises(UpstreamError, match="compressed"):
        ask(answering)


def test_connections_are_used_again_and_there_are_no_more_than_may_be() -> None:
    together = 0
    most = 0

    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        nonlocal together, most
        together += 1
        most = max(most, together)
        await asyncio.sleep(0.3)
        together -= 1
        return result(message)

    async def run() -> None:
        async with connect(answering) as (connection, stand):
            for _ in range(3):
                await connection.ask(CALL)
            assert stand.connections == 1
            await asyncio.gather(*(connection.ask(CALL) for _ in range(50)))
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
        async with connect(answering) as (connection, _):
            waiting = [asyncio.create_task(connection.ask(CALL)) for _ in range(guarded_http.MAX_CONNECTIONS + 5)]
            await asyncio.sleep(0.1)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            hangs = False
            async with asyncio.timeout(3):
                await asyncio.gather(*(connection.ask(CALL) for _ in range(guarded_http.MAX_CONNECTIONS)))

    asyncio.run(run())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used() -> None:
    async def answering(_path: str, _headers: dict[str, str], message: Any) -> Reply:
        status, headers, body = result(message)
        return status, {**headers, "Connection": "close"}, body

    async def run() -> None:
        async with connect(answering) as (connection, stand):
            for _ in range(3):
                await connection.ask(CALL)
            assert stand.connections == 3

    asyncio.run(run())
