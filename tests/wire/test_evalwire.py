"""How right the wire is on labelled data, and that the figures are what their names say."""

import csv
import json
import math
from collections import defaultdict
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from wire import evaluate

pytestmark = pytest.mark.django_db
SHARED = Path(settings.BASE_DIR).parent / "shared" / "data" / "clusters"


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


def test_the_projects_own_labels_hold_their_floors() -> None:
    assert set(evalwire()) == {"events", "categories", "names", "search"}


def test_a_figure_below_its_floor_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    floors = tmp_path / "floors.json"
    floors.write_text('{"names": {"at_least": {"spellings_found": 1.01}}}')
    monkeypatch.setattr("wire.management.commands.evalwire.FLOORS_FILE", floors)
    with pytest.raises(CommandError, match=r"names: spellings_found is 0\.\d+, below 1\.01"):
        evalwire("names")


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


def searched(tmp_path: Path, judged: dict[str, int], query: str = "gherkin") -> dict[str, float]:
    titles = {"a": "Gherkin rises", "b": "Gherkin and walrus and much else fall together today", "c": "Walrus rises"}
    stories = [{"id": one, "title": title} for one, title in titles.items()]
    document = {"stories": stories, "queries": [{"query": query, "judged": judged}]}
    file = tmp_path / "search.json"
    file.write_text(json.dumps(document))
    return evalwire("search", str(file))["search"]


def test_searches_are_graded_by_what_stands_high(tmp_path: Path) -> None:
    assert searched(tmp_path, {"a": 3, "b": 1})["ndcg_10"] == 1.0
    worse = (1 / 1 + 7 / math.log2(3)) / (7 / 1 + 1 / math.log2(3))
    assert searched(tmp_path, {"a": 1, "b": 3})["ndcg_10"] == pytest.approx(worse, abs=1e-4)
    assert searched(tmp_path, {"c": 3})["ndcg_10"] == searched(tmp_path, {"c": 3})["relevant"] == 0.0
    assert searched(tmp_path, {}, query="marmot")["silent"] == 1.0
    assert searched(tmp_path, {})["silent"] == 0.0


def test_plain_bm25_takes_any_word_or_all_of_them(tmp_path: Path) -> None:
    found = searched(tmp_path, {"b": 3}, query="walrus gherkin")
    assert found["relevant_plain_bm25"] == pytest.approx(1 / 3, abs=1e-4)
    assert found["relevant_plain_bm25_all_words"] == found["relevant"] == found["ndcg_10"] == 1.0


def test_searches_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "searches.json").write_text('{"stories": []}')
    with pytest.raises(CommandError, match=r"searches\.json cannot be read: KeyError"):
        evalwire("search", str(tmp_path / "searches.json"))


def test_without_a_wire_the_shipped_lexicon_and_roster_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    with_a_wire = evalwire()
    monkeypatch.setattr(connection.introspection, "table_names", lambda: [])
    with CaptureQueriesContext(connection) as asked:
        assert evalwire() == with_a_wire
    assert not [query for query in asked.captured_queries if "SELECT" in query["sql"]]


def test_perfect_and_hopeless_clusterings_have_the_figures_that_they_should() -> None:
    apart = ["Osprey buys Quince for nine billion", "Marmalade glacier melts", "Umbrella law passes in Ruritania"]
    right = evaluate.events([{"title": title, "event": title} for title in apart])
    assert (right["bcubed_f1"], right["events_found"]) == (1.0, 3)
    wrong = evaluate.events([{"title": title, "event": "one"} for title in apart])
    assert wrong["bcubed_precision"] == 1.0
    assert wrong["bcubed_recall"] == pytest.approx(1 / 3)
    assert wrong["pairwise_recall"] == 0.0


def test_a_sample_of_small_events_is_the_same_for_the_same_seed() -> None:
    rows = [{"title": f"t{n}", "event": str(n // 9)} for n in range(90)]
    sample = evaluate.small_events(rows, 1)
    assert sample == evaluate.small_events(rows, 1)
    assert sample != evaluate.small_events(rows, 2)
    sizes: dict[str, int] = defaultdict(int)
    for row in sample:
        sizes[row["event"]] += 1
    assert max(sizes.values()) <= 6


@pytest.mark.skipif(not SHARED.exists(), reason="the labelled headlines are not at hand")
def test_events_among_headlines_of_2014_are_found() -> None:
    with (SHARED / "uci_dev.csv").open(encoding="utf-8") as lines:
        rows = [{"title": row["TITLE"], "event": row["STORY"]} for row in csv.DictReader(lines)]
    found = evaluate.events(rows)
    assert found["bcubed_f1"] >= 0.84
    assert found["pairwise_precision"] >= 0.90
    samples = [evaluate.events(evaluate.small_events(rows, seed))["pairwise_precision"] for seed in range(10)]
    assert sum(samples) / len(samples) >= 0.85
