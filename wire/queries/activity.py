"""Stories a day of the whole wire, a topic, a category, a source or a name, and how often a source reports first."""

import datetime as dt
from collections.abc import Mapping
from typing import Final

from django.db.models import Count

from config.errors import InvalidArgument, NotFound
from sources.models import Publication
from wire.models import Snapshot, Story
from wire.models.snapshot import newest_of_day
from wire.publishing.story_json import COLUMNS, read_stories_json
from wire.queries.entities import find_entity
from wire.queries.events import find_events_by_id
from wire.schemas.figures import ActivityOut, DayCount, FirstReports
from wire.schemas.story import StoryOut
from wire.text.choices import Category, Topic

DAYS: Final = 90
MOST_DAYS: Final = 366
LOOKED_AT: Final = 200  # newest stories of a source in which first reports are counted
A_DAY: Final = dt.timedelta(days=1)


def get_activity(
    topic: Topic | None = None,
    category: Category | None = None,
    source: str | None = None,
    days: int = DAYS,
    until: dt.date | None = None,
    entity: str | None = None,
) -> ActivityOut:
    """Return the stories of each of the last `days` days, the last of them `until` (default: the latest published day). At most one
    of topic, category, source, a slug, and entity, a slug or name, may be given. Raises: NotFound, InvalidArgument.
    """
    if sum(one is not None for one in (topic, category, source, entity)) > 1:
        raise InvalidArgument("topic, category, source and entity exclude each other.", "Use one of them at a time.")
    publication = None
    if source is not None:
        publication = Publication.objects.with_slug(source).first()
        if publication is None:
            raise NotFound("There is no such publication.", "The roster is at /api/sources.json.")
    last = until or Snapshot.objects.days().order_by("-wire_date").values_list("wire_date", flat=True).first()
    if last is None:
        return build_activity({}, None, None)
    first = last - (days - 1) * A_DAY
    if topic is None and category is None and publication is None and entity is None:
        rows = Snapshot.objects.days().filter(wire_date__gte=first, wire_date__lte=last).order_by("wire_date")
        return build_activity(
            dict(rows.annotate(stories=newest_of_day("story_count")).values_list("wire_date", "stories")), first, last
        )
    stories = Story.objects.live().filter(wire_date__gte=first, wire_date__lte=last).order_by()
    if topic is not None:
        stories = stories.filter(story_topics__topic=topic)
    if category is not None:
        stories = stories.filter(category=category)
    if publication is not None:
        stories = stories.filter(publication=publication)
    if entity is not None:
        stories = stories.filter(story_entities__entity=find_entity(entity), story_entities__is_official=False)
    found = build_activity(dict(stories.values_list("wire_date").annotate(Count("pk"))), first, last)
    found.first_reports = count_first_reports(publication) if publication else None
    return found


def build_activity(stories: Mapping[dt.date, int], first: dt.date | None, last: dt.date | None) -> ActivityOut:
    """Return the figures of all days from first to last."""
    length = (last - first).days + 1 if first and last else 0
    days = [
        DayCount(date=day, stories=stories.get(day, 0)) for number in range(length) if first and (day := first + number * A_DAY)
    ]
    total = sum(day.stories for day in days)
    peak = max(days, key=lambda day: (day.stories, day.date), default=None)
    mean = round(total / max(length, 1), 1)
    return ActivityOut(days=days, total=total, mean=mean, peak=peak if total else None, first_reports=None)


def count_first_reports(publication: Publication) -> FirstReports:
    """Count over the events of the newest stories of which it is known who was first."""
    newest = Story.objects.live().filter(publication=publication).newest_first()
    shared = newest.values_list("event_id", "cross_source_count")[:LOOKED_AT]
    ids = {event_id for event_id, sources in shared if sources > 1}
    known = [event for event in find_events_by_id(ids).values() if event.count > 1 and event.is_first_known]
    return FirstReports(events=len(known), first=sum(event.first.original_publisher == publication.name for event in known))


def list_latest_arrivals(limit: int) -> list[StoryOut]:
    """Return the stories that the wire saw last, the newest arrival first."""
    rows = Story.objects.live().order_by("-pk").values_list(*COLUMNS)[:limit]
    stories = [StoryOut.model_validate_json(json) for json in read_stories_json(rows)]
    return sorted(stories, key=lambda story: (story.first_seen_at, story.published_at, story.chatbotnews_id), reverse=True)
