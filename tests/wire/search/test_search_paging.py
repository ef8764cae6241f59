"""Search page by page, held against a plain reference: both databases must find the same, in the same order."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config.errors import InvalidArgument
from tests.contract import refused
from tests.examples import examples
from tests.factories import NOW, entry, publish, story_of
from wire import queries
from wire.models import Event, Story, search
from wire.schemas.params import Group, Sort
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import SearchOut, StoryOut
from wire.search import ranking, service
from wire.search.cursor import decode_cursor, encode_cursor
from wire.text import search_query as question
from wire.text import tokens
from wire.text.search_query import Text

search_wire = partial(queries.search_wire, group=Group.NONE)  # every story, for its place in the list

pytestmark = pytest.mark.django_db

WORDS = [
    *("quince", "quinces", "Quince-4", "launch", "launched", "café", "CAFE", "it's", "C++", "naïve", "東京", "東京都", "Straße"),
    *("STRASSE", "مرحبا", "emoji🤖word", "a", "of", "1", "2026", "NEAR", "not", "x65", "ﬁn", "fin", *"\"'*&|!-"),
]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@pytest.fixture
def corpus(db: None) -> list[StoryOut]:  # noqa: ARG001
    """Sixty stories made of few words, several at each moment."""
    dice = random.Random(24)
    made = []
    for number in range(60):
        title = " ".join(dice.choices(WORDS, k=dice.randint(1, 6))) + " t"
        summary = " ".join(dice.choices(WORDS, k=dice.randint(0, 12)))
        at = f"2026-01-15T{dice.randint(0, 9):02}:00:00Z"
        made.append(entry(title=title, summary=summary, url=f"https://techcrunch.com/{number}", published_at=at))
    publish(*made)
    return queries.get_today(NOW).stories


def reference(query: str, stories: list[StoryOut], sort: Sort = Sort.RELEVANCE) -> list[str]:
    """Return the ids that a search finds by its rules, best first. Newest first, holding some words is not enough."""
    texts = [
        (story, Text(tokens.tokenize(story.headline), tokens.tokenize(story.summary_medium), list_marks(story)))
        for story in stories
    ]
    asked = question.list_query_forms(query, service.COMPANY_MARKS)
    if sort == Sort.NEWEST:
        asked = [form for form in asked if form.least > question.SOME]
    for form in asked:
        held = [(story, text) for story, text in texts if text.holds(form) and is_looked_up(text, form)]
        if len(held) >= (ranking.ENOUGH[form.least] if sort == Sort.RELEVANCE else 1) or form is asked[-1]:
            break
    fresh = ranking.FRESH_ALONE if len(form.terms) == 1 else ranking.FRESH
    ranked = []
    for story, text in held:
        seconds = int(story.published_at.timestamp())
        ranked.append((-round(2 * text.score(form) + fresh * seconds / (365 * 86_400), 6), -seconds, story.chatbotnews_id))
    return [story_id for _, _, story_id in sorted(ranked)]


def is_looked_up(text: Text, form: question.Query) -> bool:
    """An index is asked for the rarest words only of a long question."""
    padded = f" {' '.join((*text.headline, *text.summary, *text.marks))} "
    return any(all(term.measure_match(padded) for term in terms) for terms in form.lookup_sets)


def list_marks(story: StoryOut) -> list[str]:
    marks = [
        *search.encode_filters(topics=story.topics),
        *tokens.encode_pairs(tokens.tokenize(story.headline)),
        *tokens.encode_pairs(tokens.tokenize(story.summary_medium)),
        *tokens.list_run_tokens(story.headline),
        *tokens.list_run_tokens(story.summary_medium),
    ]
    return list(dict.fromkeys(marks))


def pages(
    query: str,
    limit: int,
    between: Callable[[], object] = lambda: None,
    sort: Sort = Sort.RELEVANCE,
    group: Group = Group.NONE,
) -> Iterator[StoriesAnswer[SearchOut]]:
    cursor = None
    for _ in range(200):
        page = queries.search_wire(query, limit=limit, cursor=cursor, sort=sort, group=group)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
        between()
    pytest.fail("paging never ends")


def ids(found: Iterable[StoriesAnswer[SearchOut] | SearchOut]) -> list[str]:
    return [story.chatbotnews_id for page in found for story in page.stories]


@examples(40)
@given(query=texts.filter(tokens.words), limit=st.integers(3, 50))
def test_a_search_finds_what_a_plain_reference_finds(corpus: list[StoryOut], query: str, limit: int) -> None:
    expected = reference(query, corpus)
    found = list(pages(query, limit))
    assert ids(found) == expected
    assert {page.total for page in found} == {len(expected)}
    assert {page.ranking for page in found} == {"relevance"}


@examples(40)
@given(query=st.text(max_size=300))
def test_no_text_breaks_a_search(corpus: list[StoryOut], query: str) -> None:
    if tokens.split_written_words(query):
        assert set(ids(pages(query, 50))) <= {story.chatbotnews_id for story in corpus}
    else:
        with pytest.raises(InvalidArgument):
            search_wire(query)


@examples(12)
@given(query=st.sampled_from(["t", "quince", "cafe t", "1"]), limit=st.integers(2, 9), pool=st.integers(2, 20))
def test_windows_show_every_match_once_when_there_are_too_many_to_rank(
    corpus: list[StoryOut], query: str, limit: int, pool: int
) -> None:
    expected = reference(query, corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "POOL", pool)
        found = list(pages(query, limit))
    assert sorted(ids(found)) == sorted(expected)
    assert {page.total for page in found} == {len(expected)}
    assert {page.ranking for page in found} == {"newest" if len(expected) > pool else "relevance"}


@examples(40)
@given(query=texts.filter(tokens.words), limit=st.integers(3, 50), counted=st.sampled_from([4, 1000]))
def test_newest_first_shows_every_match_once_in_order_of_time(corpus: list[StoryOut], query: str, limit: int, counted: int) -> None:
    expected = set(reference(query, corpus, Sort.NEWEST))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "COUNTED", counted)
        found = list(pages(query, limit, sort=Sort.NEWEST))
    if counted == 1000:
        assert {page.total for page in found} == {len(expected)}
        assert ids(found) == [story.chatbotnews_id for story in corpus if story.chatbotnews_id in expected]
    assert ids(found) == [story.chatbotnews_id for story in corpus if story.chatbotnews_id in set(ids(found))]
    assert len({(page.total, page.total_is_exact) for page in found}) == 1
    assert {page.ranking for page in found} == {"newest"}


@pytest.mark.slow
def test_newest_first_goes_on_where_it_was_though_stories_arrive_between_pages(corpus: list[StoryOut]) -> None:
    times = iter(("2026-01-15T23:00:00Z", "2026-01-14T00:00:00Z"))

    def arrive() -> None:
        if at := next(times, None):
            publish(entry(title="Quince t", published_at=at))

    found = ids(pages("t", 20, between=arrive, sort=Sort.NEWEST))
    before = reference("t", corpus)
    assert len(found) == len(set(found)) == len(before) + 1
    assert set(before) < set(found)


def test_a_cursor_of_one_order_is_refused_with_the_other(corpus: list[StoryOut]) -> None:  # noqa: ARG001
    for sort, other in ((Sort.NEWEST, Sort.RELEVANCE), (Sort.RELEVANCE, Sort.NEWEST)):
        cursor = search_wire("t", limit=2, sort=sort).next_cursor
        assert search_wire("t", cursor=cursor, sort=sort).stories
        with pytest.raises(InvalidArgument, match="cursor"):
            search_wire("t", cursor=cursor, sort=other)


def filter_pages(limit: int, **filters: Any) -> Iterator[StoriesAnswer[SearchOut]]:
    page = queries.list_filtered_stories(**filters, limit=limit)
    yield page
    while page.next_cursor:
        page = queries.list_filtered_stories(**filters, limit=limit, cursor=page.next_cursor)
        yield page


def test_filters_without_words_list_all_that_pass_them_newest_first(corpus: list[StoryOut]) -> None:
    moment = corpus[30].published_at
    after = [story for story in corpus if story.published_at >= moment]
    before = [story for story in corpus if story.published_at < moment]
    asked: list[tuple[dict[str, Any], list[StoryOut]]] = [
        *(({}, corpus), ({"source": "techcrunch"}, corpus), ({"tier": 2}, corpus), ({"tier": 1}, [])),
        *(({"since": moment}, after), ({"until": moment, "source": "TechCrunch"}, before)),
    ]
    for filters, expected in asked:
        found = list(filter_pages(7, **filters))
        assert ids(found) == [story.chatbotnews_id for story in expected]
        assert {(page.total, page.total_is_exact) for page in found} == {(len(expected), True)}


def test_a_window_ranks_the_newest_matches_before_any_older_one(corpus: list[StoryOut], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "POOL", 20)
    newest = [story for story in corpus if set(tokens.tokenize("t")) <= set(tokens.tokenize(story.headline))][:20]
    assert ids([search_wire("t", limit=20)]) == reference("t", newest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "pool"),
    [("2026-01-15T23:00:00Z", 7), ("2026-01-15T05:00:00Z", 7), ("2026-01-14T00:00:00Z", 7), ("2026-01-15T05:00:00Z", 500)],
)
def test_every_match_is_shown_once_though_stories_arrive_between_pages(
    corpus: list[StoryOut], monkeypatch: pytest.MonkeyPatch, at: str, pool: int
) -> None:
    monkeypatch.setattr(ranking, "POOL", pool)
    arrived: list[str] = []

    def arrive() -> None:
        if len(arrived) < 4:
            made = entry(title=f"Quince t {'new ' * len(arrived)}", published_at=at)
            publish(made)
            arrived.append(story_of(made).chatbotnews_id)

    found = ids(pages("t", 5, between=arrive))
    assert len(found) == len(set(found))
    assert set(reference("t", corpus)) <= set(found) <= set(reference("t", corpus)) | set(arrived)


def test_a_cursor_belongs_to_its_question_and_to_no_other(corpus: list[StoryOut]) -> None:  # noqa: ARG001
    cursor = search_wire("quince t", limit=1).next_cursor
    assert cursor is not None
    assert search_wire("QUINCES T", limit=9, cursor=cursor).stories
    for other in ("quince", "t", "t quince", '"quince t"'):
        with pytest.raises(InvalidArgument, match="cursor"):
            search_wire(other, cursor=cursor)


FILTERS = {"category": "launches", "topic": "openai", "source": "The Verge", "tier": "2"}
FILTERS |= {"since": "2026-01-15T00:00:00Z", "until": "2026-01-16T00:00:00Z"}
OTHERS = {"category": "funding", "topic": "google", "source": "Reuters", "tier": "3"}
OTHERS |= {"since": "2026-01-15T00:00:01Z", "until": "2026-01-16T01:00:00Z"}
SAME = {"source": "the verge", "since": "2026-01-15T02:00:00+02:00", "until": "2026-01-16", "limit": "9"}


@pytest.fixture
def launches(db: None) -> list[str]:  # noqa: ARG001
    """Launches by OpenAI, told by The Verge; their ids in the order of a search."""
    titles = [f"OpenAI launches quince model {number}" for number in range(5)]
    urls = [f"https://www.theverge.com/{number}" for number in range(5)]
    publish(*(entry(publisher="The Verge", title=title, url=url) for title, url in zip(titles, urls, strict=True)))
    return ids([search_wire("quince model")])


def first_page(client: Client, **filters: str) -> SearchOut:
    return SearchOut(**client.get("/api/search.json", {"query": "quince", "limit": "2", "group": "none", **filters}).json())


def test_a_cursor_goes_on_with_the_filters_it_was_given_for(client: Client, launches: list[str]) -> None:
    first = first_page(client, **FILTERS)
    asked = {"query": "QUINCE", "group": "none", **FILTERS, **SAME, "cursor": first.next_cursor or ""}
    rest = client.get("/api/search.json", asked).json()
    assert (ids([first]) + [story["chatbotnews_id"] for story in rest["stories"]], rest["total"]) == (launches, 5)


@pytest.mark.slow
@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize("name", FILTERS)
def test_a_cursor_is_refused_with_one_filter_more_or_less_or_another(client: Client, name: str) -> None:
    fewer = {other: value for other, value in FILTERS.items() if other != name}
    for first, then in (({}, {name: FILTERS[name]}), (FILTERS, fewer), (FILTERS, {**FILTERS, name: OTHERS[name]})):
        asked = {"query": "quince", "group": "none", "cursor": first_page(client, **first).next_cursor or "", **then}
        assert "cursor" in refused(client.get("/api/search.json", asked), 422, "invalid_argument")["message"]
        shown = client.get("/search", asked)
        assert (shown.status_code, "cursor" in shown.content.decode()) == (422, True)


@pytest.mark.parametrize("pool", [3, 500])
def test_the_cursor_of_a_window_is_refused_with_other_filters_too(
    client: Client, monkeypatch: pytest.MonkeyPatch, launches: list[str], pool: int
) -> None:
    monkeypatch.setattr(ranking, "POOL", pool)
    found = list(pages("quince", 2))
    assert sorted(ids(found)) == sorted(launches)
    for page in found[:-1]:
        for other in ({"source": "Reuters"}, {"since": "2026-01-15"}):
            asked = {"query": "quince", "group": "none", "cursor": page.next_cursor or "", **other}
            refused(client.get("/api/search.json", asked), 422, "invalid_argument")


@pytest.fixture
def events(corpus: list[StoryOut]) -> dict[str, str]:  # noqa: ARG001
    """The stories of the corpus in fifteen events, each with stories all over the list; the event of each."""
    dice, chosen = random.Random(7), list(Event.objects.order_by("pk")[:15])
    for story in Story.objects.order_by("pk"):
        Story.objects.filter(pk=story.pk).update(event=dice.choice(chosen), event_pinned=True)
    return dict(Story.objects.values_list("chatbotnews_id", "event_id"))


def group_by_event(found: list[str], events: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the stories of each event in their order, events in that of their first."""
    grouped: dict[str, list[str]] = {}
    for one in found:
        grouped.setdefault(events[one], []).append(one)
    return grouped


@examples(40)
@given(query=texts.filter(tokens.words), limit=st.integers(3, 50))
def test_by_event_the_best_of_each_is_shown_and_the_others_are_counted(
    corpus: list[StoryOut], events: dict[str, str], query: str, limit: int
) -> None:
    expected = group_by_event(reference(query, corpus), events)
    found = list(pages(query, limit, group=Group.EVENT))
    assert ids(found) == [some[0] for some in expected.values()]
    shown = [story for page in found for story in page.stories]
    assert [(story.event_id, story.more_of_event) for story in shown] == [(one, len(some) - 1) for one, some in expected.items()]
    assert {(page.total, page.group) for page in found} == {(len(expected), Group.EVENT)}
    assert all(len(page.stories) == limit for page in found[:-1])


@examples(20)
@given(query=st.sampled_from(["t", "quince", "cafe t", "1"]), limit=st.integers(2, 9), pool=st.integers(2, 20))
def test_by_event_windows_show_every_event_once(
    corpus: list[StoryOut], events: dict[str, str], query: str, limit: int, pool: int
) -> None:
    expected = group_by_event(reference(query, corpus), events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "POOL", pool)
        found = list(pages(query, limit, group=Group.EVENT))
    shown = {story.event_id: story for page in found for story in page.stories}
    assert sorted(events[one] for one in ids(found)) == sorted(expected)
    assert {event: (story.more_of_event or 0) + 1 for event, story in shown.items()} == {
        event: len(some) for event, some in expected.items()
    }
    assert {page.total for page in found} == {len(expected)}


@pytest.mark.slow
@pytest.mark.parametrize("at", ["2026-01-15T23:00:00Z", "2026-01-15T05:00:00Z", "2026-01-14T00:00:00Z"])
@pytest.mark.parametrize("pool", [7, 500])
def test_no_event_is_lost_or_doubled_though_its_stories_arrive_between_pages(
    corpus: list[StoryOut], events: dict[str, str], monkeypatch: pytest.MonkeyPatch, at: str, pool: int
) -> None:
    monkeypatch.setattr(ranking, "POOL", pool)
    left = iter(sorted(set(events.values())))

    def arrive() -> None:
        if (event := next(left, None)) is not None:
            made = entry(title=f"Quince t {event}", published_at=at)
            publish(made)
            Story.objects.filter(pk=story_of(made).pk).update(event=event, event_pinned=True)

    expected = set(group_by_event(reference("t", corpus), events))
    found = list(pages("t", 4, between=arrive, group=Group.EVENT))
    assert sorted(events[one] for one in ids(found)) == sorted(expected)


def test_newest_first_and_without_words_every_story_is_shown(corpus: list[StoryOut], events: dict[str, str]) -> None:  # noqa: ARG001
    newest = queries.search_wire("t", limit=50, sort=Sort.NEWEST)
    assert (newest.group, newest.total) == (Group.NONE, len(reference("t", corpus)))
    assert {story.more_of_event for story in newest.stories} == {None}
    assert queries.search_wire("2026-01-15", limit=50).total == len(corpus)


def test_a_cursor_of_one_grouping_is_refused_with_the_other_and_with_a_strange_story(
    corpus: list[StoryOut],  # noqa: ARG001
) -> None:
    for group, other in ((Group.EVENT, Group.NONE), (Group.NONE, Group.EVENT)):
        cursor = queries.search_wire("t", limit=2, group=group).next_cursor
        with pytest.raises(InvalidArgument, match="cursor"):
            queries.search_wire("t", cursor=cursor, group=other)
    kind, values = decode_cursor(queries.search_wire("t", limit=2).next_cursor or "", ranking.KINDS)
    for last in ("", ":", ":x", ":-1", ":1e3", ":²", f":{10**30}", ":1:2"):
        with pytest.raises(InvalidArgument, match="cursor"):
            queries.search_wire("t", cursor=encode_cursor(kind, values[0].partition(":")[0] + last, *values[1:]))


def test_rest_and_the_site_show_the_best_of_each_event(client: Client, events: dict[str, str]) -> None:  # noqa: ARG001
    asked = {"query": "t", "limit": "50"}
    grouped, whole = (client.get("/api/search.json", asked | more).json() for more in ({}, {"group": "none"}))
    assert grouped["total"] == len(grouped["stories"]) == len({story["event_id"] for story in grouped["stories"]})
    assert sum(story["more_of_event"] + 1 for story in grouped["stories"]) == whole["total"] > grouped["total"]
    assert not any("more_of_event" in story for story in whole["stories"])
    assert (grouped["group"], whole["group"]) == ("event", "none")
    refused(client.get("/api/search.json", asked | {"group": "day"}), 422, "invalid_argument")
    page = client.get("/search", {"query": "t"}).content.decode()
    assert f"{grouped['total']} events" in page
    assert f'more matching stories on <a href="/event/{grouped["stories"][0]["event_id"]}">' in page
    assert "/search?query=t&amp;group=none" in page
    assert f"{whole['total']} stories" in client.get("/search", {"query": "t", "group": "none"}).content.decode()
