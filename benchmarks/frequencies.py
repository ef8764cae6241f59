"""Make fixtures/frequencies.json, which tells rare words from common ones: `python -m benchmarks.frequencies GENERAL.csv AI.csv`.

Both have a column `title`: general headlines, some ten thousand of them, and some hundred of AI news; `.gz` may follow. Only counts
are kept, of words and pairs that stand in a few headlines at least; anything rarer counts as equally rare. Makers of AI count as
common in AI news, whatever the headlines at hand were about: "OpenAI" in two of them makes no event.
"""

import csv
import gzip
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import django

LEAST = {"general": 13, "ai": 2}
AI_MAKERS = ("openai", "anthropic", "nvidia", "xai", "mistral", "perplexity")
TOPICAL = 0.05


def main(*files: Path) -> None:
    from wire.snapshots.cluster import FREQUENCIES_FILE

    counted = {name: _count(file, least) for (name, least), file in zip(LEAST.items(), files, strict=True)}
    ai = counted["ai"]
    for name in _topic_names():
        ai["counts"][name] = max(ai["counts"].get(name, 0), int(TOPICAL * ai["headlines"]))
    ai["counts"] = dict(sorted(ai["counts"].items()))
    FREQUENCIES_FILE.write_text(json.dumps(counted, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _topic_names() -> set[str]:
    """The stems of the one-word names of those topics that general news hardly knows."""
    from wire.intake.lexicon import TAXONOMY_FILE
    from wire.snapshots.cluster import features

    topics = json.loads(TAXONOMY_FILE.read_text(encoding="utf-8"))["topics"]
    words = {term for topic in AI_MAKERS for term, weight in topics[topic].items() if weight >= 1 and term.isalnum()}
    return {stem for word in words for stem in features(word)}


def _count(file: Path, least: int) -> dict[str, Any]:
    from wire.snapshots.cluster import features

    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        headlines = [row["title"] for row in csv.DictReader(lines)]
    counts = Counter(feature for headline in headlines for feature in features(headline))
    kept = dict(sorted((feature, count) for feature, count in counts.items() if count >= least))
    print(f"{file.name}: {len(headlines):,} headlines, {len(kept):,} features")
    return {"headlines": len(headlines), "counts": kept}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main(*map(Path, sys.argv[1:]))
