"""What feed health tells of a feed's items, guessed charsets and answers without items."""

import datetime as dt
import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from sources import feed_health
from sources.choices import Circuit
from sources.entries import Entry
from sources.models import Feed, FeedHealth
from tests.factories import NOW, entry
from tests.feedserver import FeedServer
from tests.wire.desk import at_desk, words
from tests.wire.ingesting import feed_at, item, rss, run
from wire.ingest.draft_comparison import Outcome
from wire.ingest.feed_entries import RECENT, SHORT, describe_item, merge_recent_items
from wire.ingest.normalise import Rejected

LATER = NOW + dt.timedelta(hours=1)


def shown(client: Client, publication: str = "TechCrunch") -> dict[str, Any]:
    (found,) = [one for one in client.get("/api/health/feeds.json").json()["feeds"] if one["publication"] == publication]
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@pytest.mark.django_db
def test_the_last_items_of_each_outcome_are_shown_with_the_reason_and_without_secrets(server: FeedServer, client: Client) -> None:
    link = "<link>https://publisher.example/a?token=CANARY#CANARY</link>"
    bad = "<item><title>Bad &amp;lt;b&amp;gt;link</title><link>javascript:alert(1)</link></item>"
    items = [item(number) for number in range(5)]
    server.route("/feed.xml", body=rss(*items, bad, f"<item><title>AI with a token</title>{link}</item>"))
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    found = shown(client)
    assert found["outcomes"] == {"accepted": 6, "rejected:bad_url": 1}
    assert [one["headline"] for one in found["recent_items"]["accepted"]] == [
        f"AI story number {number}" for number in range(RECENT)
    ]
    (refused,) = found["recent_items"]["rejected:bad_url"]
    assert (refused["headline"], refused["address"]) == ("Bad <b>link", "javascript:alert(1)")
    assert refused["why"].startswith("The address cannot be used")

    server.route("/feed.xml", body=rss(item(0, "AI story number nought"), f"<item><title>AI with a token</title>{link}</item>"))
    run(feed)
    found = shown(client)
    assert found["outcomes"] == {"revised": 1, "duplicate": 1}
    assert len(found["recent_items"]["accepted"]) == RECENT, "earlier outcomes stay"
    assert found["recent_items"]["duplicate"][0]["address"] == "https://publisher.example/a?token=…#…"
    assert "CANARY" not in json.dumps(found)
    page = words(at_desk("editor").get(f"/admin/sources/feed/{feed.pk}/change/"))
    assert "Bad &lt;b&gt;link javascript:alert(1) The address cannot be used" in page
    assert "CANARY#" not in page


@pytest.mark.django_db
def test_texts_of_outside_are_plain_short_and_fit_any_database(server: FeedServer, client: Client) -> None:
    hostile = [
        Entry("TechCrunch", "a\0b <script>x</script>\u202e" + "long " * 500, "https://a.example/" + "x" * 5000, None),
        Entry("TechCrunch", "\ud800", "javascript:\nalert(1)\t\0", "no date at all" * 99),
    ]
    recent = merge_recent_items({}, hostile, [Rejected("bad_url", "w" * 9999), Rejected("nul_character", "\0")], NOW)
    for item_ in (one for items in recent.values() for one in items):
        for text in (item_["headline"], item_["address"], item_["why"]):
            assert len(text) <= SHORT
            assert text == "" or text.isprintable()
    feed = feed_at(server.url("/feed.xml"))
    FeedHealth.objects.create(feed=feed, address=feed.url, recent_items=recent)
    assert set(shown(client)["recent_items"]) == {"rejected:bad_url", "rejected:nul_character"}


outcomes = st.sampled_from([Outcome.ACCEPTED, Outcome.DUPLICATE, Rejected("no_date", "It has no date.")])
documents = st.lists(st.lists(st.tuples(st.text(max_size=8), outcomes), max_size=8), max_size=5)


@given(documents)
def test_at_most_three_items_of_an_outcome_stay_the_newest_first_each_once(history: list[list[tuple[str, Any]]]) -> None:
    recent: dict[str, Any] = {}
    for number, document in enumerate(history):
        entries = [entry(title=title, url=f"https://a.example/{title}") for title, _ in document]
        seen_at = NOW + number * dt.timedelta(hours=1)
        before, recent = recent, merge_recent_items(recent, entries, [outcome for _, outcome in document], seen_at)
        assert recent.keys() >= before.keys()
        for items in recent.values():
            assert len(items) <= RECENT
            assert [one["at"] for one in items] == sorted((one["at"] for one in items), reverse=True)
    json.dumps(recent).encode()


@pytest.mark.parametrize(
    "date", [None, "", "no date", dt.datetime.min.replace(tzinfo=dt.UTC), "Tue, 24 Nov 2026 09:00:00 GMT", NOW]
)
def test_an_items_date_is_shown_in_utc_or_left_empty(date: Any) -> None:
    assert describe_item(entry(published_at=date), Outcome.ACCEPTED).date in {
        "",
        "0001-01-01 00:00",
        "2026-11-24 09:00",
        f"{NOW:%Y-%m-%d %H:%M}",
    }


# Answers without items


@pytest.mark.slow
@pytest.mark.django_db
def test_an_answer_without_items_is_an_alarm_and_no_failure_until_items_come_again(server: FeedServer, client: Client) -> None:
    server.route("/feed.xml", body=rss())
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    assert shown(client)["warnings"] == [], "one that never had items may be new"
    server.route("/feed.xml", body=rss(item(1)))
    run(feed)
    server.route("/feed.xml", body=rss())
    for body in (rss(), rss(), rss() + b"<!-- another build -->"):
        server.route("/feed.xml", body=body)
        run(feed)
        found = shown(client)
        (warning,) = found["warnings"]
        assert warning["code"] == "empty"
        assert "though it had some before" in warning["message"]
        assert "correct the address" in warning["message"]
        assert (found["failures_in_a_row"], found["circuit"], found["failure"]) == (0, Circuit.CLOSED, None)
    since = FeedHealth.objects.get(feed=feed).empty_since
    assert "Empty. It answers, but has had no items since" in words(client.get("/freshness"))
    desk = at_desk("editor")
    assert "empty: It answers, but has had no items since" in words(desk.get("/admin/sources/feed/"))
    assert "It answers, but has had no items since" in words(desk.get(f"/admin/sources/feed/{feed.pk}/change/"))
    assert "1 feed answers without items" in words(desk.get("/admin/"))
    server.route("/feed.xml", status=503)
    run(feed)
    assert FeedHealth.objects.get(feed=feed).empty_since == since, "a failure tells nothing of the items"
    server.route("/feed.xml", body=rss(item(2)))
    run(feed)
    assert shown(client)["warnings"] == []


def test_what_is_odd_is_told_from_the_health_alone() -> None:
    known = FeedHealth(items=3)
    feed_health.record_items(known, [], NOW)
    feed_health.record_items(known, [], LATER)
    assert (known.empty_since, known.items) == (NOW, 0)
    feed_health.record_items(known, [entry()], LATER)
    assert (known.empty_since, feed_health.list_warnings(known), feed_health.list_warnings(None)) == (None, [], [])


# Guessed charsets


@pytest.mark.slow
@pytest.mark.django_db
def test_a_guessed_charset_is_flagged_until_it_is_declared(server: FeedServer, client: Client) -> None:
    russian = rss(item(1, "Модель ИИ компании учится читать старые рукописи")).decode()
    server.route("/feed.xml", body=russian.encode("cp1251"), content_type="application/xml")
    feed = feed_at(server.url("/feed.xml"))
    for _ in range(2):  # the same bytes again change nothing
        run(feed)
        (warning,) = shown(client)["warnings"]
        assert warning["code"] == "charset"
        assert "The document declares no charset; it was read as" in warning["message"]
    assert "Charset. The document declares no charset" in words(client.get("/freshness"))
    assert "charset: The document declares no charset" in words(at_desk("editor").get("/admin/sources/feed/"))
    server.route("/feed.xml", body=russian.encode(), content_type="application/xml; charset=utf-8")
    run(feed)
    assert shown(client)["warnings"] == []
    assert Feed.objects.get(pk=feed.pk).active
