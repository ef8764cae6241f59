"""Reads a directory of a corpus: its rows as they are written, and the line on which each begins. Nothing is stored."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

MOST_BYTES: Final = 1_000_000_000  # of one file
CORPUS: Final = "corpus.json"
RELEASE: Final = "release.json"


class Table(NamedTuple):
    """A table of rows: its file, and its name there."""

    name: str
    file: str
    member: str


TABLES: Final = (
    Table("sources", "sources.json", "source_families"),
    Table("motifs", "motifs.json", "motifs"),
    Table("edges", "motifs.json", "edges"),
    Table("events", "events.json", "events"),
    Table("reports", "reports.json", "reports"),
    Table("items", "mandela-items.json", "items"),
    Table("threads", "story-threads.json", "threads"),
)
FILES: Final = tuple(dict.fromkeys(table.file for table in TABLES))


class Problem(NamedTuple):
    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class RefusedCorpus(Exception):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


@dataclass(slots=True)
class Written:
    """A corpus as files have it: rows by table, the rest of each file, corpus.json and the release, if there is one."""

    rows: dict[str, list[Any]]
    meta: dict[str, Any] = field(default_factory=dict)
    corpus: dict[str, Any] | None = None
    release: dict[str, Any] | None = None
    texts: dict[str, str] = field(default_factory=dict)  # of each file
    starts: dict[str, list[int]] = field(default_factory=dict)  # of the rows of each table with a problem

    def find_line(self, table: Table, number: int, fields: tuple[str, ...]) -> int:
        """Return the line of a row, or of a field within it, found by the names on the way; 0 for rows of the database."""
        text = self.texts.get(table.file)
        if text is None:
            return 0
        if table.name not in self.starts:
            self.starts[table.name] = [*_find_row_offsets(text, table.member), len(text)]
        starts = self.starts[table.name]
        at, end = starts[number : number + 2] if number + 1 < len(starts) else (0, len(text))
        for name in fields or ("id",):
            at = max(at, text.find(f'"{name}"', at, end))
        return _count_lines(text, at)


def read_directory(directory: Path) -> Written:
    """Raises: RefusedCorpus, with every file that cannot be read."""
    problems: list[Problem] = []
    written = Written(rows={table.name: [] for table in TABLES})
    for name in (*FILES, *(name for name in (CORPUS, RELEASE) if (directory / name).exists())):
        try:
            text = _read_text(directory / name)
            content = _decode_object(text)
        except json.JSONDecodeError as error:
            problems.append(Problem(name, error.lineno, f"is not JSON: {error.msg}"))
        except ValueError as error:
            problems.append(Problem(name, 0, str(error)))
        else:
            if name in FILES:
                problems += _store_file_rows(written, name, text, content)
            elif name == CORPUS:
                written.corpus = content
            else:
                written.release = content
    if problems:
        raise RefusedCorpus(problems)
    return written


def _store_file_rows(written: Written, name: str, text: str, content: dict[str, Any]) -> Iterator[Problem]:
    """Take the rows of a file and what else it says; yield what has no place there."""
    tables = {table.member: table.name for table in TABLES if table.file == name}
    written.texts[name], written.meta[name] = text, {}
    for key, value in content.items():
        if key in tables and isinstance(value, list):
            written.rows[tables[key]] = value
        elif key == "meta" and isinstance(value, dict):
            written.meta[name] = value
        else:
            message = "is not a list" if key in tables else f"is unknown here; accepted: meta, {', '.join(tables)}"
            yield Problem(name, _count_lines(text, text.find(f'"{key}"')), f"{key!r} {message}")
    if missing := tables.keys() - content.keys():
        yield Problem(name, 1, f"{', '.join(sorted(missing))} is missing")


def _read_text(file: Path) -> str:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ValueError(f"is larger than {MOST_BYTES:,} bytes")
        return file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start:,}") from error
    except FileNotFoundError as error:
        raise ValueError("is missing") from error
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from error


def _refuse_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} appears twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_refuse_duplicate_names, parse_constant=_refuse_constant)
_BETWEEN: Final = re.compile(r"[\s,]*")


def _decode_object(text: str) -> dict[str, Any]:
    """Raises: json.JSONDecodeError."""
    try:
        found = _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise json.JSONDecodeError(str(error), text, _find_unreadable_row(text)) from error
    if not isinstance(found, dict):
        raise json.JSONDecodeError("Expecting '{'", text, 0)
    return found


def _find_unreadable_row(text: str) -> int:
    at = 0
    try:
        for table in TABLES:
            for start in _find_row_offsets(text, table.member):
                at = start
    except (ValueError, RecursionError):
        return at
    return 0


def _find_row_offsets(text: str, member: str) -> Iterator[int]:
    found = re.search(rf'"{member}"\s*:\s*\[[\s,]*', text)
    at = found.end() if found else len(text)
    while at < len(text) and text[at] != "]":
        yield at
        at = _BETWEEN.match(text, _DECODER.raw_decode(text, at)[1]).end()  # type: ignore[union-attr]


def _count_lines(text: str, at: int) -> int:
    return text.count("\n", 0, max(at, 0)) + 1
