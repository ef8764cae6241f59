"""Words of a question that name a period."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.text.date_range import find_period

TODAY = dt.date(2026, 4, 1)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "since", "until", "rest"),
    [
        ("robots in January 2026", "2026-01-01", "2026-02-01", "robots"),
        ("robots on 2026-01-15", "2026-01-15", "2026-01-16", "robots"),
        ("robots 3 May 2025", "2025-05-03", "2025-05-04", "robots"),
        ("robots on May 3rd, 2025", "2025-05-03", "2025-05-04", "robots"),
        ("robots in May and June 2025", "2025-05-01", "2025-07-01", "robots"),
        ("robots May to July 2025", "2025-05-01", "2025-08-01", "robots"),
        ("robots Nov–Jan 2026", "2025-11-01", "2026-02-01", "robots"),
        ("robots between May and July 2025", "2025-05-01", "2025-08-01", "robots"),
        ("robots from May 2025 to March 2026", "2025-05-01", "2026-04-01", "robots"),
        ("robots since June 2025", "2025-06-01", None, "robots"),
        ("robots before 2026", None, None, None),
        ("robots before June 2025", None, "2025-06-01", "robots"),
        ("robots this week", "2026-03-30", "2026-04-02", "robots"),
        ("robots last week", "2026-03-23", "2026-03-30", "robots"),
        ("what happened yesterday", "2026-03-31", "2026-04-01", "what happened"),
        ("robots in the last 3 months", "2026-01-01", "2026-04-02", "robots"),
        ("robots in winter 2025", "2025-12-01", "2026-03-01", "robots"),
        ("robots 2025-02-30", None, None, None),
        ("May and June are robots", None, None, None),
        ('"in January 2026" robots', None, None, None),
    ],
)
def test_what_a_period_covers_and_what_is_left_of_the_question(
    question: str, since: str | None, until: str | None, rest: str | None
) -> None:
    period = find_period(question, TODAY)
    if rest is None:
        assert period is None
        return
    assert period is not None
    told = [day and day.isoformat() for day in (period.since, period.until)]
    assert (*told, period.rest) == (since, until, rest)
    assert period.said in question


@given(st.text(alphabet='may june2025 -–andto,.\0"1234567890', max_size=60), st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)))
def test_any_text_on_any_day_has_a_period_that_does_not_end_before_it_begins_or_none(text: str, today: dt.date) -> None:
    period = find_period(text, today)
    assert period is None or period.since is None or period.until is None or period.since < period.until
