"""The log of changes: what happened to the public record, in the order in which it was committed.

Whoever writes holds WireState, as every publisher does, so a number is given only when the one before is committed: a reader that
saw number n has seen all below it, whichever database, however many publishers.
"""

import datetime as dt
import secrets
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from sources.models import RosterRevision
from wire.models import Change, Event, Snapshot, Story, WireState
from wire.models.inserted import insert
from wire.stories.vocabulary import ChangeKind, Status

NAMES: Final = ("number", "kind", "subject", "revision", "other", "at")
BATCH: Final = 2_000


class What(NamedTuple):
    """One change, without its number."""

    kind: ChangeKind
    subject: str
    revision: int | None = None
    other: str = ""


def record(changes: Iterable[What], at: dt.datetime) -> None:
    """Write changes behind the last one; call in the transaction that makes them. Needs the lock of WireState."""
    told = list(changes)
    if not told:
        return
    last = Change.objects.aggregate(last=Max("number"))["last"]
    if last is None:
        last = _found(at)
        if last:  # what is told of is in the state that the log was begun with
            return
    insert(Change, NAMES, ((last + at_, *what, at) for at_, what in enumerate(told, start=1)))


def of_story(status: str, revision: int, story_id: str, event_id: str, *, is_new: bool, is_new_text: bool) -> What:
    """What happened to a story whose day was published."""
    if not is_new_text:
        kind = ChangeKind.STORY_MOVED
    elif status == Status.WITHDRAWN:
        kind = ChangeKind.STORY_WITHDRAWN
    elif is_new:
        kind = ChangeKind.STORY_ADDED
    else:
        kind = ChangeKind.STORY_CORRECTED if status == Status.CORRECTED else ChangeKind.STORY_REVISED
    return What(kind, story_id, revision, event_id)


def of_events(before: Mapping[str, str], after: Mapping[str, str]) -> list[What]:
    """What happened to events; the event of each story before and after, stories that are new only in `after`."""
    founded = {
        event: What(ChangeKind.EVENT_FOUNDED, event) for story, event in after.items() if story == event and story not in before
    }
    left = {(before[story], event) for story, event in after.items() if story in before and before[story] != event}
    merged = dict(Event.objects.filter(event_id__in={old for old, _ in left}).values_list("event_id", "merged_into"))
    gone = []
    for old, new in sorted(left):
        into = merged.get(old)
        gone.append(What(ChangeKind.EVENT_MERGED, old, None, into) if into else What(ChangeKind.EVENT_SPLIT, old, None, new))
    return [*founded.values(), *dict.fromkeys(gone)]


def found() -> int:
    """Begin the log of a wire that has none: one from before it, or one that was restored. How many changes."""
    with transaction.atomic():
        WireState.lock()
        if Change.objects.exists():
            return 0
        number = _found(timezone.now().replace(microsecond=0))
        if number or not WireState.objects.exclude(changes_epoch="").exists():
            WireState.objects.filter(pk=1).update(changes_epoch=secrets.token_hex(4))
        return number


def _found(at: dt.datetime) -> int:
    number, batch = 0, list[tuple[Any, ...]]()
    for number, what in enumerate(_state(), start=1):
        batch.append((number, *what, at))
        if len(batch) == BATCH:
            insert(Change, NAMES, batch)
            batch = []
    insert(Change, NAMES, batch)
    return number


def _state() -> Iterator[What]:
    """The public record as it stands, as changes from nothing: stories by day, then what events became, the roster, the days."""
    rows = Story.objects.published().order_by("wire_date", "-published_at", "chatbotnews_id")
    columns = ("status", "current__revision", "chatbotnews_id", "event_id")
    stories = (
        of_story(status, revision, story_id, event_id or "", is_new=True, is_new_text=True)
        for status, revision, story_id, event_id in rows.values_list(*columns).iterator(BATCH)
    )
    founders = Story.objects.published().filter(chatbotnews_id=OuterRef("event_id"))  # others are told when theirs is published
    shared = Event.objects.filter(Exists(founders)).order_by("event_id").values_list("event_id", "merged_into")
    events = (
        What(ChangeKind.EVENT_MERGED, event, None, into) if into else What(ChangeKind.EVENT_FOUNDED, event)
        for event, into in shared.iterator(BATCH)
    )
    rosters = RosterRevision.objects.filter(number__gt=1).order_by("number").values_list("number", flat=True)
    replaced = (What(ChangeKind.ROSTER_REPLACED, str(number), number) for number in rosters)
    days = dict(Snapshot.objects.order_by("sequence").values_list("wire_date", "revision"))
    published = (What(ChangeKind.DAY_PUBLISHED, str(day), revision) for day, revision in sorted(days.items()))
    return chain(stories, events, replaced, published)
