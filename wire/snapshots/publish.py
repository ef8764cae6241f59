"""Drafts in, a signed snapshot out: cluster, weigh, write the take, hash, chain. One entry for a day, one for all that waits."""

import datetime as dt
import logging
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from config.errors import RosterLocked
from sources import roster
from sources.houses import Houses
from sources.vocabulary import Tier
from wire.models import EditorTake, Snapshot, Story, StoryRevision, WireState
from wire.models.record import is_sealed, open_from
from wire.snapshots import changes, cluster, editors_take, events, story_json
from wire.snapshots import log as log_of_snapshots
from wire.snapshots.citing import layered, permalink, says_more
from wire.snapshots.consensus import Report, figures, weigh
from wire.snapshots.indexing import index
from wire.snapshots.signing import sign, sign_checkpoint
from wire.stories import provenance
from wire.stories.vocabulary import ChangeKind, Status

log = logging.getLogger(__name__)

A_TURN: Final = dt.timedelta(minutes=2)  # so long a publisher may have waited for another since it looked at the clock


@dataclass(frozen=True, slots=True)
class Derived:
    """What of a story depends on the others: its event and how well they corroborate it."""

    event_id: str
    consensus_score: float
    cross_source_count: int


@dataclass(frozen=True, slots=True)
class Member:
    """A story of the day with the revision that is to be public."""

    story: Story
    revision: StoryRevision


def publish_pending(now: dt.datetime | None = None, progress: Callable[[dt.date], None] = lambda _day: None) -> list[Snapshot]:
    """Publish every day that has unpublished revisions, and every day whose consensus these change; oldest first, each once.

    Safe to call again after a crash: what was published stays, what was not is taken up.
    """
    now = now or timezone.now()
    newest = _newest_revision()
    waiting = _waiting()
    first = open_from(now)
    for day in waiting:
        if day < first:
            events.group(day)
    if events.reopen(waiting):
        waiting = _waiting()
    near = [day for day in waiting if day >= first - cluster.WINDOW]  # these may change unsealed ones: all of them or none
    published = []
    for days in [*([day] for day in waiting if day not in near), near]:
        for day in days:
            progress(day)
        for snapshot in _publish_grouped(days, now, newest, unsealed=days is near) if days else ():
            del snapshot.packed  # read again if anybody asks: the bytes of a thousand days are no small thing
            published.append(snapshot)
    return published


def _publish_grouped(days: Collection[dt.date], now: dt.datetime, newest: int, *, unsealed: bool) -> list[Snapshot]:
    """`republish` for days whose events are settled already, unless another writer brought a revision since the `newest`."""
    with transaction.atomic():
        WireState.lock()
        if unsealed or _newest_revision() != newest:
            return republish(days, now=now, unsealed=unsealed)
        snapshots = (_publish(day, now.replace(microsecond=0), "") for day in days)
        return [snapshot for snapshot in snapshots if snapshot]


def _newest_revision() -> int:
    return StoryRevision.objects.aggregate(newest=Max("pk"))["newest"] or 0


def publish(day: dt.date, *, now: dt.datetime | None = None) -> Snapshot | None:
    """Publish one UTC day: a new snapshot if anything but `revision` and `previous_sha256` changed, else None.

    An unsealed day is published with all that are unsealed, for what happened to one may bear on the others. All of it or
    nothing, in one transaction; publishers at once take turns. Raises: RosterLocked when the roster is broken.
    """
    now = now or timezone.now()
    snapshots = republish([day], now=now, unsealed=not is_sealed(day, now))
    return next((snapshot for snapshot in snapshots if snapshot.wire_date == day), None)


def republish(days: Collection[dt.date], *, now: dt.datetime, unsealed: bool, reason: str = "") -> list[Snapshot]:
    """Publish the sealed ones of these days, if asked to every day that is `unsealed`, and the days of other stories whose event
    that changes; oldest first, in one transaction. `reason`: why sealed days are published again, as an editor gave it.
    """
    now, first = now.replace(microsecond=0), open_from(now)
    with transaction.atomic():
        WireState.lock()
        chosen = _grouped({day for day in days if day < first}, first if unsealed else None)
        snapshots = (_publish(day, now, reason) for day in sorted(chosen))
        return [snapshot for snapshot in snapshots if snapshot]


def _waiting() -> list[dt.date]:
    return list(Story.objects.pending().values_list("wire_date", flat=True).distinct().order_by("wire_date"))


def _grouped(days: set[dt.date], regroup_from: dt.date | None) -> set[dt.date]:
    """Group the stories of these days; if a day to regroup from is given, regroup from there on. Returns all these days and those
    that hold other stories of the same events.
    """
    for day in sorted(days):
        events.group(day)
    touched: set[dt.date] = set()
    if regroup_from:
        touched = events.regroup(regroup_from)
        days = days | set(Story.objects.filter(wire_date__gte=regroup_from).values_list("wire_date", flat=True))
    touched |= events.reopen(days)
    return days | _grouped(touched - days, None) if touched - days else days


def _publish(day: dt.date, now: dt.datetime, why: str) -> Snapshot | None:
    previous = Snapshot.objects.filter(wire_date=day).order_by("-revision").first()
    members = _members(day)
    pending = [member for member in members if member.story.pending]
    sealed = is_sealed(day, now) and previous is not None
    if not members or (sealed and not pending):
        return None
    if problem := roster.problem():
        raise RosterLocked(problem, "Nothing was published. Run manage.py check --database default.")
    old = previous.manifest if previous else None
    live = [member for member in members if member.revision.status != Status.WITHDRAWN]
    before, again = _published(old), {member.story.chatbotnews_id for member in pending}
    frozen = {story: value for story, value in before.items() if story not in again} if sealed else {}
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
    if _is_news(old, new, sealed=sealed):
        snapshot = _append(new, last, now, _reason(pending, before, derived, why) if sealed else "")
        sign_checkpoint(log_of_snapshots.append(snapshot))
    if snapshot or pending:
        told = _make_current(members, derived)
        told += changes.of_events({story: one.event_id for story, one in before.items()}, _events(derived))
        if snapshot:
            told.append(changes.What(ChangeKind.DAY_PUBLISHED, str(day), snapshot.revision))
        changes.record(told, now)
        WireState.raise_version()
    return snapshot


def _events(derived: Mapping[str, Derived]) -> dict[str, str]:
    return {story: one.event_id for story, one in derived.items()}


def _is_news(old: Mapping[str, Any] | None, new: Mapping[str, Any], *, sealed: bool) -> bool:
    """Of a sealed day its stories alone: a roster or a day before that changed since is no reason to publish it again."""
    if old is None or sealed:
        return bool(new["stories"] != (old["stories"] if old else []))
    return not provenance.same_publication(old, new)


def _members(day: dt.date) -> list[Member]:
    """The day's stories with their newest revision, in list order."""
    stories = list(Story.objects.on(day).select_related("current"))
    pending = [story.pk for story in stories if story.pending]
    newest = {r.story_id: r for r in StoryRevision.objects.filter(story__in=pending).order_by("revision")}
    members = [Member(story, newest.get(story.pk) or story.current) for story in stories]  # type: ignore[arg-type]
    return sorted(members, key=lambda m: (-m.revision.published_at.timestamp(), m.story.chatbotnews_id))


def _published(manifest: Mapping[str, Any] | None) -> dict[str, Derived]:
    rows = manifest["stories"] if manifest else ()
    return {row["chatbotnews_id"]: _derived(row) for row in rows}


def _derived(row: Mapping[str, Any]) -> Derived:
    return Derived(row["event_id"], row["consensus_score"], row["cross_source_count"])


def _derive(live: Sequence[Member], frozen: Mapping[str, Derived]) -> dict[str, Derived]:
    """Event and consensus of each story, by id; what is frozen stays."""
    open_ = {member.story.chatbotnews_id: str(member.story.event_id) for member in live}
    open_ = {story_id: event_id for story_id, event_id in open_.items() if story_id not in frozen}
    derived = dict(frozen)
    for event_id, reports in _reports(set(open_.values())).items():
        for story_id, (score, count) in figures(reports, open_.keys()).items():
            derived[story_id] = Derived(event_id, score, count)
    return derived


def _reports(events: Iterable[str]) -> dict[str, list[Report]]:
    """Every story of the events that is not withdrawn, in its newest revision, by event."""
    columns = ("original_publisher", "original_publisher_tier", "published_at", "headline", "summary_medium", "author")
    revisions = StoryRevision.objects.filter(story__event__in=list(events)).order_by("story", "revision")
    rows: Any = revisions.values_list("story__chatbotnews_id", *columns, "story__event_id", "status")
    newest = {row[0]: row for row in rows}  # newer revisions replace older ones
    found: dict[str, list[Report]] = defaultdict(list)
    houses = Houses.load()
    for *content, event_id, status in newest.values():
        if status != Status.WITHDRAWN:
            report = Report(*content)
            found[event_id].append(replace(report, house=houses.of(report.publisher, report.published_at)))
    return found


def _take(day: dt.date, live: Sequence[Member], derived: Mapping[str, Derived], sealed: Mapping[str, Any] | None) -> str:
    """An editor's own, or else what the rules write. `sealed`: what a sealed day said; no text by hand comes to it or leaves it,
    for the reason it is published again for is another's."""
    if sealed and editors_take.is_by_hand(sealed["editor_take"]):
        return str(sealed["editor_take"])
    written = None if sealed else EditorTake.objects.filter(wire_date=day).first()
    if written:
        return editors_take.by_hand(day, written.markdown)
    previous = Snapshot.objects.filter(wire_date__lt=day).order_by("-wire_date", "-revision").first()
    return editors_take.write(day, _briefs(live, derived), _before(previous))


def _before(snapshot: Snapshot | None) -> editors_take.Before | None:
    """The day before as its latest snapshot has it."""
    if snapshot is None:
        return None
    derived = _published(snapshot.manifest)
    named = {(row["chatbotnews_id"], row["revision"]) for row in snapshot.manifest["stories"]}
    rows = StoryRevision.objects.filter(story__chatbotnews_id__in=derived).select_related("story")
    members = [Member(row.story, row) for row in rows if (row.story.chatbotnews_id, row.revision) in named]
    return editors_take.Before(snapshot.wire_date, editors_take.lead_of(snapshot.wire_date, _briefs(members, derived)))


def _briefs(members: Sequence[Member], derived: Mapping[str, Derived]) -> list[editors_take.Brief]:
    """What the brief knows of each story: some of it is about all reports of its event, of whichever day."""
    events = {derived[member.story.chatbotnews_id].event_id for member in members}
    began, makers = dict[str, dt.datetime](), dict[str, int]()
    for event_id, reports in _reports(events).items():
        began[event_id] = min(report.published_at for report in reports)
        best = min(reports, key=lambda report: (report.tier == Tier.CORPORATE, report.tier, report.published_at))
        siblings = weigh(best, reports).siblings if len(reports) > 1 else ()
        voices = [best, *(sibling.report for sibling in siblings if sibling.independent)]
        makers[event_id] = sum(voice.tier == Tier.CORPORATE for voice in voices)
    return [_brief(member, derived[member.story.chatbotnews_id], began, makers) for member in members]


def _brief(member: Member, derived: Derived, began: Mapping[str, dt.datetime], makers: Mapping[str, int]) -> editors_take.Brief:
    story, revision, event_id = member.story, member.revision, derived.event_id
    return editors_take.Brief(
        chatbotnews_id=story.chatbotnews_id,
        event_id=event_id,
        headline=revision.headline,
        summarized=says_more(story, revision),
        publisher=revision.original_publisher,
        tier=revision.original_publisher_tier,
        category=revision.category,
        has_topics=bool(revision.topics),
        consensus_score=derived.consensus_score,
        cross_source_count=derived.cross_source_count,
        published_at=revision.published_at,
        began=began.get(event_id, revision.published_at),
        makers=min(makers.get(event_id, 0), derived.cross_source_count),
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


def _reason(pending: Sequence[Member], before: Mapping[str, Derived], derived: Mapping[str, Derived], why: str) -> str:
    """Why a sealed day is published again: what editors said, how many stories came late, how many follow one of their event."""
    new = [member for member in pending if member.story.current_id != member.revision.pk]
    reasons = dict.fromkeys(filter(None, [why, *(member.revision.reason for member in new)]))
    late = sum(1 for member in new if member.story.current_id is None)
    revised = sum(1 for member in new if member.story.current_id is not None and not member.revision.reason)
    others = {member.story.chatbotnews_id for member in pending} - {member.story.chatbotnews_id for member in new}
    touched = sum(1 for story in others if before.get(story) != derived.get(story))
    numbers = (late, "late"), (revised, "revised by the publisher"), (touched, "whose event changed")
    return "; ".join([*reasons, *(f"{number} {what}" for number, what in numbers if number)])[:500]


def _make_current(members: Sequence[Member], derived: Mapping[str, Derived]) -> list[changes.What]:
    """Let every surface see the day as its snapshot has it. What changed for readers."""
    changed, told = [], list[changes.What]()
    for member in members:
        story, revision = member.story, member.revision
        new = derived.get(story.chatbotnews_id, Derived(str(story.event_id), 0.0, 1))
        before = (story.current_id, story.event_id, story.consensus_score, story.cross_source_count, story.pending)
        story.current = revision
        story.status, story.category = revision.status, revision.category
        story.event_id = new.event_id
        story.consensus_score, story.cross_source_count = new.consensus_score, new.cross_source_count
        story.pending = False
        if before != (story.current_id, story.event_id, story.consensus_score, story.cross_source_count, False):
            is_new, is_new_text = before[0] is None, before[0] != story.current_id
            changed.append((member, is_new_text))
            shown = str(story.status), revision.revision, story.chatbotnews_id, str(story.event_id)
            told.append(changes.of_story(*shown, is_new=is_new, is_new_text=is_new_text))
    fields = ["current", "status", "category", "event", "consensus_score", "cross_source_count", "pending"]
    Story.objects.all().write([member.story for member, _ in changed], fields)
    index([(member.story, member.revision) for member, is_new_text in changed if is_new_text])
    story_json.store([(member.story, member.revision) for member, _ in changed])
    return told
