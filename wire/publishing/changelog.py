"""The log of changes to the public record, in the order of commits. Whoever writes holds WireState, so numbers have no gaps."""

import datetime as dt
import secrets
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from sources.models import RosterRevision
from wire.models import Change, Event, Snapshot, Story, WireState
from wire.text.choices import ChangeKind, Status

BATCH: Final = 2_000


class ChangeDraft(NamedTuple):
    kind: ChangeKind
    subject: str
    revision: int | None = None
    other: str = ""


def record_changes(changes: Iterable[ChangeDraft], at: dt.datetime) -> None:
    """Write changes behind the last one; call in the transaction that makes them. Needs the lock of WireState."""
    changes = list(changes)
    last = Change.objects.aggregate(last=Max("number"))["last"] if changes else 0
    # Changes that a log is begun with are in the state that it is begun with.
    if changes and (last is not None or not _write_changes(_list_current_state(), 1, at)):
        _write_changes(changes, (last or 0) + 1, at)


def describe_story(status: str, revision: int, story_id: str, event_id: str, *, is_new: bool, is_new_text: bool) -> ChangeDraft:
    if not is_new_text:
        kind = ChangeKind.STORY_MOVED
    elif status == Status.WITHDRAWN:
        kind = ChangeKind.STORY_WITHDRAWN
    elif is_new:
        kind = ChangeKind.STORY_ADDED
    else:
        kind = ChangeKind.STORY_CORRECTED if status == Status.CORRECTED else ChangeKind.STORY_REVISED
    return ChangeDraft(kind, story_id, revision, event_id)


def diff_events(before: Mapping[str, str], after: Mapping[str, str]) -> list[ChangeDraft]:
    """Return what happened to events, from the event of each story before and after; new stories are only in `after`."""
    founded = {
        event: ChangeDraft(ChangeKind.EVENT_FOUNDED, event)
        for story, event in after.items()
        if story == event and story not in before
    }
    left = {(before[story], event) for story, event in after.items() if story in before and before[story] != event}
    merged = dict(Event.objects.filter(event_id__in={old for old, _ in left}).values_list("event_id", "merged_into"))
    gone = (
        ChangeDraft(ChangeKind.EVENT_MERGED, old, None, into)
        if (into := merged.get(old))
        else ChangeDraft(ChangeKind.EVENT_SPLIT, old, None, new)
        for old, new in sorted(left)
    )
    return [*founded.values(), *dict.fromkeys(gone)]


def create_missing_log() -> int:
    """Begin the log of a wire that has none: one from before it, or one that was restored. Return the number of changes."""
    with transaction.atomic():
        WireState.lock()
        if Change.objects.exists():
            return 0
        number = _write_changes(_list_current_state(), 1, timezone.now().replace(microsecond=0))
        if number or not WireState.objects.exclude(changes_epoch="").exists():
            WireState.objects.filter(pk=1).update(changes_epoch=secrets.token_hex(4))
        return number


def _write_changes(changes: Iterable[ChangeDraft], first: int, at: dt.datetime) -> int:
    """Write changes with numbers from `first` on; return how many."""
    numbers, changes, total = count(first), iter(changes), 0
    while batch := [Change(number=next(numbers), **what._asdict(), at=at) for what in islice(changes, BATCH)]:
        Change.objects.bulk_create(batch)
        total += len(batch)
    return total


def _list_current_state() -> Iterator[ChangeDraft]:
    """Yield the public record as changes from nothing: stories by day, then what events became, the roster, the days."""
    rows = Story.objects.published().order_by("wire_date", "-published_at", "chatbotnews_id")
    columns = ("status", "current__revision", "chatbotnews_id", "event_id")
    for status, revision, story_id, event_id in rows.values_list(*columns).iterator(BATCH):
        yield describe_story(status, revision, story_id, event_id or "", is_new=True, is_new_text=True)
    founders = Story.objects.published().filter(chatbotnews_id=OuterRef("event_id"))  # others are told when theirs is published
    shared = Event.objects.filter(Exists(founders)).order_by("event_id").values_list("event_id", "merged_into")
    for event, into in shared.iterator(BATCH):
        yield ChangeDraft(ChangeKind.EVENT_MERGED, event, None, into) if into else ChangeDraft(ChangeKind.EVENT_FOUNDED, event)
    for number in RosterRevision.objects.filter(number__gt=1).order_by("number").values_list("number", flat=True):
        yield ChangeDraft(ChangeKind.ROSTER_REPLACED, str(number), number)
    days = dict(Snapshot.objects.order_by("sequence").values_list("wire_date", "revision"))
    for day, revision in sorted(days.items()):
        yield ChangeDraft(ChangeKind.DAY_PUBLISHED, str(day), revision)
