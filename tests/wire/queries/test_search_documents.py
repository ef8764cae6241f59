"""The search over all systems on wires that hold stories alone, and what of the wire's own it leaves out."""

import datetime as dt
from typing import Any

import pytest

from tests.factories import entry, publish
from tests.publishers import draft, publisher, store
from tests.wire.corpora.timeline.corpora import harbour
from wire import queries
from wire.corpora.articles.models import OWN, Publisher

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The systems whose index was asked, none of which finds anything."""
    names: list[str] = []

    def note(name: str, found: Any = None) -> None:
        def search(*_args: Any, **_given: Any) -> Any:
            names.append(name)
            return found

        monkeypatch.setattr(f"wire.corpora.{name}", search)

    note("articles.search.find_hits", [])
    note("factchecks.queries.search_claims")
    note("timeline.queries.search_reports")
    return names


def test_stories_alone_are_what_a_search_of_stories_finds(asked: list[str]) -> None:
    titles = ("Nvidia prunes an orchard with AI", "Court in Ohio rules on AI patents", "Jam makers turn away from AI")
    publish(*(entry(title=title, summary=f"{title}.") for title in titles))
    stories = [story.chatbotnews_id for story in queries.search_wire("AI").stories]
    assert [hit.id for hit in queries.search_documents("AI").results] == stories
    assert len(stories) == 3
    assert asked == []


def test_a_wire_without_anything_finds_nothing() -> None:
    assert queries.search_documents("quince").model_dump() == {"results": [], "refused": [], "degraded": []}


def test_the_wires_own_publisher_repeats_it_and_is_not_searched(asked: list[str]) -> None:
    store(Publisher.objects.get(slug=OWN), draft("Quince of the day", "http://localhost:8000/editor-take/2026-01-15"))
    queries.search_documents("quince")
    assert asked == []
    publisher()  # another one, without an article
    harbour()
    assert queries.search_documents("quince", "article").results == []
    assert asked == []


def test_articles_of_several_publishers_come_in_one_order_the_newest_first_among_equals() -> None:
    for slug, day in (("quill", 1), ("medlar", 3), ("plum", 2)):
        owner = publisher(slug, name=slug.title(), domains=[f"{slug}.example"])
        url = f"https://{slug}.example/1"
        store(owner, draft(f"Quince by {slug}", url, published_at=dt.datetime(2026, 3, day, 10, tzinfo=dt.UTC)))
    assert [hit.source for hit in queries.search_documents("the quince", "article").results] == ["Medlar", "Plum", "Quill"]
    assert len(queries.search_documents("quince", "article", limit=2).results) == 2
