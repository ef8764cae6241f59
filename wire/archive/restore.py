"""A dump back into a wire: whole or not at all, every hash and signature checked on the way in."""

import datetime as dt
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, Final, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, models, transaction

from config.errors import InvalidArgument
from sources import roster
from sources.models import Publication
from wire.archive.dump import CHUNK, KEY_FIELDS, SNAPSHOT_FIELDS, STORY_FIELDS, TAKE_FIELDS, Broken, Record
from wire.archive.verify import Verifier, checked, revision_of
from wire.models import EditorTake, Event, SigningKey, Snapshot, Story, StoryAlias, StoryRevision, WireState
from wire.snapshots import changes, log, signing, story_json
from wire.snapshots.indexing import index
from wire.stories.provenance import canonical

T = TypeVar("T", bound=models.Model)
RESTORED: Final = (Story, Event, EditorTake, Snapshot, SigningKey)


def restore(records: Iterable[Record], on_progress: Callable[[int], None] = lambda _number: None) -> Counter[str]:
    """Restore a dump into an empty wire, or confirm that this wire already holds it. One transaction: never half a wire.

    Returns how many records of each kind were restored; all are `duplicate` when the wire held them. Raises: Broken for the
    first record that is not as it was published; InvalidArgument when the wire holds something else.
    """
    verifier = Verifier()
    number = 0
    try:
        with transaction.atomic():
            WireState.lock()
            empty = not any(model._default_manager.exists() for model in RESTORED)
            for kind, group in groupby(checked(records, verifier), key=lambda record: str(record["kind"])):
                for chunk in _chunks(group):
                    if act := (_RESTORE if empty else _CONFIRM).get(kind):
                        act(chunk)
                    number += len(chunk)
                    on_progress(number)
            if empty:
                log.catch_up()
                signing.sign_newest()
                changes.found()
                WireState.raise_version()
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError, DataError, IntegrityError) as error:
        raise Broken(f"behind record {number}: not what dumpwire writes ({error!r}). Nothing was restored.") from error
    return verifier.result.counts if empty else Counter(duplicate=number)


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    return iter(lambda: list(islice(records, CHUNK)), [])


def _mark(chunk: list[Record]) -> None:
    if chunk[0]["sample"]:
        WireState.objects.update(is_sample=True)
    elif WireState.objects.filter(is_sample=True).exists():
        raise InvalidArgument("This database holds the sample wire, which never takes real news.", "Use another WIRE_DATA_DIR.")


def _row(model: type[T], record: Record, names: Sequence[str], **more: Any) -> T:
    """A row that is not saved yet, its values as the columns hold them."""
    columns: Any = model._meta
    return model(**{name: columns.get_field(name).to_python(record[name]) for name in names}, **more)


def _keys(chunk: list[Record]) -> None:
    SigningKey.objects.bulk_create(_row(SigningKey, record, KEY_FIELDS) for record in chunk)


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
    story_json.store(published)


def _story(record: Record, publications: dict[str, Publication]) -> Story:
    first = record["revisions"][0]
    later = {"event_pinned": False, "leads_event": False, "image_url": ""}  # columns that earlier dumps lack
    return _row(
        Story,
        later | record,
        STORY_FIELDS,
        publication=publications[record["publication"]],
        tier=first["original_publisher_tier"],
        published_at=dt.datetime.fromisoformat(first["published_at"]),
        category=first["category"],
    )


def _takes(chunk: list[Record]) -> None:
    EditorTake.objects.bulk_create(_row(EditorTake, record, TAKE_FIELDS) for record in chunk)


def _snapshots(chunk: list[Record]) -> None:
    """The columns that repeat the manifest were compared with it when the record was checked."""
    Snapshot.objects.bulk_create(
        _row(Snapshot, record, SNAPSHOT_FIELDS, packed=zlib.compress(canonical(record["manifest"]))) for record in chunk
    )


def _confirm_stories(chunk: list[Record]) -> None:
    rows = StoryRevision.objects.filter(story__chatbotnews_id__in=[r["chatbotnews_id"] for r in chunk])
    ours = set(rows.values_list("story__chatbotnews_id", "revision", "story_sha256"))
    stored = [(r["chatbotnews_id"], row["revision"], row["story_sha256"]) for r in chunk for row in r["revisions"]]
    _refuse_others("story", [row for row in stored if row not in ours])


def _confirm_snapshots(chunk: list[Record]) -> None:
    rows = Snapshot.objects.filter(sequence__in=[r["sequence"] for r in chunk])
    ours = set(rows.values_list("sequence", "wire_sha256"))
    _refuse_others("snapshot", [row for r in chunk if (row := (r["sequence"], r["wire_sha256"])) not in ours])


def _refuse_others(what: str, others: Sequence[tuple[Any, ...]]) -> None:
    if others:
        raise InvalidArgument(
            f"This wire holds other news than the dump: they part at {what} {others[0][0]}.",
            "Restore the dump into an empty wire (another WIRE_DATA_DIR or DATABASE_URL). Nothing was changed.",
        )


_RESTORE: Final[dict[str, Callable[[list[Record]], None]]] = {
    "dump": _mark,
    "key": _keys,
    "publication": roster.restore_publications,
    "roster": roster.restore_revisions,
    "event": _events,
    "story": _stories,
    "take": _takes,
    "snapshot": _snapshots,
}
_CONFIRM: Final[dict[str, Callable[[list[Record]], None]]] = {"story": _confirm_stories, "snapshot": _confirm_snapshots}
