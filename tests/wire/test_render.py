"""What is kept of stories as JSON: always what would be made anew, and never shown once it is old."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries, Settings

from tests.factories import DAY, NOW, entry, publish, story_of
from wire import editorial, queries, render
from wire.models import Snapshot, Story, StoryJson
from wire.models.compiled import Compiled
from wire.render import as_json, as_values
from wire.vocabulary import Category, Topic

pytestmark = pytest.mark.django_db

ABOUT = entry(title="OpenAI launches quince model", published_at="2026-01-15T09:00:00Z")
SAME = entry(
    title="OpenAI launches its quince model",
    publisher="Reuters",
    url="https://reuters.com/quince",
    published_at="2026-01-15T10:00:00Z",
)
OTHER = entry(
    title="Mistral raises a round of funding", publisher="Wired", url="https://wired.com/m", published_at="2026-01-14T10:00:00Z"
)


def made_anew() -> dict[str, bytes]:
    return {s.chatbotnews_id: render.story_json(s) for s in Story.objects.published().with_text()}


def kept() -> dict[str, bytes]:
    """What is kept, of stories whose kept JSON fits."""
    rows = [render.Stored(*row) for row in Story.objects.published().values_list(*render.COLUMNS)]
    return {row.chatbotnews_id: json for row in rows if (json := render.unpacked(row)) is not None}


def correct(story_id: str) -> None:
    editorial.correct(story_id, headline="OpenAI launches a quince", reason="A word was wrong.", now=NOW)


def withdraw(story_id: str) -> None:
    editorial.withdraw(story_id, reason="It was never said.", now=NOW)


@pytest.mark.parametrize("change", [None, correct, withdraw])
def test_what_is_kept_is_what_would_be_made_anew(change: Callable[[str], None] | None) -> None:
    publish(ABOUT, SAME, OTHER)
    if change is not None:
        change(story_of(SAME).chatbotnews_id)
    assert len(made_anew()) == 3
    assert kept() == made_anew()


def test_a_story_that_comes_later_renews_what_is_kept_of_its_siblings() -> None:
    publish(ABOUT)
    alone = kept()[story_of(ABOUT).chatbotnews_id]
    publish(SAME)
    together = kept()[story_of(ABOUT).chatbotnews_id]
    assert (orjson.loads(alone)["cross_source_count"], orjson.loads(together)["cross_source_count"]) == (1, 2)
    assert kept() == made_anew()


def test_what_does_not_fit_is_never_shown() -> None:
    publish(ABOUT, SAME)
    told: list[Any] = list(queries.get_today(read=as_values).stories)
    StoryJson.objects.update(packed=b"old", made_of="another wire")
    assert queries.get_today(read=as_values).stories == told
    assert [queries.get_story(story["chatbotnews_id"], as_values) for story in told] == told
    assert queries.list_stories(read=as_values).stories == told
    StoryJson.objects.all().delete()
    assert queries.get_today(read=as_values).stories == told
    assert queries.search_wire("quince", read=as_values).total == 2


def test_another_site_address_shows_in_every_answer_at_once(settings: Settings) -> None:
    publish(ABOUT)
    settings.WIRE_SITE_URL = "https://wire.example"
    (story,) = queries.list_stories().stories
    assert story.permalink.startswith("https://wire.example/story/")
    assert story.citation_objects
    assert story.citation_objects.layered_ready.endswith(story.permalink)


def test_renderwire_makes_anew_what_does_not_fit_and_nothing_else(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    publish(ABOUT, SAME, OTHER)
    call_command("renderwire")
    assert capsys.readouterr().out.startswith("Made anew: 0.")
    settings.WIRE_SITE_URL = "https://wire.example"
    assert kept() == {}
    call_command("renderwire")
    assert "Made anew: 3." in capsys.readouterr().out
    assert kept() == made_anew()


def test_an_older_revision_of_a_day_shows_its_stories_as_they_were() -> None:
    publish(ABOUT, SAME)
    before = queries.get_archive(DAY, 1, as_values).stories
    correct(story_of(ABOUT).chatbotnews_id)
    assert queries.get_archive(DAY, 1, as_values).stories == before
    told: list[Any] = list(queries.get_archive(DAY, None, as_values).stories)
    now = {story["chatbotnews_id"]: story for story in told}
    assert now[story_of(ABOUT).chatbotnews_id]["headline"] == "OpenAI launches a quince"
    assert Snapshot.objects.filter(wire_date=DAY).count() == 2


def test_one_story_a_list_and_a_day_cost_no_query_for_their_stories(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    publish(ABOUT, SAME, OTHER)
    story_id = story_of(ABOUT).chatbotnews_id
    with django_assert_num_queries(1):
        queries.get_story(story_id, as_json)
    with django_assert_num_queries(2):  # the page, and how many there are
        queries.get_category(Category.LAUNCHES, read=as_json)


def test_a_compiled_query_takes_its_arguments_anew_each_time() -> None:
    publish(ABOUT, SAME, OTHER)
    made = 0

    def rows(publisher: str, since: dt.datetime, limit: int):  # type: ignore[no-untyped-def]
        nonlocal made
        made += 1
        found = Story.objects.filter(publication__name=publisher, published_at__gte=since)
        return found.values_list("chatbotnews_id")[:limit]

    compiled = Compiled(rows)
    early, late = (dt.datetime(2026, 1, 15, hour, tzinfo=dt.UTC) for hour in (8, 12))
    reuters = [(story_of(SAME).chatbotnews_id,)]
    assert [list(map(tuple, compiled.rows(who, when, 5))) for who in ("Reuters", "Axios") for when in (early, late)] == [
        reuters,
        [],
        [],
        [],
    ]
    assert (compiled.count("Reuters", early, 5), made) == (1, 1)
    assert (compiled.count("Reuters", early, 1), made) == (1, 2)


def test_topics_and_search_show_the_same_story_as_the_story_itself() -> None:
    publish(ABOUT)
    whole = queries.get_story(story_of(ABOUT).chatbotnews_id, as_values)
    assert queries.get_topic_coverage(Topic.OPENAI, read=as_values).stories == [whole]
    assert queries.search_wire("quince", read=as_values).stories == [whole]
    assert queries.get_todays_category(Category.LAUNCHES, NOW, as_values).stories == [whole]
