"""Drafts in, a signed snapshot out: cluster, weigh, write the take, hash, chain. One entry for a day, one for all that waits."""

import datetime as dt
import logging
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from config.errors import RosterLocked
from sources import roster
from wire import cluster, events, provenance, render, take
from wire.citing import layered, permalink
from wire.consensus import Witness, weigh
from wire.indexing import index
from wire.models import EditorTake, Snapshot, Story, StoryRevision, WireState
from wire.models.record import is_sealed, open_from
from wire.signing import sign
from wire.vocabulary import Status

log = logging.getLogger(__name__)

A_TURN: Final = dt.timedelta(minutes=2)  # so long a publisher may have waited for another since it looked at the clock


@dataclass(frozen=True, slots=True)
class Derived:
    """What a story owes to others."""

    event_id: str
    consensus_score: float
    cross_source_count: int


@dataclass(frozen=True, slots=True)
class Member:
    """A story of the day with the revision that is to be public."""

    story: Story
    revision: StoryRevision


def publish_pending(now: dt.datetime | None = None, progress: Callable[[dt.date], None] = lambda _day: None) -> list[Snapshot]:
    """Publish every day that has unpublished revisions, and every unsealed day that these may have changed.

    Safe to call again after a crash: what was published stays, what was not is taken up.
    """
    now = now or timezone.now()
    waiting = list(Story.objects.pending().values_list("wire_date", flat=True).distinct().order_by("wire_date"))
    first = open_from(now)
    for day in waiting:
        if day < first:
            events.group(day)
    near = [day for day in waiting if day >= first - cluster.WINDOW]  # these may change unsealed ones: all of them or none
    published = []
    for days in [*([day] for day in waiting if day not in near), near]:
        for day in days:
            progress(day)
        for snapshot in republish(days, now=now, unsealed=days is near) if days else ():
            del snapshot.packed  # read again if anybody asks: the bytes of a thousand days are no small thing
            published.append(snapshot)
    return published


def publish(day: dt.date, *, now: dt.datetime | None = None) -> Snapshot | None:
    """Publish one UTC day: a new snapshot if anything but `revision` and `previous_sha256` changed, else None.

    An unsealed day is published with all that are unsealed, for what happened to one may bear on the others. All of it or
    nothing, in one transaction; publishers at once take turns. Raises: RosterLocked when the roster is broken.
    """
    now = now or timezone.now()
    snapshots = republish([day], now=now, unsealed=not is_sealed(day, now))
    return next((snapshot for snapshot in snapshots if snapshot.wire_date == day), None)


def republish(
    days: Collection[dt.date], *, now: dt.datetime, unsealed: bool, reopened: Collection[str] = frozenset(), reason: str = ""
) -> list[Snapshot]:
    """Publish the sealed ones of these days and, if asked to, every day that is `unsealed`; oldest first, in one transaction.

    `reopened`: stories whose event and consensus are told anew although their day is sealed, for the `reason` an editor gave.
    """
    now, first = now.replace(microsecond=0), open_from(now)
    chosen = {day for day in days if day < first}
    with durable(), transaction.atomic():
        WireState.lock()
        for day in sorted(chosen):
            events.group(day)
        if unsealed:
            events.regroup(first)
            chosen |= set(Story.objects.filter(wire_date__gte=first).values_list("wire_date", flat=True))
        snapshots = (_publish(day, now, reopened, reason) for day in sorted(chosen))
        return [snapshot for snapshot in snapshots if snapshot]


@contextmanager
def durable() -> Iterator[None]:
    """SQLite: a snapshot, once served, survives a power cut (synchronous FULL). Postgres is so by itself."""
    switch = connection.vendor == "sqlite" and not connection.in_atomic_block
    if switch:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=FULL")
    try:
        yield
    finally:
        if switch:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA synchronous=NORMAL")


def _publish(day: dt.date, now: dt.datetime, reopened: Collection[str], why: str) -> Snapshot | None:
    previous = Snapshot.objects.filter(wire_date=day).order_by("-revision").first()
    members = _members(day)
    pending = [member for member in members if member.story.pending]
    sealed = is_sealed(day, now) and previous is not None
    untouched = not pending and not any(member.story.chatbotnews_id in reopened for member in members)
    if not members or (sealed and untouched):
        return None
    if problem := roster.problem():
        raise RosterLocked(problem, "Nothing was published. Run manage.py check --database default.")
    old = previous.manifest if previous else None
    live = [member for member in members if member.revision.status != Status.WITHDRAWN]
    frozen = {story: owed for story, owed in _frozen(old).items() if story not in reopened} if sealed else {}
    derived = _derive(live, frozen)
    last = Snapshot.objects.order_by("-sequence").first()
    new = provenance.manifest(
        wire_date=day,
        revision=previous.revision + 1 if previous else 1,
        previous_sha256=last.wire_sha256 if last else None,
        roster_sha256=roster.current().fingerprint,
        editor_take=_take(day, live, derived, old if sealed else None),
        stories=[_line(member, derived[member.story.chatbotnews_id]) for member in live],
    )
    snapshot = None
    if (old is None and live) or (old is not None and not provenance.same_publication(old, new)):
        snapshot = _append(new, last, now, _reason(pending, previous, why) if sealed else "")
    if snapshot or pending:
        _make_current(members, derived)
        WireState.raise_version()
    return snapshot


def _members(day: dt.date) -> list[Member]:
    """The day's stories with their newest revision, in list order."""
    stories = list(Story.objects.on(day).select_related("current"))
    pending = [story.pk for story in stories if story.pending]
    newest = {r.story_id: r for r in StoryRevision.objects.filter(story__in=pending).order_by("revision")}
    members = [Member(story, newest.get(story.pk) or story.current) for story in stories]  # type: ignore[arg-type]
    return sorted(members, key=lambda m: (-m.revision.published_at.timestamp(), m.story.chatbotnews_id))


def _frozen(manifest: Mapping[str, Any] | None) -> dict[str, Derived]:
    rows = manifest["stories"] if manifest else ()
    return {row["chatbotnews_id"]: _derived(row) for row in rows}


def _derived(row: Mapping[str, Any]) -> Derived:
    return Derived(row["event_id"], row["consensus_score"], row["cross_source_count"])


def _derive(live: Sequence[Member], frozen: Mapping[str, Derived]) -> dict[str, Derived]:
    """Event and consensus of each story, by id; of a sealed day only for stories that are new to it."""
    open_ = [member for member in live if member.story.chatbotnews_id not in frozen]
    witnesses = _witnesses({str(member.story.event_id) for member in open_})
    derived = dict(frozen)
    for member in open_:
        event_id = str(member.story.event_id)
        consensus = weigh(witnesses[event_id][member.story.chatbotnews_id], witnesses[event_id].values())
        derived[member.story.chatbotnews_id] = Derived(event_id, consensus.score, consensus.count)
    return derived


def _witnesses(events: Iterable[str]) -> dict[str, dict[str, Witness]]:
    """Every story of the events that is not withdrawn, as its newest revision tells it: event -> id -> witness."""
    found: dict[str, dict[str, Witness]] = defaultdict(dict)
    columns = ("original_publisher", "original_publisher_tier", "published_at", "headline", "summary_medium")
    rows = StoryRevision.objects.filter(story__event__in=list(events)).order_by("story", "revision")
    for event_id, story_id, status, *told in rows.values_list("story__event_id", "story__chatbotnews_id", "status", *columns):
        found[event_id][story_id] = Witness(story_id, *told)  # newer revisions replace older ones
        if status == Status.WITHDRAWN:
            del found[event_id][story_id]
    return found


def _take(day: dt.date, live: Sequence[Member], derived: Mapping[str, Derived], sealed: Mapping[str, Any] | None) -> str:
    """An editor's own, or else what the rules write. `sealed`: what a sealed day said; no text by hand comes to it or leaves it,
    for the reason it is published again for is another's."""
    if sealed and take.is_by_hand(sealed["editor_take"]):
        return str(sealed["editor_take"])
    written = None if sealed else EditorTake.objects.filter(wire_date=day).first()
    if written:
        return take.by_hand(day, written.markdown)
    previous = Snapshot.objects.filter(wire_date__lt=day).order_by("-wire_date", "-revision").first()
    return take.write(day, [_brief(member, derived[member.story.chatbotnews_id]) for member in live], _before(previous))


def _before(snapshot: Snapshot | None) -> take.Before | None:
    """The day before as its latest snapshot has it."""
    if snapshot is None:
        return None
    named = {(row["chatbotnews_id"], row["revision"]): _derived(row) for row in snapshot.manifest["stories"]}
    return take.Before(snapshot.wire_date, len(named), frozenset(derived.event_id for derived in named.values()), _lead(named))


def _lead(named: Mapping[tuple[str, int], Derived]) -> str | None:
    """Which event led a day depends on the texts of its revisions, too: of those that stand alike, best first."""

    def standing(told: tuple[tuple[str, int], Derived]) -> tuple[float, int]:
        return -told[1].consensus_score, -told[1].cross_source_count

    for _, alike in groupby(sorted(named.items(), key=standing), key=standing):
        derived = dict(alike)
        rows = StoryRevision.objects.filter(story__chatbotnews_id__in=[story for story, _ in derived]).select_related("story")
        told = [(Member(row.story, row), derived.get((row.story.chatbotnews_id, row.revision))) for row in rows]
        lead = take.lead_of([_brief(member, owed) for member, owed in told if owed])
        if lead:
            return lead
    return None


def _brief(member: Member, derived: Derived) -> take.Brief:
    story, revision = member.story, member.revision
    return take.Brief(
        chatbotnews_id=story.chatbotnews_id,
        event_id=derived.event_id,
        publisher=revision.original_publisher,
        category=revision.category,
        consensus_score=derived.consensus_score,
        cross_source_count=derived.cross_source_count,
        published_at=revision.published_at,
        cite=lambda: layered(story, revision),
        permalink=permalink(story.chatbotnews_id),
        quotable=not revision.untrusted_instructions,
    )


def _line(member: Member, derived: Derived) -> dict[str, Any]:
    return provenance.manifest_story(
        member.story.chatbotnews_id,
        member.revision.revision,
        member.revision.story_sha256,
        derived.event_id,
        derived.consensus_score,
        derived.cross_source_count,
    )


def _append(manifest: Mapping[str, Any], last: Snapshot | None, now: dt.datetime, reason: str) -> Snapshot:
    canonical = provenance.canonical(manifest)
    wire_sha256 = provenance.sha256(canonical)
    signature, key = sign(wire_sha256)
    if last and now < last.generated_at:
        if last.generated_at - now > A_TURN:  # no reason to refuse: nothing could be published for as long as a clock was ahead
            log.warning("The clock says %s, before the newest snapshot of %s: set it (NTP).", now, last.generated_at)
        else:
            now = last.generated_at
    return Snapshot.objects.create(
        sequence=last.sequence + 1 if last else 1,
        wire_date=dt.date.fromisoformat(manifest["wire_date"]),
        revision=manifest["revision"],
        wire_sha256=wire_sha256,
        previous_sha256=manifest["previous_sha256"],
        roster_sha256=manifest["roster_sha256"],
        generated_at=now,
        story_count=len(manifest["stories"]),
        packed=zlib.compress(canonical),
        signature=signature,
        key=key,
        reason=reason,
    )


def _reason(pending: Sequence[Member], previous: Snapshot | None, why: str) -> str:
    """Why a sealed day is published again: what editors said, and how many stories came late."""
    said = dict.fromkeys(filter(None, [why, *(member.revision.reason for member in pending)]))
    late = sum(1 for member in pending if previous and member.story.current_id is None)
    revised = sum(1 for member in pending if member.story.current_id is not None and not member.revision.reason)
    counted = [f"{number} {what}" for number, what in ((late, "late"), (revised, "revised by the publisher")) if number]
    return "; ".join([*said, *counted])[:500]


def _make_current(members: Sequence[Member], derived: Mapping[str, Derived]) -> None:
    """Let every surface see the day as its snapshot has it."""
    changed = []
    for member in members:
        story, revision = member.story, member.revision
        owed = derived.get(story.chatbotnews_id, Derived(str(story.event_id), 0.0, 1))
        before = (story.current_id, story.event_id, story.consensus_score, story.cross_source_count, story.pending)
        story.current = revision
        story.status, story.category = revision.status, revision.category
        story.event_id = owed.event_id
        story.consensus_score, story.cross_source_count = owed.consensus_score, owed.cross_source_count
        story.pending = False
        if before != (story.current_id, story.event_id, story.consensus_score, story.cross_source_count, False):
            changed.append((member, before[0] != story.current_id))
    fields = ["current", "status", "category", "event", "consensus_score", "cross_source_count", "pending"]
    Story.objects.all().write([member.story for member, _ in changed], fields)
    index([(member.story, member.revision) for member, is_new_text in changed if is_new_text])
    render.keep([(member.story, member.revision) for member, _ in changed])
