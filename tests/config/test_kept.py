"""Kept answers: found again, dropped when what they are made of changes, made once, bounded."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from config.kept import Kept


@pytest.fixture
def answers() -> Kept:
    opened = Kept(10_000)
    opened.renew(1)
    return opened


def making(answer: Any, size: int | None = 10, log: list[Any] | None = None) -> Callable[[], Awaitable[tuple[Any, int | None]]]:
    async def make() -> tuple[Any, int | None]:
        if log is not None:
            log.append(answer)
        await asyncio.sleep(0)
        return answer, size

    return make


def put(answers: Kept, key: Any, size: int | None = 10) -> None:
    assert asyncio.run(answers.make(key, making(key, size))) == key


def test_what_was_made_is_found_again(answers: Kept) -> None:
    put(answers, "a")
    assert (answers.find("a"), answers.find("b")) == ("a", None)


@pytest.mark.parametrize("change", [lambda kept: kept.renew(2), lambda kept: kept.forget(), lambda kept: kept.renew(None)])
def test_a_publish_drops_everything(answers: Kept, change: Callable[[Kept], None]) -> None:
    put(answers, "a")
    change(answers)
    assert (answers.find("a"), answers.bytes) == (None, 0)


def test_a_new_day_drops_everything(answers: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    put(answers, "a")
    monkeypatch.setattr("config.kept.time.time", lambda: 86_400.0 * 30_000)
    assert answers.find("a") is None


def test_nothing_is_kept_before_the_version_is_known() -> None:
    closed = Kept(10_000)
    put(closed, "a")
    assert closed.find("a") is None


def test_what_was_begun_before_a_publish_is_given_and_not_kept(answers: Kept) -> None:
    async def scenario() -> None:
        begun = asyncio.Event()
        go_on = asyncio.Event()

        async def slow() -> tuple[str, int]:
            begun.set()
            await go_on.wait()
            return "old", 10

        first = asyncio.create_task(answers.make("a", slow))
        await begun.wait()
        answers.forget()
        assert await answers.make("a", making("new")) == "new"  # does not wait for what is old already
        go_on.set()
        assert await first == "old"
        assert answers.find("a") == "new"

    asyncio.run(scenario())


def test_many_who_ask_at_once_make_it_once_and_one_that_leaves_takes_nothing(answers: Kept) -> None:
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


def test_what_failed_is_told_to_all_who_waited_and_tried_again(answers: Kept) -> None:
    async def fails() -> tuple[str, int]:
        await asyncio.sleep(0)
        raise OSError("away")

    async def scenario() -> None:
        found = await asyncio.gather(*(answers.make("a", fails) for _ in range(3)), return_exceptions=True)
        assert [str(error) for error in found] == ["away"] * 3
        assert await answers.make("a", making("back")) == "back"

    asyncio.run(scenario())


def test_the_least_recently_asked_goes_first_and_the_bound_holds(answers: Kept) -> None:
    for number in range(20):
        put(answers, number, 1_000)
        answers.find(0)
        assert answers.bytes <= 10_000
    assert answers.find(0) == 0
    assert answers.find(1) is None
    assert answers.find(19) == 19


def test_a_flood_of_what_is_asked_once_pushes_out_nothing_that_was_asked_again(answers: Kept) -> None:
    put(answers, "often", 2_000)
    assert answers.find("often")
    for number in range(100):
        put(answers, number, 1_000)
        assert answers.bytes <= 10_000
    assert answers.find("often")
    assert answers.count == 9


def test_what_was_asked_again_leaves_room_for_others_and_goes_in_its_turn(answers: Kept) -> None:
    for number in range(50):
        put(answers, number, 1_000)
        assert answers.find(number) == number
        assert answers.bytes <= 10_000
    put(answers, "large", 2_500)
    assert answers.find("large")
    assert answers.find(0) is None
    assert answers.find(49) == 49


def test_looking_whether_an_answer_is_kept_is_not_asking_for_it(answers: Kept) -> None:
    put(answers, "once", 2_000)
    assert "once" in answers
    for number in range(20):
        put(answers, number, 900)
    assert "once" not in answers
    put(answers, "again", 2_000)
    assert answers.find("again")
    answers.forget()
    assert "again" not in answers


def test_what_is_put_in_again_takes_its_own_place(answers: Kept) -> None:
    for size in (1_000, 2_000, 500):
        put(answers, "a", size)
        assert (answers.find("a"), answers.bytes, answers.count) == ("a", size, 1)


@pytest.mark.parametrize("size", [None, 5_000])
def test_what_is_not_to_be_kept_or_too_large_is_given_only(answers: Kept, size: int | None) -> None:
    put(answers, "a", size)
    assert answers.find("a") is None


def test_what_nobody_can_make_anew_goes_on_past_midnight_and_says_that_it_is_stale(
    answers: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, "a")
    assert not answers.is_stale
    answers.lose()
    monkeypatch.setattr("config.kept.time.time", lambda: 86_400.0 * 30_000)
    assert (answers.find("a"), answers.is_stale) == ("a", True)
    answers.renew(1)
    assert (answers.find("a"), answers.is_stale) == (None, False)
