"""What a client may still ask: told to itself alone, without costing it anything."""

import asyncio
import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from config.http import request_guard
from tests.mcpserver.asgi import ERAS, http_scope, request, rpc, send_request
from tests.mcpserver.test_streams import Stream

pytestmark = pytest.mark.django_db

LIMITS = "/api/limits.json"


@pytest.fixture(autouse=True)
def five_a_minute(settings: Settings) -> Iterator[None]:
    settings.WIRE_RATE_LIMIT = "5/m"
    request_guard._get_limiter.cache_clear()
    yield
    request_guard._get_limiter.cache_clear()


def ask(client: str = "192.0.2.1") -> dict[str, Any]:
    answer = request("GET", LIMITS, client=client)
    assert (answer.status, answer["cache-control"], answer["etag"]) == (200, "no-store", None)
    found: dict[str, Any] = answer.json()
    return found


def ask_tool(era: str) -> dict[str, Any]:
    found: dict[str, Any] = rpc("tools/call", {"name": "check_limits", "arguments": {}}, era).result["structuredContent"]
    return found


@pytest.mark.parametrize("era", ERAS)
def test_it_says_what_is_left_and_costs_nothing(era: str) -> None:
    for used in range(5):
        for _ in range(7):
            requests = ask()["requests"]
            assert (requests["limit"], requests["period_seconds"], requests["remaining"]) == (5, 60, 5 - used)
            assert requests["wait_seconds"] == 0
            assert ask_tool(era)["requests"]["remaining"] == 5 - used
        assert request("GET", "/api/sources.json").status == 200
    full = ask()["requests"]
    assert full["remaining"] == 0
    assert 0 < full["wait_seconds"] <= 60
    until = dt.datetime.fromisoformat(full["resets_at"]) - dt.datetime.now(dt.UTC)
    assert dt.timedelta(0) < until <= dt.timedelta(seconds=61)
    assert request("GET", "/api/sources.json").status == 429


def test_each_client_is_told_its_own_also_at_the_same_time() -> None:
    for _ in range(3):
        request("GET", "/api/sources.json", client="192.0.2.1")

    async def together() -> list[int]:
        clients = ["192.0.2.1", "198.51.100.1"] * 5
        answers = await asyncio.gather(*(send_request(http_scope("GET", LIMITS, client=client)) for client in clients))
        return [answer.json()["requests"]["remaining"] for answer in answers]

    assert asyncio.run(together()) == [2, 5] * 5


def test_a_tool_that_was_called_wrongly_counts() -> None:
    rpc("tools/call", {"name": "check_limits", "arguments": {"x": 1}})
    assert ask()["requests"]["remaining"] == 4


def test_without_a_limit_there_is_nothing_to_say_about_requests(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "off"
    assert ask()["requests"] is None
    assert ask_tool(ERAS[0])["requests"] is None


def test_open_streams_are_counted_by_kind() -> None:
    async def scenario() -> dict[str, tuple[int, int]]:
        async with Stream(http_scope("GET", "/mcp", {"accept": "text/event-stream"})):
            answer = await send_request(http_scope("GET", LIMITS))
        return {one["kind"]: (one["limit"], one["open"]) for one in answer.json()["streams"]}

    assert asyncio.run(scenario()) == {"/api/stream": (4, 0), "GET /mcp": (4, 1), "subscriptions/listen /mcp": (4, 0)}
    assert {one["open"] for one in ask()["streams"]} == {0}


@pytest.mark.slow
def test_it_takes_no_parameter_and_answers_a_head_without_a_body() -> None:
    assert request("GET", f"{LIMITS}?x=1").status == 400
    assert (request("HEAD", LIMITS).status, request("HEAD", LIMITS).body) == (200, b"")
    assert request("POST", LIMITS).status == 405
