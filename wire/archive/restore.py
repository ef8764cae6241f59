"""A dump back into a wire: whole or not at all, every hash and signature checked on the way in."""

import datetime as dt
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice

from django.db import transaction

from config.errors import InvalidArgument
from sources import roster
from sources.models import Publication
from wire.archive.dump import CHUNK, Record
from wire.archive.verify import Broken, Verified, Verifier, revision_of
from wire.indexing import index
from wire.models import EditorTake, Event, SigningKey, Snapshot, Story, StoryAlias, StoryRevision, WireState
from wire.provenance import canonical
from wire.publish import durable


def restore(records: Iterable[Record], on_progress: Callable[[int], None] = lambda _number: None) -> Verified:
    """Restore a dump into an empty wire, or confirm that this wire already holds it. One transaction: never half a wire.

    Raises: Broken for the first record that is not as it was published; InvalidArgument when the wire holds something else.
    """
    verifier = Verifier()
    with durable(), transaction.atomic():
        WireState.lock()
        if Story.objects.exists() or Snapshot.objects.exists():
            return _confirm(records, verifier)
        ended = False
        number = 0
        for kind, group in groupby(_checked(records, verifier), key=lambda record: str(record["kind"])):
            ended = kind == "end"
            for chunk in _chunks(group):
                _RESTORE[kind](chunk)
                number += len(chunk)
                on_progress(number)
        if not ended:
            raise Broken("the dump breaks off: its end record is missing. Nothing was restored.")
        WireState.raise_version()
    return verifier.result


def _confirm(records: Iterable[Record], verifier: Verifier) -> Verified:
    """The same dump again changes nothing; another one cannot be mixed in."""
    for record in _checked(records, verifier):
        if record["kind"] != "snapshot":
            continue
        ours = Snapshot.objects.filter(sequence=record["sequence"]).first()
        if ours is None or ours.wire_sha256 != record["wire_sha256"]:
            raise InvalidArgument(
                f"This wire holds other news than the dump: they part at snapshot {record['sequence']}.",
                "Restore the dump into an empty wire (another WIRE_DATA_DIR or DATABASE_URL). Nothing was changed.",
            )
    return verifier.result


def _checked(records: Iterable[Record], verifier: Verifier) -> Iterator[Record]:
    for record in records:
        verifier.check(record)
        yield record


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    while chunk := list(islice(records, CHUNK)):
        yield chunk


def _keys(chunk: list[Record]) -> None:
    SigningKey.objects.bulk_create(
        SigningKey(
            key_id=r["key_id"],
            public_key=r["public_key"],
            created_at=_time(r["created_at"]),
            retired_at=r["retired_at"] and _time(r["retired_at"]),
        )
        for r in chunk
    )


def _publications(chunk: list[Record]) -> None:
    roster.restore_publications(chunk)


def _rosters(chunk: list[Record]) -> None:
    roster.restore_revisions(chunk)


def _events(chunk: list[Record]) -> None:
    Event.objects.bulk_create(Event(event_id=r["event_id"], merged_into_id=r["merged_into"]) for r in chunk)


def _stories(chunk: list[Record]) -> None:
    publications = {p.slug: p for p in Publication.objects.all()}
    stories = [_story(record, publications) for record in chunk]
    Story.objects.bulk_create(stories)
    revisions: dict[tuple[int, int], StoryRevision] = {}
    aliases = []
    for story, record in zip(stories, chunk, strict=True):
        for row in record["revisions"]:
            revision = revision_of(row)
            revision.story = story
            revisions[story.pk, revision.revision] = revision
        aliases += [StoryAlias(url=url, story=story) for url in record["aliases"]]
    StoryRevision.objects.bulk_create(revisions.values(), batch_size=CHUNK)
    StoryAlias.objects.bulk_create(aliases)
    published = []
    for story, record in zip(stories, chunk, strict=True):
        if record["current"] is not None:
            story.current = revisions[story.pk, record["current"]]
            story.status, story.category = story.current.status, story.current.category
            published.append((story, story.current))
    Story.objects.all().write(stories, ["current", "status", "category"])
    index(published)


def _story(record: Record, publications: dict[str, Publication]) -> Story:
    first = record["revisions"][0]
    return Story(
        chatbotnews_id=record["chatbotnews_id"],
        original_url=record["original_url"],
        publication=publications[record["publication"]],
        guid=record["guid"],
        wire_date=dt.date.fromisoformat(record["wire_date"]),
        first_seen_at=_time(record["first_seen_at"]),
        pending=record["pending"],
        editor_category=record["editor_category"],
        editor_topics=record["editor_topics"],
        event_id=record["event_id"],
        tier=first["original_publisher_tier"],
        published_at=_time(first["published_at"]),
        consensus_score=record["consensus_score"],
        cross_source_count=record["cross_source_count"],
        category=first["category"],
    )


def _takes(chunk: list[Record]) -> None:
    EditorTake.objects.bulk_create(
        EditorTake(wire_date=dt.date.fromisoformat(r["wire_date"]), markdown=r["markdown"], updated_at=_time(r["updated_at"]))
        for r in chunk
    )


def _snapshots(chunk: list[Record]) -> None:
    Snapshot.objects.bulk_create(
        Snapshot(
            sequence=r["sequence"],
            wire_date=dt.date.fromisoformat(r["manifest"]["wire_date"]),
            revision=r["manifest"]["revision"],
            wire_sha256=r["wire_sha256"],
            previous_sha256=r["manifest"]["previous_sha256"],
            roster_sha256=r["manifest"]["roster_sha256"],
            generated_at=_time(r["generated_at"]),
            story_count=len(r["manifest"]["stories"]),
            packed=zlib.compress(canonical(r["manifest"])),
            signature=r["signature"],
            key_id=r["key_id"],
            reason=r["reason"],
        )
        for r in chunk
    )


_time = dt.datetime.fromisoformat


_RESTORE: dict[str, Callable[[list[Record]], None]] = {
    "dump": lambda _chunk: None,
    "key": _keys,
    "publication": _publications,
    "roster": _rosters,
    "event": _events,
    "story": _stories,
    "take": _takes,
    "snapshot": _snapshots,
    "end": lambda _chunk: None,
}
