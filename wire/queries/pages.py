"""What only the site shows: a story's history, an event, corrections, the calendar, how the wire is used."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from wire.models import Snapshot, Story, StoryRevision, UsageCount
from wire.models.record import newest_of_day
from wire.models.story import BY_EDITOR
from wire.queries.stories import published_story
from wire.stories.vocabulary import Category, Status, Topic

USAGE_DAYS = 30
TEXT: Final = ("headline", "summary_medium", "author")
MOST: Final = 500  # stories of one event that its page shows; no event of 24 publications comes near


@dataclass(frozen=True, slots=True)
class Revision:
    """One published state of a story."""

    number: int
    status: Status
    headline: str
    summary: str
    author: str
    category: str
    topics: str
    recorded_at: dt.datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Correction:
    """What an editor changed, and why."""

    chatbotnews_id: str
    revision: int
    headline: str
    publisher: str
    what: str
    reason: str
    recorded_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Calendar:
    """A year's published days, oldest first, each with how many stories it has; `years`: those of the archive, newest first."""

    year: int
    years: list[int]
    days: dict[dt.date, int]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The published days next to one, if there are any."""

    before: dt.date | None
    after: dt.date | None


@dataclass(frozen=True, slots=True)
class DayOfUse:
    day: dt.date
    calls: int
    errors: int


@dataclass(frozen=True, slots=True)
class Use:
    """Calls of the MCP door of the last days (UTC), oldest first, days without any included; by name, the most used first."""

    days: list[DayOfUse]
    names: list[tuple[str, str, int, int]]
    """Kind, name, calls, errors."""

    @property
    def calls(self) -> int:
        return sum(day.calls for day in self.days)

    @property
    def errors(self) -> int:
        return sum(day.errors for day in self.days)


def story_history(story_id: str) -> list[Revision]:
    """Every published revision, newest first. Raises: NotFound."""
    story = published_story(story_id)
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    rows = story.revisions.filter(revision__lte=story.current.revision).order_by("-revision")
    return [_revision(row) for row in rows]


def corrections(limit: int, before: int | None = None) -> tuple[list[Correction], int | None]:
    """What editors changed in published stories, newest first, and where the next page begins (None: nowhere)."""
    rows = _corrections()
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.select_related("story").order_by("-pk")[: limit + 1])
    earlier = StoryRevision.objects.filter(story__in={row.story_id for row in found[:limit]})
    texts = {(story, number): text for story, number, *text in earlier.values_list("story_id", "revision", *TEXT)}
    corrections = [_correction(row, texts) for row in found[:limit]]
    return corrections, found[limit - 1].pk if len(found) > limit else None


def withdrawn_on(day: dt.date) -> list[Correction]:
    """Stories of a UTC day that editors withdrew, for good, in the order in which they did."""
    rows = _corrections().filter(story__wire_date=day, status=Status.WITHDRAWN)
    return [_correction(row, {}) for row in rows.select_related("story").order_by("pk")]


def calendar(year: int | None = None) -> Calendar:
    """One year's published days, the latest year's by default."""
    days = Snapshot.objects.days()
    ends = [days.order_by(order).values_list("wire_date", flat=True).first() for order in ("-wire_date", "wire_date")]
    last, first = (end.year if end else None for end in ends)
    if last is None or first is None:
        return Calendar(0, [], {})
    shown, years = last if year is None else year, list(range(last, first - 1, -1))
    if shown not in years:
        return Calendar(shown, years, {})
    rows = days.filter(wire_date__year=shown).annotate(stories=newest_of_day("story_count")).order_by("wire_date")
    return Calendar(shown, years, dict(rows.values_list("wire_date", "stories")))


def neighbours(day: dt.date, now: dt.datetime | None = None) -> Neighbours:
    today = (now or timezone.now()).astimezone(dt.UTC).date()
    days = Snapshot.objects.filter(wire_date__lte=today, revision=1).values_list("wire_date", flat=True)
    return Neighbours(
        days.filter(wire_date__lt=day).order_by("-wire_date").first(), days.filter(wire_date__gt=day).order_by("wire_date").first()
    )


def usage(now: dt.datetime | None = None) -> Use:
    """Of the last 30 days."""
    today = (now or timezone.now()).astimezone(dt.UTC).date()
    first = today - dt.timedelta(days=USAGE_DAYS - 1)
    rows = UsageCount.objects.filter(minute__gte=dt.datetime.combine(first, dt.time(), dt.UTC))
    by_day = rows.annotate(day=TruncDate("minute", tzinfo=dt.UTC)).values_list("kind", "name", "day", "outcome")
    calls, errors = Counter[Any](), Counter[Any]()  # by day, and by kind and name
    for kind, name, day, outcome, number in by_day.annotate(n=Sum("count")).order_by("kind", "name", "day", "outcome"):
        for key in (day, (kind, name)):
            calls[key] += number
            errors[key] += number if outcome == "error" else 0
    days = [first + dt.timedelta(days=n) for n in range(USAGE_DAYS)]
    names = [(*key, number, errors[key]) for key, number in calls.most_common() if isinstance(key, tuple)]
    return Use([DayOfUse(day, calls[day], errors[day]) for day in days], names)


def sitemap_count(size: int) -> int:
    """How many sitemaps of so many stories there are."""
    newest = Story.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return newest // size + 1


def sitemap_stories(number: int, size: int) -> list[tuple[str, dt.datetime]]:
    """Path and last change of every public story of one sitemap, and of the events of several reports that these founded."""
    rows = Story.objects.live().filter(pk__gte=number * size, pk__lt=(number + 1) * size).order_by("pk")
    changed_stories = list(rows.values_list("chatbotnews_id", "current__recorded_at"))
    reports = Story.objects.live().filter(event__in=[story for story, _ in changed_stories]).order_by().values("event_id")
    shared = set(reports.annotate(n=Count("pk")).filter(n__gt=1).values_list("event_id", flat=True))
    events = [(f"/event/{story}", changed) for story, changed in changed_stories if story in shared]
    return [(f"/story/{story}", changed) for story, changed in changed_stories] + events


def _revision(row: StoryRevision) -> Revision:
    return Revision(
        number=row.revision,
        status=Status(row.status),
        headline=row.headline,
        summary=row.summary_medium,
        author=row.author or "",
        category=str(Category(row.category).label),
        topics=", ".join(str(Topic(topic).label) for topic in row.topics),
        recorded_at=row.recorded_at,
        reason=row.reason,
    )


def _corrections() -> QuerySet[StoryRevision]:
    """Revisions that an editor made and a snapshot has published: those are the ones with a reason."""
    return StoryRevision.objects.filter(BY_EDITOR, revision__lte=F("story__current__revision"))


def _correction(row: StoryRevision, texts: Mapping[tuple[int, int], list[Any]]) -> Correction:
    """A story that was corrected once stays so; what an editor changes later may be its category alone."""
    what = {Status.WITHDRAWN: "Withdrawn", Status.CORRECTED: "Corrected"}.get(Status(row.status), "Reclassified")
    if what == "Corrected" and texts.get((row.story_id, row.revision - 1)) == texts[row.story_id, row.revision]:
        what = "Reclassified"
    return Correction(
        row.story.chatbotnews_id, row.revision, row.headline, row.original_publisher, what, row.reason, row.recorded_at
    )
