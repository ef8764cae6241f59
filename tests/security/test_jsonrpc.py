"""One named test for each shape of JSON-RPC that no honest client sends; tests/mcpserver/hostile.py makes them."""

import asyncio
from typing import Any

import pytest

from tests.mcpserver import hostile
from tests.mcpserver.asgi import LEGACY, MODERN, http_scope, message, request, rpc_headers, send_request
from tests.mcpserver.test_hostile import is_refused, send

pytestmark = pytest.mark.django_db
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def all_refused(*kinds: str) -> None:
    for asked in hostile.requests(*kinds):
        is_refused(asked, asyncio.run(send(asked)))
    assert request("POST", "/mcp", PING, {"content-type": "application/json"}).status == 200


def test_numbers_that_are_none_are_refused() -> None:
    """NaN, infinities, 5,000 digits, hexadecimal, as an id, an argument or a progress token."""
    all_refused("number")


def test_an_id_that_is_none_is_refused_and_not_echoed() -> None:
    for own_id in (b"NaN", b"-Infinity", b"1e999", b"{}", b"[1]", b"true", b"1.5", b'"\\ud800"'):
        body = b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % own_id
        answer = request("POST", "/mcp", body, {"content-type": "application/json", "mcp-protocol-version": LEGACY})
        assert (answer.status, answer.json()["id"]) == (400, None), own_id


def test_batches_are_refused() -> None:
    all_refused("batch")


def test_a_key_that_comes_twice_hides_nothing() -> None:
    """The last one counts, as for every reader here, and a wrong one is refused whatever came before it."""
    all_refused("key twice")


def test_nesting_of_any_depth_is_refused() -> None:
    all_refused("nested")


@pytest.mark.parametrize("depth", [101, 300, 900, 1_000, 1_020, 1_030])
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_nesting_in_any_place_is_refused(era: str, depth: int) -> None:
    """Whoever looks at it further in (enums, unions, the SDK) would run out of stack, each at a depth of its own."""
    deep = b'{"a":[' * (depth // 2) + b"1" + b"]}" * (depth // 2)
    for method, params in (
        ("tools/call", {"name": "get_category", "arguments": {"category": "DEEP"}}),
        ("tools/call", {"name": "get_story", "arguments": {"DEEP": "DEEP"}}),
        ("prompts/get", {"name": "topic-deep-dive", "arguments": {"topic": "DEEP"}}),
        ("completion/complete", {"ref": "DEEP", "argument": {"name": "topic", "value": "DEEP"}}),
        ("subscriptions/listen", {"notifications": "DEEP"}),
        ("initialize", {"protocolVersion": LEGACY, "capabilities": "DEEP", "clientInfo": "DEEP"}),
        ("ping", {"a": "DEEP"}),
    ):
        asked = message(method, params, era)
        body = hostile.as_bytes(asked).replace(b': "DEEP"', b": " + deep)
        answer = asyncio.run(send_request(http_scope("POST", "/mcp", rpc_headers(asked, era)), [body]))
        assert (answer.status, answer.error["code"], answer.json()["id"]) == (400, -32700, None), (method, answer.body)


@pytest.mark.parametrize("era", [LEGACY, MODERN])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("q" * 60_000, {}),
        ("tools/call", {"name": "q" * 60_000}),
        ("tools/call", {"name": "get_category", "arguments": {"category": "q" * 60_000}}),
        ("tools/call", {"name": "search_wire", "arguments": {"query": "a", "source": "q" * 60_000}}),
        ("tools/call", {"name": "get_story", "arguments": {"story_id": "a", "q" * 60_000: 1}}),
        ("prompts/get", {"name": "q" * 60_000}),
        ("resources/read", {"uri": "wire://" + "q" * 60_000}),
        ("completion/complete", {"ref": {"type": "q" * 60_000}, "argument": {"name": "a", "value": "b"}}),
    ],
    ids=range(8),
)
def test_a_refusal_does_not_throw_what_was_sent_back_at_length(method: str, params: dict[str, Any], era: str) -> None:
    asked = message(method, params, era)
    headers = {**rpc_headers(asked, era)} if era == LEGACY else {**rpc_headers({**asked, "params": {}}, era)}
    refused = hostile.Hostile(method[:50], hostile.as_bytes(asked), list(headers.items()))
    answer = asyncio.run(send(refused))
    is_refused(refused, answer)
    assert len(answer.body) < 2_000


def test_half_characters_are_refused() -> None:
    all_refused("surrogate")


def test_values_of_the_wrong_type_are_refused() -> None:
    all_refused("envelope", "lacking", "no object", "params", "meta")


def test_bytes_that_are_no_json_are_refused() -> None:
    all_refused("truncated", "spoiled", "binary", "trailing", "controls")
