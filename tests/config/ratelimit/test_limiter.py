"""The limit as a client meets it, with a clock that tests turn."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.ratelimit.limiter import Limiter


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
        if not limiter.count_request("a"):
            served.append(clock.now)
    assert all(later - first >= 60 for first, later in zip(served, served[60:], strict=False))


def test_of_six_hundred_in_a_minute_sixty_pass() -> None:
    clock = Clock()
    limiter = Limiter("60/m", clock)
    passed = 0
    for _ in range(600):
        passed += not limiter.count_request("a")
        clock.now += 0.1
    assert passed == 60


def test_whoever_waits_as_long_as_told_is_let_in() -> None:
    dice, clock = random.Random(7), Clock()
    limiter = Limiter("60/m", clock)
    waited = 0
    while waited < 10_000:
        clock.now += dice.expovariate(5)
        wait = limiter.count_request("a")
        if wait:
            assert 1 <= wait <= 60
            clock.now += wait
            assert limiter.count_request("a") == 0
            waited += 1


def test_a_request_that_is_given_back_leaves_room_for_another() -> None:
    clock = Clock()
    limiter = Limiter("3/m", clock)
    limiter.uncount_request("a")  # of nothing
    for second in range(3):
        clock.now = 1_000.0 + second
        assert limiter.count_request("a") == 0
    limiter.uncount_request("a")
    assert [bool(limiter.count_request("a")) for _ in range(2)] == [False, True]
    assert limiter.count_request("a") == 58, "the newest was given back, so the oldest still decides"


def test_strangers_push_nobody_out_and_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.ratelimit.limiter.MAX_CLIENTS", 100)
    clock = Clock()
    limiter = Limiter("60/m", clock)
    assert [limiter.count_request("victim") for _ in range(60)] == [0] * 60
    for stranger in range(1_000):
        limiter.count_request(f"stranger {stranger}")
    assert limiter.count_request("victim") == 60
    assert len(limiter) == 100
    clock.now += 61
    assert limiter.count_request("victim") == 0
    clock.now += 121
    limiter.count_request("late")
    assert len(limiter) == 1


def test_strangers_that_fill_the_limiter_keep_no_new_client_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.ratelimit.limiter.MAX_CLIENTS", 100)
    limiter = Limiter("60/m", Clock())
    for number in range(100 + 60):
        assert limiter.count_request(f"stranger {number}") == 0
    assert [limiter.count_request("new one") for _ in range(61)] == [0] * 60 + [60]
    assert [limiter.count_request(f"another {number}") for number in range(500)] == [0] * 500


def test_clients_of_one_network_push_out_each_other_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.ratelimit.limiter.MAX_CLIENTS", 100)
    limiter = Limiter("60/m", Clock())
    assert [limiter.count_request("victim", "its own") for _ in range(5)] == [0] * 5, (
        "a light user, whom strangers could push out first"
    )
    for number in range(15_000):
        limiter.count_request(f"neighbour {number}", "large")
    assert len(limiter) == 7
    assert [limiter.count_request("victim", "its own") for _ in range(56)] == [0] * 55 + [60]


def test_a_network_passes_as_much_as_256_clients_and_then_waits_as_told() -> None:
    dice, clock = random.Random(7), Clock()
    limiter = Limiter("2/s", clock)
    passed: list[float] = []
    for number in range(20_000):
        clock.now += dice.expovariate(2_000)
        if not limiter.count_request(f"client {number}", "large"):
            passed.append(clock.now)
    assert 10 * 512 * 0.9 < len(passed) < 12 * 512
    assert all(later - first > 0.9 for first, later in zip(passed, passed[2 * 512 :], strict=False))
    assert limiter.count_request("somebody", "elsewhere") == 0
    clock.now += limiter.count_request("client x", "large")
    assert limiter.count_request("client y", "large") == 0


@given(pauses=st.lists(st.floats(0, 30), max_size=40))
def test_what_still_counts_can_be_looked_at_without_counting(pauses: list[float]) -> None:
    clock = Clock()
    limiter = Limiter("5/m", clock)
    passed = list[float]()
    for pause in pauses:
        clock.now += pause
        recent = [clock.now - at for at in passed if at > clock.now - 60]
        assert limiter.list_request_ages("a") == limiter.list_request_ages("a") == recent
        assert (limiter.count_request("a") == 0) == (len(recent) < 5)
        passed += [clock.now] * (len(recent) < 5)
    assert limiter.list_request_ages("nobody") == []
    assert len(limiter) <= 1
