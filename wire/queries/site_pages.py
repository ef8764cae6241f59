"""Queries of the site alone: a story's history, corrections, the calendar, the use of the wire, sitemaps."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.db.models import Count, F, Max, Min, QuerySet, Sum
from django.db.models.functions import TruncDate

from config.errors import NotFound
from sources.models import utc_today
from wire.models import Snapshot, Story, StoryRevision, UsageCount
from wire.models.snapshot import newest_of_day
from wire.models.story import BY_EDITOR
from wire.queries.stories import published_story
from wire.text.vocabulary import Status

USAGE_DAYS = 30
TEXT: Final = ("headline", "summary_medium", "author")


class Correction(NamedTuple):
    chatbotnews_id: str
    revision: int
    headline: str
    publisher: str
    what: str
    reason: str
    recorded_at: dt.datetime


def story_history(story_id: str) -> list[StoryRevision]:
    """Return every published revision, newest first. Raises: NotFound."""
    story = published_story(story_id)
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    return list(story.revisions.filter(revision__lte=story.current.revision).order_by("-revision"))


def corrections(limit: int, before: int | None = None) -> tuple[list[Correction], int | None]:
    """Return what editors changed in published stories, newest first, and where the next page begins (None: nowhere)."""
    rows = _select_corrections()
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.select_related("story").order_by("-pk")[: limit + 1])
    earlier = StoryRevision.objects.filter(story__in={row.story_id for row in found[:limit]})
    texts = {(story, number): text for story, number, *text in earlier.values_list("story_id", "revision", *TEXT)}
    page = [_to_correction(row, texts) for row in found[:limit]]
    return page, found[limit - 1].pk if len(found) > limit else None


def withdrawn_on(day: dt.date) -> list[Correction]:
    """Return stories of a UTC day that editors withdrew for good, in that order."""
    rows = _select_corrections().filter(story__wire_date=day, status=Status.WITHDRAWN)
    return [_to_correction(row, {}) for row in rows.select_related("story").order_by("pk")]


def calendar(year: int | None = None) -> tuple[int, list[int], dict[dt.date, int]]:
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


def usage() -> tuple[list[tuple[dt.date, int, int]], list[tuple[str, str, int, int]]]:
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


def sitemap_count(size: int) -> int:
    """Return the number of sitemaps of `size` stories each."""
    newest = Story.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return newest // size + 1


def sitemap_stories(number: int, size: int) -> list[tuple[str, dt.datetime]]:
    """Return path and last change of every public story of one sitemap, and of the events of several reports that these founded."""
    rows = Story.objects.live().filter(pk__gte=number * size, pk__lt=(number + 1) * size).order_by("pk")
    changed_stories = list(rows.values_list("chatbotnews_id", "current__recorded_at"))
    reports = Story.objects.live().filter(event__in=[story for story, _ in changed_stories]).order_by().values("event_id")
    shared = set(reports.annotate(n=Count("pk")).filter(n__gt=1).values_list("event_id", flat=True))
    events = [(f"/event/{story}", changed) for story, changed in changed_stories if story in shared]
    return [(f"/story/{story}", changed) for story, changed in changed_stories] + events


def _select_corrections() -> QuerySet[StoryRevision]:
    """Select revisions that an editor made and a snapshot has published: they have a reason."""
    return StoryRevision.objects.filter(BY_EDITOR, revision__lte=F("story__current__revision"))


def _to_correction(row: StoryRevision, texts: Mapping[tuple[int, int], list[Any]]) -> Correction:
    # A story that was corrected once keeps that status; what an editor changes later may be its category alone.
    what = {Status.WITHDRAWN: "Withdrawn", Status.CORRECTED: "Corrected"}.get(Status(row.status), "Reclassified")
    if what == "Corrected" and texts.get((row.story_id, row.revision - 1)) == texts[row.story_id, row.revision]:
        what = "Reclassified"
    return Correction(
        row.story.chatbotnews_id, row.revision, row.headline, row.original_publisher, what, row.reason, row.recorded_at
    )
