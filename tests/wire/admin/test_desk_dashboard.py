"""The desk's first page: counts, failing feeds, what waits for an editor, and whether the record holds."""

import datetime as dt
import re
import zlib
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sources.entries import Entry
from sources.models import FeedHealth, Publication
from tests.factories import entry, feed_of, publish, story_of, take
from tests.wire.desk import at_desk, words
from wire.models import LexiconTerm, Snapshot, Story, StoryRevision, WireState

pytestmark = pytest.mark.django_db

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
TODAY = NOW.replace(hour=0, minute=0, second=0)


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def told(title: str, publisher: str = "TechCrunch", host: str = "techcrunch.com", **values: Any) -> Entry:
    """A story of today."""
    url = f"https://{host}/{title.replace(' ', '-').lower()}"
    return entry(title=title, publisher=publisher, url=url, published_at=TODAY, **values)


def shown(desk: Client) -> str:
    answer = desk.get("/admin/")
    assert answer.status_code == 200
    return words(answer)


def test_an_empty_wire_has_a_dashboard_and_a_broken_roster_is_named(desk: Client) -> None:
    page = shown(desk)
    assert "Nothing has been published yet." in page
    Publication.objects.filter(slug="wired").update(tier=1)
    assert "do not match the fingerprint" in shown(desk)


def test_today_is_counted(desk: Client) -> None:
    wired = told("Marmot Cloud buys Gherkin Robotics, filing says", "Wired", "www.wired.com")
    publish(told("Marmot Cloud buys Gherkin Robotics"), wired, told("Thermostats on the rise"), now=NOW)
    publish(entry())  # of another day
    take(told("Quince ships"), now=NOW)
    assert "Stories 3 Events 2 Corroborated 2 Waiting to be published 1" in shown(desk)


@pytest.mark.slow
def test_a_whole_chain_holds_and_a_missing_link_is_named(desk: Client) -> None:
    publish(*(entry(published_at=f"2026-01-{day:02}T10:00:00Z") for day in range(1, 14)))
    page, newest = shown(desk), Snapshot.objects.latest("sequence")
    assert f"13 Jan 2026, revision 1 , published 16 Jan 2026 12:00 UTC, signed with key {newest.key_id}." in page
    assert newest.sequence > 11
    assert "hashes, signatures and links of the newest 10 snapshots are correct" in page
    Snapshot.objects.filter(sequence=newest.sequence - 1).delete()
    assert "it does not link to the snapshot before" in shown(desk)


@pytest.mark.slow
def test_each_damaged_snapshot_is_named_and_the_others_are_looked_at(desk: Client) -> None:
    damage: list[tuple[dict[str, Any], str]] = [
        ({}, ""),
        ({"packed": zlib.compress(b"{}")}, "its bytes do not match its hash"),
        ({"packed": zlib.compress(b"{}")[:-5]}, "its bytes cannot be read, so its hash is unverified"),
        ({"packed": b"garbage"}, "its bytes cannot be read, so its hash is unverified"),
        ({"packed": b""}, "its bytes cannot be read, so its hash is unverified"),
        ({"signature": "AAAA"}, "its signature does not match key"),
    ]
    publish(*(entry(published_at=f"2026-01-{day:02}T10:00:00Z") for day in range(1, len(damage) + 1)))
    for day, (change, _) in enumerate(damage, start=1):
        if change:
            Snapshot.objects.filter(wire_date__day=day).update(**change)
    page = shown(desk)
    for day, (_, wrong) in enumerate(damage, start=1):
        assert bool(re.search(f"Snapshot 2026-01-{day:02} r1: [^.]*{wrong}", page)) == bool(wrong), day


@pytest.mark.slow
def test_more_stories_ask_no_more_queries(desk: Client, django_assert_num_queries: Any) -> None:
    LexiconTerm.objects.filter(kind="category").delete()

    def grow(first: int, number: int) -> None:
        publish(*(told(f"Quince{n} met Gherkin{n} of Marmot{n}") for n in range(first, first + number)), now=NOW)
        Story.objects.update(event=Story.objects.earliest("pk").event_id)

    grow(0, 3)
    with CaptureQueriesContext(connection) as asked:
        shown(desk)
    grow(3, 30)
    with django_assert_num_queries(len(asked)):
        shown(desk)


def ran(minutes_ago: int, **values: Any) -> dt.datetime:
    """Let ingest have fetched a feed so long before this moment, with success unless told otherwise. When that was."""
    when = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=minutes_ago)
    FeedHealth.objects.update_or_create(feed=feed_of("wired"), defaults={"tried_at": when, "succeeded_at": when} | values)
    return when


def test_a_dashboard_without_any_run_says_that_nothing_is_running(desk: Client, settings: Any) -> None:
    settings.WIRE_INGEST = dt.timedelta(minutes=30)
    page = shown(desk)
    told = "No news is arriving No feed has ever been fetched, so no news is arriving. "
    assert told + "To get news, check the server&#x27;s log, or start ingest by hand: manage.py ingest --every 30m." in page
    settings.WIRE_INGEST = None
    page = shown(desk)
    assert "Ingest is off on this server (WIRE_INGEST=off), and no feed has ever been fetched, so no news is arriving." in page
    assert "set WIRE_INGEST=30m and restart the server, or run: manage.py ingest --every 30m." in page
    assert "All is well" not in page


@pytest.mark.parametrize("period", [dt.timedelta(hours=6), None])
def test_ingest_has_stopped_when_two_periods_went_by_without_a_request(desk: Client, settings: Any, period: dt.timedelta) -> None:
    settings.WIRE_INGEST = period
    two = int((period or dt.timedelta(minutes=30)).total_seconds() / 30)
    ran(two - 5)
    assert "no news arrives" not in shown(desk)
    when = ran(two + 5)
    assert f"o feed has been fetched since {when:%-d %b %Y %H:%M} UTC, so no news" in shown(desk)


def test_feeds_of_which_none_ever_answered_are_told_from_a_quiet_day(desk: Client) -> None:
    ran(1, succeeded_at=None, failures=1, failure="No route to host.")
    page = shown(desk)
    assert "No feed has ever answered, so no news is arriving. Check this machine&#x27;s outbound network" in page
    assert "Also needs attention: 1 feed is failing" in page


def test_all_is_well_with_the_last_run_and_what_came_of_it(desk: Client) -> None:
    publish(told("Quince ships"), told("Marmot Cloud sails"), now=NOW)
    when = ran(1)
    Story.objects.update(first_seen_at=when - dt.timedelta(minutes=1))
    Story.objects.filter(pk=Story.objects.earliest("pk").pk).update(first_seen_at=when - dt.timedelta(hours=2))
    Story.objects.update(editor_category="industry")
    page = shown(desk)
    assert "All is well Nothing needs attention" in page
    assert f"Last run of ingest: {when:%-d %b %Y %H:%M} UTC, 1 new story." in page
    Story.objects.update(first_seen_at=when - dt.timedelta(days=1))
    assert "UTC, no new stories." in shown(desk)
    StoryRevision.objects.update(untrusted_instructions=True)
    page = shown(desk)
    assert "All is well" not in page
    assert "No faults, 1 list to review The record is intact" in page


def test_what_needs_a_hand_is_listed_the_most_urgent_first(desk: Client) -> None:
    LexiconTerm.objects.filter(kind="category").delete()
    publish(one := told("Quince Gherkin"), told("Thermostats leaked by Marmot Cloud", "Wired", "www.wired.com"), now=NOW)
    Story.objects.update(event=story_of(one).event_id)
    ran(1, failures=2, failure="503.")
    Publication.objects.filter(slug="fortune").update(name="Misfortune")
    page = shown(desk)
    told_first = "Needs attention 1 fault in the roster or in the chain of snapshots 1 feed is failing"
    assert f"{told_first} 2 stories to classify Last run" in page


def test_the_sample_wire_fetches_nothing_and_is_well(desk: Client) -> None:
    WireState.objects.update(is_sample=True)
    page = shown(desk)
    assert "All is well" in page
    assert "This is the sample wire, which fetches no feeds." in page
