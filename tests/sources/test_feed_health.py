"""How feeds fare: when one is asked again, when it counts as silent, and what the public sees of it."""

import datetime as dt
import re
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from sources import feed_health, queries
from sources.choices import Circuit
from sources.entries import Entry
from sources.fetch import Unchanged
from sources.models import Feed, FeedHealth
from tests.factories import NOW, entry, feed_of

MINUTE = dt.timedelta(minutes=1)
UNCHANGED = Unchanged("", "", "", "")
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)


def dated(*moments: dt.datetime | str | None) -> list[Entry]:
    return [entry(published_at=moment) for moment in moments]


def after_failures(number: int, retry_after: dt.timedelta | None = None) -> FeedHealth:
    known = FeedHealth()
    for _ in range(number):
        feed_health.record_failure(known, "timeout", "No answer came.", NOW, retry_after)
    return known


def wait(known: FeedHealth) -> dt.timedelta:
    assert known.next_try_at is not None
    return known.next_try_at - NOW


# Backing off


@pytest.mark.parametrize(
    ("failures", "minutes"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 80), (8, 640), (9, 1280), (10, 1440), (500, 1440)]
)
def test_the_wait_doubles_with_each_failure_up_to_a_day(failures: int, minutes: int) -> None:
    waits = [wait(after_failures(failures)) for _ in range(20)]
    assert 0.9 * minutes * MINUTE <= min(waits) <= max(waits) <= 1.1 * minutes * MINUTE
    assert len(set(waits)) > 10, "feeds do not come back at once"


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_a_server_that_asks_for_a_longer_wait_gets_it(failures: int, seconds: int) -> None:
    asked = dt.timedelta(seconds=seconds)
    own = min(5 * 2 ** (failures - 1), 1440) * MINUTE
    assert max(asked, 0.9 * own) <= wait(after_failures(failures, asked)) <= max(asked, 1.1 * own)


def test_a_failure_is_kept_in_words_and_by_code_until_the_next_success() -> None:
    known = after_failures(7)
    assert (known.failures, known.failure_code, known.failure, known.tried_at) == (7, "timeout", "No answer came.", NOW)
    assert known.succeeded_at is None
    feed_health.record_failure(known, "c" * 100, "w" * 1000, NOW)  # longer than their columns
    assert (len(known.failure_code), len(known.failure)) == (40, 500)
    feed_health.record_answer(known, UNCHANGED, NOW + HOUR)
    assert (known.failures, known.failure_code, known.failure, known.next_try_at) == (0, "", "", None)
    assert known.tried_at == known.succeeded_at == NOW + HOUR


# The circuit


def test_the_circuit_opens_at_the_third_failure_in_a_row() -> None:
    found = [feed_health.get_circuit_state(after_failures(failures), NOW) for failures in (0, 1, 2, 3, 30)]
    assert found == ["closed", "closed", "closed", "open", "open"]
    assert feed_health.get_circuit_state(None, NOW) == feed_health.get_circuit_state(FeedHealth(), NOW) == Circuit.CLOSED


def test_a_feed_is_due_when_its_wait_is_over_and_not_before() -> None:
    known = after_failures(1)
    over = NOW + wait(known)
    assert [feed_health.is_due(known, moment) for moment in (NOW, over - dt.timedelta(seconds=1), over)] == [False, False, True]
    assert feed_health.is_due(None, NOW)
    assert feed_health.is_due(FeedHealth(), NOW)


def test_it_is_half_open_once_the_wait_is_over_then_a_probe_opens_it_for_longer_or_closes_it() -> None:
    known = after_failures(3)
    over = NOW + wait(known)
    assert feed_health.get_circuit_state(known, over - dt.timedelta(seconds=1)) == Circuit.OPEN
    assert feed_health.get_circuit_state(known, over) == Circuit.HALF_OPEN
    feed_health.record_failure(known, "timeout", "No answer came.", over)
    assert feed_health.get_circuit_state(known, over) == Circuit.OPEN
    assert known.next_try_at is not None
    assert known.next_try_at - over >= 36 * MINUTE
    feed_health.record_answer(known, UNCHANGED, NOW + DAY)
    assert feed_health.get_circuit_state(known, NOW + DAY) == Circuit.CLOSED


# Silence


def counted(*moments: dt.datetime | str | None) -> FeedHealth:
    known = FeedHealth()
    feed_health.record_items(known, dated(*moments), NOW)
    return known


@pytest.mark.parametrize(
    ("moments", "gap"),
    [
        ([NOW - 4 * HOUR, NOW, NOW - HOUR], 2 * HOUR),
        ([None, "not a date", NOW + HOUR, NOW, NOW - 2 * HOUR], 2 * HOUR),  # what is missing or ahead does not count
        ([NOW.replace(tzinfo=None), NOW - HOUR], HOUR),  # without a zone it is UTC
        ([NOW - 900 * DAY, NOW], 30 * DAY),  # a gap counts as thirty days at most
    ],
)
def test_a_new_body_is_counted_with_its_newest_date_and_its_usual_gap(
    moments: list[dt.datetime | str | None], gap: dt.timedelta
) -> None:
    known = counted(*moments)
    assert (known.items, known.newest_item_at, known.usual_gap, known.changed_at) == (len(moments), NOW, gap, NOW)
    feed_health.record_items(known, [], NOW + DAY)  # an empty body keeps what was known of dates
    assert (known.items, known.newest_item_at, known.usual_gap) == (0, NOW, gap)


def test_the_newest_date_never_goes_back() -> None:
    known = counted(NOW)
    feed_health.record_items(known, dated(NOW - 5 * DAY), NOW + DAY)
    assert known.newest_item_at == NOW


@pytest.mark.parametrize(
    ("gap", "limit"), [(2 * DAY, 6 * DAY), (HOUR, 3 * HOUR), (5 * MINUTE, 3 * HOUR), (dt.timedelta(0), 3 * HOUR)]
)
def test_a_feed_is_silent_after_three_usual_gaps_of_an_hour_at_least(gap: dt.timedelta, limit: dt.timedelta) -> None:
    known = FeedHealth(newest_item_at=NOW, usual_gap=gap)
    assert [feed_health.is_silent(known, NOW + limit), feed_health.is_silent(known, NOW + limit + dt.timedelta(seconds=1))] == [
        False,
        True,
    ]
    for unknown in (None, FeedHealth(), FeedHealth(newest_item_at=NOW - 99 * DAY), FeedHealth(usual_gap=gap)):
        assert not feed_health.is_silent(unknown, NOW)


# What the public sees


@pytest.fixture
def feeds(db: None) -> None:  # noqa: ARG001
    """One feed of each kind; all others were never asked."""
    now = dt.datetime.now(dt.UTC)
    day = {"tried_at": now, "succeeded_at": now, "changed_at": now, "items": 20, "usual_gap": HOUR}
    know("wired", **day, newest_item_at=now - 90 * MINUTE, outcomes={"accepted": 19, "rejected:no_date": 1})
    know("zdnet", **day, newest_item_at=now - 30 * HOUR)
    failing = {"tried_at": now, "failures": 4, "failure_code": "http_503", "failure": "The server is <b>down</b>."}
    know("axios", **failing, next_try_at=now + HOUR)
    know("fortune", **failing, next_try_at=now - HOUR)
    know("engadget", tried_at=now, failures=1, failure_code="gone", failure="The publisher says it is gone for good (410).")
    Feed.objects.filter(publication__slug__in=["engadget", "semafor"]).update(active=False)


def know(slug: str, **values: Any) -> None:
    FeedHealth.objects.create(feed=feed_of(slug), **values)


def row(client: Client, publication: str) -> dict[str, Any]:
    answer = client.get("/api/health/feeds.json")
    assert answer.status_code == 200
    (found,) = [one for one in answer.json()["feeds"] if one["publication"] == publication]
    assert isinstance(found, dict)
    return found


def cell(client: Client, publication: str) -> str:
    """The row of the page about a publication, as text."""
    (found,) = [
        part for part in client.get("/freshness").content.decode().split("<tr>") if f'<th scope="row">{publication}<' in part
    ]
    return " ".join(re.sub("<[^>]*>", " ", found).split())


@pytest.mark.usefixtures("feeds")
def test_a_feed_that_was_never_asked_says_so(client: Client) -> None:
    found = row(client, "Bloomberg")
    assert {name for name, value in found.items() if value is None} == {
        *("last_try_at", "last_success_at", "last_change_at", "newest_item_at", "age_seconds", "usual_gap_seconds"),
        *("failure", "failure_code", "next_try_at"),
    }
    assert (found["recent_items"], found["warnings"]) == ({}, [])
    assert (found["active"], found["silent"], found["circuit"], found["items"], found["outcomes"]) == (True, False, "closed", 0, {})
    assert cell(client, "Bloomberg").endswith("not known yet never Not fetched yet.")


@pytest.mark.usefixtures("feeds")
def test_a_feed_that_is_fine_says_how_old_its_newest_item_is(client: Client) -> None:
    found = row(client, "Wired")
    assert (found["silent"], found["failure"], found["circuit"], found["usual_gap_seconds"]) == (False, None, "closed", 3600)
    assert 5399 <= found["age_seconds"] <= 5520
    assert found["outcomes"] == {"accepted": 19, "rejected:no_date": 1}
    assert "1 hour" in cell(client, "Wired")
    assert cell(client, "Wired").endswith("OK.")


@pytest.mark.usefixtures("feeds")
def test_a_feed_that_failed_says_why_and_when_it_is_tried_again(client: Client) -> None:
    found = row(client, "Axios")
    assert (found["failure"], found["failure_code"], found["failures_in_a_row"]) == ("The server is <b>down</b>.", "http_503", 4)
    assert (found["circuit"], found["last_success_at"]) == ("open", None)
    shown = cell(client, "Axios")
    assert "Failing. The server is &lt;b&gt;down&lt;/b&gt;. Next try " in shown
    assert found["next_try_at"][:16].replace("T", " ") in shown
    assert row(client, "Fortune")["circuit"] == "half_open"


@pytest.mark.usefixtures("feeds")
@pytest.mark.parametrize(
    ("publication", "facts", "said"),
    [
        ("ZDNet", {"silent": True, "active": True}, "Silent."),
        ("Engadget", {"active": False, "failure_code": "gone"}, "Off. The publisher says it is gone for good (410)."),
        ("Semafor", {"active": False, "failure_code": None}, "Switched off by an editor."),
    ],
)
def test_a_feed_that_is_silent_gone_or_switched_off_says_so(
    client: Client, publication: str, facts: dict[str, Any], said: str
) -> None:
    assert row(client, publication).items() >= facts.items()
    assert cell(client, publication).endswith(said)


@pytest.mark.django_db
def test_all_feeds_of_the_roster_are_listed_in_its_order(client: Client) -> None:
    rows = client.get("/api/health/feeds.json").json()["feeds"]
    assert list(dict.fromkeys(one["publication"] for one in rows)) == [
        source["name"] for source in client.get("/api/sources.json").json()["sources"]
    ]
    assert len(rows) == Feed.objects.count() > 24


@pytest.mark.django_db
def test_the_feeds_of_a_retired_publication_are_not_listed(client: Client) -> None:
    from sources import roster
    from sources.models import Publication

    admitted = {"slug": "gazette", "name": "The Gazette", "aliases": [], "domains": ["gazette.example"], "tier": 3}
    feed = {"feed_type": "rss", "url": "https://gazette.example/rss", "ai_only": True}
    retired = Publication.objects.get(slug="fortune")
    roster.replace_publication(retired, {**admitted, "homepage": "https://gazette.example/", "feeds": [feed]}, reason="It closed.")
    names = {one["publication"] for one in client.get("/api/health/feeds.json").json()["feeds"]}
    assert ("Fortune" in names, "The Gazette" in names) == (False, True)


@pytest.mark.django_db
def test_health_is_read_in_one_query_and_never_kept(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        queries.get_feeds_health()
    assert client.get("/api/health/feeds.json")["Cache-Control"] == client.get("/freshness")["Cache-Control"] == "no-store"
