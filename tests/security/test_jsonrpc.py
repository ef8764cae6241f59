"""One named test for each shape of JSON-RPC that no honest client sends; tests/mcpserver/hostile.py makes them."""

import asyncio
import random
from collections.abc import Callable

import pytest

from tests.mcpserver import hostile
from tests.mcpserver.asgi import LEGACY, MODERN, http_scope, request, send_request
from tests.mcpserver.test_hostile import is_refused

pytestmark = pytest.mark.django_db
Kind = Callable[[random.Random], tuple[bytes, hostile.Pairs]]
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def all_refused(kind: Kind, number: int = 60) -> None:
    rng = random.Random(20260728)
    for _ in range(number):
        body, headers = kind(rng)
        answer = asyncio.run(send_request(http_scope("POST", "/mcp", headers), [body]))
        is_refused(answer, f"{kind.__name__} {body[:200]!r}", modern=("mcp-protocol-version", MODERN) in headers)
    assert request("POST", "/mcp", PING, {"content-type": "application/json"}).status == 200


def test_numbers_that_are_none_are_refused() -> None:
    """NaN, infinities, 5,000 digits, hexadecimal, as an id, an argument or a progress token."""
    all_refused(hostile.numbers)


def test_an_id_that_is_none_is_refused_and_not_echoed() -> None:
    for own_id in (b"NaN", b"-Infinity", b"1e999", b"{}", b"[1]", b"true", b"1.5", b'"\\ud800"'):
        body = b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % own_id
        answer = request("POST", "/mcp", body, {"content-type": "application/json", "mcp-protocol-version": LEGACY})
        assert (answer.status, answer.json()["id"]) == (400, None), own_id


def test_batches_are_refused() -> None:
    all_refused(hostile.batch)


def test_a_key_that_comes_twice_hides_nothing() -> None:
    """The last one counts, as for every reader here, and a wrong one is refused whatever came before it."""
    all_refused(hostile.twice)


def test_nesting_of_any_depth_is_refused() -> None:
    all_refused(hostile.nested, 20)


def test_half_characters_are_refused() -> None:
    all_refused(hostile.surrogates)


def test_values_of_the_wrong_type_are_refused() -> None:
    for kind in (hostile.envelope, hostile.lacking, hostile.no_object, hostile.params, hostile.meta):
        all_refused(kind)


def test_bytes_that_are_no_json_are_refused() -> None:
    for kind in (hostile.truncated, hostile.spoiled, hostile.binary, hostile.trailing, hostile.controls):
        all_refused(kind)
