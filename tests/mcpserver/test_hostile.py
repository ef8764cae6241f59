"""Nothing that is sent breaks the MCP server: it answers with an error in the protocol's own terms, and serves the next client."""

import asyncio
import json
import logging
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.answers import check
from tests.mcpserver import hostile
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, Answer, http_scope, message, request, rpc, rpc_headers, send_request
from tests.mcpserver.hostile import Hostile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]


def is_refused(asked: Hostile, answer: Answer) -> None:
    """It is a JSON-RPC error with the right status, or a tool's own error, and tells nothing of the inside."""
    check(asked.body, answer)
    found = answer.json()
    if "result" in found:
        assert (answer.status, found["result"]["isError"]) == (200, True), (asked.kind, asked.body[:200])
        return
    may_be_200 = ("mcp-protocol-version", MODERN) not in asked.headers
    assert 400 <= answer.status < 500 or (answer.status == 200 and may_be_200), (asked.kind, asked.body[:200], answer.status)


async def send(asked: Hostile) -> Answer:
    return await send_request(http_scope("POST", "/mcp", asked.headers), [asked.body])


async def is_served() -> bool:
    good = hostile.good(MODERN, "get_category", category="launches", limit=1)
    answer = await send_request(http_scope("POST", "/mcp", rpc_headers(good)), [json.dumps(good).encode()])
    return len(answer.result["structuredContent"]["stories"]) == 1


def test_hostile_requests_get_an_error_each_and_hold_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    async def together() -> list[bool]:
        asked = hostile.requests()
        spoiling = asyncio.gather(*map(send, asked))
        served = await asyncio.gather(*(is_served() for _ in range(20)))
        for one, answer in zip(asked, await spoiling, strict=True):
            is_refused(one, answer)
        return served

    with caplog.at_level(logging.INFO):
        assert asyncio.run(together()) == [True] * 20
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


JSON_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
CALLS: Final = [
    *(
        ("tools/call", name)
        for name in ("search_wire", "get_story", "get_category", "get_topic_coverage", "get_entity", "get_consensus", "search")
    ),
    *(("tools/call", name) for name in ("get_citation", "get_editor_take", "list_sources", "verify_source_integrity", "fetch")),
    *(("prompts/get", name) for name in ("daily-briefing", "cite-chatbotnews", "compare-coverage", "topic-deep-dive")),
]
ARGUMENTS: Final = (
    *("query", "category", "source", "since", "limit", "cursor", "detail", "story_id", "topic", "headline", "format", "date"),
    *("tier", "publication_name", "id", "focus", "event", "window_days", "name", "zyzzyva"),
)
ADDRESSES: Final = st.text(max_size=60) | st.sampled_from(["wire://", "wire://story/", "wire://archive/"]).flatmap(
    lambda begun: st.text(max_size=30).map(lambda text: begun + text)
)
METHODS: Final = (
    *("tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "completion/complete"),
    *("initialize", "ping", "nope"),
)
any_examples = settings(max_examples=100)


def is_answered(answer: Answer) -> None:
    assert answer.status in (200, 400, 404), answer.body
    assert answer.json().get("error", {}).get("code") != -32603, answer.body


@pytest.mark.slow
@any_examples
@given(body=st.binary(max_size=200) | JSON_VALUES.map(hostile.as_bytes))
def test_any_bytes_are_refused(body: bytes) -> None:
    answer = request("POST", "/mcp", body, {"content-type": "application/json"})
    assert (answer.status, answer.error["code"]) in ((400, -32600), (400, -32700))


@pytest.mark.slow
@any_examples
@given(
    called=st.sampled_from(CALLS),
    arguments=st.dictionaries(st.sampled_from(ARGUMENTS), JSON_VALUES | st.text(max_size=100), max_size=4),
    era=st.sampled_from(ERAS),
)
def test_any_arguments_are_answered_or_refused(called: tuple[str, str], arguments: dict[str, Any], era: str) -> None:
    method, name = called
    given = {"query": "a", "topic": "openai"} if name in ("search_wire", "get_topic_coverage") else {}
    is_answered(rpc(method, {"name": name, "arguments": given | arguments}, era))


@pytest.mark.slow
@any_examples
@given(uri=ADDRESSES)
def test_any_address_is_read_or_not_found(uri: str) -> None:
    is_answered(rpc("resources/read", {"uri": uri}))


@pytest.mark.slow
@any_examples
@given(params=JSON_VALUES, method=st.sampled_from(METHODS))
def test_any_params_are_answered_or_refused(params: Any, method: str) -> None:
    asked = {**message(method, era=LEGACY), "params": params}
    is_answered(request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers({**asked, "params": {}}, LEGACY)))
