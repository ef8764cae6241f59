import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from wire.ops.quality import pair_fit
from wire.ops.quality.evaluate import build_items
from wire.ops.quality.pair_fit import LabelledStories
from wire.publishing.grouping.pair_model import WEIGHTS_FILE
from wire.text.choices import PairLabel

COLUMNS: Final = ("id", "title", "summary", "publisher", "published_at", "event")


class Command(WireCommand):
    help = (
        "Fit the weights by which stories are grouped into events. PAIRS are tab-separated lines of two ids and a label (S one "
        "event, F another event of one storyline, N neither), STORIES all stories of their days; `exportlabels` writes both. "
        "Prints the figures of a cross-validation by month, and of each half of the months, grouped with weights from the other "
        "half, then writes the weights. The same files give the same weights."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pairs", type=Path, metavar="PAIRS")
        parser.add_argument("stories", type=Path, metavar="STORIES", help=f"CSV, .gz too: {', '.join(COLUMNS)}.")
        parser.add_argument("--out", type=Path, default=WEIGHTS_FILE, help="Default: the file that the wire reads.")
        parser.add_argument("--dry-run", action="store_true", help="Print the figures alone.")

    def handle(self, **options: Any) -> None:
        labelled, _ = read_labelled_stories(options["pairs"], options["stories"])
        months = {f"{labelled.stories[one].published_at:%Y-%m}" for one, _ in labelled.labels}
        if len(months) < 2 or len(set(labelled.labels.values())) < 2:
            raise CommandError("Nothing was written: fitting needs pairs from two months, some of one event and some not.")
        models, figures = pair_fit.fit_models(labelled), pair_fit.cross_validate(labelled)
        figures |= pair_fit.replay_halves(labelled)
        shipped = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["models"]
        models |= {name: model for name, model in shipped.items() if name not in models}
        for name, of_model in figures.items():
            self.stdout.write(f"{name}: " + ", ".join(f"{what} {value:.3g}" for what, value in of_model.items()))
        if not options["dry_run"]:
            document = {"fitted_to": f"{len(labelled.labels)} labelled pairs of {len(labelled.stories)} stories", "models": models}
            options["out"].write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            self.stdout.write(f"Written: {options['out']}.")


def read_labelled_stories(pairs: Path, stories: Path) -> tuple[LabelledStories, dict[str, int]]:
    """Return the labelled stories, and the place of each by its id. Raises: CommandError."""
    labelled, places = read_stories(stories, COLUMNS)
    labels = {}
    for number, line in enumerate(read_text(pairs).splitlines(), start=1):
        if line and not line.startswith("#"):
            try:
                one, other, label = line.split("\t")
                if label in PairLabel.values:
                    low, high = sorted((places[one], places[other]))
                    labels[low, high] = PairLabel(label)
            except (ValueError, KeyError) as error:
                raise CommandError(
                    f"{pairs}, line {number}: two ids of {stories} and a label are needed, tab-separated."
                ) from error
    return labelled._replace(labels=labels), places


def read_stories(file: Path, columns: Sequence[str]) -> tuple[LabelledStories, dict[str, int]]:
    """Return stories without labels, and the place of each that has an id. Raises: CommandError for a missing column."""
    reader = csv.DictReader(read_text(file).splitlines(keepends=True))
    if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
        raise CommandError(f"{file} lacks the columns {', '.join(missing)}.")
    rows = list(reader)
    known = sorted(zip(rows, build_items(rows), strict=True), key=lambda pair: (pair[1].published_at, pair[1].chatbotnews_id))
    places = {row.get("id", ""): place for place, (row, _) in enumerate(known)}
    return LabelledStories([item for _, item in known], [row["event"] for row, _ in known], {}), places


def read_text(file: Path) -> str:
    try:
        data = file.read_bytes()
        return (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error
