"""Silence that is true: who reported nothing of an event, from whom nothing came at all, and how many stories of whom there are."""

import datetime as dt

import pytest
from django.test import Client

from sources.models import FeedHealth
from tests.factories import NOW, entry, feed_of, publish, story_of
from tests.mcpserver.asgi import structured
from tests.wire.site.test_source_page import words
from wire.ingest import corrections

pytestmark = pytest.mark.django_db

NEWS = "Quince Robotics buys Lantern Labs for $90 million"


def publish_event_of_three_days() -> str:
    """Publish an event of 15 and 16 January, stories of others a day before, a day after and two days after it; return its id."""
    publish(
        first := entry(title=NEWS, published_at="2026-01-15T23:00:00Z"),
        entry(title=f"{NEWS} deal", publisher="Wired", url="https://wired.com/q", published_at="2026-01-16T01:00:00Z"),
        entry(title="Marmots sing", publisher="Reuters", url="https://reuters.com/m", published_at="2026-01-14T00:00:00Z"),
        entry(title="A heron learns chess", publisher="Axios", url="https://axios.com/h", published_at="2026-01-17T23:59:59Z"),
        entry(title="Walruses vote", publisher="Fortune", url="https://fortune.com/w", published_at="2026-01-18T00:00:00Z"),
        entry(title="Toads waltz", publisher="Semafor", url="https://semafor.com/t", published_at="2026-01-13T23:59:59Z"),
        now=NOW + dt.timedelta(days=3),
    )
    return str(story_of(first).event_id)


@pytest.mark.slow
def test_only_a_publication_of_which_stories_came_in_those_days_has_not_reported_it(client: Client) -> None:
    event_id = publish_event_of_three_days()
    text = words(client, f"/event/{event_id}")
    silent = text.partition("Who has not reported it")[2].partition("Cite it")[0]
    named, _, nothing = silent.partition("Nothing received")
    assert all(name in named for name in ("Reuters", "Axios"))
    assert all(name in nothing and name not in named for name in ("Fortune", "Semafor", "OpenAI Blog"))
    assert not any(name in silent for name in ("TechCrunch", "Wired"))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rest_and_mcp_name_from_whom_nothing_was_received(client: Client) -> None:
    event_id = publish_event_of_three_days()
    event = client.get(f"/api/events/{event_id}.json").json()
    assert len(event["not_received"]) == 20
    assert {"Fortune", "Semafor"} <= set(event["not_received"])
    assert set(event["not_received"]).isdisjoint({"TechCrunch", "Wired", "Reuters", "Axios"})
    assert structured("get_event", event_id=event_id)["not_received"] == event["not_received"]
    for report in event["reports"]:
        asked = {"story_id": report["chatbotnews_id"]}
        assert structured("get_consensus", **asked)["not_received"] == event["not_received"]
        assert client.get("/api/consensus.json", asked).json()["not_received"] == event["not_received"]


def test_a_withdrawn_story_was_received_all_the_same(client: Client) -> None:
    publish(lone := entry(title=NEWS), gone := entry(title="Marmots sing", publisher="Wired", url="https://wired.com/m"))
    corrections.withdraw_story(story_of(gone).chatbotnews_id, reason="Retracted.", now=NOW)
    event = client.get(f"/api/events/{story_of(lone).event_id}.json").json()
    assert "Wired" not in event["not_received"]


def test_an_event_of_which_everybody_sent_something_has_no_list_of_who_sent_nothing(client: Client) -> None:
    names = [source["name"] for source in client.get("/api/sources.json").json()["sources"]]
    made = [entry(title=f"{name} of marmots", publisher=name, url=f"https://e.example/{n}") for n, name in enumerate(names)]
    publish(*made)
    assert client.get(f"/api/events/{story_of(made[0]).event_id}.json").json()["not_received"] == []
    assert "Nothing received" not in words(client, f"/event/{story_of(made[0]).event_id}")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_roster_tells_how_many_stories_of_each_there_are_and_how_new_whatever_its_feed_says(client: Client) -> None:
    publish(
        *(entry(published_at=f"2026-01-15T0{hour}:00:00Z") for hour in (7, 9, 8)),
        gone := entry(title="Marmots sing", published_at="2026-01-15T10:00:00Z"),
    )
    corrections.withdraw_story(story_of(gone).chatbotnews_id, reason="Retracted.", now=NOW)
    roster = client.get("/api/sources.json").json()
    counted = {one["name"]: (one["stories"], one["newest_story_at"]) for one in roster["sources"]}
    assert counted.pop("TechCrunch") == (3, "2026-01-15T09:00:00Z")
    assert set(counted.values()) == {(0, None)}
    assert structured("list_sources") == roster
    text = words(client, "/sources")
    assert "3 stories, newest 15 Jan 2026, 09:00 UTC" in text
    assert text.count("no stories yet") == 23


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_feed_that_was_never_fetched_is_a_silent_source(client: Client) -> None:
    publish(entry(title=NEWS))
    FeedHealth.objects.update_or_create(feed=feed_of("wired"), defaults={"succeeded_at": NOW})
    found = client.get("/api/corroborate.json", {"claim": NEWS}).json()
    assert "TechCrunch" in found["silent_sources"]
    assert "Wired" not in found["silent_sources"]
    assert structured("corroborate", claim=NEWS)["silent_sources"] == found["silent_sources"]
    assert "not fetched yet" in words(client, "/sources")
