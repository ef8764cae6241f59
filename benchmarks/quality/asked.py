"""The questions of fixtures/eval/asked.json, put to a wire that holds the real archive and, beside it, to plain BM25 over the same
stories: `WIRE_DATA_DIR=… python -m benchmarks.quality.asked`.

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

from benchmarks import report

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "fixtures" / "eval" / "asked.json"
HALVES = {"tune": "tuned on", "report": "held back"}
SHOWN = 10

Find = Callable[[str], list[str]]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    document = json.loads(LABELS.read_text(encoding="utf-8"))
    finders = _finders(dt.date.fromisoformat(document["today"]))
    rows = [row for half in HALVES for row in _rows(document, half, finders)]
    header = ("half", "search", "recall@5", "answered in five / in ten", "NDCG@10 of judged queries")
    report.write("asked", "python -m benchmarks.quality.asked", report.table(header, rows), report.page("quality.md"))
    texts = [row[key] for key, rows in (("question", "questions"), ("query", "queries")) for row in document[rows]]
    found = [finders["the wire"](text) for text in texts]
    print(f"The first {SHOWN} stories of {len(texts)} texts: {hashlib.sha256(repr(found).encode()).hexdigest()[:16]}")


def _finders(today: dt.date) -> Mapping[str, Find]:
    from benchmarks.quality.bm25 import PlainBM25, terms
    from wire.models import Story
    from wire.search.ranking import Scope
    from wire.search.service import search

    stories = Story.objects.live().values_list("chatbotnews_id", "current__headline", "current__summary_medium")
    plain = PlainBM25({one: terms(f"{headline} {summary}") for one, headline, summary in stories})
    return {
        "the wire": lambda text: [story.chatbotnews_id for story in search(text, Scope(), today, limit=SHOWN).stories],
        "plain BM25, any word": lambda text: plain.ranked(set(terms(text)))[:SHOWN],
        "plain BM25, all words": lambda text: plain.ranked(set(terms(text)), every=True)[:SHOWN],
    }


def _rows(document: Mapping[str, Sequence[Mapping[str, Any]]], half: str, finders: Mapping[str, Find]) -> Iterator[list[str]]:
    from wire.ops.quality import evaluate

    labels = {kind: [row for row in document[kind] if row["half"] == half] for kind in ("questions", "queries")}
    for name, find in finders.items():
        told = evaluate.score_questions(labels, find)
        answered = f"{told['answered_5']:.2f} / {told['answered_10']:.2f}"
        yield [HALVES[half], name, f"{told['recall_5']:.3f}", answered, f"{told['ndcg_10']:.3f}"]


if __name__ == "__main__":
    main()
