"""Print how right the wire's judgements are on labelled data, and fail when one is below its floor."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sources.queries import known_names
from wire import evaluate, taxonomy
from wire.evaluate import Figures, Row

OWN: Final = Path(settings.BASE_DIR) / "fixtures" / "eval"
FLOORS_FILE: Final = OWN / "floors.json"
COLUMNS: Final = {"events": ("title", "event"), "categories": ("title", "category"), "names": ("name", "expected")}


class Command(BaseCommand):
    help = (
        "Evaluate events, categories and topics, or names on a labelled CSV file; without one, all of them on the project's own "
        "labels, failing below the floors recorded in fixtures/eval/floors.json."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=sorted(COLUMNS), help="What the file labels.")
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE.csv")
        parser.add_argument("--json", action="store_true", help="For machines.")

    def handle(self, **options: Any) -> None:
        if options["what"] and options["file"]:
            rows = _rows(options["file"], COLUMNS[options["what"]])
            results = {options["what"]: _evaluators()[options["what"]](rows)}
        else:
            wanted = [options["what"]] if options["what"] else sorted(COLUMNS)
            results = {what: _own(what) for what in wanted}
        self._print(results, as_json=options["json"])
        if options["file"] is None:
            self._hold(results)

    def _print(self, results: dict[str, Figures], *, as_json: bool) -> None:
        rounded = {what: {name: round(value, 4) for name, value in figures.items()} for what, figures in results.items()}
        if as_json:
            self.stdout.write(json.dumps(rounded, indent=2))
            return
        for what, figures in rounded.items():
            self.stdout.write(what)
            for name, value in figures.items():
                self.stdout.write(f"  {name:<26} {value:>10g}")

    def _hold(self, results: dict[str, Figures]) -> None:
        floors = json.loads(FLOORS_FILE.read_text(encoding="utf-8"))
        below = [
            f"{what}: {name} is {results[what][name]:.4f}, {'below' if sign == 'at_least' else 'above'} {bound}"
            for what, signs in floors.items()
            if what in results
            for sign, bounds in signs.items()
            for name, bound in bounds.items()
            if (results[what][name] < bound if sign == "at_least" else results[what][name] > bound)
        ]
        if below:
            raise CommandError("; ".join(below) + ".")


def _evaluators() -> dict[str, Callable[[list[Row]], Figures]]:
    return {
        "events": evaluate.events,
        "categories": lambda rows: evaluate.categories(rows, taxonomy.lexicon()),
        "names": lambda rows: evaluate.names(rows, known_names()),
    }


def _own(what: str) -> Figures:
    """The project's own labels; of the headlines only the half that nothing was tuned on, and how far the two labellings agree."""
    file = {"events": "events.csv", "categories": "headlines.csv", "names": "names.csv"}[what]
    rows = _rows(OWN / file, COLUMNS[what])
    if what != "categories":
        return _evaluators()[what](rows)
    held_back = [row for row in rows if row["half"] == "report"]
    return _evaluators()[what](held_back) | evaluate.agreement(rows)


def _rows(file: Path, columns: tuple[str, ...]) -> list[Row]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            rows: list[Row] = list(reader)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error
    if missing:
        raise CommandError(f"{file} lacks the columns {', '.join(missing)}.")
    return rows
