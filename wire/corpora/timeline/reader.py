"""Reads a directory of a corpus: its rows as they are written, each with the line that it begins on. Nothing is stored."""

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
class Source:
    """The text of a file, with where its rows begin: problems name a line."""

    text: str
    starts: dict[str, list[int]] = field(default_factory=dict)

    def line(self, member: str, number: int, fields: tuple[str, ...] = ()) -> int:
        """Return the line of a row, or of a field within it: found by the names on the way to it."""
        starts = self.starts[member]
        at, end = starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.text)
        for name in fields or ("id",):
            found = self.text.find(f'"{name}"', at, end)
            at = found if found >= 0 else at
        return self.line_at(at)

    def line_at(self, at: int) -> int:
        return self.text.count("\n", 0, max(at, 0)) + 1


@dataclass(slots=True)
class Written:
    """A corpus as files have it: rows by table, the rest of each file, corpus.json and the release, if there is one."""

    rows: dict[str, list[Any]]
    meta: dict[str, Any]
    corpus: dict[str, Any] | None
    release: dict[str, Any] | None = None
    sources: dict[str, Source] = field(default_factory=dict)

    def place(self, table: str, number: int, fields: tuple[str, ...] = ()) -> tuple[str, int]:
        """Return file and line of a row; line 0 for rows that come from the database."""
        file, member = next((one.file, one.member) for one in TABLES if one.name == table)
        source = self.sources.get(file)
        return file, source.line(member, number, fields) if source else 0


def read(directory: Path) -> Written:
    """Raises: RefusedCorpus, with every file that cannot be read."""
    problems: list[Problem] = []
    written = Written(rows={table.name: [] for table in TABLES}, meta={}, corpus=None)
    for name in (*FILES, *(name for name in (CORPUS, RELEASE) if (directory / name).exists())):
        try:
            source = Source(_read_text(directory / name))
            if name in FILES:
                written.meta[name] = _take_rows(written, name, source)
                written.sources[name] = source
            elif name == CORPUS:
                written.corpus = _object(source.text)
            else:
                written.release = _object(source.text)
        except json.JSONDecodeError as error:
            problems.append(Problem(name, error.lineno, f"is not JSON: {error.msg}"))
        except _ProblemAt as error:
            problems.append(Problem(name, source.line_at(error.at), str(error)))
        except ValueError as error:
            problems.append(Problem(name, 0, str(error)))
    if problems:
        raise RefusedCorpus(problems)
    return written


def _take_rows(written: Written, name: str, source: Source) -> dict[str, Any]:
    """Take the rows of a file, and return what else it says. Raises: ValueError."""
    members = {table.member: table.name for table in TABLES if table.file == name}
    meta: dict[str, Any] = {}
    for key, value, starts in _members(source.text, frozenset(members)):
        if key in members:
            source.starts[key] = starts
            written.rows[members[key]] = value
        elif key == "meta" and isinstance(value, dict):
            meta = value
        else:
            raise _ProblemAt(f"{key!r} is unknown here; accepted are meta, {', '.join(members)}", source.text.find(f'"{key}"'))
    if missing := members.keys() - source.starts.keys():
        raise _ProblemAt(f"{', '.join(sorted(missing))} is missing", 0)
    return meta


class _ProblemAt(ValueError):
    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


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


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_refuse_twins, parse_constant=_refuse_constant)
_BLANKS: Final = re.compile(r"[ \t\n\r]*")


def _object(text: str) -> dict[str, Any]:
    found = _DECODER.decode(text)
    if not isinstance(found, dict):
        raise ValueError("is no JSON object")
    return found


def _members(text: str, lists: frozenset[str]) -> Iterator[tuple[str, Any, list[int]]]:
    """Yield name and value of each member of the object that a file is; of `lists` with where each element begins.

    Raises: ValueError.
    """
    at = _expect(text, _skip(text, 0), "{")
    names = set[str]()
    while not text.startswith("}", at):
        if names:
            at = _expect(text, at, ",")
        name, at = _value(text, at)
        if not isinstance(name, str) or name in names:
            raise json.JSONDecodeError("Expecting a name that is not yet used", text, at)
        names.add(name)
        at = _expect(text, at, ":")
        if name in lists:
            value, starts, at = _elements(text, at)
        else:
            value, at = _value(text, at)
            starts = []
        yield name, value, starts
    if _skip(text, at + 1) < len(text):
        raise json.JSONDecodeError("Extra data", text, at + 1)


def _elements(text: str, at: int) -> tuple[list[Any], list[int], int]:
    at = _expect(text, at, "[")
    values: list[Any] = []
    starts: list[int] = []
    while not text.startswith("]", at):
        if values:
            at = _expect(text, at, ",")
        starts.append(at)
        value, at = _value(text, at)
        values.append(value)
    return values, starts, _skip(text, at + 1)


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, json.JSONDecodeError) else json.JSONDecodeError(str(error), text, at) from error
    return value, _skip(text, end)


def _skip(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]


def _expect(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise json.JSONDecodeError(f"Expecting '{mark}'", text, at)
    return _skip(text, at + 1)
