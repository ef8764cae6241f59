"""Publish days: group stories, weigh consensus, write the take, then hash, sign and chain the snapshot."""

import datetime as dt
import logging
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from citations.format.formats import CitationFormat, cite_story
from config.errors import RosterLocked
from sources import picture_store, roster
from sources.choices import Tier
from sources.roster import Houses
from wire.models import EditorTake, Snapshot, Story, StoryRevision, WireState
from wire.models.snapshot import find_first_open_day, is_sealed
from wire.publishing import changelog, editors_take, story_json
from wire.publishing.consensus import Report, add_context, build_report, find_first_report, score_reports, weigh_consensus
from wire.publishing.entity_links import propose_new_names
from wire.publishing.grouping import event_store
from wire.publishing.grouping.candidates import WINDOW
from wire.publishing.indexing import index_stories
from wire.publishing.signing import sign_checkpoint, sign_hash
from wire.publishing.story_json import Derived, to_citable
from wire.publishing.transparency import log as log_of_snapshots
from wire.search.vectors import fill
from wire.text import provenance_manifest
from wire.text.choices import ChangeKind, Status

log = logging.getLogger(__name__)

VECTORS_TIME: Final = 6.0  # seconds, newest first; a hundred stories on a usual machine
VECTORS_TIME_LOCKED: Final = 0.5
LONGEST_LOCK_WAIT: Final = dt.timedelta(minutes=2)  # of a publisher for another, since it looked at the clock


Leads = dict[str, str | None]  # the event that leads a day, by the hash of the day's snapshot
Reports = dict[str, list[Report]]  # by event


class DayStory(NamedTuple):
    story: Story
    revision: StoryRevision


def publish_pending(now: dt.datetime | None = None, progress: Callable[[dt.date], None] = lambda _day: None) -> list[Snapshot]:
    """Publish every day that has unpublished revisions, or whose consensus these change; oldest first. Safe to call again."""
    now = now or timezone.now()
    fill(VECTORS_TIME, only_pending=True)  # not under the lock: they take long; what is left is grouped by words alone
    newest = _read_newest_revision()
    waiting = _list_waiting_days()
    first = find_first_open_day(now)
    # An archive's days are linked a week at once: each time the stories of two months are read.
    for _number, of_week in groupby((day for day in waiting if day < first), lambda day: day.isocalendar()[:2]):
        week = list(of_week)
        with transaction.atomic():  # all or nothing: a run that goes on after a kill must not link a week a second time
            is_new = [event_store.group_day(day) for day in week]
            if any(is_new):
                _link_storylines(week)
    if event_store.reopen_events(waiting):
        waiting = _list_waiting_days()
    near = [day for day in waiting if day >= first - WINDOW]  # these may change unsealed ones: all of them or none
    published, leads = [], Leads()
    for days in [*([day] for day in waiting if day not in near), *([near] if near else [])]:
        for day in days:
            progress(day)
        with transaction.atomic():
            WireState.lock()
            if days is near or _read_newest_revision() != newest:
                snapshots = republish_days(days, now=now, unsealed=days is near)
            else:  # the events of a sealed day are settled already, unless another writer brought a revision meanwhile
                snapshots = [snapshot for day in days if (snapshot := _publish_day(day, now.replace(microsecond=0), "", leads))]
        for snapshot in snapshots:
            del snapshot.packed  # read again if anybody asks: the bytes of a thousand days are no small thing
            published.append(snapshot)
    if published:
        try:
            propose_new_names()
        except Exception:
            log.exception("Proposing new names failed; the days are published all the same.")
    return published


def _read_newest_revision() -> int:
    return StoryRevision.objects.aggregate(newest=Max("pk"))["newest"] or 0


def _list_waiting_days() -> list[dt.date]:
    return list(Story.objects.pending().values_list("wire_date", flat=True).distinct().order_by("wire_date"))


def publish_day(day: dt.date, *, now: dt.datetime | None = None) -> Snapshot | None:
    """Publish one UTC day with all unsealed ones; return its new snapshot if anything changed. Raises: RosterLocked."""
    now = now or timezone.now()
    snapshots = republish_days([day], now=now, unsealed=not is_sealed(day, now))
    return next((snapshot for snapshot in snapshots if snapshot.wire_date == day), None)


def republish_days(days: Collection[dt.date], *, now: dt.datetime, unsealed: bool, reason: str = "") -> list[Snapshot]:
    """Publish the sealed ones of these days, with `unsealed` every day that is not sealed, and the days of other stories whose
    event that changes; oldest first, in one transaction. `reason`: why sealed days are published again, as an editor gave it.
    """
    now, first = now.replace(microsecond=0), find_first_open_day(now)
    with transaction.atomic():
        WireState.lock()
        chosen = _group_days({day for day in days if day < first}, first if unsealed else None)
        _link_storylines([day for day in chosen if day >= first])
        leads = Leads()
        snapshots = (_publish_day(day, now, reason, leads) for day in sorted(chosen))
        return [snapshot for snapshot in snapshots if snapshot]


@transaction.atomic
def _link_storylines(days: Collection[dt.date]) -> None:
    WireState.lock()
    if days and event_store.link_storylines(days):
        WireState.raise_version()


def _group_days(days: set[dt.date], regroup_from: dt.date | None) -> set[dt.date]:
    """Group the stories of these days, regroup those from a day on; return these days and those that share events with them."""
    fill(VECTORS_TIME_LOCKED, only_pending=True)  # of an editor's own change, or what came since
    for day in sorted(days):
        event_store.group_day(day)
    touched: set[dt.date] = set()
    if regroup_from:
        touched = event_store.regroup_days(regroup_from)
        days = days | set(Story.objects.filter(wire_date__gte=regroup_from).values_list("wire_date", flat=True))
    touched |= event_store.reopen_events(days)
    return days | _group_days(touched - days, None) if touched - days else days


def _publish_day(day: dt.date, now: dt.datetime, why: str, leads: Leads) -> Snapshot | None:
    previous = Snapshot.objects.filter(wire_date=day).order_by("-revision").first()
    stories = _read_day_stories(day)
    pending = [row for row in stories if row.story.pending]
    sealed = is_sealed(day, now) and previous is not None
    if not stories or (sealed and not pending):
        return None
    if problem := roster.find_problem():
        raise RosterLocked(problem, "Nothing was published. Run manage.py check --database default.")
    old = previous.manifest if previous else None
    live = [row for row in stories if row.revision.status != Status.WITHDRAWN]
    before, again = _read_derived(old), {row.story.chatbotnews_id for row in pending}
    frozen = {story_id: value for story_id, value in before.items() if story_id not in again} if sealed else {}
    open_ = {story.chatbotnews_id: str(story.event_id) for story, _ in live if story.chatbotnews_id not in frozen}
    reports = _read_reports({*open_.values(), *(value.event_id for value in frozen.values())})
    derived = dict(frozen)
    for event_id, of_event in reports.items():
        derived |= {story_id: Derived(event_id, *found) for story_id, found in score_reports(of_event, open_.keys()).items()}
    briefs = list(_brief_stories(live, derived, reports))
    last = Snapshot.objects.order_by("-sequence").first()
    new = provenance_manifest.build_manifest(
        wire_date=day,
        revision=previous.revision + 1 if previous else 1,
        previous_sha256=last.wire_sha256 if last else None,
        roster_sha256=roster.get_current_roster().fingerprint,
        editor_take=_write_take(day, briefs, leads, old if sealed else None),
        stories=[
            provenance_manifest.build_manifest_story(
                story.chatbotnews_id, revision.revision, revision.story_sha256, *derived[story.chatbotnews_id]
            )
            for story, revision in live
        ],
    )
    if old is None or sealed:  # a roster or a day before that changed since is no reason to publish a sealed day again
        is_changed = new["stories"] != (old["stories"] if old else [])
    else:
        is_changed = not provenance_manifest.has_same_content(old, new)
    snapshot = None
    if is_changed:
        snapshot = _append_snapshot(new, last, now, _explain_revision(pending, before, derived, why) if sealed else "")
        sign_checkpoint(log_of_snapshots.append_snapshot(snapshot))
        leads[snapshot.wire_sha256] = editors_take.find_lead_event(day, briefs)
    if snapshot or pending:
        changes = _apply_snapshot(stories, derived)
        changes += changelog.diff_events(
            *({story_id: row.event_id for story_id, row in rows.items()} for rows in (before, derived))
        )
        if snapshot:
            changes.append(changelog.ChangeDraft(ChangeKind.DAY_PUBLISHED, str(day), snapshot.revision))
        changelog.record_changes(changes, now)
        WireState.raise_version()
    return snapshot


def _read_day_stories(day: dt.date) -> list[DayStory]:
    """Return the day's stories with their newest revision, in list order."""
    stories = list(Story.objects.on(day).select_related("current"))
    pending = [story.pk for story in stories if story.pending]
    newest = {r.story_id: r for r in StoryRevision.objects.filter(story__in=pending).order_by("revision")}
    rows = [DayStory(story, newest.get(story.pk) or story.current) for story in stories]  # type: ignore[arg-type]
    return sorted(rows, key=lambda row: (-row.revision.published_at.timestamp(), row.story.chatbotnews_id))


def _read_derived(manifest: Mapping[str, Any] | None) -> dict[str, Derived]:
    return {line["chatbotnews_id"]: Derived.from_manifest(line) for line in (manifest["stories"] if manifest else ())}


def _read_reports(event_ids: Collection[str]) -> Reports:
    """Return the stories of each event in their newest revision, without withdrawn ones."""
    columns = ("original_publisher", "original_publisher_tier", "published_at", "headline", "summary_medium", "author")
    revisions = StoryRevision.objects.filter(story__event__in=list(event_ids)).order_by("story", "revision")
    rows: Any = revisions.values_list("story__chatbotnews_id", *columns, "story__original_url", "story__event_id", "status")
    newest = {row[0]: row for row in rows}  # newer revisions replace older ones
    found: dict[str, list[Report]] = defaultdict(list)
    houses = Houses.load()
    for *content, url, event_id, status in newest.values():
        if status != Status.WITHDRAWN:
            found[event_id].append(add_context(Report(*content), url, houses))
    return found


def _write_take(day: dt.date, briefs: Sequence[editors_take.Brief], leads: Leads, sealed: Mapping[str, Any] | None) -> str:
    """Return an editor's own take, or the generated one. A sealed day (`sealed`: its manifest) keeps a take by hand."""
    if sealed and editors_take.BY_HAND in sealed["editor_take"]:
        return str(sealed["editor_take"])
    written = None if sealed else EditorTake.objects.filter(wire_date=day).first()
    if written:
        return editors_take.label_own_take(day, written.markdown)
    before, snapshot = None, Snapshot.objects.filter(wire_date__lt=day).order_by("-wire_date", "-revision").first()
    if snapshot:
        if snapshot.wire_sha256 not in leads:
            derived = _read_derived(snapshot.manifest)
            named = {(row["chatbotnews_id"], row["revision"]) for row in snapshot.manifest["stories"]}
            revisions = StoryRevision.objects.filter(story__chatbotnews_id__in=derived).select_related("story")
            rows = [DayStory(row.story, row) for row in revisions if (row.story.chatbotnews_id, row.revision) in named]
            all_reports = _read_reports({value.event_id for value in derived.values()})
            briefs_before = list(_brief_stories(rows, derived, all_reports))
            leads[snapshot.wire_sha256] = editors_take.find_lead_event(snapshot.wire_date, briefs_before)
        before = editors_take.Before(snapshot.wire_date, leads[snapshot.wire_sha256])
    return editors_take.write_take_of_day(day, briefs, before)


def _brief_stories(rows: Sequence[DayStory], derived: Mapping[str, Derived], all_reports: Reports) -> Iterator[editors_take.Brief]:
    """Yield the briefs of a day's stories; `began`, `makers` and the newsrooms are of all reports of their event."""
    began, makers, newsrooms = dict[str, dt.datetime](), dict[str, list[str]](), dict[str, list[str]]()
    for event_id, reports in all_reports.items():
        began[event_id] = find_first_report(reports).published_at
        best = min(reports, key=lambda one: (not one.is_news, one.tier == Tier.CORPORATE, one.tier, one.published_at))
        voices = [best, *(sibling.report for sibling in weigh_consensus(best, reports).siblings if sibling.independent)]
        makers[event_id] = [voice.publisher for voice in voices if voice.tier == Tier.CORPORATE]
        voices.sort(key=lambda voice: voice.published_at)
        newsrooms[event_id] = [voice.publisher for voice in voices if voice.tier != Tier.CORPORATE]
    houses = Houses.load()
    reports_of_day = [build_report(story, revision, houses) for story, revision in rows]
    told = {(derived[one.chatbotnews_id].event_id, one.publisher) for one in reports_of_day if one.is_news}
    for (story, revision), report in zip(rows, reports_of_day, strict=True):
        event_id, score, count = derived[story.chatbotnews_id]
        cited, reporting = to_citable(story, revision), newsrooms.get(event_id, [])
        yield editors_take.Brief(
            **asdict(report),
            event_id=event_id,
            statement=cited.statement,
            category=revision.category,
            topics=revision.topics,
            consensus_score=score,
            cross_source_count=count,
            began=began.get(event_id, revision.published_at),
            makers=tuple(makers.get(event_id, [])[:count]),
            makers_of_day=tuple(name for name in makers.get(event_id, []) if (event_id, name) in told),
            voices=tuple(name for name in reporting if (event_id, name) in told),
            voices_of_other_days=tuple(name for name in reporting if (event_id, name) not in told),
            cite=partial(cite_story, cited, CitationFormat.LAYERED),
            permalink=cited.permalink,
            quotable=not revision.untrusted_instructions,
        )


def _append_snapshot(manifest: Mapping[str, Any], last: Snapshot | None, now: dt.datetime, reason: str) -> Snapshot:
    canonical = provenance_manifest.canonicalize_json(manifest)
    wire_sha256 = provenance_manifest.sha256(canonical)
    signature, key = sign_hash(wire_sha256)
    if last and now < last.generated_at:
        # No reason to refuse: nothing could be published for as long as a clock was ahead.
        if last.generated_at - now > LONGEST_LOCK_WAIT:
            log.warning("The clock says %s, earlier than the newest snapshot (%s): set it (NTP).", now, last.generated_at)
        else:
            now = last.generated_at
    return Snapshot.objects.create(
        sequence=last.sequence + 1 if last else 1,
        wire_date=dt.date.fromisoformat(manifest["wire_date"]),
        **{name: manifest[name] for name in ("revision", "previous_sha256", "roster_sha256")},
        wire_sha256=wire_sha256,
        generated_at=now,
        story_count=len(manifest["stories"]),
        packed=zlib.compress(canonical),
        signature=signature,
        key=key,
        reason=reason,
    )


def _explain_revision(pending: Sequence[DayStory], before: Mapping[str, Derived], derived: Mapping[str, Derived], why: str) -> str:
    """Return why a sealed day is published again: editors' reasons, then the numbers of late, revised and regrouped stories."""
    new = [row for row in pending if row.story.current_id != row.revision.pk]
    reasons = dict.fromkeys(filter(None, [why, *(row.revision.reason for row in new)]))
    late = sum(row.story.current_id is None for row in new)
    revised = sum(row.story.current_id is not None and not row.revision.reason for row in new)
    others = {row.story.chatbotnews_id for row in pending} - {row.story.chatbotnews_id for row in new}
    touched = sum(before.get(story_id) != derived.get(story_id) for story_id in others)
    numbers = (late, "late"), (revised, "revised by the publisher"), (touched, "whose event changed")
    parts = [*reasons, *(f"{number} {what}" for number, what in numbers if number)]
    return "; ".join([*(part.removesuffix(".") for part in parts[:-1]), *parts[-1:]])[:500]


def _apply_snapshot(rows: Sequence[DayStory], derived: Mapping[str, Derived]) -> list[changelog.ChangeDraft]:
    """Let every surface see the day as its snapshot has it; return what changed for readers."""
    changed, changes = [], list[changelog.ChangeDraft]()
    for story, revision in rows:
        before = (story.current_id, story.event_id, story.consensus_score, story.cross_source_count, story.pending)
        new = derived.get(story.chatbotnews_id, Derived(str(story.event_id), 0.0, 1))
        story.current = revision
        story.status, story.category, story.published_at = revision.status, revision.category, revision.published_at
        story.event_id, story.consensus_score, story.cross_source_count = new
        story.pending = False
        if before != (story.current_id, *new, False):
            is_new, is_new_text = before[0] is None, before[0] != story.current_id
            changed.append((story, revision, is_new_text))
            ids = str(story.status), revision.revision, story.chatbotnews_id, new.event_id
            changes.append(changelog.describe_story(*ids, is_new=is_new, is_new_text=is_new_text))
    fields = ["current", "status", "category", "published_at", "event", "consensus_score", "cross_source_count", "pending"]
    Story.objects.all().write([story for story, *_ in changed], fields)
    index_stories([(story, revision) for story, revision, is_new_text in changed if is_new_text])
    story_json.store_story_json([(story, revision) for story, revision, _ in changed])
    withdrawn = [story.chatbotnews_id for story, *_ in changed if story.status == Status.WITHDRAWN]
    transaction.on_commit(lambda: picture_store.delete_stories(withdrawn), robust=True)
    return changes
