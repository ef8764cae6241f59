"""Nothing that is sent breaks the door: it is an error in the protocol's own terms, and the next client is served."""

import asyncio
import json
import logging
import time
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mcpserver import hostile
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, Answer, http_scope, message, request, rpc, rpc_headers, send_request

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

NUMBER: Final = 500
SEED: Final = 20260728
INTERNAL: Final = (
    "Traceback",
    'File "',
    ".py",
    "site-packages",
    "SELECT ",
    "INSERT ",
    "sqlite",
    "psycopg",
    "django",
    "pydantic",
    "0x7",
)


def is_refused(answer: Answer, kind: str, *, modern: bool) -> None:
    """It is a JSON-RPC error with the right status, or a tool's own error, and tells nothing of the inside."""
    text = answer.body.decode()
    assert not [word for word in INTERNAL if word in text], (kind, text[:500])
    assert len(text) < 20_000, kind
    found = answer.json()
    assert found["jsonrpc"] == "2.0"
    assert "id" in found
    if "result" in found:
        assert (answer.status, found["result"]["isError"]) == (200, True), (kind, text[:500])
        return
    code = found["error"]["code"]
    assert isinstance(code, int)
    assert code != -32603, (kind, text[:500])
    assert isinstance(found["error"]["message"], str)
    assert 400 <= answer.status < 500 or (answer.status == 200 and not modern), (kind, answer.status, text[:500])


def is_served() -> dict[str, Any]:
    return hostile.good(MODERN, "get_category", category="launches", limit=1)


def test_five_hundred_hostile_requests_get_an_error_each_and_good_ones_between_them_are_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def all_of_them() -> None:
        for n, asked in enumerate(hostile.requests(NUMBER, SEED)):
            answer = await send_request(http_scope("POST", "/mcp", asked.headers), asked.chunks())
            is_refused(answer, f"{n} {asked.kind} {asked.body[:200]!r}", modern=("mcp-protocol-version", MODERN) in asked.headers)
            if n % 20 == 19:
                good = is_served()
                served = await send_request(http_scope("POST", "/mcp", rpc_headers(good)), [json.dumps(good).encode()])
                assert len(served.result["structuredContent"]["stories"]) == 1

    began = time.monotonic()
    with caplog.at_level(logging.INFO):
        asyncio.run(all_of_them())
    assert time.monotonic() - began < 20
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_the_same_seed_makes_the_same_requests_of_every_kind() -> None:
    made = hostile.requests(NUMBER, SEED)
    assert {one.kind for one in made} == {kind.__name__ for kind in hostile.KINDS}
    assert len({(one.body, str(one.headers)) for one in made}) > 350


def test_hostile_requests_at_the_same_time_hold_nobody_up() -> None:
    async def together() -> list[Answer]:
        asked = hostile.requests(100, SEED + 1)
        good = [is_served() for _ in range(20)]
        hostile_ones = [send_request(http_scope("POST", "/mcp", one.headers), one.chunks()) for one in asked]
        good_ones = [send_request(http_scope("POST", "/mcp", rpc_headers(one)), [json.dumps(one).encode()]) for one in good]
        await asyncio.gather(*hostile_ones)
        return await asyncio.gather(*good_ones)

    assert all(answer.status == 200 for answer in asyncio.run(together()))


JSON_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
TOOLS: Final = (
    *("search_wire", "get_story", "get_category", "get_topic_coverage", "get_consensus", "get_citation", "get_editor_take"),
    *("list_sources", "verify_source_integrity", "search", "fetch"),
)
PROMPTS: Final = ("daily-briefing", "cite-chatbotnews", "compare-coverage", "topic-deep-dive")
CALLS: Final = [*(("tools/call", name) for name in TOOLS), *(("prompts/get", name) for name in PROMPTS)]
ARGUMENTS: Final = (
    *("query", "category", "source", "since", "limit", "cursor", "detail", "story_id", "topic", "headline", "format", "date"),
    *("tier", "publication_name", "id", "focus", "event", "window_days", "zyzzyva"),
)
TEXTS: Final = [
    *(("search_wire", "query"), ("search_wire", "source"), ("search_wire", "cursor"), ("get_consensus", "headline")),
    *(("verify_source_integrity", "publication_name"), ("search", "query"), ("get_story", "story_id"), ("fetch", "id")),
    *(("get_editor_take", "date"), ("get_topic_coverage", "since")),
]
REQUIRED: Final[dict[str, dict[str, Any]]] = {"search_wire": {"query": "a"}, "get_topic_coverage": {"topic": "openai"}}
ADDRESSES: Final = st.text(max_size=60) | st.sampled_from(["wire://", "wire://story/", "wire://archive/"]).flatmap(
    lambda begun: st.text(max_size=30).map(lambda text: begun + text)
)
any_examples = settings(max_examples=100)


def is_answered(answer: Answer) -> None:
    assert answer.status in (200, 400, 404), answer.body
    found = answer.json()
    assert found.get("error", {}).get("code") != -32603, answer.body
    assert not [word for word in INTERNAL[:4] if word in answer.body.decode()]


@any_examples
@given(body=JSON_VALUES)
def test_any_json_that_is_no_request_is_refused(body: Any) -> None:
    answer = request("POST", "/mcp", json.dumps(body).encode(), {"content-type": "application/json"})
    assert (answer.status, answer.error["code"]) in ((400, -32600), (400, -32700))


@any_examples
@given(body=st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    assert request("POST", "/mcp", body, {"content-type": "application/json"}).status == 400


@any_examples
@given(
    called=st.sampled_from(CALLS),
    arguments=st.dictionaries(st.sampled_from(ARGUMENTS), JSON_VALUES | st.text(), max_size=4),
    era=st.sampled_from(ERAS),
)
def test_any_arguments_are_answered_or_refused(called: tuple[str, str], arguments: dict[str, Any], era: str) -> None:
    method, name = called
    is_answered(rpc(method, {"name": name, "arguments": arguments}, era))


@any_examples
@given(text=st.text(min_size=1, max_size=100), where=st.sampled_from(TEXTS))
def test_any_text_is_answered_or_refused(text: str, where: tuple[str, str]) -> None:
    tool, argument = where
    is_answered(rpc("tools/call", {"name": tool, "arguments": {**REQUIRED.get(tool, {}), argument: text}}))


@any_examples
@given(text=st.text(min_size=1, max_size=100))
def test_any_event_is_compared_or_said_to_be_nowhere(text: str) -> None:
    is_answered(rpc("prompts/get", {"name": "compare-coverage", "arguments": {"event": text}}))


@any_examples
@given(uri=ADDRESSES)
def test_any_address_is_read_or_not_found(uri: str) -> None:
    is_answered(rpc("resources/read", {"uri": uri}))


@any_examples
@given(params=JSON_VALUES, method=st.sampled_from([*hostile.METHODS, "initialize", "ping", "nope"]))
def test_any_params_are_answered_or_refused(params: Any, method: str) -> None:
    asked = {**message(method, era=LEGACY), "params": params}
    is_answered(request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers({**asked, "params": {}}, LEGACY)))
