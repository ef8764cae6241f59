"""A second MCP server in the same process shares the edge, the cache and the lifespan with the wire, and nothing else."""

import asyncio
import json
from typing import Any, Final

import pytest
from pytest_django import Settings

from config import asgi
from config.http import memory_cache, request_guard
from config.http.request_guard import Edge
from mcpserver import registry
from mcpserver.http import stream
from mcpserver.http.threads import run_query
from mcpserver.servers import SERVERS
from mcpserver.tooling import usage
from tests.factories import entry, publish
from tests.mcpserver import asgi as harness
from tests.mcpserver.asgi import ERAS, LEGACY, http_scope, message, request, rpc, rpc_headers, send_request, serving
from tests.mcpserver.second_server import ANSWER
from tests.mcpserver.test_streams import CHANGED, GET, Stream
from wire.models import UsageCount

pytestmark = pytest.mark.django_db(transaction=True)

SECOND: Final = "/mcp/second"
PATHS: Final = ("/mcp", SECOND)
CALL: Final = {"name": "search_wire", "arguments": {"query": "quince"}}
JSON: Final = {"content-type": "application/json"}
PING: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture(autouse=True)
def two_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application as it is with one more line in SERVERS."""
    opened = registry.build_endpoints({**SERVERS, SECOND: "tests.mcpserver.second_server"})
    for path in opened:
        monkeypatch.setitem(registry.doors, path, opened[path])
    monkeypatch.setattr(harness, "application", Edge(asgi._route_request, {path: one.name for path, one in opened.items()}))
    monkeypatch.setattr(asgi, "LOOK", 0.02)
    publish(entry(title="Quince opens"))


@pytest.mark.parametrize("era", ERAS)
def test_each_answers_for_itself_whoever_was_asked_first(era: str) -> None:
    def wire() -> list[dict[str, Any]]:
        return [rpc(method, params, era).result for method, params in (("tools/list", {}), ("tools/call", CALL))]

    expected = wire()
    memory_cache.answers.set_version(1)
    try:
        for _ in range(3):
            (tool,) = rpc("tools/list", {}, era, SECOND).result["tools"]
            assert (tool["name"], tool["description"]) == ("search_wire", ANSWER)
            assert rpc("tools/call", CALL, era, SECOND).result["content"] == [{"type": "text", "text": ANSWER}]
            assert wire() == expected
        assert memory_cache.answers.count == 2 * (2 + 2), "each has its results and its requests"
    finally:
        memory_cache.answers.set_version(None)
    assert expected[1]["structuredContent"]["total"] == 1
    assert len(expected[0]["tools"]) == 21
    assert rpc("resources/list", {}, era, SECOND).error["code"] == -32601


def test_each_counts_its_own_usage_by_names_of_its_own() -> None:
    usage._waiting.clear()
    for path, times in (("/mcp", 2), (SECOND, 3)):
        for _ in range(times):
            rpc("tools/call", CALL, LEGACY, path)
            rpc("tools/call", {"name": "list_sources", "arguments": {}}, LEGACY, path)
    asyncio.run(usage.flush())
    counts: dict[tuple[str, str, str], int] = {}
    for row in UsageCount.objects.all():
        key = (row.server, row.name, row.outcome)
        counts[key] = counts.get(key, 0) + row.count
    assert counts == {
        ("wire", "search_wire", "success"): 2,
        ("wire", "list_sources", "success"): 2,
        ("second_server", "search_wire", "success"): 3,
        ("second_server", "(unknown)", "success"): 3,
    }


def test_each_has_a_limit_of_its_own_and_the_wires_includes_rest(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "3/m"
    request_guard._get_limiter.cache_clear()
    for path in PATHS:
        assert [request("POST", path, PING, JSON).status for _ in range(4)] == [200, 200, 200, 429]
    assert request("POST", SECOND, PING, JSON).error["data"]["error"] == "rate_limited"
    assert request("GET", "/api/today.json").status == 429


def test_host_and_origin_are_checked_for_both() -> None:
    for path in PATHS:
        assert request("POST", path, PING, JSON | {"host": "evil.example"}).status == 421
        refused = request("POST", path, PING, JSON | {"origin": "https://evil.example"})
        assert (refused.status, refused.times_received, refused.error["code"]) == (403, 0, -32000)
        assert request("POST", path, b" " * 70_000, JSON).status == 413
        assert (
            request("POST", path, PING, JSON | {"origin": "https://claude.ai"})["access-control-allow-origin"]
            == "https://claude.ai"
        )


@pytest.mark.slow
def test_each_has_streams_of_its_own_and_all_are_told_of_a_publish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_OPEN", 1)

    def listening(path: str) -> Stream:
        asked = message("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
        return Stream(http_scope("POST", path, rpc_headers(asked)), json.dumps(asked).encode())

    async def scenario() -> None:
        async with (
            serving(),
            Stream(http_scope("GET", "/mcp", GET)) as first,
            Stream(http_scope("GET", SECOND, GET)) as second,
            listening("/mcp") as third,
            listening(SECOND) as fourth,
        ):
            for path in PATHS:
                assert (await send_request(http_scope("GET", path, GET))).status == 405, "it has one, and may have no other"
            await run_query(publish, entry())
            for opened in (first, second, third, fourth):
                assert opened.status == 200
                assert (await opened.told())["method"] == CHANGED

    asyncio.run(scenario())
