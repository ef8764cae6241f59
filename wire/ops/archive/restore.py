"""A dump back into a wire: whole or not at all, every hash and signature checked on the way in."""

import datetime as dt
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, islice
from typing import Any, Final, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, models, transaction

from config.errors import InvalidArgument
from sources import roster
from sources.models import Publication
from wire.models import EditorTake, Event, SigningKey, Snapshot, Story, StoryAlias, StoryPair, StoryRevision, WireState
from wire.ops.archive.dump import CHUNK, KEY_FIELDS, PAIR_FIELDS, SNAPSHOT_FIELDS, STORY_FIELDS, TAKE_FIELDS, Broken, Record
from wire.ops.archive.verify import Verifier, build_revision, check_records
from wire.publishing import changelog, signing, story_json
from wire.publishing.indexing import index_stories
from wire.publishing.transparency import log
from wire.text.provenance_manifest import canonicalize_json

T = TypeVar("T", bound=models.Model)


def restore_dump(records: Iterable[Record], on_progress: Callable[[int], None] = lambda _number: None) -> Counter[str]:
    """Restore a dump into an empty wire or confirm that it holds it; return counts by kind. Raises: Broken, InvalidArgument."""
    verifier = Verifier()
    number = 0
    try:
        with transaction.atomic():
            WireState.lock()
            empty = not any(model._default_manager.exists() for model in (Story, Event, EditorTake, Snapshot, SigningKey))
            for kind, group in groupby(check_records(records, verifier), key=lambda record: str(record["kind"])):
                while chunk := list(islice(group, CHUNK)):
                    if act := (_RESTORE if empty else _CONFIRM).get(kind):
                        act(chunk)
                    number += len(chunk)
                    on_progress(number)
            if empty:
                log.append_missing_snapshots()
                signing.sign_newest_checkpoint()
                changelog.create_missing_log()
                WireState.raise_version()
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError, DataError, IntegrityError) as error:
        raise Broken(f"after record {number}: not what dumpwire writes ({error!r}). Nothing was restored.") from error
    return verifier.counts if empty else Counter(duplicate=number)


def _accept_sample(chunk: list[Record]) -> None:
    if chunk[0]["sample"]:
        WireState.objects.update(is_sample=True)
    elif WireState.objects.filter(is_sample=True).exists():
        raise InvalidArgument("This database holds the sample wire, which never takes real news.", "Use another WIRE_DATA_DIR.")


def _to_row(model: type[T], record: Record, names: Sequence[str], **more: Any) -> T:
    """Return an unsaved row, its values as the columns hold them."""
    columns: Any = model._meta
    return model(**{name: columns.get_field(name).to_python(record[name]) for name in names}, **more)


def _restore_events(chunk: list[Record]) -> None:
    found = [{"storyline": None, "storyline_pinned": False} | record for record in chunk]  # columns that earlier dumps lack
    names = ("event_id", "storyline_pinned")
    Event.objects.bulk_create(_to_row(Event, r, names, merged_into_id=r["merged_into"], storyline_id=r["storyline"]) for r in found)


def _restore_stories(chunk: list[Record]) -> None:
    publications = {p.slug: p for p in Publication.objects.all()}
    stories = [_build_story(record, publications) for record in chunk]
    Story.objects.bulk_create(stories)
    revisions: dict[tuple[int, int], StoryRevision] = {}
    aliases = []
    for story, record in zip(stories, chunk, strict=True):
        for row in record["revisions"]:
            revision = build_revision(row)
            revision.story = story
            revisions[story.pk, revision.revision] = revision
        times = record.get("aliases_seen_at", [None] * len(record["aliases"]))  # earlier dumps lack them
        for url, seen_at in zip(record["aliases"], times, strict=True):
            aliases.append(_to_row(StoryAlias, {"url": url, "seen_at": seen_at}, ("url", "seen_at"), story=story))
    StoryRevision.objects.bulk_create(revisions.values(), batch_size=CHUNK)
    StoryAlias.objects.bulk_create(aliases)
    published = []
    for story, record in zip(stories, chunk, strict=True):
        if record["current"] is not None:
            story.current = revisions[story.pk, record["current"]]
            story.status, story.category = story.current.status, story.current.category
            story.published_at = story.current.published_at
            published.append((story, story.current))
    Story.objects.all().write(stories, ["current", "status", "category", "published_at"])
    index_stories(published)
    story_json.store_story_json(published)


def _build_story(record: Record, publications: dict[str, Publication]) -> Story:
    first = record["revisions"][0]
    # Columns that earlier dumps lack.
    later = {"event_pinned": False, "leads_event": False, "image_url": "", "inputs": "", "merged_into": None}
    return _to_row(
        Story,
        later | record,
        STORY_FIELDS,
        publication=publications[record["publication"]],
        tier=first["original_publisher_tier"],
        published_at=dt.datetime.fromisoformat(first["published_at"]),
        category=first["category"],
    )


def _restore_story_pairs(chunk: list[Record]) -> None:
    names = {record[side] for record in chunk for side in ("story", "other")}
    keys = dict(Story.objects.filter(chatbotnews_id__in=names).values_list("chatbotnews_id", "pk"))
    rows = [_to_row(StoryPair, r, PAIR_FIELDS, story_id=keys[r["story"]], other_id=keys[r["other"]]) for r in chunk]
    StoryPair.objects.bulk_create(rows)


def _restore_snapshots(chunk: list[Record]) -> None:
    # The columns that repeat the manifest were compared with it when the record was checked.
    rows = [_to_row(Snapshot, r, SNAPSHOT_FIELDS, packed=zlib.compress(canonicalize_json(r["manifest"]))) for r in chunk]
    Snapshot.objects.bulk_create(rows)


def _confirm_stories(chunk: list[Record]) -> None:
    rows = StoryRevision.objects.filter(story__chatbotnews_id__in=[r["chatbotnews_id"] for r in chunk])
    ours = set(rows.values_list("story__chatbotnews_id", "revision", "story_sha256"))
    stored = [(r["chatbotnews_id"], row["revision"], row["story_sha256"]) for r in chunk for row in r["revisions"]]
    _refuse_differences("story", [row for row in stored if row not in ours])


def _confirm_snapshots(chunk: list[Record]) -> None:
    rows = Snapshot.objects.filter(sequence__in=[r["sequence"] for r in chunk])
    ours = set(rows.values_list("sequence", "wire_sha256"))
    _refuse_differences("snapshot", [row for r in chunk if (row := (r["sequence"], r["wire_sha256"])) not in ours])


def _refuse_differences(what: str, others: Sequence[tuple[Any, ...]]) -> None:
    if others:
        raise InvalidArgument(
            f"This wire and the dump hold different news; the first difference is {what} {others[0][0]}.",
            "Restore the dump into an empty wire (another WIRE_DATA_DIR or DATABASE_URL). Nothing was changed.",
        )


_RESTORE: Final[dict[str, Callable[[list[Record]], object]]] = {
    "dump": _accept_sample,
    "key": lambda chunk: SigningKey.objects.bulk_create(_to_row(SigningKey, record, KEY_FIELDS) for record in chunk),
    "publication": roster.restore_publications,
    "roster": roster.restore_revisions,
    "event": _restore_events,
    "story": _restore_stories,
    "pair": _restore_story_pairs,
    "take": lambda chunk: EditorTake.objects.bulk_create(_to_row(EditorTake, record, TAKE_FIELDS) for record in chunk),
    "snapshot": _restore_snapshots,
}
_CONFIRM: Final[dict[str, Callable[[list[Record]], object]]] = {"story": _confirm_stories, "snapshot": _confirm_snapshots}
