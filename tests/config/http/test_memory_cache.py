"""Cached answers: found again, dropped when what they are made of changes, made once, bounded in bytes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from config.http.memory_cache import AnswerCache


@pytest.fixture
def answers() -> AnswerCache:
    opened = AnswerCache(10_000)
    opened.set_version(1)
    return opened


def making(answer: Any, size: int | None = 10, log: list[Any] | None = None) -> Callable[[], Awaitable[tuple[Any, int | None]]]:
    async def make() -> tuple[Any, int | None]:
        if log is not None:
            log.append(answer)
        await asyncio.sleep(0)
        return answer, size

    return make


def put(answers: AnswerCache, key: Any, size: int | None = 10) -> None:
    assert asyncio.run(answers.make(key, making(key, size))) == key


def tomorrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.http.memory_cache.time.time", lambda: 86_400.0 * 30_000)


def test_an_answer_is_found_again(answers: AnswerCache) -> None:
    put(answers, "a")
    assert (answers.get("a"), answers.get("b")) == ("a", None)


@pytest.mark.parametrize(
    "change", [lambda cache: cache.set_version(2), lambda cache: cache.clear(), lambda cache: cache.set_version(None)]
)
def test_a_publish_drops_everything(answers: AnswerCache, change: Callable[[AnswerCache], None]) -> None:
    put(answers, "a")
    change(answers)
    assert (answers.get("a"), answers.bytes, answers.count) == (None, 0, 0)


def test_a_new_day_drops_everything(answers: AnswerCache, monkeypatch: pytest.MonkeyPatch) -> None:
    put(answers, "a")
    tomorrow(monkeypatch)
    assert answers.get("a") is None


def test_past_midnight_a_stale_answer_goes_on_until_the_version_is_read_again(
    answers: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, "a")
    answers.mark_stale()
    tomorrow(monkeypatch)
    assert (answers.get("a"), answers.is_stale) == ("a", True)
    answers.set_version(1)
    assert (answers.get("a"), answers.is_stale) == (None, False)


def test_nothing_is_cached_before_the_version_is_known_or_without_room() -> None:
    closed, without_room = AnswerCache(10_000), AnswerCache(0)
    without_room.set_version(1)
    for cache in (closed, without_room):
        put(cache, "a")
        assert (cache.get("a"), cache.bytes) == (None, 0)
    assert closed.generation is None


def test_an_answer_begun_before_a_publish_is_given_and_not_cached(answers: AnswerCache) -> None:
    async def scenario() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> tuple[str, int]:
            begun.set()
            await go_on.wait()
            return "old", 10

        first = asyncio.create_task(answers.make("a", slow))
        await begun.wait()
        answers.clear()
        assert await answers.make("a", making("new")) == "new"  # does not wait for what is old already
        go_on.set()
        assert await first == "old"
        assert answers.get("a") == "new"

    asyncio.run(scenario())


def test_many_who_ask_at_the_same_time_have_it_made_once_and_one_that_leaves_takes_nothing(answers: AnswerCache) -> None:
    log: list[Any] = []

    async def scenario() -> None:
        asked = [asyncio.create_task(answers.make("a", making("x", log=log))) for _ in range(20)]
        await asyncio.sleep(0)
        asked[0].cancel()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert found[1:] == ["x"] * 19

    asyncio.run(scenario())
    assert log == ["x"]


def test_an_error_goes_to_all_who_waited_and_the_next_one_tries_again(answers: AnswerCache) -> None:
    async def fails() -> tuple[str, int]:
        await asyncio.sleep(0)
        raise OSError("away")

    async def scenario() -> None:
        found = await asyncio.gather(*(answers.make("a", fails) for _ in range(3)), return_exceptions=True)
        assert [str(error) for error in found] == ["away"] * 3
        assert await answers.make("a", making("back")) == "back"

    asyncio.run(scenario())


def test_what_was_not_requested_for_longest_goes_first(answers: AnswerCache) -> None:
    put(answers, "often", 2_000)
    for number in range(100):
        put(answers, number, 1_000)
        assert answers.get("often")
        assert answers.bytes <= 10_000
    assert answers.count == 9
    assert (answers.get(91), answers.get(99)) == (None, 99)


def test_an_answer_that_is_put_again_takes_its_own_place(answers: AnswerCache) -> None:
    for size in (1_000, 2_000, 500):
        put(answers, "a", size)
        assert (answers.get("a"), answers.bytes, answers.count) == ("a", size, 1)


@pytest.mark.parametrize("size", [None, 5_000])
def test_an_answer_that_is_too_large_or_not_to_be_cached_is_given_only(answers: AnswerCache, size: int | None) -> None:
    put(answers, "a", size)
    assert answers.get("a") is None
