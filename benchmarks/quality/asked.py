"""The questions of fixtures/eval/asked.json and asked-kinds.json, put to a wire that holds the real archive: to its search, its
words alone, its vectors alone, and to plain BM25 over the same stories. `WIRE_DATA_DIR=… python -m benchmarks.quality.asked`

The last line names the first ten stories of every question and query by one digest: two databases that hold the same archive
must print the same. Rewrites the table of questions in docs/quality.md.
"""

import datetime as dt
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import report

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "fixtures" / "eval" / "asked.json"
KINDS = ROOT / "fixtures" / "eval" / "asked-kinds.json"  # ten kinds of questions, written later by two others
HALVES = {"tune": "tuned on", "report": "held back"}
SHOWN = 10

Find = Callable[[str], list[str]]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    document, of_kinds = (json.loads(file.read_text(encoding="utf-8")) for file in (LABELS, KINDS))
    finders = _finders(dt.date.fromisoformat(document["today"]))
    rows = [row for half in HALVES for row in _rows(document, half, finders)]
    rows += [[f"ten kinds, {row[0]}", *row[1:]] for half in HALVES for row in _rows(of_kinds, half, finders)]
    header = ("half", "search", "recall@5", "answered in five / in ten", "MRR@10", "NDCG@10 of judged queries")
    report.write("asked", "python -m benchmarks.quality.asked", report.table(header, rows), report.page("quality.md"))
    texts = [row[key] for key, rows in (("question", "questions"), ("query", "queries")) for row in document[rows]]
    found = [finders["the wire"](text) for text in texts]
    print(f"The first {SHOWN} stories of {len(texts)} texts: {hashlib.sha256(repr(found).encode()).hexdigest()[:16]}")


def _finders(today: dt.date) -> Mapping[str, Find]:
    from benchmarks.quality.bm25 import PlainBM25, terms
    from wire.models import SearchDocument, Story
    from wire.schemas.params import Group
    from wire.search.nearest import find_nearest_stories
    from wire.search.ranking import Scope
    from wire.search.service import search_stories

    stories = Story.objects.live().values_list("chatbotnews_id", "current__headline", "current__summary_medium")
    plain = PlainBM25({one: terms(f"{headline} {summary}") for one, headline, summary in stories})
    ids = dict(SearchDocument.objects.values_list("place", "story__chatbotnews_id"))

    def search_wire(text: str, group: Group = Group.NONE) -> list[str]:
        return [story.chatbotnews_id for story in search_stories(text, Scope(), today, limit=SHOWN, group=group).stories]

    def search_by_words(text: str) -> list[str]:
        with mock.patch("wire.search.nearest.load_embedder", return_value=None):
            return search_wire(text)

    def search_by_meaning(text: str) -> list[str]:
        near = find_nearest_stories(text, SHOWN, None, None, ())
        return [ids[position] for position in near.positions] if near else []

    return {
        "the wire": search_wire,
        "the wire, one story an event": lambda text: search_wire(text, Group.EVENT),
        "the wire, words alone": search_by_words,
        "its vectors alone": search_by_meaning,
        "plain BM25, any word": lambda text: plain.ranked(set(terms(text)))[:SHOWN],
    }


def _rows(document: Mapping[str, Sequence[Mapping[str, Any]]], half: str, finders: Mapping[str, Find]) -> Iterator[list[str]]:
    labels = {kind: [row for row in document[kind] if row["half"] == half] for kind in ("questions", "queries") if kind in document}
    for name, find in finders.items():
        told = score_questions(labels, find)
        answered = f"{told['answered_5']:.2f} / {told['answered_10']:.2f}"
        graded = f"{told['ndcg_10']:.3f}" if "queries" in labels else ""
        yield [HALVES[half], name, f"{told['recall_5']:.3f}", answered, f"{told['mrr_10']:.3f}", graded]


def score_questions(document: Mapping[str, Any], find: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Score questions. `questions`: question and answers, the ids of all stories that answer it; `queries`: query and judged, a
    grade of 1-3 by id. `find` gives the ids of the first ten that a search finds, best first.

    `recall_5`: how many of a question's answers, of five at most, are among the first five; `answered_5` and `answered_10`: how
    often any is among the first five or ten; `mrr_10`: mean reciprocal rank of the first; all over questions that have answers.
    `ndcg_10` as of `searches`.
    """
    from wire.ops.quality import evaluate

    answered = [(set(row["answers"]), find(row["question"])) for row in document["questions"] if row["answers"]]
    judged = [(find(row["query"]), row["judged"]) for row in document.get("queries", ()) if row["judged"]]
    recall = sum(len(answers.intersection(found[:5])) / min(5, len(answers)) for answers, found in answered) / (len(answered) or 1)
    figures = {"questions": float(len(document["questions"])), "recall_5": recall}
    for first in (5, 10):
        hits = sum(not answers.isdisjoint(found[:first]) for answers, found in answered)
        figures[f"answered_{first}"] = hits / (len(answered) or 1)
    firsts = [next((1 / rank for rank, one in enumerate(found[:10], 1) if one in answers), 0.0) for answers, found in answered]
    figures["mrr_10"] = sum(firsts) / (len(answered) or 1)
    return {**figures, "queries": float(len(judged)), "ndcg_10": evaluate.grade_rankings(judged)["ndcg_10"]}


if __name__ == "__main__":
    main()
