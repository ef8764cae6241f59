"""Make fixtures/frequencies.json, which tells rare words from common ones:
`python -m benchmarks.frequencies CSV ARCHIVE … [--to FILE]`.

The first file has general headlines, some ten thousand of them, in a column `title`; the archives are of AI news, as `loadwire`
takes them, and are counted with their summaries. Only counts are kept, of words and pairs that stand in a few at least; anything
rarer counts as equally rare. The days of fixtures/eval/real-events.csv are left out: they are to be news. Makers of AI count as
common in AI news, whatever the items at hand were about: "OpenAI" in two of them makes no event.
"""

import argparse
import csv
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import django

LEAST = {"general": 13, "ai": 3}
AI_MAKERS = ("openai", "anthropic", "nvidia", "xai", "mistral", "perplexity")
TOPICAL = 0.05


def main() -> None:
    from wire.text.word_frequency import FREQUENCIES_FILE

    parser = argparse.ArgumentParser(prog="python -m benchmarks.frequencies", description="Count how frequent words are in news.")
    parser.add_argument("general", type=Path)
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, default=FREQUENCIES_FILE)
    options = parser.parse_args()
    counted = {
        "general": _count(_headlines(options.general), LEAST["general"]),
        "ai": _count(_items(options.archives), LEAST["ai"]),
    }
    ai = counted["ai"]
    for name in _topic_names():
        ai["counts"][name] = max(ai["counts"].get(name, 0), int(TOPICAL * ai["stories"]))
    ai["counts"] = dict(sorted(ai["counts"].items()))
    options.to.write_text(json.dumps(counted, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _topic_names() -> set[str]:
    """The stems of the one-word names of those topics that general news hardly knows."""
    from wire.ingest.classifier_terms import TAXONOMY_FILE
    from wire.publishing.grouping.headline_lookup import weigh_words

    topics = json.loads(TAXONOMY_FILE.read_text(encoding="utf-8"))["topics"]
    words = {term for topic in AI_MAKERS for term, weight in topics[topic].items() if weight >= 1 and term.isalnum()}
    return {stem for word in words for stem in weigh_words(word)}


def _headlines(file: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        yield from ((row["title"], "") for row in csv.DictReader(lines))


def _items(archives: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Headline and summary of each item, without those of labelled days."""
    from benchmarks.quality.samples import real_events, told

    labelled = {row["published_at"][:10] for row in real_events()}
    for archive in archives:
        with gzip.open(archive, "rt", encoding="utf-8") as lines:
            items = (json.loads(line) for line in lines)
            yield from (told(item) for item in items if item["published_at"][:10] not in labelled)


def _count(stories: Iterable[tuple[str, str]], least: int) -> dict[str, Any]:
    from wire.publishing.grouping.headline_lookup import weigh_words

    found = list(stories)
    counts = Counter(feature for headline, summary in found for feature in {**weigh_words(headline), **weigh_words(summary)})
    kept = dict(sorted((feature, count) for feature, count in counts.items() if count >= least))
    print(f"{len(found):,} stories, {len(kept):,} features")
    return {"stories": len(found), "counts": kept}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
