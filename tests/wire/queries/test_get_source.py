"""One publication: who it is, and its stories page by page."""

import datetime as dt

import pytest

from config.errors import InvalidArgument, NotFound
from tests.factories import NOW, entry, publish, story_of, take
from tests.wire.archives import replace_publication
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db


def test_its_facts_are_those_of_the_roster_also_after_it_left() -> None:
    before = queries.get_source("engadget")
    assert (before.name, before.tier, before.owner, before.owner_since) == ("Engadget", 3, "Yahoo", dt.date(2021, 9, 1))
    assert [feed.publication for feed in before.feeds] == ["Engadget"]
    assert before.retired_on is None
    replace_publication("engadget", "the-quill", "The Quill")
    after = queries.get_source("engadget")
    assert after == before.model_copy(update={"retired_on": NOW.date()})
    assert queries.get_source("the-quill").owner == ""


def test_it_lists_what_is_published_and_not_withdrawn_and_no_page_is_shifted_by_what_comes() -> None:
    made = [entry(published_at=f"2026-01-15T{hour:02}:00:00Z") for hour in range(10)]
    publish(*made, entry(publisher="Wired", url="https://wired.com/q"))
    corrections.withdraw_story(story_of(made[9]).chatbotnews_id, reason="Retracted.", now=NOW)
    take(entry())  # waits
    first = queries.list_source_stories("techcrunch", 4)
    publish(entry(published_at="2026-01-15T12:00:00Z"))
    rest = queries.list_source_stories("techcrunch", 50, first.next_cursor)
    shown = [story.chatbotnews_id for story in (*first.stories, *rest.stories)]
    assert shown[:8] == [story_of(one).chatbotnews_id for one in reversed(made[1:9])]
    assert (first.total, rest.next_cursor) == (9, None)


def test_a_cursor_of_another_publication_is_refused() -> None:
    publish(*(entry() for _ in range(3)))
    cursor = queries.list_source_stories("techcrunch", 1).next_cursor
    assert cursor
    with pytest.raises(InvalidArgument):
        queries.list_source_stories("wired", 1, cursor)


@pytest.mark.parametrize("slug", ["", "the-bugle", "TechCrunch", "\0"])
def test_who_is_not_known_is_not_found(slug: str) -> None:
    for ask in (queries.get_source, queries.list_source_stories):
        with pytest.raises(NotFound):
            ask(slug)
