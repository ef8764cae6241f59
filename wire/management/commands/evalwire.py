"""Print how right the wire's judgements are on labelled data, and fail when one is below its floor."""

import csv
import json
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from sources import roster
from sources.entries import Entry
from sources.queries import known_names
from sources.vocabulary import Tier
from wire import evaluate
from wire.archive import reading
from wire.evaluate import Figures, Row
from wire.intake import lexicon

OWN: Final = Path(settings.BASE_DIR) / "fixtures" / "eval"
FLOORS_FILE: Final = OWN / "floors.json"
COLUMNS: Final = {"events": ("title", "event"), "categories": ("title", "category"), "names": ("name", "expected")}
KINDS: Final = (*COLUMNS, "search")
SUMMARIES: Final = "summaries"  # of any archive, which needs no labels


class Command(BaseCommand):
    help = (
        "Evaluate events, categories and topics, names or search on a labelled file; without one, all of them on the project's own "
        "labels, failing below the floors recorded in fixtures/eval/floors.json. `summaries` counts, in any archive, those that "
        "are empty, describe a picture, repeat the headline or are cut. Nothing is written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=(*KINDS, SUMMARIES), help="What the file labels.")
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="CSV; of searches JSON; of summaries an archive.")
        parser.add_argument("--json", action="store_true", help="For machines.")

    def handle(self, **options: Any) -> None:
        what, file = options["what"], options["file"]
        if what == SUMMARIES and not file:
            raise CommandError("Name the archive whose summaries are to be counted.")
        results = {what: _evaluated(what, file)} if file else {one: _own(one) for one in ([what] if what else KINDS)}
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


def _evaluated(what: str, file: Path, half: str = "") -> Figures:
    """The figures of a labelled file; of one `half` of its rows, if it names halves. Raises: CommandError."""
    if what == "search":
        return _searches(file)
    if what == SUMMARIES:
        return _summaries(file)
    rows = [row for row in _rows(file, COLUMNS[what]) if not half or row["half"] == half]
    match what:
        case "events":
            return evaluate.events(rows)
        case "names":
            return evaluate.names(rows, known_names() if _is_set_up() else roster.shipped_names())
        case _:
            return evaluate.categories(rows, lexicon.load() if _is_set_up() else lexicon.shipped())


def _is_set_up() -> bool:
    """Whether there is a wire whose editors' roster and lexicon count; without one, it is the shipped ones that are evaluated."""
    return {"wire_lexiconterm", "sources_publication"} <= set(connection.introspection.table_names())


def _own(what: str) -> Figures:
    """The project's own labels; of the headlines only the half that nothing was tuned on, and how far the two labellings agree."""
    if what == "categories":
        file = OWN / "headlines.csv"
        return _evaluated(what, file, half="report") | evaluate.agreement(_rows(file, COLUMNS[what]))
    return _evaluated(what, OWN / f"{what}.{'json' if what == 'search' else 'csv'}")


def _searches(file: Path) -> Figures:
    try:
        return evaluate.searches(json.loads(file.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{file} cannot be read: {error!r}. docs/quality.md says what it holds.") from error


def _summaries(file: Path) -> Figures:
    try:
        entries = (record.value for record in reading.records(file, {}) if isinstance(record.value, Entry))
        makers = {name.canonical for name in roster.shipped_names() if name.tier == Tier.CORPORATE}
        return evaluate.summaries((entry.title, entry.summary, entry.publisher in makers) for entry in entries)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error


def _rows(file: Path, columns: tuple[str, ...]) -> list[Row]:
    """Raises: CommandError for a file that cannot be read or lacks a column."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            rows: list[Row] = list(reader)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error
    if missing:
        raise CommandError(f"{file} lacks the columns {', '.join(missing)}.")
    short = next((number for number, row in enumerate(rows, start=2) if None in row.values()), None)
    if short:
        raise CommandError(f"{file}, row {short}: fewer values than columns.")
    return rows
