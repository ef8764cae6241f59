"""The labelled headlines that the lexicon may be tuned on, with their texts."""

import csv
from pathlib import Path
from typing import Final

from sources import roster
from sources.entries import Entry
from sources.vocabulary import Tier
from wire.ops.archive import reader
from wire.ops.quality import evaluate
from wire.ops.quality.evaluate import Row

ROOT: Final = Path(__file__).resolve().parents[2]
EVAL: Final = ROOT / "fixtures" / "eval"
TUNING: Final = Path(__file__).parent / "tuning.csv"
ARCHIVE: Final = ROOT.parent / "shared" / "data" / "archives" / "real-days-2025-05-to-2026-03.ndjson.gz"


ALONE_COUNT: Final = 3  # headlines without a summary, of makers' blogs mostly, are few beside the newsrooms' and matter as much


def for_tuning(archive: Path = ARCHIVE) -> list[Row]:
    """The tuning halves of both evaluations and the stories of tuning.csv: title, source, summary (may be empty), category, topics.

    The older headlines, labelled without summaries, are in it several times.

    Raises: FileNotFoundError without the archive, which has the texts.
    """
    alone = [{**row, "source": "", "summary": ""} for row in _tuning_half("headlines.csv")]
    entries = (value for _, value in reader.records(archive, {}) if isinstance(value, Entry))
    makers = {name.canonical for name in roster.shipped_names() if name.tier == Tier.CORPORATE}
    published = evaluate.with_texts([*_tuning_half("real-headlines.csv"), *_rows(TUNING)], entries, makers)
    known = [row for row in published if "summary" in row]
    return [*alone * ALONE_COUNT, *known]


def _tuning_half(name: str) -> list[Row]:
    return [row for row in _rows(EVAL / name) if row["half"] == "tune"]


def _rows(file: Path) -> list[Row]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
