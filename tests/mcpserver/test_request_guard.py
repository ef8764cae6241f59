"""What every request passes before its body is read: Host, Origin, size and rate."""

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest
from pytest_django import Settings

from config.http import request_guard
from tests.mcpserver.asgi import Answer, http_scope, request, send_request
from tests.publishers import publisher

pytestmark = pytest.mark.django_db

PING: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
JSON: Final = {"content-type": "application/json"}
LIMIT: Final = 65_536
EVIL: Final = [
    "https://evil.example",
    "null",
    "",
    "https://claude.ai.evil.example",
    "https://evilclaude.ai",
    "https://www.claude.ai",
    "https://claude.ai:8443",
    "http://claude.ai",
    "https://CLAUDE.AI",
    "https://claude.ai/",
    "https://claude.ai@evil.example",
    "https://claude.ai, https://evil.example",
    " https://claude.ai",
    "claude.ai",
    "*",
    "http://localhost:8001",
    "https://claude.ai\x00",
    "https://cl\xe4ude.ai",
]


@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS", "DELETE"])
def test_another_origin_is_refused_before_the_body_is_read(method: str) -> None:
    for origin in EVIL:
        answer = request(method, "/mcp", PING, {**JSON, "accept": "text/event-stream, application/json", "origin": origin})
        assert (answer.status, answer.times_received) == (403, 0), origin
        assert answer.error["data"]["error"] == "origin_refused"
        assert (answer.json()["jsonrpc"], answer.json()["id"]) == ("2.0", None)


def test_a_refused_origin_is_refused_although_the_body_never_comes() -> None:
    scope = http_scope("POST", "/mcp", {**JSON, "origin": "https://evil.example", "content-length": "40"})
    assert asyncio.run(send_request(scope, [])).status == 403


@pytest.mark.parametrize("origin", [None, "https://claude.ai", "https://chatgpt.com", "http://localhost:8000"])
def test_no_origin_and_those_of_the_allowlist_are_served(origin: str | None) -> None:
    headers = {**JSON, "origin": origin} if origin else JSON
    answer = request("POST", "/mcp", PING, headers)
    assert answer.status == 200
    assert answer["access-control-allow-origin"] == origin
    assert (answer["vary"] == "Origin") is (origin is not None)


def test_an_operator_may_allow_another_origin(settings: Settings) -> None:
    settings.WIRE_ALLOWED_ORIGINS = frozenset({"https://tool.example"})
    assert request("POST", "/mcp", PING, {**JSON, "origin": "https://tool.example"}).status == 200
    assert request("POST", "/mcp", PING, {**JSON, "origin": "https://claude.ai"}).status == 403


def test_a_browsers_preflight_is_answered_with_what_a_client_sends() -> None:
    headers = {
        "origin": "https://claude.ai",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,mcp-protocol-version,mcp-method,mcp-name,last-event-id",
    }
    answer = request("OPTIONS", "/mcp", headers=headers)
    assert (answer.status, answer.body) == (204, b"")
    assert answer["access-control-allow-origin"] == "https://claude.ai"
    assert {"POST", "GET", "OPTIONS"} <= set((answer["access-control-allow-methods"] or "").split(", "))
    asked = set(headers["access-control-request-headers"].split(","))
    assert asked <= set((answer["access-control-allow-headers"] or "").split(", "))
    assert request("OPTIONS", "/mcp").status == 204


def test_every_answer_can_be_read_by_the_page_that_asked() -> None:
    claude = {"origin": "https://claude.ai"}
    for method, body, headers in (
        ("POST", b"not json", JSON),
        ("POST", PING, {"content-type": "text/plain"}),
        ("POST", b'{"jsonrpc":"2.0","method":"notifications/initialized"}', JSON),
        ("GET", b"", {"accept": "application/json"}),
        ("DELETE", b"", {}),
    ):
        assert request(method, "/mcp", body, {**headers, **claude})["access-control-allow-origin"] == "https://claude.ai"


HOSTS: Final = [
    "evil.example",
    "localhost.evil.example",
    "evil-localhost",
    "localhost:8000.evil.example",
    "localhost:8000@evil.example",
    "localhost:80:80",
    "localhost:x",
    "[::1]evil.example",
    "[::1",
    "::1",
    "127.0.0.2",
    "0",
    "localhost,evil.example",
    "localhost/",
    " localhost",
    "",
    ":8000",
    "localhost\x00",
]


def test_a_host_that_is_not_ours_is_misdirected_before_the_body_is_read() -> None:
    for host in HOSTS:
        for method, path in (("POST", "/mcp"), ("GET", "/api/today.json"), ("GET", "/")):
            answer = request(method, path, PING, {**JSON, "host": host})
            assert (answer.status, answer.times_received) == (421, 0), host


def test_our_own_names_are_served_on_any_port() -> None:
    for host in ("localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8000", "[::1]", "[::1]:8000"):
        assert request("POST", "/mcp", PING, {**JSON, "host": host}).status == 200


def padded(size: int) -> bytes:
    return PING + b" " * (size - len(PING))


TOO_LARGE: Final = [str(LIMIT + 1), "10000000", "1" + "0" * 5000, "-1", "1e3", "0x10", "x", "", "1, 1", "²"]


def test_a_body_said_to_be_too_large_is_refused_before_it_is_read() -> None:
    for length in TOO_LARGE:
        for path, code in (("/mcp", "-32000"), ("/api/today.json", "body_too_large")):
            answer = request("POST", path, PING, {**JSON, "content-length": length})
            assert (answer.status, answer.times_received) == (413, 0), length
            assert code in answer.body.decode()


def chunks(number: int, size: int = 1024) -> Iterator[bytes]:
    yield PING
    for _ in range(number):
        yield b" " * size


@pytest.mark.parametrize("path", ["/mcp", "/api/today.json"])
def test_a_body_that_grows_too_large_is_refused_as_soon_as_it_is(path: str) -> None:
    answer = asyncio.run(send_request(http_scope("POST", path, JSON), chunks(10_000)))
    assert answer.status == 413
    assert answer.times_received == 1 + LIMIT // 1024


def test_a_body_of_exactly_the_limit_is_read() -> None:
    assert request("POST", "/mcp", padded(LIMIT), JSON).status == 200
    assert request("POST", "/mcp", padded(LIMIT + 1), JSON).status == 413
    assert asyncio.run(send_request(http_scope("POST", "/mcp", JSON), chunks(60))).status == 200
    assert asyncio.run(send_request(http_scope("POST", "/mcp", JSON), [PING[n : n + 1] for n in range(len(PING))])).status == 200


@pytest.fixture
def limited(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "6/m"
    request_guard._get_limiter.cache_clear()  # nobody has asked yet


BOTH: Final = [
    ("POST", "/mcp"),
    ("GET", "/api/sources.json"),
    ("GET", "/mcp"),
    ("GET", "/api/verify-source.json?publication_name=FT"),
]


def refused(ask: list[tuple[str, str]], clients: list[str]) -> Answer:
    """The refusal of the seventh request. Clients and doors take turns."""
    answers = []
    for number in range(7):
        method, path = ask[number % len(ask)]
        body = PING if method == "POST" else b""
        answers.append(request(method, path, body, JSON, client=clients[number % len(clients)]))
    assert {answer.status for answer in answers[:6]} <= {200, 405}
    assert answers[6].status == 429
    return answers[6]


@pytest.mark.usefixtures("limited")
def test_so_many_requests_a_minute_are_served_over_both_doors_together_and_then_told_when_to_return() -> None:
    answer = refused(BOTH, ["198.51.100.1"])
    wait = answer["retry-after"] or ""
    assert 50 <= int(wait) <= 60
    assert f"Wait {wait} seconds" in answer.body.decode()
    assert (answer["ratelimit-policy"], answer["ratelimit"]) == ('"doors";q=6;w=60', f'"doors";r=0;t={wait}')
    assert answer["access-control-expose-headers"] == "Retry-After, RateLimit, RateLimit-Policy"
    assert "rate_limited" in answer.body.decode()
    assert answer.times_received == 0
    other = request("POST", "/mcp", PING, JSON, client="203.0.113.9")
    assert (other.status, other["ratelimit"]) == (200, None)


@pytest.mark.usefixtures("limited")
def test_a_search_card_or_picture_of_the_site_counts_like_a_search_of_rest_and_other_pages_do_not(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "6/m"
    others = ("/", "/sources", "/feeds/today.rss", "/llms.txt", "/archive", "/robots.txt", "/nowhere", "/searching")
    searches = ("/search?query=a", "/feeds/search.rss?query=a", "/feeds/search.json?query=a", "/api/search.json?query=a")
    counted = (*searches, "/og/site.png", "/pictures/cbn-000000000000.webp")
    assert 429 not in {request("GET", path).status for path in others}
    assert 429 not in {request("GET", path).status for path in counted}
    for path in counted:
        answer = request("GET", path)
        assert (answer.status, answer.json()["error"]) == (429, "rate_limited"), path
        assert 0 < int(answer["retry-after"] or 0) <= 60
    assert 429 not in {request("GET", path).status for path in others}


@pytest.mark.usefixtures("limited")
def test_an_ipv4_client_is_the_same_over_ipv6() -> None:
    refused(BOTH, ["192.0.2.7", "::ffff:192.0.2.7"])


@pytest.mark.usefixtures("limited")
def test_an_ipv6_client_is_its_64_bit_network() -> None:
    refused(BOTH, ["2001:db8:1::1", "2001:db8:1::ffff", "2001:db8:1:0:1:2:3:4"])


@pytest.mark.usefixtures("limited")
def test_a_refusal_has_the_shape_of_its_door_and_a_preflight_is_free() -> None:
    mcp = refused([("POST", "/mcp")], ["198.51.100.4"])
    assert (mcp.json()["jsonrpc"], mcp.json()["id"], mcp.error["code"]) == ("2.0", None, -32000)
    assert mcp["cache-control"] == "no-store"
    rest = request("GET", "/api/today.json", client="198.51.100.4")
    assert (rest.status, list(rest.json())) == (429, ["error", "message", "hint"])
    assert rest["access-control-allow-origin"] == "*"
    assert request("OPTIONS", "/mcp", client="198.51.100.4").status == 204


@pytest.mark.usefixtures("limited")
def test_a_client_without_an_address_is_counted_too() -> None:
    scope = http_scope("POST", "/mcp", JSON)
    scope["client"] = None
    statuses = [asyncio.run(send_request(scope, [PING])).status for _ in range(7)]
    assert statuses == [200] * 6 + [429]


@pytest.mark.usefixtures("limited")
@pytest.mark.django_db(transaction=True)
def test_a_publishers_own_limit_holds_for_its_server_and_its_addresses_together(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "60/m"
    publisher(per_minute=2)
    publisher("other")
    served = "/mcp/articles/chef"
    asked = [("POST", served), ("GET", "/api/articles/chef/recent.json")]
    for method, path in asked:
        assert request(method, path, PING if method == "POST" else b"", JSON).status == 200
    for method, path in (*asked, ("GET", "/api/articles/chef.json")):
        answer = request(method, path, PING if method == "POST" else b"", JSON)
        assert (answer.status, answer["ratelimit-policy"]) == (429, '"doors";q=2;w=60')
    assert request("POST", "/mcp/articles/other", PING, JSON).status == 200
    assert request("POST", served, PING, JSON, client="203.0.113.9").status == 200
