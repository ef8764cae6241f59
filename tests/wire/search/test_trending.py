"""A wire of a million stories is as quick as a small one: what is counted, what is looked at, and by which index."""

import datetime as dt
from functools import partial
from typing import Any

import pytest
from django.db import connection, models
from django.test import Client

from tests.factories import DAY, NOW, entry, publish, story_of
from tests.wire.site.test_site import page
from wire import queries
from wire.ingest import corrections
from wire.models import SearchDocument, Snapshot, Story, StoryRevision, StoryTopic
from wire.models.search import encode_filters, find_newest, get_first_position, get_position
from wire.models.story import BY_EDITOR
from wire.publishing.indexing import find_free_positions
from wire.schemas.params import Group
from wire.search import cursor, ranking
from wire.text.choices import Category, Topic
from wire.text.search_query import Term, list_query_forms
from wire.text.tokens import tokenize

search_wire = partial(queries.search_wire, group=Group.NONE)  # every story, for its place in the list

pytestmark = pytest.mark.django_db

TITLE = "OpenAI launches quince model {}"


@pytest.fixture
def ten(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ten stories an hour apart, newest first, on a wire that counts to four and ranks three at a time."""
    monkeypatch.setattr(cursor, "COUNTED", 4)
    monkeypatch.setattr(ranking, "COUNTED", 4)
    monkeypatch.setattr(ranking, "POOL", 3)
    made = [entry(title=TITLE.format(n), published_at=f"2026-01-15T0{n}:00:00Z") for n in range(10)]
    publish(*made)
    return [story_of(one).chatbotnews_id for one in reversed(made)]


@pytest.mark.parametrize(
    "list_", ["/api/categories/launches.json", "/api/topics/openai.json", "/api/search.json?query=quince&group=none"]
)
def test_of_a_long_list_it_is_said_that_there_are_more_than_were_counted(client: Client, ten: list[str], list_: str) -> None:
    answer = client.get(list_).json()
    assert (answer["total"], answer["total_is_exact"]) == (4, False)
    assert set(ten[:3]) <= {story["chatbotnews_id"] for story in answer["stories"]}


@pytest.mark.slow
def test_people_read_a_plus_behind_what_was_counted_and_none_behind_what_was_counted_to_its_end(
    client: Client, request: pytest.FixtureRequest
) -> None:
    publish(entry(title="OpenAI buys a medlar", summary=""))
    answer = client.get("/api/search.json", {"query": "medlar"}).json()
    assert (answer["total"], answer["total_is_exact"]) == (1, True)
    assert "1 event" in page(client, "/search?query=medlar").text
    assert "1 story" in page(client, "/search?query=medlar&group=none").text
    request.getfixturevalue("ten")
    news = "Anthropic launches pears", "Nvidia unveils submarines", "Meta releases sheet music", "Mistral introduces tiny trains"
    publish(*(entry(title=headline) for headline in (*news, "Google launches a lighthouse", "Microsoft unveils curtains")))
    assert "4+ stories from all days" in page(client, "/category/launches").text
    assert "4+ stories" in page(client, "/search?query=quince&group=none").text


@pytest.mark.usefixtures("ten")
def test_of_a_long_topic_the_newest_stories_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wire.queries.stories.SUMMED_UP", 2)
    assert queries.get_topic_coverage(Topic.OPENAI).summary.startswith(
        "More than 4 stories about OpenAI. The newest 2 are by 1 publication, on 15 Jan 2026."
    )


def test_the_days_of_a_long_archive_are_counted_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    publish(*(entry(published_at=f"2026-01-{day}T10:00:00Z") for day in (12, 13, 14, 15)))
    monkeypatch.setattr(cursor, "COUNTED", 2)
    listed = queries.list_published_days(limit=3)
    assert (listed.total, listed.total_is_exact, len(listed.dates)) == (2, False, 3)


def test_a_phrase_of_common_words_is_found_behind_stories_that_hold_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "POOL", 3)
    monkeypatch.setattr(ranking, "COUNTED", 4)
    publish(entry(title="Quince robots", summary="", published_at="2026-01-15T01:00:00Z"))
    publish(*(entry(title="Robots of quince", summary="", published_at=f"2026-01-15T0{n}:00:00Z") for n in range(2, 9)))
    found = search_wire('"quince robots"')
    assert [story.headline for story in found.stories] == ["Quince robots"]
    assert (found.total, found.total_is_exact, found.ranking) == (1, True, "relevance")


@pytest.mark.parametrize("query", ['"openai launches"', "quinc", "model launchin", "openai quince"])
def test_pages_show_every_story_once_however_it_was_asked_for(ten: list[str], query: str) -> None:
    seen, cursor = list[str](), None
    for _ in range(20):
        found = search_wire(query, limit=2, cursor=cursor)
        seen += [story.chatbotnews_id for story in found.stories]
        assert (found.total, found.total_is_exact) == (4, False)
        cursor = found.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(ten)


@pytest.mark.usefixtures("ten")
def test_an_unfinished_long_word_finds_only_what_begins_like_it_and_what_many_hold_is_a_finished_one() -> None:
    publish(entry(title="Internationale quince", summary=""), entry(title="Internetworks quince", summary=""))
    publish(entry(title="OpenAI launches quinceberry", published_at="2026-01-15T09:30:00Z"))
    assert [story.headline for story in search_wire("internatio").stories] == ["Internationale quince"]
    found = search_wire("quince", limit=50)
    assert "OpenAI launches quinceberry" not in {story.headline for story in found.stories}
    assert [story.headline for story in search_wire("quinceb").stories] == ["OpenAI launches quinceberry"]


@pytest.mark.slow
def test_a_rare_word_is_found_however_old_its_story() -> None:
    ages = {days: NOW - dt.timedelta(days=days, hours=3) for days in (0, 1, 9, 80, 300, 1200, 3000)}
    publish(*(entry(title=f"Walrus{days}x swims", published_at=at.isoformat()) for days, at in ages.items()))
    for days, at in ages.items():
        word = f"walrus{days}x"
        assert [story.headline for story in search_wire(word).stories] == [f"Walrus{days}x swims"]
        assert search_wire(word, until=at.replace(microsecond=0)).total == 0
        assert search_wire(word, since=at.replace(microsecond=0)).total == 1


def test_places_are_in_the_order_of_lists(ten: list[str]) -> None:
    stories = {story.chatbotnews_id: get_position(story.published_at, story.chatbotnews_id) for story in Story.objects.all()}
    assert sorted(stories, key=lambda story: -stories[story]) == ten
    newest = Story.objects.newest_first()[0]
    assert (
        get_first_position(newest.published_at)
        <= stories[ten[0]]
        < get_first_position(newest.published_at + dt.timedelta(seconds=1))
    )
    assert find_newest([[Term(tuple(tokenize("quince")))]], limit=3) == [stories[story] for story in ten[:3]]


def test_two_stories_never_take_one_place() -> None:
    publish(entry(), entry())
    documents = list(SearchDocument.objects.order_by("pk").select_related("story"))
    SearchDocument.objects.all().delete()
    story = documents[0].story
    assert find_free_positions([story, story]) == [documents[0].pk, documents[0].pk - 1]
    documents[0].save(force_insert=True)
    assert find_free_positions([story]) == [documents[0].pk - 1]


def test_no_two_filters_have_one_mark() -> None:
    told = [
        *(encode_filters(category=c) for c in Category),
        *(encode_filters(topics=[t]) for t in Topic),
        *(encode_filters(tier=t) for t in range(1, 5)),
    ]
    told += [encode_filters(publication=number) for number in range(1, 2000)]
    assert len({mark for (mark,) in told}) == len(told)


def test_a_corrected_story_is_found_by_its_new_category_and_pairs() -> None:
    publish(made := entry(title="Quince robots learn", summary=""))
    story_id = story_of(made).chatbotnews_id
    corrections.classify_story(story_id, category=Category.FUNDING, topics=[Topic.META], reason="It was.", now=NOW)
    corrections.correct_texts(story_id, headline="Robots quince learn", reason="The order.", now=NOW)
    assert search_wire("quince", category=Category.FUNDING, topic=Topic.META).total == 1
    assert search_wire('"robots quince"').total == 1
    assert search_wire('"quince robots"').total == 0
    corrections.withdraw_story(story_id, reason="Retracted.", now=NOW)
    assert search_wire("quince").total == SearchDocument.objects.count() == StoryTopic.objects.count() == 0


def test_what_is_asked_of_an_index_is_no_query_syntax() -> None:
    for term in [
        term for form in list_query_forms('"a b" GPT-5 東京 internationalisation') for terms in form.lookup_sets for term in terms
    ]:
        for token in (*term.exact, *term.prefixes):
            assert token.isalnum()


def test_the_archive_shows_one_year_and_names_the_others(client: Client) -> None:
    publish(entry(published_at="2024-12-31T10:00:00Z"), entry(published_at="2026-01-15T10:00:00Z"))
    assert queries.get_calendar() == (2026, [2026, 2025, 2024], {DAY: 1})
    assert queries.get_calendar(2024)[2] == {dt.date(2024, 12, 31): 1}
    page(client, "/archive?year=2025")
    for year in ("2023", "0", "99999999999999", "x"):
        assert client.get("/archive", {"year": year}).status_code == 404


STORIES, DAYS = Story.objects.live(), Snapshot.objects.days()
PLANS: dict[str, tuple[models.QuerySet[Any], str]] = {
    "a list": (STORIES.newest_first()[:21], "story_newest"),
    "a deep page": (STORIES.after(NOW, "cbn-0").newest_first()[:21], "story_newest"),
    "a category": (STORIES.filter(category="funding").newest_first()[:21], "story_category"),
    "a topic": (StoryTopic.objects.about("openai").newest_first()[:21], "topic_newest"),
    "a deep page of a topic": (StoryTopic.objects.about("openai").after(NOW, "cbn-0").newest_first()[:21], "topic_newest"),
    "published days": (DAYS.order_by("-wire_date").only("wire_date")[:21], "snapshot_day"),
    "what editors changed": (StoryRevision.objects.filter(BY_EDITOR).order_by("-pk")[:31], "revision_by_editor"),
    "a feed's own ids": (Story.objects.filter(publication__in=[1, 2], guid__in=["a", "b"]).order_by(), "story_guid"),
}


@pytest.mark.parametrize("name", PLANS)
def test_an_index_begins_where_the_page_begins(name: str) -> None:
    """A small table is read whole by any planner that knows its size, so Postgres is told not to."""
    rows, index = PLANS[name]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
    plan = rows.explain()
    assert index in plan, plan
    if "deep" in name and connection.vendor == "sqlite":
        assert f"SEARCH wire_{'storytopic' if 'topic' in name else 'story'} USING" in plan
