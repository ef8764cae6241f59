"""What a coverage-guided search found, replayed: each reader keeps its contract, and no input costs more than its size."""

import asyncio
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import orjson
import pytest

from citations.find.finder import find_citations
from sources.parse import InvalidFeed, parse_feed, parse_page
from tests.fuzz import targets
from tests.fuzz.answers import check
from tests.mcpserver.asgi import LEGACY, MODERN, Answer, http_scope, rpc_headers, send_request, serving
from wire.queries.verification import MAX_TEXT

pytestmark = pytest.mark.slow

LONG: Final = 200_000  # bytes of a stretched input
EVERY: Final = int(os.environ.get("FUZZ_EVERY", "20"))  # which of the inputs are stretched; `make fuzz` stretches all of them
SECONDS: Final = 2.0  # of processor time; whatever is quadratic takes minutes


@pytest.mark.django_db
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("target", targets.TARGETS)
def test_what_was_found_keeps_the_contract(target: str) -> None:
    for data in targets.inputs(target):
        began = time.process_time()
        targets.TARGETS[target](data)
        assert time.process_time() - began < SECONDS, data


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("sample_wire", "own_door")
def test_what_was_found_is_answered_by_the_mcp_door_the_same_each_time() -> None:
    """The first byte chooses the headers."""

    async def ask(body: bytes, headers: dict[str, str]) -> Answer:
        return await asyncio.wait_for(send_request(http_scope("POST", "/mcp", headers), [body], leaves=True), 20)

    async def all_of_them() -> None:
        async with serving():
            for data in filter(None, targets.inputs("jsonrpc")):
                body, headers = data[1:], headers_of(data[0] % 4, data[1:])
                made, again = await ask(body, headers), await ask(body, headers)
                check(body, made)
                assert (made.status, made.headers, made.body) == (again.status, again.headers, again.body)

    asyncio.run(all_of_them())


def headers_of(kind: int, body: bytes) -> dict[str, str]:
    """No revision, an old one, the new one as it belongs to the body, or as it belongs to another."""
    lists: dict[str, Any] = {"method": "tools/list", "params": {}}
    if kind == 0:
        return {"content-type": "application/json"}
    if kind == 2:
        with suppress(ValueError):
            asked = orjson.loads(body)
            if (
                isinstance(asked, dict)
                and re.fullmatch("[ -~]+", str(asked.get("method")))
                and isinstance(asked.get("params"), dict)
            ):
                return rpc_headers(asked, MODERN)
    return rpc_headers(lists, LEGACY if kind == 1 else MODERN)


def stretched(data: bytes) -> Iterator[bytes]:
    """The input with one of its parts so often that a reader that looks back notices."""
    third = max(1, len(data) // 3)
    for begin in range(0, len(data), third):
        before, part, after = data[:begin], data[begin : begin + third], data[begin + third :]
        yield before + part * (LONG // len(part)) + after


@pytest.mark.parametrize("target", ["feeds", "citations"])
def test_no_part_of_what_was_found_costs_more_than_its_size(target: str) -> None:
    for data in targets.inputs(target)[::EVERY]:
        for long in stretched(data):
            began = time.process_time()
            _read(target, long)
            assert time.process_time() - began < SECONDS, (data, long[:200])


def _read(target: str, data: bytes) -> None:
    if target == "citations":
        find_citations(data[1:].decode("utf-8", "replace")[:MAX_TEXT])
        return
    for reader in (parse_feed, parse_page):
        try:
            reader(data)
        except InvalidFeed:
            continue
