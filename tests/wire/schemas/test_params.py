"""Days and moments as callers name them."""

import contextlib
import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.schemas import params
from wire.text.date_range import DAY

TODAY = dt.date(2026, 1, 17)  # a Saturday


@pytest.fixture(autouse=True, scope="module")
def saturday() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(params, "utc_today", lambda: TODAY)
        yield


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-01-14", "2026-01-14"),
        ("today", "2026-01-17"),
        ("Yesterday", "2026-01-16"),
        ("14 January 2026", "2026-01-14"),
        ("2026-01-14/2026-01-14", "2026-01-14"),
        ("9999-12-31", "9999-12-31"),
    ],
)
def test_a_day_may_be_named_in_words(text: str, day: str) -> None:
    assert str(params.read_day(text)) == day


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("last week", "2026-01-05 to 2026-01-11"),
        ("this week", "2026-01-12 to 2026-01-17"),
        ("May 2026", "2026-05-01 to 2026-05-31"),
        ("2026-01-14/2026-01-15", "2026-01-14 to 2026-01-15"),
    ],
)
def test_a_period_of_several_days_is_no_day_and_the_refusal_says_so(text: str, days: str) -> None:
    with pytest.raises(ValueError, match=f"several days, {days}, where one day is needed: .*2026-01-14, today or yesterday"):
        params.read_day(text)


@pytest.mark.parametrize("strange", ["soon", "since yesterday", "2026-1-1", "2026-02-30", "2026-01-01/9999-12-31", 20260114, None])
def test_what_is_no_day_is_refused(strange: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  its words are the calendar's, too
        params.read_day(strange)


WORDS = st.sampled_from(
    ["today", "yesterday", "this", "last", "week", "month", "7", "days", "May", "2026", "2026-01-14", "/", "9999"]
)


@given(st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=4).map(" ".join), st.dates().map(str)))
def test_any_text_is_a_day_a_period_or_refused_and_all_readers_agree(text: str) -> None:
    with contextlib.suppress(ValueError):
        day = params.read_day(text)
        with contextlib.suppress(ValueError):  # years that no period names, such as 1850, are days all the same
            assert params.read_days(text) == (day, day + DAY)
        assert params.read_moment(text).date() == day
