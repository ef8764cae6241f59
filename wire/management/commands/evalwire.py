import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from config.command_base import WireCommand
from sources import roster
from sources.choices import Tier
from sources.entries import Entry
from sources.publication_names import Name
from sources.queries import list_known_names
from wire.ingest import classifier_terms
from wire.ingest.classify import Lexicon
from wire.ops.archive import reader
from wire.ops.quality import evaluate
from wire.ops.quality.evaluate import LabelledPage, Row
from wire.ops.quality.event_metrics import Figures

OWN: Final = Path(settings.BASE_DIR) / "fixtures" / "eval"
FLOORS_FILE: Final = OWN / "floors.json"
COLUMNS: Final = {
    "events": ("title", "event"),
    "real-events": ("title", "event"),
    "categories": ("title", "category"),
    "names": ("name", "expected"),
}
KINDS: Final = (*COLUMNS, "search")
ARCHIVE: Final = Path(settings.BASE_DIR).parent / "shared" / "data" / "archives" / "real-days-2025-05-to-2026-03.ndjson.gz"
SUMMARIES: Final = "summaries"  # of any archive, which needs no labels
ARTICLES: Final = "articles"  # of any site's pages, with what their text is
FILE_HELP: Final = (
    "CSV; for search, JSON; for summaries, an archive; for articles, NDJSON (html, text and url of each page) or a directory of "
    "NAME.html, each with NAME.txt or an entry in ground-truth.json as scrapinghub/article-extraction-benchmark has them."
)


class Command(WireCommand):
    help = (
        "Evaluate events, categories and topics, names or search on a labelled file; without one, all of them on the project's own "
        "labels, failing below the floors recorded in fixtures/eval/floors.json. `summaries` counts, in any archive, those that "
        "are empty, describe a picture, repeat the headline or are cut; `articles` compares the text found in pages with what a "
        "person found, and with trafilatura's own. Nothing is written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=(*KINDS, SUMMARIES, ARTICLES), help="What the file labels.")
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=FILE_HELP)
        parser.add_argument("--as-published", action="store_true", help="Events: day by day, as readers see them.")
        parser.add_argument("--json", action="store_true", help="For machines.")

    def handle(self, **options: Any) -> None:
        what, file = options["what"], options["file"]
        if what in (SUMMARIES, ARTICLES) and not file:
            raise CommandError(f"Name the file whose {what} are to be evaluated.")
        if file:
            results = {what: _evaluate_file(what, file, as_published=options["as_published"])}
        else:
            results = {name: figures for one in ([what] if what else KINDS) for name, figures in _evaluate_own_labels(one).items()}
        self._print_figures(results, as_json=options["json"])
        if options["file"] is None:
            self._check_floors(results)

    def _print_figures(self, results: dict[str, Figures], *, as_json: bool) -> None:
        rounded = {what: {name: round(value, 4) for name, value in figures.items()} for what, figures in results.items()}
        if as_json:
            self.stdout.write(json.dumps(rounded, indent=2))
            return
        for what, figures in rounded.items():
            self.stdout.write(what)
            for name, value in figures.items():
                self.stdout.write(f"  {name:<26} {value:>10g}")

    def _check_floors(self, results: dict[str, Figures]) -> None:
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


def _evaluate_file(what: str, file: Path, *, as_published: bool = False) -> Figures:
    """Return the figures of a labelled file. Raises: CommandError."""
    if what in COLUMNS:
        rows = _read_rows(file, COLUMNS[what])
        if what == "names":
            return evaluate.score_names(rows, _read_names())
        if what == "categories":
            return evaluate.score_categories(rows, _read_lexicon())
        return evaluate.score_events(rows, as_published=as_published)
    try:
        if what == "search":
            return evaluate.score_searches(json.loads(file.read_text(encoding="utf-8-sig")))
        if what == ARTICLES:
            return evaluate.score_extraction(list(_read_pages(file)))
        makers = _list_makers()
        return evaluate.score_summaries((one.title, one.summary, one.publisher in makers) for one in _read_entries(file))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = str(error) if what == SUMMARIES else repr(error)
        where = " docs/quality.md says what it should hold." if what == "search" else ""
        raise CommandError(f"{file} cannot be read: {text}.{where}") from error


def _read_names() -> list[Name]:
    return list_known_names() if _has_wire_tables() else roster.list_shipped_names()


def _read_lexicon() -> Lexicon:
    return classifier_terms.load_lexicon() if _has_wire_tables() else classifier_terms.load_shipped_lexicon()


def _has_wire_tables() -> bool:
    """Return if there is a wire whose roster and lexicon count; without one the shipped ones are evaluated."""
    return {"wire_lexiconterm", "sources_publication"} <= set(connection.introspection.table_names())


def _evaluate_own_labels(what: str) -> dict[str, Figures]:
    """Return the figures of the project's own labels, by name; of publication names also those that nothing was tuned on."""
    if what == "categories":
        rows = _read_rows(OWN / "headlines.csv", COLUMNS[what])
        # Those who labelled these headlines saw nothing else of the stories.
        held_back: list[Row] = [
            {name: row[name] for name in ("title", "category", "topics")} for row in rows if row["half"] == "report"
        ]
        alone = evaluate.score_categories(held_back, _read_lexicon()) | evaluate.score_agreement(rows)
        rows = _read_rows(OWN / "real-headlines.csv", COLUMNS[what])
        held_back = [row for row in rows if row["half"] == "report"]
        if ARCHIVE.exists():
            held_back = evaluate.add_texts(held_back, _read_entries(ARCHIVE), _list_makers())
        newsrooms = evaluate.score_categories(held_back, _read_lexicon()) | evaluate.score_agreement(rows)
        later = evaluate.score_categories(_read_rows(OWN / "later-headlines.csv", COLUMNS[what]), _read_lexicon())
        # Headlines that newsrooms and a maker's blog published, and such of months from which nothing was taken to tune anything.
        return {what: alone, "newsrooms": newsrooms, "later": later}
    file = OWN / f"{what}.{'json' if what == 'search' else 'csv'}"
    figures = _evaluate_file(what, file)
    if what == "names":
        held_back = [row for row in _read_rows(file, COLUMNS[what]) if row["half"] == "report"]
        figures |= {f"held_back_{name}": value for name, value in evaluate.score_names(held_back, _read_names()).items()}
    return {what: figures}


def _read_pages(file: Path) -> Iterator[LabelledPage]:
    if not file.is_dir():
        for line in filter(None, _read_bytes(file).decode("utf-8-sig").split("\n")):
            row = json.loads(line)
            yield LabelledPage(row["html"].encode("utf-8", "replace"), row.get("url") or "", row["text"])
        return
    texts = file / "ground-truth.json"
    rows = json.loads(texts.read_text(encoding="utf-8")) if texts.exists() else {}
    for page in sorted(file.rglob("*.html*")):
        name = page.name.partition(".html")[0]
        row = rows.get(name) or {"articleBody": page.with_name(f"{name}.txt").read_text(encoding="utf-8")}
        yield LabelledPage(_read_bytes(page), row.get("url") or "", row["articleBody"])


def _read_bytes(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def _read_entries(archive: Path) -> Iterator[Entry]:
    return (value for _, value in reader.read_records(archive, {}) if isinstance(value, Entry))


def _list_makers() -> set[str]:
    return {name.canonical for name in roster.list_shipped_names() if name.tier == Tier.CORPORATE}


def _read_rows(file: Path, columns: tuple[str, ...]) -> list[Row]:
    """Raises: CommandError for a file that cannot be read or lacks a column."""
    try:
        with io.TextIOWrapper(io.BytesIO(_read_bytes(file)), encoding="utf-8-sig", newline="") as lines:
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
