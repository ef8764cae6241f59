"""What the coverage-guided search kept, replayed: each reader keeps its contract, and no input costs more than its size."""

import asyncio
import os
import time
from collections.abc import Iterator
from typing import Final

import pytest

from citations.parse import parse_citation
from sources.parse import InvalidFeed, parse, parse_feed, parse_page
from tests.fuzz import corpus, targets
from tests.fuzz.explore import KEPT, TARGETS
from tests.fuzz.jsonrpc import jsonrpc
from tests.mcpserver.asgi import serving

LONG: Final = 200_000  # bytes of a stretched input
EVERY: Final = int(os.environ.get("FUZZ_EVERY", "20"))  # which of the inputs are stretched; `make fuzz` stretches all of them
SECONDS: Final = 2.0  # of processor time; whatever is quadratic takes minutes


@pytest.mark.django_db
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("target", targets.TARGETS)
def test_what_was_found_keeps_the_contract(target: str) -> None:
    for data in corpus.load(target):
        began = time.process_time()
        targets.TARGETS[target](data)
        assert time.process_time() - began < SECONDS, data


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("sample_wire", "own_door")
def test_what_was_found_is_answered_by_the_mcp_door_the_same_each_time() -> None:
    async def all_of_them() -> None:
        async with serving():
            for data in corpus.load("jsonrpc"):
                await asyncio.wait_for(jsonrpc(data), 20)

    asyncio.run(all_of_them())


def stretched(data: bytes) -> Iterator[bytes]:
    """The input with one of its parts so often that a reader that looks back notices."""
    third = max(1, len(data) // 3)
    for begin in range(0, len(data), third):
        before, part, after = data[:begin], data[begin : begin + third], data[begin + third :]
        yield before + part * (LONG // len(part)) + after


@pytest.mark.parametrize("target", ["feeds", "citations"])
def test_no_part_of_what_was_found_costs_more_than_its_size(target: str) -> None:
    for data in corpus.load(target)[::EVERY]:
        for long in stretched(data):
            began = time.process_time()
            _read(target, long)
            assert time.process_time() - began < SECONDS, (data, long[:200])


def _read(target: str, data: bytes) -> None:
    if target == "citations":
        parse_citation(data[1:].decode("utf-8", "replace"))
        return
    for reader in (parse, parse_feed, parse_page):
        try:
            reader(data)
        except InvalidFeed:
            continue


def test_what_is_kept_is_little_and_comes_back_as_it_was() -> None:
    for target in TARGETS:
        kept = corpus.load(target)
        assert 10 <= len(kept) <= 2 * KEPT
        assert len(set(kept)) == len(kept)
    assert set(TARGETS) == {*targets.TARGETS, "jsonrpc"}
    assert sum(file.stat().st_size for file in corpus.FOLDER.iterdir()) < 300_000
