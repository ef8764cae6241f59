"""Queries of snapshots: today, the archive, provenance, the editor's take."""

import datetime as dt
from typing import Any, TypeVar

import orjson
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from citations.sentence_boundaries import get_first_sentence
from config.errors import NotFound, NothingPublished
from sources.choices import ROSTER_SIZE
from sources.models import utc_today
from sources.queries import EXTENSION_POLICY
from wire.models import SigningKey, Snapshot, Story, StoryRevision, WireState
from wire.models.snapshot import is_sealed, newest_of_day
from wire.publishing import editors_take
from wire.publishing.story_json import COLUMNS, Derived, StoredStory, render_revision_json, unpack_json
from wire.schemas import build_from
from wire.schemas import story as schemas
from wire.schemas.params import LIST_LIMIT
from wire.schemas.stories_answer import StoriesAnswer
from wire.search.cursor import build_cursor_error, count_rows, decode_cursor, encode_cursor
from wire.text.choices import Category
from wire.text.provenance_manifest import build_fpl_anchor

P = TypeVar("P", bound=schemas.Provenance)

API_VERSION = "1.0"
LICENSE = "CC-BY-4.0"
LICENSE_URL = "https://creativecommons.org/licenses/by/4.0/"
THIRD_PARTY = (
    "Headlines, summaries and articles are the publishers' and stay under their copyright; the wire shows metadata and short "
    "summaries only. The wire's own editorial output is CC BY 4.0."
)


def get_today(now: dt.datetime | None = None) -> StoriesAnswer[schemas.DayOut]:
    """Return the latest published day; `is_stale` when it is not the current UTC date. Raises: NothingPublished."""
    snapshot = get_latest_snapshot(now)
    return _read_day(snapshot, endpoint=f"{settings.WIRE_SITE_URL}/api/today.json", is_stale=is_stale_day(snapshot, now))


def get_todays_category(category: Category, now: dt.datetime | None = None) -> StoriesAnswer[schemas.DayStoriesOut]:
    """Return all stories of one category in the latest published day, in list order. Raises: NothingPublished."""
    page = list_day_stories(now=now)
    stories = [story for story in page.story_json if orjson.loads(story)["category"] == category]
    page.head.total = len(stories)
    return StoriesAnswer(page.head, stories)


def list_day_stories(day: dt.date | None = None, now: dt.datetime | None = None) -> StoriesAnswer[schemas.DayStoriesOut]:
    """Return all stories of a day (default: the latest published), in list order. Raises: NotFound, NothingPublished."""
    snapshot = find_snapshot(day) if day else get_latest_snapshot(now)
    stories, stale = read_stories(snapshot), day is None and is_stale_day(snapshot, now)
    head = schemas.DayStoriesOut.model_construct(
        wire_date=snapshot.wire_date, is_stale=stale, stories=[], next_cursor=None, total=len(stories), est_tokens=0
    )
    return StoriesAnswer(head, stories)


def list_todays_stories() -> list[schemas.StoryRef]:
    """Return publisher and headline of the stories of the latest published day, in list order; [] before any."""
    try:
        snapshot = get_latest_snapshot()
    except NothingPublished:
        return []
    columns = ("chatbotnews_id", "publication__name", "wire_date", "current__headline", "current__untrusted_instructions")
    rows = Story.objects.live().on(snapshot.wire_date).newest_first().values_list(*columns)
    return [
        schemas.StoryRef(chatbotnews_id=story_id, original_publisher=name, wire_date=day, headline=None if is_flagged else headline)
        for story_id, name, day, headline, is_flagged in rows
    ]


def list_published_dates() -> list[str]:
    """Return every published day up to now, newest first, as YYYY-MM-DD."""
    days = Snapshot.objects.days().filter(wire_date__lte=utc_today()).order_by("-wire_date")
    return [day.isoformat() for day in days.values_list("wire_date", flat=True)]


def get_archived_day(day: dt.date, revision: int | None = None) -> StoriesAnswer[schemas.DayOut]:
    """Return one published day, in its latest revision or the given one. Raises: NotFound."""
    snapshot = find_snapshot(day, revision)
    return _read_day(snapshot, endpoint=archive_url(day, revision), is_stale=False)


def list_published_days(limit: int = LIST_LIMIT, cursor: str | None = None) -> schemas.ArchiveOut:
    """Return published days, newest first. Raises: InvalidArgument for a strange cursor."""
    rows = Snapshot.objects.days().order_by("-wire_date")
    total, is_exact = count_rows(Snapshot.objects.days)
    if cursor is not None:
        try:
            rows = rows.filter(wire_date__lt=dt.date.fromisoformat(decode_cursor(cursor, {"days": 1})[1][0]))
        except (TypeError, ValueError):
            raise build_cursor_error() from None
    found = _find_newest(rows[: limit + 1])
    days = [build_from(schemas.ArchiveDay, day, url=archive_url(day.wire_date), stories=day.story_count) for day in found[:limit]]
    last = encode_cursor("days", days[-1].wire_date.isoformat()) if len(found) > limit else None
    return schemas.ArchiveOut(dates=days, next_cursor=last, total=total, total_is_exact=is_exact)


def get_provenance(
    day: dt.date | None = None, now: dt.datetime | None = None, revision: int | None = None
) -> schemas.ProvenanceOut:
    """Return hashes, signature and manifest of a day (default: the latest), in its latest revision or the given one."""
    snapshot = find_snapshot(day, revision) if day else get_latest_snapshot(now)
    return _to_provenance(snapshot, schemas.ProvenanceOut, sealed=is_sealed(snapshot.wire_date, now or timezone.now()))


def get_editor_take(day: dt.date | None = None, now: dt.datetime | None = None) -> schemas.EditorTakeOut:
    """Return the brief of a day (default: the latest). Raises: NotFound, NothingPublished."""
    return _read_take(find_snapshot(day) if day else get_latest_snapshot(now))


def list_takes_of_newest_days(limit: int) -> list[tuple[schemas.EditorTakeOut, dt.datetime]]:
    """Return the briefs of the newest days and when each was published, newest day first."""
    rows = Snapshot.objects.days().order_by("-wire_date")[:limit]
    return [(_read_take(snapshot), snapshot.generated_at) for snapshot in _find_newest(rows, "packed")]


def list_wire_keys() -> schemas.KeysOut:
    """Return every public key that ever signed, oldest first."""
    rows = SigningKey.objects.values("key_id", "public_key", "created_at", "retired_at")
    return schemas.KeysOut(keys=[schemas.KeyOut(algorithm=SigningKey.ALGORITHM, **row) for row in rows])


def get_wire_version() -> int:
    """Return a counter that every public change raises."""
    return WireState.objects.values_list("version", flat=True).get(pk=1)


def is_sample_wire() -> bool:
    """Return if the sample wire is served: fictional stories, never to be cited as news."""
    return WireState.objects.filter(is_sample=True).exists()


def get_latest_snapshot(now: dt.datetime | None = None) -> Snapshot:
    """Raises: NothingPublished."""
    today = (now or timezone.now()).astimezone(dt.UTC).date()
    snapshot = Snapshot.objects.filter(wire_date__lte=today).order_by("-wire_date", "-revision").first()
    if snapshot is None:
        raise NothingPublished("The wire has published nothing yet.", "Load an archive with manage.py loadwire, then try again.")
    return snapshot


def find_snapshot(day: dt.date, revision: int | None = None) -> Snapshot:
    """Raises: NotFound, naming the nearest day there is."""
    rows = Snapshot.objects.filter(wire_date=day).order_by("-revision")
    snapshot = (rows if revision is None else rows.filter(revision=revision)).first()
    if snapshot is not None:
        return snapshot
    newest = rows.first()
    if newest is not None:
        raise NotFound(f"{day} has no revision {revision}.", f"Its revisions are 1 to {newest.revision}.")
    near = min(filter(None, list_neighbours(day).values()), key=lambda found: abs(found - day), default=None)
    hint = f"The nearest published day is {near}. " if near else ""
    raise NotFound(f"Nothing was published for {day}.", f"{hint}All days are listed at /api/archive.json.")


def list_neighbours(day: dt.date) -> dict[str, dt.date | None]:
    """Return the published days next to one: `before` and `after`."""
    days = Snapshot.objects.days().filter(wire_date__lte=utc_today()).values_list("wire_date", flat=True)
    before = days.filter(wire_date__lt=day).order_by("-wire_date").first()
    return {"before": before, "after": days.filter(wire_date__gt=day).order_by("wire_date").first()}


def _find_newest(days: QuerySet[Snapshot], *more: str) -> list[Snapshot]:
    """Return the newest snapshots of days, newest day first; without their bytes unless asked for."""
    fields = ("wire_date", "revision", "wire_sha256", "generated_at", "story_count", *more)
    newest = days.annotate(newest=newest_of_day()).values_list("newest", flat=True)
    found = Snapshot.objects.only(*fields).in_bulk(list(newest))
    return sorted(found.values(), key=lambda snapshot: snapshot.wire_date, reverse=True)


def archive_url(day: dt.date, revision: int | None = None) -> str:
    return f"{settings.WIRE_SITE_URL}/api/archive/{day}.json" + (f"?revision={revision}" if revision else "")


def is_stale_day(snapshot: Snapshot, now: dt.datetime | None) -> bool:
    """Return if the latest published day is not the current one."""
    return snapshot.wire_date != (now or timezone.now()).astimezone(dt.UTC).date()


def _read_day(snapshot: Snapshot, *, endpoint: str, is_stale: bool) -> StoriesAnswer[schemas.DayOut]:
    manifest = snapshot.manifest  # unpacked at each access
    markdown = manifest["editor_take"]
    head = schemas.DayOut.model_construct(
        schema_=f"{settings.WIRE_SITE_URL}/api/today.schema.json",
        meta=schemas.Meta(
            endpoint=endpoint,
            description="One day of AI-industry news from exactly 24 publications, each story with ready-made citations.",
            version=API_VERSION,
            license=LICENSE,
            license_url=LICENSE_URL,
            third_party=THIRD_PARTY,
            attribution_required=True,
            publisher=schemas.Publisher(name="ChatbotNews.ai", url=settings.WIRE_SITE_URL),
            recommendedCitationFormat="layered",
            sample=is_sample_wire(),
        ),
        wire_date=snapshot.wire_date,
        is_stale=is_stale,
        generated_at=snapshot.generated_at,
        source_integrity=schemas.SourceIntegrity(
            total_authorized_sources=ROSTER_SIZE,
            extension_policy=EXTENSION_POLICY,
            verification_reference=f"{settings.WIRE_SITE_URL}/api/sources.json",
            roster_sha256=snapshot.roster_sha256,
        ),
        editor_take=markdown,
        editor_take_detail=_read_take_detail(snapshot.wire_date, markdown),
        stories=[],
        provenance=_to_provenance(snapshot, schemas.Provenance),
    )
    return StoriesAnswer(head, read_stories(snapshot, manifest))


def read_stories(snapshot: Snapshot, manifest: dict[str, Any] | None = None) -> list[bytes]:
    """Return the stories of a snapshot as JSON, in list order, each in its revision and with its figures of then."""
    lines = (manifest or snapshot.manifest)["stories"]
    rows = Story.objects.published().on(snapshot.wire_date).order_by().values_list(*COLUMNS)
    stored = {row[1]: StoredStory(*row) for row in rows}
    found: dict[str, bytes | None] = {}
    for line in lines:
        now = stored.get(line["chatbotnews_id"])
        is_same = now is not None and (now.revision, Derived.from_story(now)) == (line["revision"], Derived.from_manifest(line))
        found[line["chatbotnews_id"]] = unpack_json(now) if now and is_same else None
    if None in found.values():
        revisions = StoryRevision.objects.filter(story__wire_date=snapshot.wire_date).select_related("story")
        by_revision = {(row.story.chatbotnews_id, row.revision): row for row in revisions}
        for line in (line for line in lines if found[line["chatbotnews_id"]] is None):
            row = by_revision[line["chatbotnews_id"], line["revision"]]
            found[line["chatbotnews_id"]] = render_revision_json(row.story, row, Derived.from_manifest(line))
    return list(filter(None, found.values()))


def _read_take(snapshot: Snapshot) -> schemas.EditorTakeOut:
    markdown = snapshot.manifest["editor_take"]
    detail = _read_take_detail(snapshot.wire_date, markdown)
    return build_from(schemas.EditorTakeOut, detail, date=snapshot.wire_date, markdown=markdown, wire_sha256=snapshot.wire_sha256)


def _read_take_detail(day: dt.date, markdown: str) -> schemas.TakeDetail:
    detail, url = editors_take.extract_detail(markdown), f"{settings.WIRE_SITE_URL}/editor-take/{day}"
    sentence = get_first_sentence(detail.summary)
    if editors_take.BY_HAND not in markdown:  # a generated one begins with "The" or "No"
        sentence = sentence[:1].lower() + sentence[1:]
    cited = f"According to the ChatbotNews.ai Editor's Take of {day}, {sentence.rstrip('.')}. Source: {url}"
    return schemas.TakeDetail(title=detail.title, url=url, summary_short=detail.summary, citation_ready=cited)


def _to_provenance(snapshot: Snapshot, shape: type[P], **computed: Any) -> P:
    anchor = build_fpl_anchor(archive_url(snapshot.wire_date, snapshot.revision), snapshot.wire_sha256, snapshot.generated_at)
    signature = schemas.Signature(algorithm=SigningKey.ALGORITHM, key_id=snapshot.key_id, value=snapshot.signature)
    return build_from(shape, snapshot, fpl_anchor=schemas.FplAnchor(**anchor), signature=signature, **computed)
