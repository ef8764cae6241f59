"""Files of claims as a stream of drafts and refusals, in flat memory: dumps, ClaimReview, tables, feeds, and .gz of these.

Files are UTF-8, or in another charset read whole. The separator of a table is told from its header.
"""

import codecs
import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final, cast
from urllib.parse import urljoin

import orjson
from lxml.etree import ParserError, iterwalk
from lxml.html import HTMLParser, document_fromstring

from sources.parse import InvalidFeed, parse_feed
from sources.parse.charsets import decode_text
from sources.parse.json_ld import parse_json_ld
from wire.corpora.factchecks import claim_parsers
from wire.corpora.factchecks.claim_parsers import ClaimDraft, RefusedClaim

TABLES: Final = (".csv", ".tsv")
FEEDS: Final = (".xml", ".rss", ".atom")
PAGES: Final = (".html", ".htm")
SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".jsonld", *TABLES, *FEEDS, *PAGES)
PIECE: Final = 1 << 20  # characters that are read at a time
MAX_ENTRY: Final = 32 << 20  # characters of one entry
MAX_WHOLE: Final = 64 << 20  # characters of a document that is read whole: a feed, a page, one object
MAX_COLUMNS: Final = 1_000
MAX_SCRIPTS: Final = 1_000  # of JSON-LD on one page
MAX_ITEMS: Final = 5_000  # of a feed
MAX_VALUES: Final = 10_000  # of a page's microdata
_LISTED: Final = re.compile(r'"(?:claims|data|items|dataFeedElement)"\s*:\s*\[')
_ITEM: Final = re.compile(r"<(?:\w+:)?(?:item|entry)\b")
_SPACE: Final = re.compile(r"[\s,]*")
# Numbers of thousands of digits, which Python does not read, are cut: no field takes one of a hundred.
_DECODER: Final = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits[:100]))

Entry = ClaimDraft | RefusedClaim


class Unreadable(Exception):
    """A file that cannot be read as one of claims; the message says why."""


def expand_paths(paths: list[Path]) -> list[Path]:
    """Return the files; a directory stands for every file below it whose name is that of a form. Raises: FileNotFoundError."""
    files = list[Path]()
    for path in paths:
        if path.is_dir():
            files += sorted(file for file in path.rglob("*") if file.is_file() and _get_unpacked_name(file).endswith(SUFFIXES))
        elif path.is_file():
            files.append(path)
        else:
            raise FileNotFoundError(path)
    return files


def hash_load(file: Path, language: str) -> str:
    """Return the identity of a load: the bytes of its file, and the language that it sets."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.sha256(language.encode())).hexdigest()


def read_entries(file: Path, language: str, most_bytes: int | None = None) -> Iterator[Entry]:
    """Yield the claims of a file, in its order. `most_bytes` bounds what a packed file holds. Raises: Unreadable."""
    read = refused = 0
    name = _get_unpacked_name(file)
    try:
        with _open_text(file, most_bytes) as text:
            for entry in _read_entries(name, text, language):
                yield entry
                read, refused = read + 1, refused + isinstance(entry, RefusedClaim)
                if refused > 1_000 and refused * 10 > read * 9:
                    raise Unreadable(f"{file.name} is not a file of claims: {refused:,} of its first {read:,} entries were refused")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Unreadable(f"{file.name} is damaged: {error}") from error
    except csv.Error as error:
        raise Unreadable(f"{file.name} cannot be read as a table: {error}") from error


def _get_unpacked_name(file: Path) -> str:
    return file.name.lower().removesuffix(".gz")


def _open_text(file: Path, most_bytes: int | None) -> IO[str]:
    raw = cast(IO[bytes], gzip.open(file) if file.name.lower().endswith(".gz") else file.open("rb"))  # noqa: SIM115  closed with its wrapper
    try:
        if most_bytes is not None and len(raw.read(most_bytes + 1)) > most_bytes:
            raise Unreadable("the file holds more than may be uploaded; manage.py loadfactchecks takes files of any size")
        raw.seek(0)
        is_utf_8 = True
        try:
            for _ in codecs.iterdecode(iter(partial(raw.read, PIECE), b""), "utf-8"):
                pass
        except UnicodeDecodeError:
            is_utf_8 = False
        raw.seek(0)
        if not is_utf_8:
            whole = raw.read(MAX_WHOLE + 1)
            if len(whole) > MAX_WHOLE:
                raise Unreadable(f"{file.name} is not in UTF-8, and in other charsets a file may have at most {MAX_WHOLE:,} bytes")
            raw.close()
            return io.StringIO(decode_text(whole), newline="")
    except BaseException:
        raw.close()
        raise
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def _read_entries(name: str, text: IO[str], language: str) -> Iterator[Entry]:
    if name.endswith(TABLES):
        return _read_table(text, language)
    if name.endswith(FEEDS):
        return _read_feed(_read_whole_text(text), language)
    if name.endswith(PAGES):
        parse_review = partial(_build_draft_or_refusal, claim_parsers.parse_claim_review)
        found = list(find_page_reviews(_read_whole_text(text))) or [RefusedClaim("the page has no ClaimReview")]
        return (one if isinstance(one, RefusedClaim) else parse_review(one, one, language) for one in found)
    return _read_json(text, language)


def _read_whole_text(text: IO[str]) -> str:
    found = text.read(MAX_WHOLE + 1)
    if len(found) > MAX_WHOLE:
        raise Unreadable(f"a document of this form is read whole, and may have at most {MAX_WHOLE:,} characters")
    return found


def _build_draft_or_refusal(make: Callable[..., ClaimDraft], entry: Any, *arguments: Any) -> Entry:
    try:
        return make(*arguments)
    except RefusedClaim as why:
        name = claim_parsers.quote_claim_name(entry)
        return RefusedClaim(f"{name}: {why}") if name else why


def _read_table(text: IO[str], language: str) -> Iterator[Entry]:
    before = csv.field_size_limit(MAX_ENTRY)  # of the whole process: others have theirs back
    try:
        first = text.readline()
        # The separator is what makes the most known columns, then the most columns.
        headers = {sign: next(csv.reader([first[:65_536]], delimiter=sign), []) for sign in ",;\t|"}
        known = {sign: claim_parsers.count_known_columns(names[:MAX_COLUMNS]) for sign, names in headers.items()}
        delimiter = max(headers, key=lambda sign: (known[sign], len(headers[sign])))
        if first.lower().startswith("sep="):  # as spreadsheets write it
            first, delimiter = text.readline(), first[4:5]
        rows = csv.reader(chain([first], text), delimiter=delimiter)
        header, first_row = next(rows, []), rows.line_num + 1
        if len(header) > MAX_COLUMNS:
            raise Unreadable(f"the table has {len(header):,} columns, but may have at most {MAX_COLUMNS:,}")
        try:
            lack = claim_parsers.describe_lack(header) if header else ""
        except RefusedClaim as why:
            raise Unreadable(f"{why}; its columns are {', '.join(name[:40] for name in header[:20])}") from why
        for number, cells in enumerate(rows, first_row):
            if not cells:
                continue
            row = dict(zip(header, cells, strict=False))
            entry = _build_draft_or_refusal(claim_parsers.parse_row, row, row, language)
            if isinstance(entry, ClaimDraft):
                entry, lack = replace(entry, row=number, remarks=(lack, *entry.remarks) if lack else entry.remarks), ""
            else:
                entry.row = number
            yield entry
    finally:
        csv.field_size_limit(before)


def _read_feed(document: str, language: str) -> Iterator[Entry]:
    if sum(1 for _ in islice(_ITEM.finditer(document), MAX_ITEMS + 1)) > MAX_ITEMS:
        raise Unreadable(f"the feed has more than {MAX_ITEMS:,} items")
    try:
        parsed = parse_feed(document.encode())
    except InvalidFeed as error:
        raise Unreadable(f"not a feed: {error}") from error
    for item in parsed.entries:
        yield _build_draft_or_refusal(claim_parsers.parse_item, {"url": item.url}, item, language)


def find_page_reviews(page: str, address: str = "") -> Iterator[Mapping[str, Any] | RefusedClaim]:
    """Yield a page's ClaimReviews: JSON-LD, else microdata or RDFa Lite; addresses relative to `address`, or else to the canonical
    one that the page names. Raises: Unreadable.
    """
    if "laimReview" not in page:
        return
    try:
        tree = document_fromstring(page.replace("\0", "").encode(errors="replace"), HTMLParser(encoding="utf-8"))
    except (ParserError, ValueError):
        return
    scripts = [one.text or "" for one in tree.iter("script") if "application/ld+json" in (one.get("type") or "").lower()]
    if len(scripts) > MAX_SCRIPTS:
        raise Unreadable(f"the page has more than {MAX_SCRIPTS:,} scripts of JSON-LD")
    address = address or next(iter(tree.xpath("//link[@rel='canonical']/@href[starts-with(., 'http')]")), "")
    found = list[Mapping[str, Any]]()
    for script in scripts:
        try:
            found += claim_parsers.find_reviews(_parse_json(script, of_page=True))
        except RefusedClaim as why:
            yield RefusedClaim(f"a script of JSON-LD on the page: {why}")
    for review in found or claim_parsers.find_reviews(_read_markup(tree)):
        own = review.get("url")
        own = own[0] if isinstance(own, list) and own else own
        yield {**review, "url": _join_address(address, own) if isinstance(own, str) else address} if address else review


def _join_address(address: str, own: str) -> str:
    """Return `own` relative to `address`; "" if one of them cannot be read."""
    try:
        return urljoin(address, own)
    except ValueError:  # http://[
        return ""


def _read_markup(tree: Any) -> list[Mapping[str, Any]]:
    """Return the ClaimReviews of a page's microdata or RDFa Lite, in the form of JSON-LD."""
    reviews, owners, left = list[Mapping[str, Any]](), list[dict[str, Any]](), MAX_VALUES
    for event, element in iterwalk(tree, events=("start", "end")):
        kinds = (element.get("itemtype") or element.get("typeof") or "").split()
        if event == "end":
            del owners[len(owners) - bool(kinds) :]
            continue
        value: Any = {"@type": kinds}
        names = (element.get("itemprop") or element.get("property") or "").split() if owners else []
        if names and not kinds:
            given = (element.get(attribute) for attribute in ("content", "datetime", "href", "src", "resource"))
            text = next((one for one in given if one is not None), None)
            value = " ".join("".join(islice(element.itertext(), 1_000)).split()) if text is None else text
        for name in names:
            owners[-1].setdefault(name, []).append(value)
        reviews += [value] if any(kind.endswith("ClaimReview") for kind in kinds) else []
        owners += [value] if kinds else []
        left -= len(names)
        if left <= 0:
            break
    return reviews


def _parse_json(text: str, *, of_page: bool = False) -> Any:
    try:
        return parse_json_ld(text) if of_page else _DECODER.decode(text)
    except RecursionError as error:
        raise RefusedClaim("it is nested too deeply") from error
    except ValueError as error:
        raise RefusedClaim(f"not JSON: {error}") from error


def _read_json(text: IO[str], language: str) -> Iterator[Entry]:
    buffer = text.read(PIECE)
    opening = buffer.lstrip()[:1]
    if opening == "[":
        yield from _read_json_list(text, buffer[buffer.index("[") + 1 :], language)
    elif opening == "{" and _is_json_lines(buffer):
        yield from _read_lines(text, buffer, language)
    elif opening == "{" and (found := _LISTED.search(buffer[:65_536])):
        yield from _read_json_list(text, buffer[found.end() :], language)
    elif opening == "{":
        try:
            value = _parse_json(buffer + _read_whole_text(text))
        except RefusedClaim as why:
            raise Unreadable(f"{why}") from why
        yield from _read_json_value(value, language)
    elif opening:
        raise Unreadable("neither a JSON list nor a JSON object")


def _is_json_lines(buffer: str) -> bool:
    line, end, _ = buffer.lstrip().partition("\n")
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return bool(end)


def _read_lines(text: IO[str], buffer: str, language: str) -> Iterator[Entry]:
    *lines, begun = buffer.split("\n")
    lines.append(begun + text.readline(MAX_ENTRY + 1))
    for line in chain(lines, iter(lambda: text.readline(MAX_ENTRY + 1), "")):
        if len(line) > MAX_ENTRY:
            raise Unreadable(f"a line has more than {MAX_ENTRY:,} characters")
        if not line.strip():
            continue
        try:
            value = _parse_json(line.removesuffix("\n"))
        except RefusedClaim as why:
            yield why
        else:
            yield from _read_json_value(value, language)


def _read_json_list(text: IO[str], buffer: str, language: str) -> Iterator[Entry]:
    """Yield the entries of a list whose opening bracket was read, one at a time."""
    at_end, at = False, 0
    while True:
        at = _SPACE.match(buffer, at).end()  # type: ignore[union-attr]
        if buffer.startswith("]", at):
            return
        try:
            value, end = _DECODER.raw_decode(buffer, at) if at < len(buffer) else (None, 0)
        except json.JSONDecodeError as error:  # not whole yet, as far as anybody can tell
            end = 0
            if at_end or len(buffer) - at > MAX_ENTRY:
                raise Unreadable(f"the list breaks off or contains something that is not JSON: {error}") from error
        except RecursionError as error:
            raise Unreadable("the list holds an entry that is nested too deeply, and is read no further") from error
        if end and (end < len(buffer) or at_end):
            yield from _read_json_value(value, language)
            at = end
            continue
        more = text.read(max(PIECE, len(buffer) - at))
        if not more and at_end:
            raise Unreadable("the list breaks off before its end")
        at_end, buffer, at = not more, buffer[at:] + more, 0


def _read_json_value(value: Any, language: str) -> Iterator[Entry]:
    # A page of the API's claims may be a line of its own.
    for one in value["claims"] if isinstance(value, dict) and isinstance(value.get("claims"), list) else [value]:
        try:
            reviews = claim_parsers.find_reviews(one)
        except RefusedClaim as why:
            yield why
            continue
        if not reviews and isinstance(one, dict) and "claimReview" in one:
            reviews = claim_parsers.parse_api_claim(one)
        elif not reviews and claim_parsers.is_table_row(one):
            yield _build_draft_or_refusal(claim_parsers.parse_row, one, one, language)
            continue
        for review in reviews:
            yield _build_draft_or_refusal(claim_parsers.parse_claim_review, review, review, language)
        # A part of a feed without a review is one whose review was taken back.
        if not reviews and not (isinstance(one, dict) and ("dataFeedElement" in one or one.get("@type") == "DataFeedItem")):
            yield _build_draft_or_refusal(claim_parsers.parse_dump, one, one, language)
