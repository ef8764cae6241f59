"""Any archive as a stream of numbered records or refusals, in flat memory; and its items into stories, batch by batch."""

import gzip
import hashlib
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, Final, cast

import orjson
from django.db import transaction
from django.utils import timezone

from sources.entries import Entry
from sources.parse import InvalidFeed, parse_feed
from sources.parse.charsets import decode_text
from wire.ingest import classifier_terms
from wire.ingest.feed_entries import name_outcome
from wire.ingest.normalise import Context, Rejected
from wire.ingest.save import save_entries
from wire.models import Load

MAX_LINE: Final = 1 << 20  # bytes; no honest item comes near it
MAX_FEED: Final = 32 << 20  # bytes of a feed file, unpacked: feeds are read whole
SUFFIXES: Final = (".ndjson", ".jsonl", ".json", ".xml", ".rss", ".atom", ".rdf")
REQUIRED: Final = ("title", "url", "publisher", "published_at")
FIELDS: Final = frozenset((*REQUIRED, "summary", "author", "guid", "credited_source", "language"))
Numbered = tuple[int, Entry | Rejected]  # of a line (of NDJSON) or an item (of a feed); numbers count from 1
BATCH: Final = 500


def expand_paths(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files of `paths`, directories expanded, and those left out. Raises: FileNotFoundError; OSError for pipes."""
    files, others = list[Path](), list[Path]()
    for path in paths:
        if path.is_dir():
            for file in sorted(file for file in path.rglob("*") if file.is_file()):
                is_archive = file.name.lower().removesuffix(".gz").endswith(SUFFIXES)
                (files if is_archive else others).append(file)
        elif path.is_file():
            files.append(path)
        elif path.exists():
            raise OSError(f"{path} is not a file but a pipe or a device, which can be read only once; write it to a file first")
        else:
            raise FileNotFoundError(path)
    return files, others


def compute_digest(file: Path, names: Mapping[str, str]) -> str:
    """Return the identity of an input, lower-case hex SHA-256 of its bytes and of its map of publishers."""
    hashed = hashlib.sha256(orjson.dumps(dict(names), option=orjson.OPT_SORT_KEYS))
    with file.open("rb") as handle:
        while chunk := handle.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()


def is_dump(file: Path) -> bool:
    """Return if `manage.py dumpwire` wrote this file."""
    first = next(read_lines(file), None)
    return first is not None and isinstance(first[1], bytes) and first[1].startswith(b'{"kind":"dump"')


def read_records(file: Path, names: Mapping[str, str]) -> Iterator[Numbered]:
    """Yield every record of a file: NDJSON by line, RSS or Atom by item. `names` maps publishers to names of the roster."""
    is_feed = False
    with _open_archive(file) as handle, suppress(EOFError, OSError, zlib.error):
        is_feed = decode_text(handle.read(512)).lstrip().startswith("<")
    if is_feed:
        yield from _read_feed(file, names)
        return
    for number, line in read_lines(file):
        if isinstance(line, Rejected):
            yield number, line
        elif line.strip():
            yield number, _parse_item(line, names)


def read_lines(file: Path, longest: int = MAX_LINE) -> Iterator[tuple[int, bytes | Rejected]]:
    """Yield numbered lines, the first without byte order mark. Lines over `longest` bytes and a broken end become refusals."""
    with _open_archive(file) as handle:
        for number in count(1):
            try:
                line = handle.readline(longest + 1)
                if len(line) > longest:
                    while line and not line.endswith(b"\n"):
                        line = handle.readline(longest)
                    yield number, Rejected("line_too_long", f"The line is longer than {longest:,} bytes.")
                    continue
            except (EOFError, OSError, zlib.error) as error:
                yield number, Rejected("broken_archive", f"The file breaks off here ({error}); what came before was read.")
                return
            if not line:
                return
            yield number, line.removeprefix(BOM_UTF8) if number == 1 else line


def _parse_item(line: bytes, names: Mapping[str, str]) -> Entry | Rejected:
    if b"\x00" in line:
        return Rejected("nul_character", "The line holds a NUL byte.")
    try:
        item = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        try:
            line.decode()
        except UnicodeDecodeError as where:
            return Rejected("invalid_utf8", f"The line is not UTF-8 (at byte {where.start + 1}).")
        if "surrogate" in str(error):
            return Rejected("lone_surrogate", "The line holds half of a surrogate pair, which is not a character.")
        return Rejected("invalid_json", f"The line is not JSON: {error}.")
    if not isinstance(item, dict):
        return Rejected("not_an_item", "The line is JSON, but not an object.")
    missing = [name for name in REQUIRED if not item.get(name)]
    if missing:
        return Rejected("missing_field", f"The item lacks {', '.join(missing)}.")
    wrong = [name for name in FIELDS & item.keys() if not isinstance(item[name], str | None)]
    if wrong:
        return Rejected("wrong_type", f"Not a string: {', '.join(sorted(wrong))}.")
    values: dict[str, Any] = {name: item.get(name) or "" for name in FIELDS}
    values["publisher"] = names.get(values["publisher"], values["publisher"])
    return Entry(**values)


def _read_feed(file: Path, names: Mapping[str, str]) -> Iterator[Numbered]:
    with _open_archive(file) as handle:
        try:
            data = handle.read(MAX_FEED + 1)
        except (EOFError, OSError, zlib.error) as error:
            yield 1, Rejected("broken_archive", f"The feed breaks off ({error}); nothing of it was read.")
            return
    if len(data) > MAX_FEED:
        yield 1, Rejected("feed_too_large", f"The feed is larger than {MAX_FEED:,} bytes.")
        return
    try:
        parsed = parse_feed(data)
        if parsed.kind == "sitemap":
            raise InvalidFeed("The file is neither RSS nor Atom.")
    except InvalidFeed as error:
        yield 1, Rejected("invalid_feed", str(error))
        return
    for number, entry in enumerate(parsed.entries, start=1):
        yield number, entry.with_publisher(names.get(entry.publisher, entry.publisher))
    if not parsed.whole:
        why = "The feed breaks off in this item, or something follows the feed's end; the item was not stored."
        yield len(parsed.entries) + 1, Rejected("broken_archive", why)


def _open_archive(file: Path) -> IO[bytes]:
    with file.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(file, "rb")) if packed else file.open("rb")


@dataclass(slots=True)
class LoadReport:
    """Number of records by outcome; rejections by reason. `resumed_at` is the line it went on from."""

    counts: Counter[str] = field(default_factory=Counter)
    resumed_at: int = 0


def load_items(
    file: Path,
    names: Mapping[str, str],
    *,
    context: Context | None = None,
    on_rejected: Callable[[int, Rejected], None] = lambda _number, _why: None,
    on_progress: Callable[[int], None] = lambda _number: None,
) -> LoadReport:
    """Store every item of a file, or what a killed load left; nothing is published yet. Callbacks get line (or item) numbers."""
    digest = compute_digest(file, names)
    load, _ = Load.objects.get_or_create(digest=digest, defaults={"name": file.name})
    report = LoadReport(Counter(load.counts), resumed_at=load.line)
    context = context or Context.load(classifier_terms.load_lexicon(), timezone.now())
    waiting = ((number, value) for number, value in read_records(file, names) if number > load.line)
    while batch := list(islice(waiting, BATCH)):
        with transaction.atomic():
            outcomes = iter(save_entries([value for _, value in batch if isinstance(value, Entry)], context))
            for number, value in batch:
                outcome = next(outcomes) if isinstance(value, Entry) else value
                if isinstance(outcome, Rejected):
                    on_rejected(number, outcome)
                report.counts[name_outcome(outcome)] += 1
            Load.objects.filter(pk=load.pk).update(line=number, counts=dict(report.counts))
        on_progress(number)
    load.delete()
    return report
