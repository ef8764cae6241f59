"""A whole wire as records: every revision, snapshot, signature and public key, in an order that never depends on the database.

One JSON object a line. `kind` says what it is; roster and keys come before what refers to them; the last record counts the others,
so a dump that was cut off is known as such. The same wire always gives the same bytes.
"""

import gzip
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import IO, Any, Final, cast

import orjson
from django.db import connection, transaction

from config.errors import Damaged
from sources.models import Publication, RosterRevision
from wire.models import EditorTake, Event, SigningKey, Snapshot, Story, StoryRevision, WireState
from wire.stories.provenance import timestamp

Record = dict[str, Any]

VERSION: Final = 1
CHUNK: Final = 500
KEY_FIELDS: Final = ("key_id", "public_key", "created_at", "retired_at")
PUBLICATION_FIELDS: Final = (
    *("slug", "name", "aliases", "domains", "tier", "homepage", "seat", "admitted_on", "retired_on", "owner", "owner_since"),
)
FEED_FIELDS: Final = ("feed_type", "url", "query", "ai_only", "active", "note")
STORY_FIELDS: Final = (
    *("chatbotnews_id", "original_url", "guid", "wire_date", "first_seen_at", "event_id", "pending"),
    *("editor_category", "editor_topics", "consensus_score", "cross_source_count", "event_pinned", "leads_event", "image_url"),
)
REVISION_FIELDS: Final = (
    *("revision", "status", "headline", "author", "summary_short", "summary_medium", "category", "topics"),
    *("original_publisher", "original_publisher_tier", "via", "credited_source", "published_at", "published_at_estimated"),
    *("language", "untrusted_instructions", "corrected_on", "story_sha256", "recorded_at", "reason"),
)
TAKE_FIELDS: Final = ("wire_date", "markdown", "updated_at")
SNAPSHOT_FIELDS: Final = (
    *("sequence", "wire_date", "revision", "previous_sha256", "roster_sha256", "story_count"),
    *("wire_sha256", "generated_at", "signature", "key_id", "reason"),
)


class Broken(Exception):
    """The first thing that cannot be read or is not as it was published; the text names it and what does not match."""


@contextmanager
def one_moment() -> Iterator[None]:
    """Reads inside see the wire of one moment while it goes on; they hold no writer up."""
    database: Any = connection
    if database.in_atomic_block:  # the caller's moment
        yield
        return
    database.ensure_connection()
    mode = getattr(database, "transaction_mode", None)
    database.transaction_mode = "DEFERRED"  # SQLite: IMMEDIATE would lock writers out for as long as the reading takes
    try:
        with transaction.atomic():
            if database.vendor == "postgresql":
                database.cursor().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        database.transaction_mode = mode


def records() -> Generator[Record, None, None]:
    """The wire as it stands, in flat memory; read it in `one_moment`, and close it when you stop before its end.

    Raises: Broken for bytes that cannot be read.
    """
    counts: Counter[str] = Counter()
    for record in _records():
        counts[record["kind"]] += 1
        yield record
    yield {"kind": "end", "counts": dict(sorted(counts.items()))}


def write(raw: IO[bytes], *, packed: bool) -> int:
    """The records of one moment, a line each; how many. Raises: Broken, OSError."""
    written = 0
    with one_moment(), closing(records()) as stored, _packing(raw) if packed else nullcontext(raw) as out:
        for record in stored:
            out.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            written += 1
    return written


def _packing(raw: IO[bytes]) -> closing[IO[bytes]]:
    """No name and no time inside, so that the same wire gives the same bytes."""
    return closing(cast(IO[bytes], gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)))


def _records() -> Iterator[Record]:
    yield {"kind": "dump", "v": VERSION, "sample": WireState.objects.filter(is_sample=True).exists()}
    for key in SigningKey.objects.order_by("created_at", "key_id"):
        yield {"kind": "key", **_fields(key, KEY_FIELDS)}
    for publication in sorted(Publication.objects.prefetch_related("feeds"), key=lambda p: p.slug):
        feeds = [_fields(feed, FEED_FIELDS) for feed in sorted(publication.feeds.all(), key=lambda f: (f.url, f.query))]
        yield {"kind": "publication", **_fields(publication, PUBLICATION_FIELDS), "feeds": feeds}
    for roster in RosterRevision.objects.select_related("retired", "admitted").order_by("number"):
        changed = {name: getattr(getattr(roster, name), "slug", None) for name in ("retired", "admitted")}
        yield {"kind": "roster", **_fields(roster, ("number", "on", "fingerprint", "members", "reason")), **changed}
    for event in Event.objects.order_by("event_id").iterator(CHUNK):
        yield {"kind": "event", "event_id": event.event_id, "merged_into": event.merged_into_id}
    yield from _stories()
    for take in EditorTake.objects.order_by("wire_date"):
        yield {"kind": "take", **_fields(take, TAKE_FIELDS)}
    for snapshot in Snapshot.objects.order_by("sequence").iterator(CHUNK):
        yield snapshot_record(snapshot)


def snapshot_record(snapshot: Snapshot) -> Record:
    """Raises: Broken."""
    try:
        manifest = snapshot.manifest
    except Damaged as error:
        raise Broken(f"snapshot {snapshot.sequence} ({snapshot}): its bytes cannot be read: {error.__cause__}.") from error
    return {"kind": "snapshot", **_fields(snapshot, SNAPSHOT_FIELDS), "manifest": manifest}


def _stories() -> Iterator[Record]:
    stories = Story.objects.select_related("publication", "current").prefetch_related("revisions", "aliases")
    for story in stories.order_by("chatbotnews_id").iterator(CHUNK):
        yield {
            "kind": "story",
            **_fields(story, STORY_FIELDS),
            "publication": story.publication.slug,
            "current": story.current.revision if story.current else None,
            "aliases": sorted(alias.url for alias in story.aliases.all()),
            "revisions": [revision_record(r) for r in sorted(story.revisions.all(), key=lambda r: r.revision)],
        }


def revision_record(revision: StoryRevision) -> Record:
    return _fields(revision, REVISION_FIELDS)


def _fields(row: Any, names: tuple[str, ...]) -> Record:
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    if hasattr(value, "tzinfo"):
        return timestamp(value)
    return value.isoformat() if hasattr(value, "isoformat") else value
