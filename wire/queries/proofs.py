"""Merkle proofs: of a story in its day, of a day in the log over all snapshots, of an earlier log in a later one."""

import base64
import datetime as dt
from collections.abc import Iterable
from typing import Final

from config.errors import InvalidArgument, NotFound, NothingPublished
from wire.models import LogEntry, Snapshot, Witnessed
from wire.publishing.transparency import log, merkle, signed_note
from wire.queries.snapshots import find_snapshot, get_latest_snapshot, get_provenance
from wire.queries.stories import find_published_story
from wire.schemas.proofs import ConsistencyOut, InclusionOut, LogOut, ProvedOut, WitnessedLogOut, WitnessedOut
from wire.schemas.story import ProvedDay
from wire.text.choices import Status

MOST_LEAVES: Final = 1_000
LEAVES: Final = 200


def get_checkpoint() -> str:
    """Return the newest signed checkpoint of the log, as a signed note (C2SP tlog-checkpoint). Raises: NothingPublished."""
    return _to_note(_read_checkpoint())


def prove_inclusion(story_id: str, day: dt.date | None = None, revision: int | None = None) -> InclusionOut:
    """Return the proof of a story in its day (default: the latest snapshot), and of that in the log. Raises: NotFound."""
    entry, snapshot = _read_checkpoint(), _find_snapshot(story_id, day, revision)
    lines = snapshot.manifest["stories"]  # each time it is asked for, it is unpacked
    index = next((at for at, line in enumerate(lines) if line["chatbotnews_id"] == story_id), None)
    if index is None:
        raise NotFound(f"{story_id} is not in {snapshot.wire_date}, revision {snapshot.revision}.", "Leave day and revision out.")
    if snapshot.sequence > entry.sequence:
        raise NothingPublished("The newest checkpoint is older than this snapshot.", "Try again in a moment.")
    leaves = [log.hash_story_leaf(line) for line in lines]
    return InclusionOut(
        story=lines[index],
        story_index=index,
        story_count=len(lines),
        story_path=_encode_hashes(merkle.compute_audit_path(leaves, index)),
        leaf=log.describe_leaf(snapshot, merkle.compute_root(leaves)),
        log_size=entry.sequence,
        log_path=_encode_hashes(log.compute_step_hashes(merkle.list_inclusion_steps(snapshot.sequence - 1, entry.sequence))),
        checkpoint=_to_note(entry),
    )


def _find_snapshot(story_id: str, day: dt.date | None, revision: int | None) -> Snapshot:
    """Return the snapshot to prove; of a withdrawn story the newest that still has it. Raises: NotFound."""
    story = find_published_story(story_id)
    newest = find_snapshot(day or story.wire_date, revision)
    if story.status == Status.WITHDRAWN and revision is None:
        for snapshot in Snapshot.objects.filter(wire_date=newest.wire_date).order_by("-revision")[:100]:
            if any(line["chatbotnews_id"] == story.chatbotnews_id for line in snapshot.manifest["stories"]):
                return snapshot
    return newest


def prove_consistency(first: int, second: int | None = None) -> ConsistencyOut:
    """Return the proof that the log of `second` leaves (default: all) begins with that of `first`. Raises: InvalidArgument."""
    newest = _read_checkpoint()
    second = newest.sequence if second is None else second
    if not 0 < first <= second <= newest.sequence:
        raise InvalidArgument(
            f"0 < first <= second <= {newest.sequence} does not hold.", "Sizes count snapshots; see the checkpoint."
        )
    roots = dict(LogEntry.objects.filter(sequence__in=[first, second]).values_list("sequence", "root"))
    first_root, second_root = _encode_hashes([roots[first], roots[second]])
    path = _encode_hashes(log.compute_step_hashes(merkle.list_consistency_steps(first, second)))
    return ConsistencyOut(first=first, second=second, first_root=first_root, second_root=second_root, path=path)


def list_leaves(start: int = 0, limit: int = LEAVES) -> LogOut:
    """Return the leaves of the log from index `start` on, oldest first, and the newest checkpoint. Raises: NothingPublished."""
    entry = _read_checkpoint()
    rows = Snapshot.objects.filter(sequence__gt=start, sequence__lte=entry.sequence).defer("packed").order_by("sequence")
    snapshots = list(rows[:limit])
    roots = dict(LogEntry.objects.filter(sequence__in=[row.sequence for row in snapshots]).values_list("sequence", "stories_root"))
    leaves = [log.describe_leaf(row, bytes(roots[row.sequence])) for row in snapshots]
    after = start + len(leaves)
    return LogOut(leaves=leaves, next_start=after if after < entry.sequence else None, checkpoint=_to_note(entry))


def get_proved_day(date: dt.date | None = None, story_id: str | None = None, revision: int | None = None) -> ProvedOut:
    """Return provenance of a day without manifest, the newest checkpoint, and the proof of a story, if given. Raises: NotFound."""
    proof = None if story_id is None else prove_inclusion(story_id, date, revision)
    if proof is not None:
        date, revision = proof.leaf.wire_date, proof.leaf.revision
    snapshot = find_snapshot(date, revision) if date else get_latest_snapshot()
    day = get_provenance(snapshot.wire_date, revision=snapshot.revision)
    return ProvedOut(day=ProvedDay(**day.model_dump(exclude={"manifest"})), checkpoint=get_checkpoint(), proof=proof)


def get_witnessed_logs() -> WitnessedOut:
    """Return other wires' checkpoints that this one saw and signed, by origin."""
    fields = ("origin", "url", "size", "note", "seen_at", "fault")
    rows = Witnessed.objects.order_by("origin").values(*fields)
    return WitnessedOut(logs=[WitnessedLogOut(**row | {"fault": row["fault"] or None}) for row in rows])


def _read_checkpoint() -> LogEntry:
    if (entry := LogEntry.objects.exclude(origin="").order_by("-sequence").first()) is None:
        raise NothingPublished("There is no signed checkpoint yet.", "The next publish signs one.")
    return entry


def _to_note(entry: LogEntry) -> str:
    text = signed_note.Checkpoint(entry.origin, entry.sequence, bytes(entry.root)).text
    signed = bytes(entry.signature)
    return f"{text}\n{signed_note.format_signature(entry.origin, signed[:4], signed[4:])}"


def _encode_hashes(hashes: Iterable[bytes | memoryview]) -> list[str]:
    return [base64.b64encode(bytes(one)).decode() for one in hashes]
