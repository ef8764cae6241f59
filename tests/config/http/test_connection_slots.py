"""Places for streams: one client, and one network, never have them all."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from config import asgi
from mcpserver import registry
from mcpserver.http import transport
from mcpserver.servers import SERVERS
from tests.mcpserver.asgi import http_scope, message, rpc_headers, send_request, serving
from tests.mcpserver.test_streams import Stream

pytestmark = pytest.mark.django_db(transaction=True)

GET: Final = {"accept": "text/event-stream"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.WIRE_RATE_LIMIT = "off"
    monkeypatch.setattr(asgi, "LOOK", 0.02)
    for path, opened in registry.build_endpoints(SERVERS).items():  # the SDK's streams start once only
        monkeypatch.setitem(registry.doors, path, opened)


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def served() -> None:
        async with serving():
            await scenario()

    asyncio.run(served())


def opening(kind: str, client: str) -> Stream:
    if kind == "listen":
        asked = {**message("subscriptions/listen", {"notifications": {"resourcesListChanged": True}}), "id": 7}
        return Stream(http_scope("POST", "/mcp", rpc_headers(asked), client=client), json.dumps(asked).encode())
    return Stream(http_scope("GET", kind, GET, client=client))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "refused"), [("/api/stream", 429), ("/mcp", 405), ("listen", 429)])
def test_a_client_holds_four_streams_and_others_get_theirs(kind: str, refused: int) -> None:
    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as held:
            for number in range(4):  # one IPv6 /64 is one client
                stream = await held.enter_async_context(opening(kind, f"2001:db8:1::{number}"))
                assert stream.status == 200
            async with opening(kind, "2001:db8:1::9") as fifth:
                assert fifth.status == refused
                assert fifth.headers["retry-after"] == "60"
            async with opening(kind, "2001:db8:1:1::9") as other:
                assert other.status == 200
        async with opening(kind, "2001:db8:1::1") as again:
            assert again.status == 200, "a stream that ended leaves its place"

    run(scenario)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most", "refused"), [("/api/stream", 100, 429), ("/mcp", 50, 405), ("listen", 100, 429)])
@pytest.mark.parametrize("address", ["2001:db8:1:{:x}::1", "198.51.100.{}"])
def test_a_network_holds_a_quarter_of_the_places(kind: str, most: int, refused: int, address: str) -> None:
    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as held:
            for number in range(most // 4):
                stream = await held.enter_async_context(opening(kind, address.format(number)))
                assert stream.status == 200
            async with opening(kind, address.format(200)) as one_more:
                assert one_more.status == refused
            for client in ("2001:db8:2::1", "203.0.113.7"):
                async with opening(kind, client) as stranger:
                    assert stranger.status == 200

    run(scenario)


@pytest.mark.slow
def test_a_refusal_says_what_to_do() -> None:
    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as held:
            for kind in ("/api/stream", "/mcp"):
                for _ in range(4):
                    await held.enter_async_context(opening(kind, "192.0.2.1"))
            told = (await send_request(http_scope("GET", "/api/stream", GET))).json()
            assert told["error"] == "too_many_streams"
            assert "Close one of them first" in told["hint"]
            answer = await send_request(http_scope("GET", "/mcp", GET))
            assert answer["allow"] == "POST, GET, OPTIONS"
            assert "Close one of them first" in answer.error["message"]

    run(scenario)


@pytest.mark.slow
def test_all_places_taken_is_503_for_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_LISTENING", 5)

    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as held:
            for number in range(5):
                await held.enter_async_context(opening("listen", f"192.0.{number}.1"))
            async with opening("listen", "203.0.113.7") as late:
                assert late.status == 503

    run(scenario)


@pytest.mark.slow
@pytest.mark.parametrize(("address", "status"), [("/api/stream", 200), ("/api/stream?kinds=nothing", 422)])
def test_head_of_a_stream_answers_at_once_and_holds_no_place(address: str, status: int) -> None:
    async def scenario() -> None:
        for _ in range(8):
            answer = await send_request(http_scope("HEAD", address))
            assert (answer.status, answer.body) == (status, b"")
        head = await send_request(http_scope("HEAD", "/api/stream"))
        async with opening("/api/stream", "192.0.2.1") as stream:
            assert dict(head.headers) == stream.headers

    run(scenario)
