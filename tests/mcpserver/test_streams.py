"""Streams: a publish is announced on every open one, and none stays open for ever or in any number."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, Self

import pytest

from config import asgi
from mcpserver import registry
from mcpserver.http import stream
from mcpserver.http.threads import run_query
from mcpserver.http.transport import StreamingEndpoint
from mcpserver.servers import SERVERS
from tests.factories import entry, publish
from tests.mcpserver import asgi as harness
from tests.mcpserver.asgi import LEGACY, Answer, http_scope, message, rpc_headers, send_request, serving

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE: Final = 10.0  # seconds
CHANGED: Final = "notifications/resources/list_changed"
GET: Final = {"accept": "text/event-stream"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A door of its own, since the SDK's streams start once only, that looks for publishes often."""
    monkeypatch.setitem(registry.doors, "/mcp", registry.build_endpoints(SERVERS)["/mcp"])
    monkeypatch.setattr(asgi, "LOOK", 0.02)


def open_streams() -> dict[asyncio.Event, list[str]]:
    wires = registry.doors["/mcp"]
    assert isinstance(wires, StreamingEndpoint)
    return wires._streams._open


class Stream:
    """A request that is held open until it is left or the server ends it."""

    def __init__(self, scope: dict[str, Any], body: bytes = b"") -> None:
        self.scope, self.body = scope, [body]
        self.status = 0
        self.headers: dict[str, str] = {}
        self.chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self.gone, self.ended = asyncio.Event(), False

    async def _receive(self) -> dict[str, Any]:
        if self.body:
            return {"type": "http.request", "body": self.body.pop(), "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, sent: Any) -> None:
        if sent["type"] == "http.response.start":
            self.status = sent["status"]
            self.headers = {name.decode(): value.decode() for name, value in sent["headers"]}
        else:
            assert not self.ended, "nothing follows the end"
            self.ended = not sent.get("more_body", False)
            self.chunks.put_nowait(sent.get("body", b""))

    async def __aenter__(self) -> Self:
        self.task = asyncio.create_task(harness.application(self.scope, self._receive, self._send))
        await self.next()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.gone.set()
        await asyncio.wait_for(self.task, PATIENCE)

    async def next(self) -> bytes:
        return await asyncio.wait_for(self.chunks.get(), PATIENCE)

    async def told(self) -> dict[str, Any]:
        """The next message, heartbeats passed over."""
        while True:
            for line in (await self.next()).decode().splitlines():
                if line.startswith("data: "):
                    found: dict[str, Any] = json.loads(line.removeprefix("data: "))
                    return found


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def served() -> None:
        async with serving():
            await scenario()

    asyncio.run(served())


def listening() -> Stream:
    """`subscriptions/listen`, the latest revision's own way."""
    asked = {**message("subscriptions/listen", {"notifications": {"resourcesListChanged": True}}), "id": 7}
    return Stream(http_scope("POST", "/mcp", rpc_headers(asked)), json.dumps(asked).encode())


@pytest.mark.slow
def test_a_publish_is_announced_on_every_open_stream() -> None:
    async def scenario() -> None:
        async with Stream(http_scope("GET", "/mcp", GET)) as one, Stream(http_scope("GET", "/mcp", GET)) as other:
            for opened in (one, other):
                assert (opened.status, opened.headers["content-type"]) == (200, "text/event-stream")
                assert "no-cache" in opened.headers["cache-control"]
                assert "mcp-session-id" not in opened.headers
            for _ in range(2):
                await run_query(publish, entry())
                for opened in (one, other):
                    assert await opened.told() == {"jsonrpc": "2.0", "method": CHANGED}

    run(scenario)


@pytest.mark.slow
def test_every_handshake_revision_has_the_stream() -> None:
    async def scenario() -> None:
        for version in ("2025-03-26", "2025-06-18", LEGACY):
            async with Stream(http_scope("GET", "/mcp", {**GET, "mcp-protocol-version": version})) as opened:
                await run_query(publish, entry())
                assert (await opened.told())["method"] == CHANGED

    run(scenario)


@pytest.mark.slow
def test_the_latest_revision_is_told_by_its_own_subscription() -> None:
    async def scenario() -> None:
        async with listening() as opened:
            assert (opened.status, opened.headers["content-type"]) == (200, "text/event-stream")
            await run_query(publish, entry())
            told = await opened.told()
            assert told["method"] == CHANGED
            assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 7

    run(scenario)


@pytest.mark.slow
def test_a_stream_shows_that_it_lives_and_ends_in_good_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT", 0.05)
    monkeypatch.setattr(stream, "LIFETIME", 0.4)

    async def scenario() -> None:
        began = asyncio.get_running_loop().time()
        async with Stream(http_scope("GET", "/mcp", GET)) as opened:
            seen = [await opened.next()]
            while not opened.ended or not opened.chunks.empty():
                seen.append(await opened.next())
            assert 0.3 < asyncio.get_running_loop().time() - began < 5
            assert seen[-1] == b""
            assert len(seen) > 3
            assert all(chunk.startswith(b": ") for chunk in seen[:-1])
        assert not open_streams()

    run(scenario)


@pytest.mark.slow
def test_a_subscription_ends_in_good_order_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LIFETIME", 0.3)

    async def scenario() -> None:
        async with listening() as opened:
            while not opened.ended:
                await opened.next()
            await asyncio.wait_for(opened.task, 1)

    run(scenario)


@pytest.mark.slow
def test_a_client_that_leaves_is_let_go_at_once() -> None:
    async def scenario() -> None:
        async with Stream(http_scope("GET", "/mcp", GET)) as opened:
            assert len(open_streams()) == 1
            opened.gone.set()
            await asyncio.wait_for(opened.task, 2)
            assert not open_streams()

    run(scenario)


@pytest.mark.slow
def test_beyond_the_most_streams_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_OPEN", 2)

    async def scenario() -> None:
        async with Stream(http_scope("GET", "/mcp", GET)), Stream(http_scope("GET", "/mcp", GET)):
            refused = await send_request(http_scope("GET", "/mcp", GET))
            assert (refused.status, refused["retry-after"]) == (405, "60")
            assert refused["allow"]
        async with Stream(http_scope("GET", "/mcp", GET)) as opened:
            assert opened.status == 200

    run(scenario)


@pytest.mark.slow
def test_a_browser_client_of_the_allowlist_may_read_either_stream() -> None:
    async def scenario() -> None:
        claude = {"origin": "https://claude.ai"}
        asked = message("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
        for opening in (
            Stream(http_scope("GET", "/mcp", GET | claude)),
            Stream(http_scope("POST", "/mcp", rpc_headers(asked) | claude), json.dumps(asked).encode()),
        ):
            async with opening as opened:
                assert opened.headers["access-control-allow-origin"] == "https://claude.ai"

    run(scenario)


@pytest.mark.slow
def test_a_subscription_that_cannot_be_read_is_an_error_and_no_stream() -> None:
    async def asked(asked: dict[str, Any], headers: dict[str, str]) -> Answer:
        return await send_request(http_scope("POST", "/mcp", headers), [json.dumps(asked).encode()])

    async def scenario() -> None:
        good = message("subscriptions/listen", {"notifications": {}})
        for wrong, code in (
            ({**good, "params": {"notifications": {}}}, -32602),
            ({**good, "params": {**good["params"], "notifications": 5}}, -32602),
            ({**good, "id": None}, -32600),
            ({**good, "id": 1.5}, -32600),
            ({**good, "params": []}, -32600),
        ):
            answer = await asked(wrong, rpc_headers(good))
            assert (answer.status, answer.error["code"]) == (400, code), wrong
        answer = await asked(good, rpc_headers(good) | {"mcp-method": "tools/list"})
        assert (answer.status, answer.error["code"]) == (400, -32020)
        answer = await asked(good, {"content-type": "application/json"})
        assert (answer.status, answer.error["code"]) == (400, -32020)

    run(scenario)
