"""Snapshots: today, the archive, provenance, the editor's take."""

import datetime as dt
from typing import Any, Final

import orjson
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from config.errors import NotFound, NothingPublished
from sources.queries import EXTENSION_POLICY
from sources.vocabulary import ROSTER_SIZE
from wire.answers import StoriesAnswer
from wire.bounds import LIST_LIMIT
from wire.models import SigningKey, Snapshot, Story, StoryRevision, WireState
from wire.models.compiled import Compiled
from wire.models.record import is_sealed, newest_of_day
from wire.schemas import (
    ArchiveDay,
    ArchiveOut,
    DayOut,
    DayStoriesOut,
    EditorTakeOut,
    FplAnchor,
    KeyOut,
    KeysOut,
    Meta,
    Provenance,
    ProvenanceOut,
    Publisher,
    Signature,
    SourceIntegrity,
    StoryRef,
    TakeDetail,
    estimated_tokens,
)
from wire.search.cursor import decode, encode, invalid
from wire.search.total import counted
from wire.snapshots import editors_take
from wire.snapshots.story_json import COLUMNS, Stored, revision_out, unpacked
from wire.stories.provenance import fpl_anchor
from wire.stories.vocabulary import Category

API_VERSION = "1.0"
LICENSE = "CC-BY-4.0"
LICENSE_URL = "https://creativecommons.org/licenses/by/4.0/"
THIRD_PARTY = (
    "Headlines, summaries and articles are the publishers' and stay under their copyright; the wire shows metadata and short "
    "summaries only. The wire's own editorial output is CC BY 4.0."
)


_DAYS_COUNT: Final = Compiled(lambda most: Snapshot.objects.days().order_by().values_list("pk")[:most])
_DAY: Final = Compiled(lambda day: Story.objects.published().on(day).order_by().values_list(*COLUMNS))


def get_today(now: dt.datetime | None = None) -> StoriesAnswer[DayOut]:
    """The latest published day; `is_stale` when it is not the current UTC date. Raises: NothingPublished."""
    snapshot = latest_snapshot(now)
    return _day(snapshot, endpoint=f"{settings.WIRE_SITE_URL}/api/today.json", is_stale=is_stale(snapshot, now))


def get_todays_category(category: Category, now: dt.datetime | None = None) -> StoriesAnswer[DayStoriesOut]:
    """The stories of one category in the latest published day, all of them, in list order. Raises: NothingPublished."""
    snapshot = latest_snapshot(now)
    return _listed(snapshot, category, is_stale=is_stale(snapshot, now))


def list_day(day: dt.date | None = None, now: dt.datetime | None = None) -> StoriesAnswer[DayStoriesOut]:
    """The stories of a day (default: the latest published), all of them, in list order. Raises: NotFound, NothingPublished."""
    snapshot = snapshot_of(day) if day else latest_snapshot(now)
    return _listed(snapshot, None, is_stale=day is None and is_stale(snapshot, now))


def _listed(snapshot: Snapshot, category: Category | None, *, is_stale: bool) -> StoriesAnswer[DayStoriesOut]:
    whole = _stories(snapshot.wire_date, snapshot.manifest)
    stories = [story for story in whole if category is None or orjson.loads(story)["category"] == category]
    head = DayStoriesOut.model_construct(
        wire_date=snapshot.wire_date,
        is_stale=is_stale,
        stories=[],
        next_cursor=None,
        total=len(stories),
        total_is_exact=True,
        est_tokens=estimated_tokens(stories),
    )
    return StoriesAnswer(head, stories)


def todays_stories(now: dt.datetime | None = None) -> list[StoryRef]:
    """Who published what in the latest published day, in list order; nothing when nothing is published."""
    try:
        snapshot = latest_snapshot(now)
    except NothingPublished:
        return []
    rows = (
        Story.objects.live()
        .on(snapshot.wire_date)
        .newest_first()
        .values_list("chatbotnews_id", "publication__name", "wire_date", "current__headline", "current__untrusted_instructions")
    )
    return [
        StoryRef(chatbotnews_id=story_id, original_publisher=name, wire_date=day, headline=None if is_flagged else headline)
        for story_id, name, day, headline, is_flagged in rows
    ]


def published_dates(now: dt.datetime | None = None) -> list[str]:
    """Every published day up to now, newest first, as YYYY-MM-DD."""
    today = (now or timezone.now()).astimezone(dt.UTC).date()
    days = Snapshot.objects.filter(wire_date__lte=today, revision=1).order_by("-wire_date").values_list("wire_date", flat=True)
    return [day.isoformat() for day in days]


def get_archive(day: dt.date, revision: int | None = None) -> StoriesAnswer[DayOut]:
    """One published day, in its latest revision or the one asked for, which never changes. Raises: NotFound."""
    snapshot = snapshot_of(day, revision)
    return _day(snapshot, endpoint=archive_url(day, revision), is_stale=False)


def list_days(limit: int = LIST_LIMIT, cursor: str | None = None) -> ArchiveOut:
    """Published days, newest first. Raises: InvalidArgument for a strange cursor."""
    rows = Snapshot.objects.days().order_by("-wire_date")
    total, is_exact = counted(_DAYS_COUNT)
    if cursor is not None:
        rows = rows.filter(wire_date__lt=_date_of(decode(cursor, {"days": 1})[1][0]))
    found = _newest(rows[: limit + 1])
    days = [
        ArchiveDay(
            wire_date=s.wire_date,
            url=archive_url(s.wire_date),
            stories=s.story_count,
            revision=s.revision,
            wire_sha256=s.wire_sha256,
        )
        for s in found[:limit]
    ]
    more = len(found) > limit
    last = encode("days", days[-1].wire_date.isoformat()) if more else None
    return ArchiveOut(dates=days, next_cursor=last, total=total, total_is_exact=is_exact)


def get_provenance(day: dt.date | None = None, now: dt.datetime | None = None, revision: int | None = None) -> ProvenanceOut:
    """Hashes, link, anchor and signature of a day (default: the latest), in its latest revision or the one asked for, and the
    manifest they are of. Raises: NotFound.
    """
    snapshot = snapshot_of(day, revision) if day else latest_snapshot(now)
    return ProvenanceOut(
        **_provenance(snapshot).model_dump(),
        wire_date=snapshot.wire_date,
        generated_at=snapshot.generated_at,
        sealed=is_sealed(snapshot.wire_date, now or timezone.now()),
        reason=snapshot.reason,
        roster_sha256=snapshot.roster_sha256,
        story_count=snapshot.story_count,
        manifest=snapshot.manifest,
    )


def get_editor_take(day: dt.date | None = None, now: dt.datetime | None = None) -> EditorTakeOut:
    """The brief of a day (default: the latest). Raises: NotFound, NothingPublished."""
    return _take(snapshot_of(day) if day else latest_snapshot(now))


def latest_takes(limit: int) -> list[tuple[EditorTakeOut, dt.datetime]]:
    """The briefs of the newest days and when each was published, newest day first."""
    rows = Snapshot.objects.days().order_by("-wire_date")[:limit]
    return [(_take(snapshot), snapshot.generated_at) for snapshot in _newest(rows, "packed")]


def wire_keys() -> KeysOut:
    """Every public key that ever signed, oldest first."""
    fields = ("key_id", "public_key", "created_at", "retired_at")
    return KeysOut(keys=[KeyOut(algorithm=SigningKey.ALGORITHM, **row) for row in SigningKey.objects.values(*fields)])


def wire_version() -> int:
    """A counter that every public change raises."""
    return WireState.objects.values_list("version", flat=True).get(pk=1)


def is_sample() -> bool:
    """Whether the sample wire is served: fictional stories, never to be cited as news."""
    return WireState.objects.filter(is_sample=True).exists()


def latest_snapshot(now: dt.datetime | None = None) -> Snapshot:
    """Raises: NothingPublished."""
    today = (now or timezone.now()).astimezone(dt.UTC).date()
    snapshot = Snapshot.objects.filter(wire_date__lte=today).order_by("-wire_date", "-revision").first()
    if snapshot is None:
        raise NothingPublished("The wire has published nothing yet.", "Load an archive with manage.py loadwire, then ask again.")
    return snapshot


def snapshot_of(day: dt.date, revision: int | None = None) -> Snapshot:
    """Raises: NotFound, naming the nearest day there is."""
    rows = Snapshot.objects.filter(wire_date=day).order_by("-revision")
    snapshot = (rows if revision is None else rows.filter(revision=revision)).first()
    if snapshot is not None:
        return snapshot
    newest = rows.first()
    if newest is not None:
        raise NotFound(f"{day} has no revision {revision}.", f"Its revisions are 1 to {newest.revision}.")
    before = Snapshot.objects.filter(wire_date__lt=day).order_by("-wire_date").values_list("wire_date", flat=True).first()
    after = Snapshot.objects.filter(wire_date__gt=day).order_by("wire_date").values_list("wire_date", flat=True).first()
    near = min((found for found in (before, after) if found), key=lambda found: abs(found - day), default=None)
    hint = f"The nearest published day is {near}. " if near else ""
    raise NotFound(f"Nothing was published for {day}.", f"{hint}All days are listed at /api/archive.json.")


def _newest(days: QuerySet[Snapshot], *more: str) -> list[Snapshot]:
    """The newest snapshots of days, newest day first; without their bytes unless asked for."""
    fields = ("wire_date", "revision", "wire_sha256", "generated_at", "story_count", *more)
    newest = days.annotate(newest=newest_of_day()).values_list("newest", flat=True)
    found = Snapshot.objects.only(*fields).in_bulk(list(newest))
    return sorted(found.values(), key=lambda snapshot: snapshot.wire_date, reverse=True)


def archive_url(day: dt.date, revision: int | None = None) -> str:
    return f"{settings.WIRE_SITE_URL}/api/archive/{day}.json" + (f"?revision={revision}" if revision else "")


def is_stale(snapshot: Snapshot, now: dt.datetime | None) -> bool:
    """Whether the latest published day is another than the current one."""
    return snapshot.wire_date != (now or timezone.now()).astimezone(dt.UTC).date()


def _day(snapshot: Snapshot, *, endpoint: str, is_stale: bool) -> StoriesAnswer[DayOut]:
    manifest = snapshot.manifest
    markdown = manifest["editor_take"]
    head = DayOut.model_construct(
        schema_=f"{settings.WIRE_SITE_URL}/api/today.schema.json",
        meta=_meta(endpoint),
        wire_date=snapshot.wire_date,
        is_stale=is_stale,
        generated_at=snapshot.generated_at,
        source_integrity=SourceIntegrity(
            total_authorized_sources=ROSTER_SIZE,
            extension_policy=EXTENSION_POLICY,
            verification_reference=f"{settings.WIRE_SITE_URL}/api/sources.json",
            roster_sha256=snapshot.roster_sha256,
        ),
        editor_take=markdown,
        editor_take_detail=_take_detail(snapshot.wire_date, markdown),
        stories=[],
        provenance=_provenance(snapshot),
    )
    return StoriesAnswer(head, _stories(snapshot.wire_date, manifest))


def stories_of(snapshot: Snapshot) -> list[bytes]:
    """The stories of a snapshot as JSON, in list order."""
    return _stories(snapshot.wire_date, snapshot.manifest)


def _stories(day: dt.date, manifest: dict[str, Any]) -> list[bytes]:
    """The manifest's stories as JSON, in its order, each in the revision that it names and with its event and consensus of then."""
    kept = {row[1]: Stored(*row) for row in _DAY.rows(day)}
    found = {id_: json for id_, stored in kept.items() if (json := unpacked(stored)) is not None}
    lines = manifest["stories"]
    old = [line for line in lines if not (line["chatbotnews_id"] in found and _is_now(line, kept[line["chatbotnews_id"]]))]
    if old:
        revisions = StoryRevision.objects.filter(story__wire_date=day).select_related("story")
        by_revision = {(row.story.chatbotnews_id, row.revision): row for row in revisions}
        for line in old:
            row = by_revision[line["chatbotnews_id"], line["revision"]]
            derived = line["event_id"], line["consensus_score"], line["cross_source_count"]
            found[line["chatbotnews_id"]] = revision_out(row.story, row, *derived).model_dump_json(by_alias=True).encode()
    return [found[line["chatbotnews_id"]] for line in lines]


def _is_now(line: dict[str, Any], stored: Stored) -> bool:
    """Whether the story still is as the manifest has it."""
    now = stored.revision, stored.event_id, stored.consensus_score, stored.cross_source_count
    return now == (line["revision"], line["event_id"], line["consensus_score"], line["cross_source_count"])


def _meta(endpoint: str) -> Meta:
    return Meta(
        endpoint=endpoint,
        description="One day of AI-industry news from exactly 24 publications, each story with ready-made citations.",
        version=API_VERSION,
        license=LICENSE,
        license_url=LICENSE_URL,
        third_party=THIRD_PARTY,
        attribution_required=True,
        publisher=Publisher(name="ChatbotNews.ai", url=settings.WIRE_SITE_URL),
        recommendedCitationFormat="layered",
        sample=is_sample(),
    )


def _take(snapshot: Snapshot) -> EditorTakeOut:
    markdown = snapshot.manifest["editor_take"]
    detail = _take_detail(snapshot.wire_date, markdown)
    return EditorTakeOut(date=snapshot.wire_date, markdown=markdown, wire_sha256=snapshot.wire_sha256, **detail.model_dump())


def _take_detail(day: dt.date, markdown: str) -> TakeDetail:
    detail = editors_take.detail(markdown)
    url = f"{settings.WIRE_SITE_URL}/editor-take/{day}"
    return TakeDetail(
        title=detail.title,
        url=url,
        summary_short=detail.summary,
        citation_ready=f"According to the ChatbotNews.ai Editor's Take of {day}, {detail.summary.rstrip('.')}. Source: {url}",
    )


def _provenance(snapshot: Snapshot) -> Provenance:
    uri = archive_url(snapshot.wire_date, snapshot.revision)
    return Provenance(
        wire_sha256=snapshot.wire_sha256,
        previous_sha256=snapshot.previous_sha256,
        sequence=snapshot.sequence,
        revision=snapshot.revision,
        fpl_anchor=FplAnchor(**fpl_anchor(uri, snapshot.wire_sha256, snapshot.generated_at)),
        signature=Signature(algorithm=SigningKey.ALGORITHM, key_id=snapshot.key_id, value=snapshot.signature),
    )


def _date_of(value: Any) -> dt.date:
    try:
        return dt.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise invalid() from None
