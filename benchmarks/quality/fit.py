"""Fit the choice of categories to labelled headlines: `python -m benchmarks.quality.fit`.

A logistic regression for each category over the features of `wire.ingest.classify`, fitted to the tuning halves of
headlines.csv and real-headlines.csv in fixtures/eval, and to benchmarks/quality/tuning.csv: never to what is held back, which
later-headlines.csv is as a whole. The texts of tuning.csv and all summaries are those of the archive in ../shared/data; without it
nothing can be fitted. Prints a cross-validation by thirds of the archive's months, then writes fixtures/category_model.json. The
same input gives the same weights.
"""

import argparse
import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from wire.ingest.classify import Model

ROOT: Final = Path(__file__).resolve().parents[2]
EVAL: Final = ROOT / "fixtures" / "eval"
TUNING: Final = Path(__file__).parent / "tuning.csv"
ARCHIVE: Final = ROOT.parent / "shared" / "data" / "archives" / "real-days-2025-05-to-2026-03.ndjson.gz"
LEAST: Final = 15  # stories that have a feature; rarer ones get no weight
FOLDS: Final = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, default=ARCHIVE, help="Where the texts are.")
    parser.add_argument("--only-try", action="store_true", help="Cross-validate and write nothing.")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from wire.ingest.classify import MODEL_FILE

    rows = read_rows(options.archive)
    print(f"{len(rows):,} stories; cross-validated macro-F1 {cross_validate(rows):.3f}")
    if not options.only_try:
        MODEL_FILE.write_text(json.dumps(fit(rows), indent=1) + "\n", encoding="utf-8")


def read_rows(archive: Path) -> list[dict[str, Any]]:
    """Return what may be tuned on, each row with its `features` and, if of the archive, with `published_at`.

    Raises: FileNotFoundError without the archive.
    """
    from sources import roster
    from sources.choices import Tier
    from sources.entries import Entry
    from wire.ingest.classifier_terms import load_shipped_lexicon
    from wire.ops.archive import reader
    from wire.ops.quality.evaluate import add_texts

    labels = {file: list(csv.DictReader(file.open(encoding="utf-8"))) for file in (*EVAL.glob("*headlines.csv"), TUNING)}
    tuned = {file.name: [row for row in rows if row.get("half", "tune") == "tune"] for file, rows in labels.items()}
    entries = (value for _, value in reader.read_records(archive, {}) if isinstance(value, Entry))
    makers = {name.canonical for name in roster.list_shipped_names() if name.tier == Tier.CORPORATE}
    published = add_texts([*tuned["real-headlines.csv"], *tuned["tuning.csv"]], entries, makers)
    alone = [{**row, "summary": ""} for row in tuned["headlines.csv"]]
    lexicon = load_shipped_lexicon()
    return [
        {**row, "features": lexicon.read_features(row["title"], row["summary"])}
        for row in (*alone, *(row for row in published if "summary" in row))
    ]


def cross_validate(rows: Sequence[dict[str, Any]]) -> float:
    """Return the macro-F1 of the archive's stories, each third of its months judged by weights of all other rows."""
    from wire.ingest.classify import score_categories
    from wire.ops.quality.evaluate import score_choices

    dated = [row for row in rows if "published_on" in row]
    months = sorted({row["published_on"][:7] for row in dated})
    thirds = [set(months[part * len(months) // FOLDS : (part + 1) * len(months) // FOLDS]) for part in range(FOLDS)]
    judged, chosen = [], []
    for third in thirds:
        inside = [row for row in dated if row["published_on"][:7] in third]
        model = fit([row for row in rows if row.get("published_on", "")[:7] not in third])
        for row in inside:
            scores = score_categories(row["features"], model)
            chosen.append(str(max(scores, key=scores.__getitem__)))
        judged += inside
    return score_choices(chosen, judged)["macro_f1"]


def fit(rows: Sequence[dict[str, Any]]) -> "Model":
    import numpy as np

    from wire.ingest.classify import BIAS
    from wire.ops.quality.pair_fit import fit_logistic
    from wire.text.choices import Category

    names = sorted({name for row in rows for name in row["features"]})
    table = np.array([[row["features"].get(name, 0.0) for name in names] for row in rows])
    is_common = np.count_nonzero(table, axis=0) >= LEAST
    model = {}
    for category in Category:
        bias, weights = fit_logistic(table[:, is_common], np.array([row["category"] == category for row in rows], float))
        named = zip((name for name, common in zip(names, is_common, strict=True) if common), weights, strict=True)
        model[category] = {BIAS: round(bias, 4), **{name: round(float(weight), 4) for name, weight in named}}
    return model


if __name__ == "__main__":
    main()
