"""A whole wire as records, one JSON object a line with its `kind`, the last of which counts the others; always the same bytes."""

import gzip
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import IO, Any, Final

import orjson
from django.db import connection, transaction

from config.errors import Damaged
from sources.models import Publication, RosterRevision
from wire.models import EditorTake, Event, SigningKey, Snapshot, Story, StoryPair, WireState
from wire.text.provenance_manifest import to_rfc3339

Record = dict[str, Any]

VERSION: Final = 1
CHUNK: Final = 500
KEY_FIELDS: Final = ("key_id", "public_key", "created_at", "retired_at")
PUBLICATION_FIELDS: Final = (
    *("slug", "name", "aliases", "domains", "tier", "homepage", "seat", "admitted_on", "retired_on", "owner", "owner_since"),
    "allows_pictures",
)
FEED_FIELDS: Final = ("feed_type", "url", "query", "ai_only", "active", "note")
STORY_FIELDS: Final = (
    *("chatbotnews_id", "original_url", "guid", "wire_date", "first_seen_at", "event_id", "pending"),
    *("editor_category", "editor_topics", "consensus_score", "cross_source_count", "event_pinned", "leads_event"),
    *("image_url", "inputs", "merged_into"),
)
REVISION_FIELDS: Final = (
    *("revision", "status", "headline", "author", "summary_short", "summary_medium", "category", "topics"),
    *("original_publisher", "original_publisher_tier", "via", "credited_source", "published_at", "published_at_estimated"),
    *("language", "untrusted_instructions", "corrected_on", "story_sha256", "recorded_at", "reason"),
)
PAIR_FIELDS: Final = ("probability", "label", "decided_at")
TAKE_FIELDS: Final = ("wire_date", "markdown", "updated_at")
SNAPSHOT_FIELDS: Final = (
    *("sequence", "wire_date", "revision", "previous_sha256", "roster_sha256", "story_count"),
    *("wire_sha256", "generated_at", "signature", "key_id", "reason"),
)


class Broken(Exception):
    """The first record that cannot be read or is not as it was published; the text names it and the difference."""


@contextmanager
def read_consistently() -> Iterator[None]:
    """Read the wire as of one moment inside, while it goes on; no writer waits."""
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


def read_wire_records() -> Generator[Record, None, None]:
    """Yield the records of the wire in flat memory, inside `read_consistently`; close it to stop before the end. Raises: Broken."""
    counts: Counter[str] = Counter()
    for record in _read_records():
        counts[record["kind"]] += 1
        yield record
    yield {"kind": "end", "counts": dict(sorted(counts.items()))}


def write_dump(raw: IO[bytes], *, packed: bool) -> int:
    """Write the records of one moment, a line each; return their number. Raises: Broken, OSError."""
    # No name and no time inside, so that the same wire gives the same bytes.
    packing = closing(gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)) if packed else nullcontext(raw)
    written = 0
    with read_consistently(), closing(read_wire_records()) as stored, packing as out:
        for record in stored:
            out.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            written += 1
    return written


def _read_records() -> Iterator[Record]:
    yield {"kind": "dump", "v": VERSION, "sample": WireState.objects.filter(is_sample=True).exists()}
    for key in SigningKey.objects.order_by("created_at", "key_id"):
        yield {"kind": "key", **_to_record(key, KEY_FIELDS)}
    for publication in sorted(Publication.objects.prefetch_related("feeds"), key=lambda p: p.slug):
        feeds = [_to_record(feed, FEED_FIELDS) for feed in sorted(publication.feeds.all(), key=lambda f: (f.url, f.query))]
        yield {"kind": "publication", **_to_record(publication, PUBLICATION_FIELDS), "feeds": feeds}
    for roster in RosterRevision.objects.select_related("retired", "admitted").order_by("number"):
        changed = {name: getattr(getattr(roster, name), "slug", None) for name in ("retired", "admitted")}
        yield {"kind": "roster", **_to_record(roster, ("number", "on", "fingerprint", "members", "reason")), **changed}
    for event in Event.objects.order_by("event_id").iterator(CHUNK):
        line = {"storyline": event.storyline_id, "storyline_pinned": event.storyline_pinned}
        yield {"kind": "event", "event_id": event.event_id, "merged_into": event.merged_into_id, **line}
    yield from _read_stories()
    pairs = StoryPair.objects.select_related("story", "other").order_by("story__chatbotnews_id", "other__chatbotnews_id")
    for pair in pairs.iterator(CHUNK):
        ids = {"story": pair.story.chatbotnews_id, "other": pair.other.chatbotnews_id}
        yield {"kind": "pair", **ids, **_to_record(pair, PAIR_FIELDS)}
    for take in EditorTake.objects.order_by("wire_date"):
        yield {"kind": "take", **_to_record(take, TAKE_FIELDS)}
    for snapshot in Snapshot.objects.order_by("sequence").iterator(CHUNK):
        try:
            yield {"kind": "snapshot", **_to_record(snapshot, SNAPSHOT_FIELDS), "manifest": snapshot.manifest}
        except Damaged as error:
            raise Broken(f"snapshot {snapshot.sequence} ({snapshot}): its bytes cannot be read: {error.__cause__}.") from error


def _read_stories() -> Iterator[Record]:
    stories = Story.objects.select_related("publication", "current").prefetch_related("revisions", "aliases")
    for story in stories.order_by("chatbotnews_id").iterator(CHUNK):
        aliases = sorted(story.aliases.all(), key=lambda alias: alias.url)
        yield {
            "kind": "story",
            **_to_record(story, STORY_FIELDS),
            "publication": story.publication.slug,
            "current": story.current.revision if story.current else None,
            "aliases": [alias.url for alias in aliases],
            "aliases_seen_at": [_to_json_value(alias.seen_at) for alias in aliases],
            "revisions": [_to_record(r, REVISION_FIELDS) for r in sorted(story.revisions.all(), key=lambda r: r.revision)],
        }


def _to_record(row: Any, names: tuple[str, ...]) -> Record:
    return {name: _to_json_value(getattr(row, name)) for name in names}


def _to_json_value(value: Any) -> Any:
    if hasattr(value, "tzinfo"):
        return to_rfc3339(value)
    return value.isoformat() if hasattr(value, "isoformat") else value
