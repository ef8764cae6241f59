"""Proofs: that a story is in its day, a day in the log over all snapshots, and one log in a later one."""

import base64
import datetime as dt
from collections.abc import Sequence
from typing import Final

from django.db.models import QuerySet, Subquery

from config.errors import InvalidArgument, NotFound, NothingPublished
from wire.models import LogEntry, Snapshot, Story, Witnessed
from wire.models.compiled import Compiled, Row
from wire.queries.days import get_provenance, latest_snapshot, snapshot_of
from wire.queries.stories import published_story
from wire.snapshots import log, merkle, notes
from wire.stories.identity import is_story_id
from wire.stories.vocabulary import Status
from wire.trust import (
    ConsistencyOut,
    InclusionOut,
    LeafOut,
    LogOut,
    ProvedDay,
    ProvedOut,
    WitnessedLogOut,
    WitnessedOut,
)

MOST_LEAVES: Final = 1_000
LEAVES: Final = 200


def get_checkpoint() -> str:
    """The newest signed checkpoint of the log, as a signed note (C2SP tlog-checkpoint). Raises: NothingPublished."""
    return _note(_signed())


def get_inclusion(story_id: str, day: dt.date | None = None, revision: int | None = None) -> InclusionOut:
    """That a story's line is in a snapshot of its day (default: the latest that has it), and that snapshot in the log of the newest
    checkpoint. Raises: NotFound.
    """
    entry, snapshot = _signed(), _snapshot(story_id, day, revision)
    lines = snapshot.manifest["stories"]  # each time it is asked for, it is unpacked
    index = next((at for at, line in enumerate(lines) if line["chatbotnews_id"] == story_id), None)
    if index is None:
        raise NotFound(f"{story_id} is not in {snapshot.wire_date}, revision {snapshot.revision}.", "Ask without day and revision.")
    if snapshot.sequence > entry.sequence:
        raise NothingPublished("The newest checkpoint is older than this snapshot.", "Ask again in a moment.")
    leaves = [log.story_leaf(line) for line in lines]
    return InclusionOut(
        story=lines[index],
        story_index=index,
        story_count=len(lines),
        story_path=_encoded(merkle.path(leaves, index)),
        leaf=_leaf(snapshot, merkle.root(leaves)),
        log_size=entry.sequence,
        log_path=_encoded(_hashes(merkle.inclusion(snapshot.sequence - 1, entry.sequence))),
        checkpoint=_note(entry),
    )


def _snapshot(story_id: str, day: dt.date | None, revision: int | None) -> Snapshot:
    """The snapshot that is meant. Raises: NotFound."""
    if day is None and revision is None and is_story_id(story_id):
        for status, *values in _NEWEST.rows(story_id):
            if status != Status.WITHDRAWN:
                return Snapshot(**dict(zip(_SNAPSHOT, values, strict=True)))
    story = published_story(story_id)
    snapshot = snapshot_of(day or story.wire_date, revision)
    return _last_with(story, snapshot) if story.status == Status.WITHDRAWN and revision is None else snapshot


def _last_with(story: Story, newest: Snapshot) -> Snapshot:
    """The newest snapshot of a day that still has a story that was withdrawn since."""
    for snapshot in Snapshot.objects.filter(wire_date=newest.wire_date).order_by("-revision")[:100]:
        if any(line["chatbotnews_id"] == story.chatbotnews_id for line in snapshot.manifest["stories"]):
            return snapshot
    return newest


def get_consistency(first: int, second: int | None = None) -> ConsistencyOut:
    """That the log of `second` leaves (default: of the newest checkpoint) begins with that of `first`. Raises: InvalidArgument."""
    newest = _signed()
    second = newest.sequence if second is None else second
    if not 0 < first <= second <= newest.sequence:
        raise InvalidArgument(
            f"0 < first <= second <= {newest.sequence} does not hold.", "Sizes count snapshots; see the checkpoint."
        )
    roots = dict(LogEntry.objects.filter(sequence__in=[first, second]).values_list("sequence", "root"))
    return ConsistencyOut(
        first=first,
        second=second,
        first_root=_b64(roots[first]),
        second_root=_b64(roots[second]),
        path=_encoded(_hashes(merkle.consistency(first, second))),
    )


def get_log(start: int = 0, limit: int = LEAVES) -> LogOut:
    """The leaves of the log from index `start` on, oldest first, and the newest checkpoint. Raises: NothingPublished."""
    entry = _signed()
    rows = Snapshot.objects.filter(sequence__gt=start, sequence__lte=entry.sequence).defer("packed").order_by("sequence")[:limit]
    snapshots = list(rows)
    roots = dict(LogEntry.objects.filter(sequence__in=[row.sequence for row in snapshots]).values_list("sequence", "stories_root"))
    leaves = [_leaf(row, bytes(roots[row.sequence])) for row in snapshots]
    after = start + len(leaves)
    return LogOut(leaves=leaves, next_start=after if after < entry.sequence else None, checkpoint=_note(entry))


def get_proved(date: dt.date | None = None, story_id: str | None = None, revision: int | None = None) -> ProvedOut:
    """Provenance of a day (default: the latest, or the story's) without its manifest, the newest checkpoint, and the proof that the
    story is in it, if one is given. Raises: NotFound.
    """
    proof = None if story_id is None else get_inclusion(story_id, date, revision)
    if proof is not None:
        date, revision = proof.leaf.wire_date, proof.leaf.revision
    snapshot = snapshot_of(date, revision) if date else latest_snapshot()
    day = get_provenance(snapshot.wire_date, revision=snapshot.revision)
    return ProvedOut(day=ProvedDay(**day.model_dump(exclude={"manifest"})), checkpoint=get_checkpoint(), proof=proof)


def get_witnessed() -> WitnessedOut:
    """Other wires' checkpoints that this one saw and signed."""
    return WitnessedOut(
        logs=[
            WitnessedLogOut(
                origin=row.origin, url=row.url, size=row.size, note=row.note, seen_at=row.seen_at, fault=row.fault or None
            )
            for row in Witnessed.objects.order_by("origin")
        ]
    )


def _signed() -> LogEntry:
    """Raises: NothingPublished."""
    for values in _CHECKPOINT.rows():
        return LogEntry(**dict(zip(_ENTRY, values, strict=True)))
    raise NothingPublished("There is no signed checkpoint yet.", "The next publish signs one.")


_ENTRY: Final = ("sequence", "origin", "root", "signature")
_CHECKPOINT: Final = Compiled(lambda: LogEntry.objects.exclude(origin="").order_by("-sequence").values_list(*_ENTRY)[:1])
_SNAPSHOT: Final = ("sequence", "wire_date", "revision", "wire_sha256", "packed")


def _newest(story_id: str) -> QuerySet[Snapshot, Row]:
    """A story's status, and the newest snapshot of its day."""
    story = Story.objects.published().filter(chatbotnews_id=story_id)
    rows = Snapshot.objects.filter(wire_date=Subquery(story.values("wire_date")[:1])).order_by("-revision")
    return rows.annotate(status=Subquery(story.values("status")[:1])).values_list("status", *_SNAPSHOT)[:1]


_NEWEST: Final = Compiled(_newest)


def _note(entry: LogEntry) -> str:
    text = notes.Checkpoint(entry.origin, entry.sequence, bytes(entry.root)).text
    signed = bytes(entry.signature)
    return f"{text}\n{notes.line(entry.origin, signed[:4], signed[4:])}"


def _leaf(snapshot: Snapshot, stories: bytes) -> LeafOut:
    value = log.leaf_value(snapshot.sequence, str(snapshot.wire_date), snapshot.revision, snapshot.wire_sha256, stories)
    return LeafOut.model_validate(value)


def _hashes(steps: Sequence[Sequence[merkle.Place]]) -> list[bytes]:
    known = log.nodes(place for step in steps for place in step)
    return [merkle.joined(step, known.__getitem__) for step in steps]


def _encoded(hashes: Sequence[bytes]) -> list[str]:
    return [_b64(one) for one in hashes]


def _b64(value: bytes | memoryview) -> str:
    return base64.b64encode(bytes(value)).decode()
