"""Trends: the events of a window, each as one, in the order of how many report them."""

import datetime as dt

import pytest

from sources.entries import Entry
from tests.factories import NOW, entry, publish, story_of
from wire.models import Story
from wire.publishing.trending import find_capitalised_names
from wire.queries.events import list_trending_events
from wire.text.choices import Category
from wire.text.provenance_manifest import to_rfc3339

DAY = dt.timedelta(hours=24)
pytestmark = pytest.mark.django_db


def report(title: str, publisher: str, at: str = "2026-01-16T10:00:00Z") -> Entry:
    return entry(title=title, publisher=publisher, published_at=at, summary="Quince raises forty million dollars for robots.")


def event(title: str, *publishers: str, at: str = "2026-01-16T10:00:00Z") -> list[Story]:
    made = [report(title, one, at) for one in publishers]
    publish(*made)
    return [story_of(one) for one in made]


def test_a_wire_without_a_story_says_so() -> None:
    assert list_trending_events(DAY, now=NOW) == ([], "The wire has no story yet.")


def test_an_event_is_one_trend_that_its_founder_speaks_for() -> None:
    stories = event("Quince Robotics raises $40 million for kitchen robots", "TechCrunch", "The Verge")
    founder, other = sorted(stories, key=lambda story: story.chatbotnews_id != story.event_id)
    assert founder.event_id == other.event_id == founder.chatbotnews_id
    (one,) = list_trending_events(DAY, now=NOW)[0]
    assert founder.current is not None
    assert (one["id"], one["topic"], one["source"]) == (founder.event_id, founder.current.headline, "ChatbotNews.ai")
    assert one["url"].endswith(f"/story/{founder.chatbotnews_id}")
    assert one["timestamp"] == to_rfc3339(min(founder.published_at, other.published_at))
    assert set(one["metadata"]["story_ids"]) == {founder.chatbotnews_id, other.chatbotnews_id}
    assert set(one["metadata"]["publishers"]) == {"TechCrunch", "The Verge"}
    assert one["geographic_origin"] is None


@pytest.mark.usefixtures("sample_wire")
def test_the_highest_scores_come_first_and_nothing_scores_less_than_its_consensus() -> None:
    until = dt.datetime(2026, 10, 16, 12, 0, tzinfo=dt.UTC)
    trends = list_trending_events(7 * DAY, limit=100, now=until)[0]
    assert trends == sorted(
        trends, key=lambda one: (-one["engagement_score"], -dt.datetime.fromisoformat(one["timestamp"]).timestamp(), one["id"])
    )
    assert trends[0]["engagement_score"] > 0
    for one in trends:
        scores = [float(story.consensus_score) for story in Story.objects.filter(chatbotnews_id__in=one["metadata"]["story_ids"])]
        reported = round(100 * max(scores), 1) if len(scores) > 1 else 0
        assert one["engagement_score"] == reported if one["metadata"]["growing"] is None else one["engagement_score"] > reported
    newest = list_trending_events(7 * DAY, sort_by="timestamp", limit=100, now=until)[0]
    assert [one["timestamp"] for one in newest] == sorted((one["timestamp"] for one in trends), reverse=True)
    assert list_trending_events(7 * DAY, limit=2, now=until)[0] == trends[:2]


def test_what_newsrooms_write_of_more_than_in_the_weeks_before_lifts_lone_stories() -> None:
    words = ("whales", "bridges", "orchards", "harbours")
    publishers = ("TechCrunch", "The Verge", "WIRED", "VentureBeat")
    publish(
        *(report(f"A lone report on {word} that sing", "TechCrunch", f"2025-12-2{at}T10:00:00Z") for at, word in enumerate(words)),
        *(report(f"Why {word} are painted by Quince Robotics", one) for word, one in zip(words, publishers, strict=True)),
        report("A lone report on spoons that sing", "TechCrunch"),
    )
    *lifted, alone = list_trending_events(DAY, now=NOW)[0]
    assert {one["metadata"]["growing"]["name"] for one in lifted} == {"Quince Robotics"}
    assert all(0 < one["engagement_score"] <= 50 for one in lifted)
    assert (alone["engagement_score"], alone["metadata"]["growing"]) == (0, None)
    growth = lifted[0]["metadata"]["growing"]
    assert (growth["kind"], growth["stories"], growth["expected"]) == ("name", 4, 0.0)


def test_one_newsroom_s_own_campaign_and_a_wire_without_a_past_grow_nothing() -> None:
    publish(
        *(
            report(f"Why {word} are painted by Quince Robotics", "TechCrunch")
            for word in ("whales", "bridges", "orchards", "harbours")
        )
    )
    assert {one["engagement_score"] for one in list_trending_events(DAY, now=NOW)[0]} == {0}
    publish(report("A lone report on spoons that sing", "TechCrunch", "2026-01-02T10:00:00Z"))
    assert {one["engagement_score"] for one in list_trending_events(DAY, now=NOW)[0]} == {0}


@pytest.mark.parametrize(
    ("headline", "summary", "names"),
    [
        ("Why the makers of Gemini 3 left Google’s lab", "", {"Gemini 3", "Google"}),
        ("How To Build The Best Robots Of All Time", "The robots of Acme Labs, Inc are here.", {"Acme Labs", "Inc"}),
        ("Robots sing. They also paint", "", set()),
        ("", "", set()),
    ],
)
def test_names_are_what_has_capitals_within_a_sentence(headline: str, summary: str, names: set[str]) -> None:
    assert find_capitalised_names(headline, summary) == names


def test_a_window_counts_from_now_to_the_second() -> None:
    event("Quince Robotics raises $40 million for kitchen robots", "TechCrunch", at="2026-01-15T12:00:01Z")
    event("A lone report on whales that sing of mathematics", "TechCrunch", at="2026-01-15T12:00:00Z")
    assert len(list_trending_events(DAY, now=NOW)[0]) == 1
    assert len(list_trending_events(2 * DAY, now=NOW)[0]) == 2


def test_a_wire_that_stood_still_is_looked_at_as_of_its_newest_story() -> None:
    event("Quince Robotics raises $40 million for kitchen robots", "TechCrunch")
    trends, note = list_trending_events(DAY, now=NOW + dt.timedelta(days=30))
    assert len(trends) == 1
    assert "2026-01-16T10:00:00" in note


def test_categories_choose_and_a_withdrawn_story_is_no_trend() -> None:
    (story,) = event("Quince Robotics raises $40 million for kitchen robots", "TechCrunch")
    assert story.current is not None
    of_it = [Category(story.current.category)]
    others = [one for one in Category if one not in of_it]
    assert len(list_trending_events(DAY, of_it, now=NOW)[0]) == 1
    assert list_trending_events(DAY, others, now=NOW)[0] == []
