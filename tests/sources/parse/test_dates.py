"""Dates of real feeds, and those that are none."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.parse.dates import read_date


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("Thu, 15 Jan 2026 10:00:00 +0000", "2026-01-15T10:00"),
        ("Thu, 15 Jan 2026 10:00:00 GMT", "2026-01-15T10:00"),
        ("Thu, 15 Jan 2026 10:00:00 EST", "2026-01-15T15:00"),
        ("Thu, 15 Jan 2026 10:00:00 PST", "2026-01-15T18:00"),
        ("Wed, 15 Jul 2026 10:00:00 PDT", "2026-07-15T17:00"),
        ("Wed, 15 Jul 2026 10:00:00 BST", "2026-07-15T09:00"),
        ("Thu, 15 Jan 2026 10:00:00 CET", "2026-01-15T09:00"),
        ("Thu, 15 Jan 2026 10:00:00 -0330", "2026-01-15T13:30"),
        ("Thu, 15 Jan 2026 10:00:00 GMT+02:00", "2026-01-15T08:00"),
        ("Thu, 15 Jan 2026 10:00:00 GMT +02:00", "2026-01-15T08:00"),
        ("Thu, 15 Jan 2026 10:00:00 EST (Eastern)", "2026-01-15T15:00"),
        ("Thu, 15 Jan 2026 10:00:00 +0000 (UTC)", "2026-01-15T10:00"),
        ("Thu, 15 Jan 2026 10:00:00", "2026-01-15T10:00"),
        ("Mon, 15 Jan 2026 10:00 Z", "2026-01-15T10:00"),
        ("15 Jan 26 10:00 UT", "2026-01-15T10:00"),
        ("15 Jan 99 10:00 UT", "1999-01-15T10:00"),
        ("Thursday, 15 January 2026 10:00:00 GMT", "2026-01-15T10:00"),
        ("15-Jan-2026", "2026-01-15T00:00"),
        ("  Thu,  15 Jan\n2026  10:00:00  GMT ", "2026-01-15T10:00"),
        ("2026-01-15T10:00:00Z", "2026-01-15T10:00"),
        ("2026-01-15T10:00:00.123456789Z", "2026-01-15T10:00"),
        ("2026-01-15T10:00:00-05:00", "2026-01-15T15:00"),
        ("2026-01-15T10:00:00+0530", "2026-01-15T04:30"),
        ("2026-01-15t10:00z", "2026-01-15T10:00"),
        ("2026-01-15 10:00:00", "2026-01-15T10:00"),
        ("2026-01-15 10:00:00 UTC", "2026-01-15T10:00"),
        ("2026-01-15 10:00:00 -0800", "2026-01-15T18:00"),
        ("2026-01-15", "2026-01-15T00:00"),
        ("2026-1-5", "2026-01-05T00:00"),
        ("Jan 15, 2026 10:00 PM EST", "2026-01-16T03:00"),
        ("Jan. 15, 2026, 4:30 p.m.", "2026-01-15T16:30"),
        ("Jan. 15, 2026, 12:30 a.m. PST", "2026-01-15T08:30"),
        ("2026-01-15 04:30 PM", "2026-01-15T16:30"),
        ("15 Jan 2026 04:30 P. M. GMT", "2026-01-15T16:30"),
        ("January 15, 2026 8:30 PM ET", "2026-01-16T01:30"),
        ("July 15, 2026 8:30 PM ET", "2026-07-16T00:30"),
        ("Wed, 15 Jul 2026 10:00:00 CT", "2026-07-15T15:00"),
        ("Wed, 15 Jul 2026 10:00:00 MT", "2026-07-15T16:00"),
        ("2026-07-15 10:00 PT", "2026-07-15T17:00"),
        ("January 15, 2026", "2026-01-15T00:00"),
        ("Thu Jan 15 10:00:00 2026", "2026-01-15T10:00"),
        ("Thu Jan 15 10:00:00 UTC 2026", "2026-01-15T10:00"),
    ],
)
def test_a_date_of_a_real_feed_is_read(text: str, utc: str) -> None:
    assert read_date(text) == dt.datetime.fromisoformat(f"{utc}Z")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026",
        "2026-01",
        "2026-13-45",
        "0000-00-00",
        "2026-02-30",
        "2026-01-15T25:00:00Z",
        "Thu, 32 Jan 2026 10:00:00 GMT",
        "1768471200",
        "Thu, 15 Foo 2026 10:00:00 GMT",
        "Thu, 15 Jan 0000 10:00:00 GMT",
        "15. Januar 2026",
        "01/02/2026",
        "2026-01-15T10:00:00+99:99",
        "0001-01-01T00:00:00+23:00",
        "9999-12-31T23:59:59-23:00",
        "Jan 15, 2026 13:00 PM",
        "2026-01-15 13:00 PM",
        "Thu, 15 Jan 2026 10:00:00 XYZ",
        "Thu, 15 Jan 2026 10:00:00 IST",
        "Jan 15, 2026 4:30 p",
        "Jan 15, 2026 4:30 EST PM",
        "Jan 15, 2026 4:30 Eastern time",
        "٢٠٢٦-01-15",
    ],
)
def test_a_date_that_cannot_be_right_is_none(text: str) -> None:
    assert read_date(text) is None


def test_a_leap_second_belongs_to_the_minute_before() -> None:
    assert read_date("2016-12-31T23:59:60Z") == dt.datetime(2016, 12, 31, 23, 59, 59, tzinfo=dt.UTC)


@given(st.datetimes(timezones=st.timezones()).map(lambda moment: moment.replace(microsecond=0)))
def test_what_python_writes_is_read_back(moment: dt.datetime) -> None:
    try:
        utc = moment.astimezone(dt.UTC)
    except OverflowError:
        return
    assert read_date(utc.isoformat()) == utc
    assert read_date(utc.strftime("%d %b ") + f"{utc.year:04} {utc:%H:%M:%S} GMT") == utc


@given(st.text("0123456789-:+TZ. ,JanFebGMT", max_size=70))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = read_date(text)
    assert found is None or found.tzinfo is dt.UTC
