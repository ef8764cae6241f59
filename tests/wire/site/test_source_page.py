"""A publication's page, the roster's page, and the links that lead there."""

import datetime as dt
import html
import re

import pytest
from django.test import Client

from sources.choices import Tier
from sources.models import Feed, FeedHealth, Publication
from tests.factories import NOW, entry, feed_of, publish, publish_sample, story_of
from tests.wire.archives import replace_publication
from tests.wire.site.test_site import page
from wire import queries
from wire.ingest import corrections
from wire.models import WireState
from wire.templatetags.wire_site import format_duration

pytestmark = pytest.mark.django_db

TAG = re.compile("<[^>]*>")
NEWS = "Quince Robotics buys Lantern Labs for $90 million"


def words(client: Client, address: str) -> str:
    """What the page says; every tag parts words."""
    return " ".join(html.unescape(TAG.sub(" ", client.get(address).content.decode())).split())


def test_it_says_who_the_publication_is(client: Client) -> None:
    Publication.objects.filter(slug="techcrunch").update(aliases=["TC & <friends>"], admitted_on=dt.date(2026, 1, 2))
    text = words(client, "/source/techcrunch")
    assert f"Tier 2, Specialist AI Press {Tier.SPECIALIST.meaning}" in text
    assert "Owner Regent, since 21 March 2025 Domain techcrunch.com Also known as TC & <friends>" in text
    assert "On the roster Since 2 January 2026" in text
    assert "https://techcrunch.com/" in page(client, "/source/techcrunch").links
    assert "Owner Not on record." in words(client, "/source/semafor")
    assert "Domains blog.google/technology/ai, blog.google/innovation-and-ai" in words(client, "/source/google-ai-blog")


@pytest.mark.slow
def test_every_publication_has_a_page_that_its_name_on_the_sources_page_leads_to(client: Client) -> None:
    links = [link for link in page(client, "/sources").links if link.startswith("/source/")]
    assert len(links) == len(set(links)) == 24
    for link in links:
        assert client.get(link).status_code == 200, link


@pytest.mark.slow
def test_its_stories_are_listed_newest_first_over_pages_and_no_others(client: Client) -> None:
    made = [entry(title=f"OpenAI launches marmot {n}", published_at=f"2026-01-15T{n % 24:02}:00:00Z") for n in range(35)]
    publish(*made, entry(publisher="Wired", url="https://wired.com/q"))
    gone = story_of(made[0]).chatbotnews_id
    corrections.withdraw_story(gone, reason="Retracted.", now=NOW)
    first = page(client, "/source/techcrunch")
    (older,) = [link for link in first.links if link.startswith("?cursor=")]
    rest = page(client, f"/source/techcrunch{older}")
    shown = [link.removeprefix("/story/") for one in (first, rest) for link in one.links if link.startswith("/story/")]
    expected = sorted((-story.published_at.timestamp(), story.chatbotnews_id) for story in map(story_of, made[1:]))
    assert shown == [story_id for _, story_id in expected]
    assert queries.list_source_stories("techcrunch", 10).total == 34


def test_it_says_how_much_of_its_news_others_report(client: Client) -> None:
    assert "Shared news" not in words(client, "/source/techcrunch")
    other = entry(title=f"{NEWS} in cash", publisher="Reuters", url="https://reuters.com/q")
    publish(entry(title=NEWS), other, entry(title="A marmot sings"))
    found = queries.get_source("techcrunch")
    assert (found.newest, found.shared) == (2, 1)
    assert "Of its 2 stories, 1 is also reported by an independent source." in words(client, "/source/techcrunch")


@pytest.mark.parametrize(
    ("health", "said"),
    [
        (None, "Not fetched yet."),
        ({}, "OK. Newest item"),
        (
            {"newest_item_at": NOW - dt.timedelta(days=3)},
            "Silent : nothing new for three times as long as usual. Newest item 13 Jan 2026, 12:00 UTC.",
        ),
        ({"failure": "The server answered 500."}, "Failing. The server answered 500."),
    ],
)
def test_its_feeds_are_listed_with_how_they_fare(client: Client, health: dict[str, object] | None, said: str) -> None:
    if health is not None:
        now = dt.datetime.now(dt.UTC)
        usual = {"tried_at": now, "succeeded_at": now, "newest_item_at": now, "usual_gap": dt.timedelta(hours=4)}
        FeedHealth.objects.create(feed=feed_of("the-verge"), **{**usual, **health})
    text = words(client, "/source/the-verge")
    assert f"Feed Atom {feed_of('the-verge').url} {said}" in text
    assert ("Usually a new item every 4 hours." in text) is (health is not None)


def test_a_feed_that_is_switched_off_says_so(client: Client) -> None:
    Feed.objects.filter(publication__slug="wired").update(active=False)
    assert "Off. Switched off by an editor." in words(client, "/source/wired")


@pytest.mark.slow
def test_the_sample_wire_says_that_it_asks_no_feeds(client: Client) -> None:
    publish_sample()
    WireState.objects.update(is_sample=True)
    assert "The sample wire fetches no feeds." in words(client, "/source/techcrunch")
    assert "Never fetched." in words(client, "/source/techcrunch")


def test_who_left_the_roster_keeps_its_page_and_says_so(client: Client) -> None:
    made = entry(publisher="Engadget", url="https://engadget.com/q")
    publish(made)
    replace_publication("engadget", "the-quill", "The Quill")
    text = words(client, "/source/engadget")
    assert "Engadget left the roster on 16 January 2026." in text
    assert "until 16 January 2026" in text
    assert "No longer fetched." in text
    assert f"/story/{story_of(made).chatbotnews_id}" in page(client, "/source/engadget").links
    assert "/source/engadget" in page(client, f"/story/{story_of(made).chatbotnews_id}").links
    assert "/source/engadget" in client.get("/sitemap-pages.xml").content.decode()


def test_the_sources_page_says_what_each_tier_is_and_who_replaced_whom_and_why(client: Client) -> None:
    text = words(client, "/sources")
    for tier in Tier:
        assert f"Tier {tier.value}: {tier.label}" in text
        assert tier.meaning in text
    assert "No publication has been replaced since the roster was set up" in text
    replace_publication("engadget", "the-quill", "The Quill")
    text = words(client, "/sources")
    assert "Engadget left, The Quill joined. 16 January 2026 · roster revision 2 Why: Engadget closed." in text
    assert {"/source/engadget", "/source/the-quill"} <= set(page(client, "/sources").links)


def test_the_publisher_of_a_story_leads_to_its_page_if_the_roster_knows_it(client: Client) -> None:
    made = entry()
    publish(made)
    for address in (f"/story/{story_of(made).chatbotnews_id}", "/day/2026-01-15"):
        assert "/source/techcrunch" in page(client, address).links
    Publication.objects.filter(slug="techcrunch").update(name="The Bugle")
    found = page(client, f"/story/{story_of(made).chatbotnews_id}")
    assert "TechCrunch" in found.text
    assert not [link for link in found.links if link.startswith("/source/")]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "1 minute"), (60, "1 minute"), (2400, "40 minutes"), (7199, "120 minutes"), (7200, "2 hours"), (260_000, "3 days")],
)
def test_a_span_is_told_to_one_unit(seconds: int, said: str) -> None:
    assert format_duration(seconds) == said
