"""Queries of the site: a story's history, corrections, the calendar, the use of the wire, sitemaps; the roster with its stories."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from config.errors import NotFound
from sources import queries as sources_queries
from sources.models import Publication, utc_today
from sources.schemas import FeedsHealthOut, SourcesOut
from wire.models import Event, Snapshot, Story, StoryRevision, UsageCount
from wire.models.snapshot import newest_of_day
from wire.models.story import BY_EDITOR
from wire.queries.snapshots import is_sample_wire
from wire.queries.stories import find_published_story
from wire.schemas.story import SourcePageOut
from wire.text.choices import Status

USAGE_DAYS = 30
TEXT: Final = {"headline": "Headline", "summary_medium": "Summary", "author": "Author"}
CLASSIFICATION: Final = {"get_category_display": "Category", "topic_labels": "Topics"}


class Correction(NamedTuple):
    chatbotnews_id: str
    revision: int
    headline: str
    publisher: str
    what: str
    reason: str
    recorded_at: dt.datetime
    changes: list[tuple[str, str, str]]
    """Which text, category or topics, before and after; [] if it was withdrawn."""


def list_story_revisions(story_id: str) -> list[StoryRevision]:
    """Return every published revision, newest first. Raises: NotFound."""
    story = find_published_story(story_id)
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    return list(story.revisions.filter(revision__lte=story.current.revision).order_by("-revision"))


def list_corrections(limit: int, before: int | None = None) -> tuple[list[Correction], int | None]:
    """Return what editors changed in published stories, newest first, and where the next page begins (None: nowhere)."""
    rows = _select_corrections()
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.select_related("story").order_by("-pk")[: limit + 1])
    earlier = StoryRevision.objects.filter(story__in={row.story_id for row in found[:limit]})
    revisions = {(one.story_id, one.revision): one for one in earlier}
    page = [_to_correction(row, revisions) for row in found[:limit]]
    return page, found[limit - 1].pk if len(found) > limit else None


def list_withdrawn_on(day: dt.date) -> list[Correction]:
    """Return stories of a UTC day that editors withdrew for good, in that order."""
    rows = _select_corrections().filter(story__wire_date=day, status=Status.WITHDRAWN)
    return [_to_correction(row, {}) for row in rows.select_related("story").order_by("pk")]


def get_calendar(year: int | None = None) -> tuple[int, list[int], dict[dt.date, int]]:
    """Return a year (default: the latest), the years of the archive, newest first, and stories by day. Raises: NotFound."""
    days = Snapshot.objects.days()
    ends = days.aggregate(first=Min("wire_date"), last=Max("wire_date"))
    if ends["last"] is None:
        return 0, [], {}
    years = list(range(ends["last"].year, ends["first"].year - 1, -1))
    shown = years[0] if year is None else year
    if shown not in years:
        raise NotFound("There is no such year.")
    rows = days.filter(wire_date__year=shown).annotate(stories=newest_of_day("story_count")).order_by("wire_date")
    return shown, years, dict(rows.values_list("wire_date", "stories"))


def count_usage() -> tuple[list[tuple[dt.date, int, int]], list[tuple[str, str, int, int]]]:
    """Count calls and errors of the last 30 UTC days: by day, oldest first, and by kind and name, the most used first."""
    first = utc_today() - dt.timedelta(days=USAGE_DAYS - 1)
    rows = UsageCount.objects.filter(minute__gte=dt.datetime.combine(first, dt.time(), dt.UTC))
    by_day = rows.annotate(day=TruncDate("minute", tzinfo=dt.UTC)).values_list("kind", "name", "day", "outcome")
    calls, errors = Counter[Any](), Counter[Any]()  # by day, and by kind and name
    for kind, name, day, outcome, number in by_day.annotate(n=Sum("count")).order_by("kind", "name", "day", "outcome"):
        for key in (day, (kind, name)):
            calls[key] += number
            errors[key] += number if outcome == "error" else 0
    days = [first + dt.timedelta(days=n) for n in range(USAGE_DAYS)]
    names = [(*key, number, errors[key]) for key, number in calls.most_common() if isinstance(key, tuple)]
    return [(day, calls[day], errors[day]) for day in days], names


def count_sitemaps(size: int) -> int:
    """Return the number of sitemaps of `size` stories each."""
    newest = Story.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return newest // size + 1


def list_sitemap_stories(number: int, size: int) -> list[tuple[str, dt.datetime]]:
    """Return path and last change of every public story of one sitemap, and of the storylines and events that these founded: events
    of several reports, and storylines of one such event at least with all of theirs.
    """
    rows = Story.objects.live().filter(pk__gte=number * size, pk__lt=(number + 1) * size).order_by("pk")
    changed_stories = list(rows.values_list("chatbotnews_id", "current__recorded_at"))
    ids = {story for story, _ in changed_stories}
    storylines = Event.objects.filter(Q(pk__in=ids) | Q(storyline__in=ids)).exclude(storyline=None).values("storyline")
    members = dict(Event.objects.filter(storyline__in=storylines).values_list("pk", "storyline_id"))
    reports = Story.objects.live().filter(event__in={*ids, *members}).order_by().values_list("event_id")
    several = {event for event, count in reports.annotate(Count("pk")) if count > 1}
    shown = {members[event] for event in several & members.keys()}  # others are linked nowhere
    shared = {event for event in ids if event in several or members.get(event) in shown}
    events = [(f"/event/{story}", changed) for story, changed in changed_stories if story in shared]
    events += [(f"/storyline/{story}", changed) for story, changed in changed_stories if story in shown]
    return [(f"/story/{story}", changed) for story, changed in changed_stories] + events


def _select_corrections() -> QuerySet[StoryRevision]:
    """Select revisions that an editor made and a snapshot has published: they have a reason."""
    return StoryRevision.objects.filter(BY_EDITOR, revision__lte=F("story__current__revision"))


def _to_correction(row: StoryRevision, revisions: Mapping[tuple[int, int], StoryRevision]) -> Correction:
    before, changes = revisions.get((row.story_id, row.revision - 1)), []
    if row.status != Status.WITHDRAWN:
        names = TEXT | CLASSIFICATION
        pairs = ((title, _read_field(before, name), _read_field(row, name)) for name, title in names.items())
        changes = [(title, was, becomes) for title, was, becomes in pairs if was != becomes]
    # A story that was corrected once keeps that status; what an editor changes later may be its category alone.
    is_corrected = row.status == Status.CORRECTED and any(title in TEXT.values() for title, *_ in changes)
    what = "Withdrawn" if row.status == Status.WITHDRAWN else "Corrected" if is_corrected else "Reclassified"
    return Correction(
        row.story.chatbotnews_id,
        row.revision,
        row.headline,
        row.original_publisher,
        what,
        row.reason,
        row.recorded_at,
        changes,
    )


LOOKED_AT: Final = 200  # newest stories of which it is counted how many others report, too
A_DAY: Final = dt.timedelta(days=1)
ASKS_NONE: Final = (
    "The sample wire fetches no feeds. `manage.py doctor`, run on this server, reports on the real wire's feeds. "
    "The real wire replaces the sample as soon as its first day is published."
)


def get_feeds_health() -> FeedsHealthOut:
    """Return the age of each source and the state of its feeds; of the sample wire only a note that it fetches none."""
    found = sources_queries.get_feeds_health()
    if is_sample_wire():
        found.note = ASKS_NONE
    return found


def list_sources(tier: int | None = None) -> SourcesOut:
    """Return the roster in tier order, or one tier of it, each publication with its stories. Raises: InvalidArgument."""
    found = sources_queries.list_sources(tier)
    rows = Story.objects.live().order_by().values_list("publication__slug")
    stories = {slug: (number, newest) for slug, number, newest in rows.annotate(Count("pk"), Max("published_at"))}
    for source in found.sources:
        source.stories, source.newest_story_at = stories.get(source.slug, (0, None))
    return found


def list_not_received(moments: Collection[dt.datetime]) -> list[str]:
    """Return the publications of the roster without any story of the UTC days of these moments, a day before and a day after."""
    first, last = (dt.datetime.combine(end.astimezone(dt.UTC), dt.time(), dt.UTC) for end in (min(moments), max(moments)))
    in_time = Story.objects.published().filter(published_at__gte=first - A_DAY, published_at__lt=last + 2 * A_DAY)
    rows = Publication.objects.active().in_roster_order().exclude(Exists(in_time.filter(publication=OuterRef("pk"))))
    return list(rows.values_list("name", flat=True))


def get_source(slug: str) -> SourcePageOut:
    """Return one publication, in the roster or retired. Raises: NotFound."""
    found = sources_queries.get_publication(slug)
    newest = Story.objects.live().filter(publication__slug=slug).newest_first().values_list("pk", flat=True)[:LOOKED_AT]
    rows = Story.objects.filter(pk__in=list(newest)).order_by()
    counts = rows.aggregate(newest=Count("pk"), shared=Count("pk", filter=Q(cross_source_count__gt=1)))
    return SourcePageOut(**dict(found), **counts, note=ASKS_NONE if is_sample_wire() else None)


def _read_field(revision: StoryRevision | None, name: str) -> str:
    value = getattr(revision, name, "")
    return str(value() if callable(value) else value or "")
