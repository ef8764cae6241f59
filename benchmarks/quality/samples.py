"""Samples of labelled headlines."""

import csv
import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wire.ops.quality.evaluate import Row
from wire.text.filters import is_caption, repeats_headline, strip_headline
from wire.text.identity import BadUrl, canonical_url, chatbotnews_id
from wire.text.plain_text import extract_summary, plain_text

REAL_EVENTS = Path(__file__).resolve().parents[2] / "fixtures" / "eval" / "real-events.csv"


def small_events(rows: Sequence[Row], seed: int, *, events_at_most: int = 60, stories_at_most: int = 6) -> list[Row]:
    """A sample in which every event has one to six stories, as most events of a day have; the same for the same seed."""
    pick = random.Random(seed)
    by_event: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_event[row["event"]].append(row)
    chosen = sorted(by_event)
    pick.shuffle(chosen)
    return [
        row
        for event in chosen[:events_at_most]
        for row in pick.sample(by_event[event], min(len(by_event[event]), pick.randint(1, stories_at_most)))
    ]


def real_events() -> list[dict[str, str]]:
    """The real stories whose events two readers told, without summaries: these are other people's."""
    with REAL_EVENTS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def with_summaries(rows: Sequence[Row], archives: Path) -> list[Row]:
    """The same with the summaries that the archives have."""
    summaries: dict[str, str] = {}
    for item in _items(archives):
        for one in _ids(item["url"]):
            summaries.setdefault(one, told(item)[1])
    return [{**row, "summary": summaries[row["id"]]} for row in rows]


def archived_summaries(archives: Path) -> list[str]:
    """Every summary that the archives have."""
    return [summary for item in _items(archives) if (summary := told(item)[1])]


def _items(archives: Path) -> Iterator[Mapping[str, Any]]:
    for file in sorted(archives.glob("*.ndjson.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def told(item: Mapping[str, Any]) -> tuple[str, str]:
    """Headline and summary of an archive's item, as the wire would store them."""
    headline = plain_text(item["title"], 1000)
    said = strip_headline(headline, extract_summary(item.get("summary") or ""))
    return headline, "" if is_caption(said) or repeats_headline(headline, said) else said


def _ids(url: str) -> tuple[str, ...]:
    """The wire's id of an item, and one for those that no publication of the roster has."""
    other = "x-" + hashlib.sha256(url.encode()).hexdigest()[:12]
    try:
        return chatbotnews_id(canonical_url(url)), other
    except BadUrl:
        return (other,)
