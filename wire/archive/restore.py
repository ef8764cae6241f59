"""A dump back into a wire: whole or not at all, every hash and signature checked on the way in."""

import datetime as dt
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Final

from django.db import DataError, IntegrityError, transaction

from config.errors import InvalidArgument
from sources import roster
from sources.models import Publication
from wire import render
from wire.archive.dump import CHUNK, Broken, Record
from wire.archive.verify import Verifier, checked, revision_of
from wire.indexing import index
from wire.models import EditorTake, Event, SigningKey, Snapshot, Story, StoryAlias, StoryRevision, WireState
from wire.provenance import canonical
from wire.publish import durable

RESTORED: Final = (Story, Event, EditorTake, Snapshot, SigningKey)


def restore(records: Iterable[Record], on_progress: Callable[[int], None] = lambda _number: None) -> Counter[str]:
    """Restore a dump into an empty wire, or confirm that this wire already holds it. One transaction: never half a wire.

    Returns how many records of each kind were restored; all are `duplicate` when the wire held them. Raises: Broken for the
    first record that is not as it was published; InvalidArgument when the wire holds something else.
    """
    verifier = Verifier()
    number = 0
    try:
        with durable(), transaction.atomic():
            WireState.lock()
            empty = not any(model._default_manager.exists() for model in RESTORED)
            for kind, group in groupby(checked(records, verifier), key=lambda record: str(record["kind"])):
                for chunk in _chunks(group):
                    (_RESTORE if empty else _CONFIRM).get(kind, _nothing)(chunk)
                    number += len(chunk)
                    on_progress(number)
            if empty:
                WireState.raise_version()
    except (AttributeError, KeyError, TypeError, ValueError, DataError, IntegrityError) as error:
        raise Broken(f"behind record {number}: not what dumpwire writes ({error!r}). Nothing was restored.") from error
    return verifier.result.counts if empty else Counter(duplicate=number)


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    while chunk := list(islice(records, CHUNK)):
        yield chunk


def _nothing(chunk: list[Record]) -> None:
    """Restores nothing."""


def _mark(chunk: list[Record]) -> None:
    if chunk[0]["sample"]:
        WireState.objects.update(is_sample=True)
    elif WireState.objects.filter(is_sample=True).exists():
        raise InvalidArgument("This database holds the sample wire, which never takes real news.", "Use another WIRE_DATA_DIR.")


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
    render.keep(published)


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
        event_pinned=record.get("event_pinned", False),  # absent from earlier dumps, like the next
        image_url=record.get("image_url", ""),
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


def _confirm_stories(chunk: list[Record]) -> None:
    rows = StoryRevision.objects.filter(story__chatbotnews_id__in=[r["chatbotnews_id"] for r in chunk])
    ours = set(rows.values_list("story__chatbotnews_id", "revision", "story_sha256"))
    for r in chunk:
        if not ours.issuperset((r["chatbotnews_id"], row["revision"], row["story_sha256"]) for row in r["revisions"]):
            raise _other_news(f"story {r['chatbotnews_id']}")


def _confirm_snapshots(chunk: list[Record]) -> None:
    rows = Snapshot.objects.filter(sequence__in=[r["sequence"] for r in chunk])
    ours = set(rows.values_list("sequence", "wire_sha256"))
    for r in chunk:
        if (r["sequence"], r["wire_sha256"]) not in ours:
            raise _other_news(f"snapshot {r['sequence']}")


def _other_news(where: str) -> InvalidArgument:
    return InvalidArgument(
        f"This wire holds other news than the dump: they part at {where}.",
        "Restore the dump into an empty wire (another WIRE_DATA_DIR or DATABASE_URL). Nothing was changed.",
    )


_RESTORE: Final[dict[str, Callable[[list[Record]], None]]] = {
    "dump": _mark,
    "key": _keys,
    "publication": _publications,
    "roster": _rosters,
    "event": _events,
    "story": _stories,
    "take": _takes,
    "snapshot": _snapshots,
}
_CONFIRM: Final[dict[str, Callable[[list[Record]], None]]] = {"story": _confirm_stories, "snapshot": _confirm_snapshots}
