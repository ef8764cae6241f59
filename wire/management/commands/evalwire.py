"""Print how right the wire's judgements are on labelled data, and fail when one is below its floor."""

import csv
import datetime as dt
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from sources import roster
from sources.entries import Entry
from sources.names import Name
from sources.queries import known_names
from sources.vocabulary import Tier
from wire import evaluate
from wire.archive import reading
from wire.evaluate import Figures, LabelledPage, Row
from wire.intake import lexicon
from wire.intake.classify import Lexicon
from wire.search.asking import search
from wire.search.ranking import Scope

OWN: Final = Path(settings.BASE_DIR) / "fixtures" / "eval"
FLOORS_FILE: Final = OWN / "floors.json"
COLUMNS: Final = {
    "events": ("title", "event"),
    "real-events": ("title", "event"),
    "categories": ("title", "category"),
    "names": ("name", "expected"),
}
KINDS: Final = (*COLUMNS, "search")
NEWSROOMS: Final = "newsrooms"  # headlines that newsrooms and a maker's blog published, evaluated beside the other categories
ARCHIVE: Final = Path(settings.BASE_DIR).parent / "shared" / "data" / "archives" / "real-days-2025-05-to-2026-03.ndjson.gz"
SUMMARIES: Final = "summaries"  # of any archive, which needs no labels
ARTICLES: Final = "articles"  # of any site's pages, with what their text is
ASKED: Final = "asked"  # of the wire that holds the stories


FILE_HELP: Final = (
    "CSV; of searches JSON; of summaries an archive; of articles NDJSON (html, text and url of each page) or a directory of "
    "NAME.html, each with NAME.txt or an entry in ground-truth.json as scrapinghub/article-extraction-benchmark has them."
)


class Command(BaseCommand):
    help = (
        "Evaluate events, categories and topics, names or search on a labelled file; without one, all of them on the project's own "
        "labels, failing below the floors recorded in fixtures/eval/floors.json. `summaries` counts, in any archive, those that "
        "are empty, describe a picture, repeat the headline or are cut; `articles` compares the text found in pages with what a "
        "person found, and with trafilatura's own; `asked` puts the questions of fixtures/eval/asked.json to the search of this "
        "wire, which must hold the archive that they were written for. Nothing is written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=(*KINDS, SUMMARIES, ARTICLES, ASKED), help="What the file labels.")
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=FILE_HELP)
        parser.add_argument("--json", action="store_true", help="For machines.")

    def handle(self, **options: Any) -> None:
        what, file = options["what"], options["file"]
        if what in (SUMMARIES, ARTICLES) and not file:
            raise CommandError(f"Name the file whose {what} are to be evaluated.")
        if what == ASKED:
            self._print(_asked(file or OWN / "asked.json"), as_json=options["json"])
            return
        if file:
            results = {what: _evaluated(what, file)}
        else:
            results = {name: figures for one in ([what] if what else KINDS) for name, figures in _own(one).items()}
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


def _evaluated(what: str, file: Path) -> Figures:
    """The figures of a labelled file. Raises: CommandError."""
    if what == "search":
        return _searches(file)
    if what == SUMMARIES:
        return _summaries(file)
    if what == ARTICLES:
        return _articles(file)
    rows = _rows(file, COLUMNS[what])
    match what:
        case "events" | "real-events":
            return evaluate.events(rows)
        case "names":
            return evaluate.names(rows, _names())
        case _:
            return evaluate.categories(rows, _lexicon())


def _names() -> list[Name]:
    return known_names() if _is_set_up() else roster.shipped_names()


def _lexicon() -> Lexicon:
    return lexicon.load() if _is_set_up() else lexicon.shipped()


def _is_set_up() -> bool:
    """Whether there is a wire whose editors' roster and lexicon count; without one, it is the shipped ones that are evaluated."""
    return {"wire_lexiconterm", "sources_publication"} <= set(connection.introspection.table_names())


def _own(what: str) -> dict[str, Figures]:
    """The project's own labels, by name; of the publication names all, and beside them those that nothing was tuned on."""
    if what == "categories":
        return {what: _held_back("headlines.csv", _headline_alone), NEWSROOMS: _held_back("real-headlines.csv", _as_published)}
    file = OWN / f"{what}.{'json' if what == 'search' else 'csv'}"
    if what == "names":
        held_back = evaluate.names([row for row in _rows(file, COLUMNS[what]) if row["half"] == "report"], _names())
        return {what: _evaluated(what, file) | {f"held_back_{name}": value for name, value in held_back.items()}}
    return {what: _evaluated(what, file)}


def _held_back(name: str, text: Callable[[list[Row]], list[Row]]) -> Figures:
    """Of labelled headlines, the figures of the half that nothing was tuned on, and how far the two labellings agree."""
    rows = _rows(OWN / name, COLUMNS["categories"])
    return evaluate.categories(text([row for row in rows if row["half"] == "report"]), _lexicon()) | evaluate.agreement(rows)


def _headline_alone(rows: list[Row]) -> list[Row]:
    """That is all that those who labelled them went by."""
    return [{name: row[name] for name in ("title", "category", "topics")} for row in rows]


def _as_published(rows: list[Row]) -> list[Row]:
    """With their publication and, where the archive that has them is at hand, their summary."""
    return evaluate.with_texts(rows, _entries(ARCHIVE), _makers()) if ARCHIVE.exists() else rows


def _searches(file: Path) -> Figures:
    try:
        return evaluate.searches(json.loads(file.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{file} cannot be read: {error!r}. docs/quality.md says what it holds.") from error


def _asked(file: Path) -> dict[str, Figures]:
    """Figures of each half of the questions, by its name. Raises: CommandError."""

    def find(query: str) -> list[str]:
        return [story.chatbotnews_id for story in search(query, Scope(), today, limit=10).stories]

    try:
        document = json.loads(file.read_text(encoding="utf-8-sig"))
        today = dt.date.fromisoformat(document["today"])
        halves = sorted({row["half"] for row in document["questions"]})
        parts = {
            half: {what: [row for row in document[what] if row["half"] == half] for what in ("questions", "queries")}
            for half in halves
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{file} cannot be read: {error!r}. docs/quality.md says what it holds.") from error
    return {f"{ASKED}, {half}": evaluate.asked(part, find) for half, part in parts.items()}


def _summaries(file: Path) -> Figures:
    try:
        makers = _makers()
        return evaluate.summaries((entry.title, entry.summary, entry.publisher in makers) for entry in _entries(file))
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error


def _articles(file: Path) -> Figures:
    try:
        return evaluate.articles(list(_pages(file)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{file} cannot be read: {error!r}.") from error


def _pages(file: Path) -> Iterator[LabelledPage]:
    if not file.is_dir():
        for line in filter(None, _unpacked(file).decode("utf-8-sig").split("\n")):
            row = json.loads(line)
            yield LabelledPage(row["html"].encode("utf-8", "replace"), row.get("url") or "", row["text"])
        return
    texts = file / "ground-truth.json"
    rows = json.loads(texts.read_text(encoding="utf-8")) if texts.exists() else {}
    for page in sorted(file.rglob("*.html*")):
        name = page.name.partition(".html")[0]
        row = rows.get(name) or {"articleBody": page.with_name(f"{name}.txt").read_text(encoding="utf-8")}
        yield LabelledPage(_unpacked(page), row.get("url") or "", row["articleBody"])


def _unpacked(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def _entries(archive: Path) -> Iterator[Entry]:
    return (record.value for record in reading.records(archive, {}) if isinstance(record.value, Entry))


def _makers() -> set[str]:
    return {name.canonical for name in roster.shipped_names() if name.tier == Tier.CORPORATE}


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
