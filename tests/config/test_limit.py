"""The limit as a client meets it, with a clock that tests turn."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config import limit
from config.limit import Limiter


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(pauses=st.lists(st.floats(0, 30), min_size=70, max_size=400))
def test_no_minute_ever_has_more_than_sixty(pauses: list[float]) -> None:
    clock = Clock()
    limiter = Limiter("60/m", clock)
    served = []
    for pause in pauses:
        clock.now += pause
        if not limiter.wait("a"):
            served.append(clock.now)
    assert all(later - first >= 60 for first, later in zip(served, served[60:], strict=False))


def test_of_six_hundred_in_a_minute_sixty_pass() -> None:
    for offset in (0.0, 17.3, 59.95):
        clock = Clock()
        clock.now += offset
        limiter = Limiter("60/m", clock)
        passed = 0
        for _ in range(600):
            passed += not limiter.wait("a")
            clock.now += 0.1
        assert passed == 60


def test_whoever_waits_as_long_as_told_is_let_in() -> None:
    dice = random.Random(7)
    clock = Clock()
    limiter = Limiter("60/m", clock)
    waited = 0
    while waited < 10_000:
        clock.now += dice.expovariate(5)
        wait = limiter.wait("a")
        if wait:
            assert 1 <= wait <= 60
            clock.now += wait
            assert limiter.wait("a") == 0
            waited += 1


def test_a_high_limit_keeps_few_times_and_still_holds() -> None:
    clock = Clock()
    limiter = Limiter("60000/m", clock)
    passed = 0
    for _ in range(90_000):
        passed += not limiter.wait("a")
        clock.now += 59 / 90_000
    assert passed == 60_000
    assert len(limiter._clients["a"].times) <= limit.GRAINS + 1
    clock.now += 62
    assert limiter.wait("a") == 0


def test_strangers_push_nobody_out_and_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "MOST_CLIENTS", 100)
    clock = Clock()
    limiter = Limiter("60/m", clock)
    assert [limiter.wait("victim") for _ in range(60)] == [0] * 60
    for stranger in range(1_000):
        limiter.wait(f"stranger {stranger}")
    assert limiter.wait("victim") == 60
    assert len(limiter._clients) <= 101
    clock.now += 61
    assert limiter.wait("victim") == 0
    clock.now += 121
    limiter.wait("late")
    assert list(limiter._clients) == ["late"]
