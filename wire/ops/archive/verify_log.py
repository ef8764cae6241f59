"""Verification of the log over all snapshots and of the log of changes, from the record, up to the first row that differs."""

import datetime as dt
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, Final

from config.errors import Damaged
from sources.models import RosterRevision
from wire.models import Change, LogEntry, LogNode, Snapshot, Story
from wire.ops.archive.dump import Broken
from wire.publishing import signing
from wire.publishing.transparency import log
from wire.text.vocabulary import ChangeKind, Status

CHUNK: Final = 2_000
_HASHES: Final = ("stories_root", "leaf", "root")
_STORIES: Final = frozenset(kind for kind in ChangeKind if kind.startswith("story_"))


def check_log() -> None:
    """Compare leaves, roots, nodes and signatures. Raises: Broken, which names table and row."""
    with (
        closing(one for one in LogEntry.objects.order_by("sequence").iterator(CHUNK)) as entries,
        closing(log.recompute()) as leaves,
    ):
        try:
            _compare(entries, leaves)
        except (Damaged, KeyError) as error:
            raise Broken(f"the log cannot be recomputed from the snapshots ({error!r}).") from error


def _compare(entries: Iterator[LogEntry], leaves: Iterable[log.Leaf]) -> None:
    nodes = {(level, at): bytes(digest) for level, at, digest in LogNode.objects.values_list("level", "position", "digest")}
    entry, size, is_any_signed = None, 0, False
    for leaf in leaves:
        entry, size = next(entries, None), leaf.sequence
        if entry is None or entry.sequence != leaf.sequence:
            raise Broken(f"wire_logentry {leaf.sequence}: it is missing, though snapshot {leaf.sequence} was published.")
        for name in _HASHES:
            if bytes(getattr(entry, name)) != getattr(leaf, name):
                raise Broken(f"wire_logentry {entry.sequence}: {name} is not what the snapshots have.")
        for place, digest in leaf.nodes.items():
            if (stored := nodes.pop(place, None)) != digest:
                what = "it is missing" if stored is None else "its digest is not what the snapshots have"
                raise Broken(f"wire_lognode {place[0]}/{place[1]}: {what}.")
        is_any_signed = is_any_signed or bool(entry.origin)
        if entry.origin and not log.is_signed(entry, leaf.root):
            raise Broken(f"wire_logentry {entry.sequence}: its checkpoint does not bear the signature of one of the wire's keys.")
        if not entry.origin and bytes(entry.signature):
            raise Broken(f"wire_logentry {entry.sequence}: its signature names no origin.")
    if (more := next(entries, None)) is not None:
        raise Broken(f"wire_logentry {more.sequence}: there is no such snapshot.")
    for level, position in nodes:
        raise Broken(f"wire_lognode {level}/{position}: the log of {size} snapshots has no such node.")
    if entry is not None and not entry.origin and (is_any_signed or signing.holds_key_in_force()):
        raise Broken(f"wire_logentry {entry.sequence}: the newest checkpoint is not signed; manage.py migrate signs it.")


def check_changes() -> None:
    """Compare the last change about each story, day and roster with the record; the seals were compared before. Raises: Broken."""
    last_changes: dict[str, tuple[int, str, int | None, str]] = {}
    columns = ("number", "kind", "subject", "revision", "other")
    number, roster = 0, 1
    with closing(one for one in Change.objects.order_by("number").values_list(*columns).iterator(CHUNK)) as changes:
        for expected, (number, kind, subject, revision, other) in enumerate(changes, start=1):
            if number != expected:
                raise Broken(f"wire_change {expected}: it is missing.")
            if kind in _STORIES or kind == ChangeKind.DAY_PUBLISHED:
                last_changes[subject] = (number, kind, revision, other)
            elif kind == ChangeKind.ROSTER_REPLACED:
                roster = revision or 0
    _check_stories(last_changes, number)
    days: dict[dt.date, int] = dict(Snapshot.objects.order_by("sequence").values_list("wire_date", "revision"))
    for day, latest in days.items():
        if last_changes.pop(str(day), (0, "", 0, ""))[2] != latest:
            raise Broken(f"wire_change: none up to {number} says that {day} was published in its revision {latest}.")
    for subject, (place, *_) in last_changes.items():
        raise Broken(f"wire_change {place}: the wire has no {subject}.")
    newest = RosterRevision.objects.order_by("-number").values_list("number", flat=True).first() or 1
    if roster != newest:
        raise Broken(f"wire_change: none up to {number} says that the roster was replaced by its revision {newest}.")


def _check_stories(last_changes: dict[str, tuple[int, str, int | None, str]], last: int) -> None:
    columns: Any = ("chatbotnews_id", "status", "current__revision", "event_id", "pending")
    with closing(one for one in Story.objects.published().values_list(*columns).iterator(CHUNK)) as stories:
        for story, status, revision, event, is_pending in stories:
            number, kind, announced_revision, other = last_changes.pop(story, (0, "", None, ""))
            if not number:
                raise Broken(f"wire_change: none up to {last} tells of story {story}.")
            is_withdrawn = status == Status.WITHDRAWN
            # The event of a withdrawn story, and of one that waits to be published, may change without a word to readers.
            is_other_event = not (is_withdrawn or is_pending) and other != (event or "")
            is_announced_withdrawn = kind == ChangeKind.STORY_WITHDRAWN or (kind == ChangeKind.STORY_MOVED and is_withdrawn)
            if announced_revision != revision or is_other_event or is_withdrawn != is_announced_withdrawn:
                raise Broken(f"wire_change {number}: it is the last one about story {story}, which is not as it says.")
