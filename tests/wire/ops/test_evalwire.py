"""Figures on labelled data, and that they are what their names say."""

import csv
import gzip
import json
import math
from collections import defaultdict
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.quality import bm25
from benchmarks.quality.samples import small_events
from sources.entries import Entry
from tests.sources.parse.pages import pages
from wire.ops.quality import evaluate
from wire.text.identity import canonical_url, chatbotnews_id

pytestmark = pytest.mark.django_db


def evalwire(*arguments: str) -> dict[str, dict[str, float]]:
    out = StringIO()
    call_command("evalwire", *arguments, "--json", stdout=out)
    found: dict[str, dict[str, float]] = json.loads(out.getvalue())
    return found


def write(file: Path, *rows: dict[str, str]) -> str:
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(file)


@pytest.mark.slow
def test_a_figure_below_its_floor_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    floors = tmp_path / "floors.json"
    floors.write_text('{"names": {"at_least": {"spellings_found": 1.01}}}')
    monkeypatch.setattr("wire.management.commands.evalwire.FLOORS_FILE", floors)
    with pytest.raises(CommandError, match=r"names: spellings_found is 0\.\d+, below 1\.01"):
        evalwire("names")


def test_the_summaries_of_any_archive_are_counted_by_what_they_are(tmp_path: Path) -> None:
    texts = (
        "",
        "Gemini CLI icon on a background with code snippets",
        "Quince walks.",
        "It walks through the town every day and nobody has asked it where to so far",
        "It walks.",
        "It wal…",
        "Sign up for our newsletter.",
        "Hello, and welcome to Decoder! It walks.",
    )
    item = {"title": "Quince walks", "url": "https://wired.com/quince", "publisher": "Wired", "published_at": "2026-01-15"}
    file = tmp_path / "archive.ndjson"
    file.write_text("".join(json.dumps(item | {"summary": text}) + "\n" for text in texts))
    found = evalwire("summaries", str(file))["summaries"]
    assert found == {
        **{"items": 8, "empty": 1, "boilerplate": 1, "picture": 1, "repeated": 1, "cut": 1, "no_sentence": 1, "whole": 2},
        "opening_dropped": 1,
    }
    with pytest.raises(CommandError, match="Name the file"):
        evalwire("summaries")
    with pytest.raises(CommandError, match="cannot be read"):
        evalwire("summaries", str(tmp_path / "none.ndjson"))


def test_any_labelled_file_is_evaluated_and_held_to_no_floor(tmp_path: Path) -> None:
    file = write(
        tmp_path / "names.csv", {"name": "Tech Crunch", "expected": "TechCrunch"}, {"name": "The Wire", "expected": "Wired"}
    )
    found = evalwire("names", file)["names"]
    assert (found["spellings"], found["spellings_found"]) == (2, 0.5)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        evalwire("events", str(tmp_path / "missing.csv"))
    with pytest.raises(CommandError, match="lacks the columns event"):
        evalwire("events", write(tmp_path / "events.csv", {"title": "A"}))


@pytest.mark.slow
def test_generated_pages_are_read_at_least_as_well_as_trafilatura_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "pages.ndjson"
    file.write_text("".join(json.dumps({"html": one.html, "url": one.url, "text": one.text}) + "\n" for one in pages()))
    found = evalwire("articles", str(file))["articles"]
    assert (found["pages"], found["refused"]) == (100, 0)
    assert found["f1"] >= found["trafilatura_f1"]
    assert found["f1"] > 0.99


@pytest.mark.slow
def test_pages_may_lie_in_a_directory_each_with_its_text(tmp_path: Path) -> None:
    one, other = pages(each=1)[:2]
    (tmp_path / "one.html").write_text(one.html)
    (tmp_path / "one.txt").write_text(one.text)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "other.html.gz").write_bytes(gzip.compress(other.html.encode()))
    (tmp_path / "ground-truth.json").write_text(json.dumps({"other": {"articleBody": f"{other.text} {other.text}"}}))
    found = evalwire("articles", str(tmp_path))["articles"]
    assert (found["pages"], found["precision"]) == (2, 1)
    assert 0.74 < found["recall"] < 0.76  # all of one, and half of the other


def test_pages_without_their_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("<p>x</p>")
    with pytest.raises(CommandError, match="cannot be read"):
        evalwire("articles", str(tmp_path))
    with pytest.raises(CommandError, match="Name the file"):
        evalwire("articles")


def test_topics_are_evaluated_with_the_publication_where_the_labels_name_it(tmp_path: Path) -> None:
    row = {"title": "Our approach to safety", "category": "industry", "topics": "openai"}
    assert evalwire("categories", write(tmp_path / "alone.csv", row))["categories"]["topics_micro_f1"] == 0.0
    row["source"] = "OpenAI Blog"
    assert evalwire("categories", write(tmp_path / "posted.csv", row))["categories"]["topics_micro_f1"] == 1.0


def test_labels_are_joined_with_the_texts_that_an_archive_has_of_their_stories() -> None:
    published = Entry("Wired", "Quince &amp; walks", "https://wired.com/quince", "2026-01-15", summary="It walks <b>far</b>.")
    other = Entry("Wired", "Gherkin", "no address", "2026-01-15", summary="It rises.")
    story = chatbotnews_id(canonical_url(published.url))
    known, unknown = evaluate.add_texts(
        [{"story": story}, {"story": "cbn-0", "title": "Ours"}], [published, other], {"OpenAI Blog"}
    )
    texts = {"title": "Quince & walks", "source": "Wired", "summary": "It walks far.", "published_on": "2026-01-15"}
    assert known == {"story": story, **texts}
    assert unknown == {"story": "cbn-0", "title": "Ours"}


TITLES = {"a": "Gherkin rises", "b": "Gherkin and walrus and much else fall together today", "c": "Walrus rises"}


def score_search(tmp_path: Path, judged: dict[str, int], query: str = "gherkin") -> dict[str, float]:
    stories = [{"id": one, "title": title} for one, title in TITLES.items()]
    document = {"stories": stories, "queries": [{"query": query, "judged": judged}]}
    file = tmp_path / "search.json"
    file.write_text(json.dumps(document))
    return evalwire("search", str(file))["search"]


def test_searches_are_graded_by_what_stands_high(tmp_path: Path) -> None:
    assert score_search(tmp_path, {"a": 3, "b": 1})["ndcg_10"] == 1.0
    worse = (1 / 1 + 7 / math.log2(3)) / (7 / 1 + 1 / math.log2(3))
    assert score_search(tmp_path, {"a": 1, "b": 3})["ndcg_10"] == pytest.approx(worse, abs=1e-4)
    assert score_search(tmp_path, {"c": 3})["ndcg_10"] == score_search(tmp_path, {"c": 3})["relevant"] == 0.0
    assert score_search(tmp_path, {}, query="marmot")["silent"] == 1.0
    assert score_search(tmp_path, {})["silent"] == 0.0


def test_plain_bm25_takes_any_word_or_all_of_them() -> None:
    stories = [{"id": one, "title": title} for one, title in TITLES.items()]
    document = {"stories": stories, "queries": [{"query": "walrus gherkin", "judged": {"b": 3}}]}
    assert bm25.searches(document, every=False)["relevant"] == pytest.approx(1 / 3)
    assert bm25.searches(document, every=True)["relevant"] == 1.0


def test_searches_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "searches.json").write_text('{"stories": []}')
    with pytest.raises(CommandError, match=r"searches\.json cannot be read: KeyError"):
        evalwire("search", str(tmp_path / "searches.json"))


@pytest.mark.slow
def test_the_projects_own_labels_hold_their_floors_also_without_a_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    with_a_wire = evalwire()
    assert set(with_a_wire) == {"events", "real-events", "categories", "newsrooms", "later", "names", "search"}
    monkeypatch.setattr(connection.introspection, "table_names", lambda: [])
    with CaptureQueriesContext(connection) as asked:
        assert evalwire() == with_a_wire
    assert not [query for query in asked.captured_queries if "SELECT" in query["sql"]]


def test_perfect_and_hopeless_clusterings_have_the_figures_that_they_should() -> None:
    apart = ["Osprey buys Quince for nine billion", "Marmalade glacier melts", "Umbrella law passes in Ruritania"]
    right = evaluate.score_events([{"title": title, "event": title} for title in apart])
    assert (right["bcubed_f1"], right["events_found"]) == (1.0, 3)
    wrong = evaluate.score_events([{"title": title, "event": "one"} for title in apart])
    assert wrong["bcubed_precision"] == 1.0
    assert wrong["bcubed_recall"] == pytest.approx(1 / 3)
    assert wrong["pairwise_recall"] == 0.0


def test_a_sample_of_small_events_is_the_same_for_the_same_seed() -> None:
    rows = [{"title": f"t{n}", "event": str(n // 9)} for n in range(90)]
    sample = small_events(rows, 1)
    assert sample == small_events(rows, 1)
    assert sample != small_events(rows, 2)
    sizes: dict[str, int] = defaultdict(int)
    for row in sample:
        sizes[row["event"]] += 1
    assert max(sizes.values()) <= 6
