"""Files of claims as a stream of drafts and refusals, in flat memory: dumps, ClaimReview, tables, feeds, and .gz of these."""

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import orjson

from sources.parse import InvalidFeed, parse
from wire.factchecks import drafts
from wire.factchecks.drafts import Draft, Refused

SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".jsonld", ".csv", ".tsv", ".xml", ".rss", ".atom", ".html", ".htm")
PIECE: Final = 1 << 20  # characters that are read at a time
MAX_ENTRY: Final = 32 << 20  # characters of one entry
MAX_WHOLE: Final = 64 << 20  # characters of a document that is read whole: a feed, a page, one object
_LISTED: Final = re.compile(r'"(?:claims|data|items|dataFeedElement)"\s*:\s*\[')
_SCRIPT: Final = re.compile(r"<script[^>]*application/ld\+json[^>]*>(.*?)</script>", re.I | re.S)
_SPACE: Final = re.compile(r"[\s,]*")

Entry = Draft | Refused


class Unreadable(Exception):
    """A file that cannot be read as one of claims; the message says why."""


def expand(paths: list[Path]) -> list[Path]:
    """The files meant: a directory means every file below it whose name is that of a form. Raises: FileNotFoundError."""
    found = list[Path]()
    for path in paths:
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.is_file() and _plain_name(file).endswith(SUFFIXES))
        elif path.is_file():
            found.append(path)
        else:
            raise FileNotFoundError(path)
    return found


def fingerprint(file: Path, language: str) -> str:
    """Identity of a load: the bytes of its file, and the language that it sets."""
    hashed = hashlib.sha256(language.encode())
    with file.open("rb") as handle:
        while chunk := handle.read(PIECE):
            hashed.update(chunk)
    return hashed.hexdigest()


def entries(file: Path, language: str) -> Iterator[Entry]:
    """Every claim of a file, in its order. The same file gives the same entries. Raises: Unreadable."""
    try:
        with _opened(file) as text:
            yield from _entries(_plain_name(file), text, language)
    except UnicodeDecodeError as error:
        raise Unreadable(f"{file.name} is not text in UTF-8: byte {error.start:,} of a part belongs to no character") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Unreadable(f"{file.name} is damaged: {error}") from error
    except csv.Error as error:
        raise Unreadable(f"{file.name} cannot be read as a table: {error}") from error


def _plain_name(file: Path) -> str:
    return file.name.lower().removesuffix(".gz")


def _opened(file: Path) -> IO[str]:
    raw = cast(IO[bytes], gzip.open(file) if file.name.lower().endswith(".gz") else file.open("rb"))  # noqa: SIM115  closed with its wrapper
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def _entries(name: str, text: IO[str], language: str) -> Iterator[Entry]:
    if name.endswith((".csv", ".tsv")):
        yield from _rows(text, "\t" if name.endswith(".tsv") else ",", language)
    elif name.endswith((".xml", ".rss", ".atom")):
        yield from _items(_whole(text), language)
    elif name.endswith((".html", ".htm")):
        yield from _of_page(_whole(text), language)
    else:
        yield from _of_json(text, language)


def _whole(text: IO[str]) -> str:
    found = text.read(MAX_WHOLE + 1)
    if len(found) > MAX_WHOLE:
        raise Unreadable(f"a document of this form is read whole, and may have {MAX_WHOLE:,} characters")
    return found


def _made(make: Callable[[], Draft]) -> Entry:
    try:
        return make()
    except Refused as why:
        return why


def _rows(text: IO[str], delimiter: str, language: str) -> Iterator[Entry]:
    before = csv.field_size_limit(MAX_ENTRY)  # of the whole process: others have theirs back
    try:
        for row in csv.DictReader(text, delimiter=delimiter):
            yield _made(lambda row=row: drafts.of_row(row, language))  # type: ignore[misc]
    finally:
        csv.field_size_limit(before)


def _items(document: str, language: str) -> Iterator[Entry]:
    try:
        parsed = parse(document.encode())
    except InvalidFeed as error:
        raise Unreadable(f"no feed: {error}") from error
    for item in parsed.entries:
        yield _made(
            lambda item=item: drafts.of_item(item.title, item.url, item.summary, item.published_at, language)  # type: ignore[misc]
        )


def _of_page(page: str, language: str) -> Iterator[Entry]:
    """The ClaimReviews that a web page carries."""
    for script in _SCRIPT.findall(page):
        try:
            yield from _of_value(json.loads(script, strict=False), language)
        except ValueError:
            yield Refused("a script of JSON-LD on the page is no JSON")


def _of_json(text: IO[str], language: str) -> Iterator[Entry]:
    """A list, an object that holds one, one object, or one object a line."""
    buffer = text.read(PIECE)
    opening = buffer.lstrip()[:1]
    if opening == "[":
        yield from _listed(text, buffer[buffer.index("[") + 1 :], language)
    elif opening == "{" and _is_by_line(buffer):
        yield from _by_line(text, buffer, language)
    elif opening == "{" and (found := _LISTED.search(buffer[:65_536])):
        yield from _listed(text, buffer[found.end() :], language)
    elif opening == "{":
        try:
            yield from _of_value(json.loads(buffer + _whole(text), strict=False), language)
        except ValueError as error:
            raise Unreadable(f"no JSON: {error}") from error
    elif opening:
        raise Unreadable("neither a list nor an object of JSON")


def _is_by_line(buffer: str) -> bool:
    line, end, _ = buffer.lstrip().partition("\n")
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return bool(end)


def _by_line(text: IO[str], buffer: str, language: str) -> Iterator[Entry]:
    while buffer:
        *lines, buffer = buffer.split("\n")
        for line in lines:
            if line.strip():
                yield from _of_line(line, language)
        more = text.read(PIECE)
        if not more:
            break
        buffer += more
        if len(buffer) > MAX_ENTRY:
            raise Unreadable(f"a line has more than {MAX_ENTRY:,} characters")
    if buffer.strip():
        yield from _of_line(buffer, language)


def _of_line(line: str, language: str) -> Iterator[Entry]:
    try:
        value = orjson.loads(line)
    except ValueError as error:
        yield Refused(f"no JSON: {error}")
    else:
        yield from _of_value(value, language)


def _listed(text: IO[str], buffer: str, language: str) -> Iterator[Entry]:
    """The entries of a list whose opening bracket was read, one at a time."""
    decoder, at_end = json.JSONDecoder(strict=False), False
    while True:
        buffer = buffer[_SPACE.match(buffer).end() :]  # type: ignore[union-attr]
        if buffer.startswith("]"):
            return
        try:
            value, end = decoder.raw_decode(buffer) if buffer else (None, 0)
        except (ValueError, RecursionError) as error:
            end = 0
            if at_end or len(buffer) > MAX_ENTRY:
                raise Unreadable(f"the list breaks off or holds what is no JSON: {error}") from error
        if end and (end < len(buffer) or at_end):
            yield from _of_value(value, language)
            buffer = buffer[end:]
            continue
        more = text.read(max(PIECE, len(buffer)))
        if not more and at_end:
            raise Unreadable("the list breaks off before its end")
        at_end, buffer = not more, buffer + more


def _of_value(value: Any, language: str) -> Iterator[Entry]:
    reviews = list(drafts.reviews_in(value))
    if reviews:
        for review in reviews:
            yield _made(lambda review=review: drafts.of_claim_review(review, language))  # type: ignore[misc]
    elif isinstance(value, dict) and ("dataFeedElement" in value or value.get("@type") == "DataFeedItem"):
        return  # an entry of the feed whose review was taken back
    else:
        yield _made(lambda: drafts.of_dump(value, language))
