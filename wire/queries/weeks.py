"""A week by its storylines and events."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from django.conf import settings
from django.db.models import Count, Max, Min

from config.errors import NotFound
from wire.models import Event, Snapshot, Story
from wire.publishing.event_view import EventView, rank_event
from wire.queries.events import find_events_by_id, to_event_brief
from wire.queries.snapshots import get_latest_snapshot, list_published_dates
from wire.queries.storylines import find_headline_events
from wire.schemas.figures import WeekDay, WeekOut, WeekStoryline, format_week

EVENTS: Final = 25
STORYLINES: Final = 10
A_DAY: Final = dt.timedelta(days=1)
A_WEEK: Final = dt.timedelta(weeks=1)


class WeekView(NamedTuple):
    """A week with its events as pages show them; storylines by their events of the week, oldest first."""

    week: WeekOut
    events: Sequence[EventView]
    storylines: Sequence[tuple[WeekStoryline, Sequence[EventView]]]


def get_week(monday: dt.date | None = None) -> WeekOut:
    """Return the week of this Monday (default: that of the latest published day). Raises: NotFound, NothingPublished."""
    return view_week(monday).week


def view_week(monday: dt.date | None = None) -> WeekView:
    """Return all of `get_week`, with events as pages show them. Raises: NotFound, NothingPublished."""
    newest = get_latest_snapshot().wire_date
    first = monday or newest - newest.weekday() * A_DAY
    last = first + A_WEEK - A_DAY
    counts = dict(
        Story.objects.live()
        .filter(wire_date__gte=first, wire_date__lte=last)
        .order_by()
        .values_list("wire_date")
        .annotate(Count("pk"))
    )
    days = [first + number * A_DAY for number in range(7)]
    if not Snapshot.objects.days().filter(wire_date__gte=first, wire_date__lte=last).exists():
        raise NotFound(f"Nothing was published in {format_week(first)}.", f"The newest week is {format_week(newest)}.")
    ids = set(Story.objects.live().filter(wire_date__gte=first, wire_date__lte=last).values_list("event_id", flat=True))
    views = find_events_by_id(ids)
    of_day = Counter[dt.date]()
    places = {}
    for event in views.values():
        told_on = {report.story.published_at.astimezone(dt.UTC).date() for report in event.reports}.intersection(days)
        of_day.update(told_on)
        places[event.event_id] = min((rank_event(event, day) for day in told_on), default=rank_event(event, first))
    ranked = sorted(views.values(), key=lambda event: (-event.newsrooms, places[event.event_id]))
    storylines = list_storylines([event.event_id for event in ranked], views=views)
    ends = Snapshot.objects.days()
    before = ends.filter(wire_date__lt=first).aggregate(day=Max("wire_date"))["day"]
    after = ends.filter(wire_date__gt=last).aggregate(day=Min("wire_date"))["day"]
    week = WeekOut(
        week=format_week(first),
        first=first,
        last=last,
        stories=sum(counts.values()),
        total=len(ranked),
        days=[WeekDay(date=day, stories=counts.get(day, 0), events=of_day[day]) for day in days],
        storylines=[storyline for storyline, _, _ in storylines],
        events=[to_event_brief(event) for event in ranked[:EVENTS]],
        earlier=format_week(before) if before else None,
        later=format_week(after) if after else None,
    )
    return WeekView(week, ranked[:EVENTS], [(storyline, events) for storyline, events, _ in storylines])


def list_weeks() -> list[str]:
    """Return the weeks in which a day was published, newest first."""
    return list(dict.fromkeys(format_week(dt.date.fromisoformat(day)) for day in list_published_dates()))


def list_storylines(
    event_ids: Sequence[str], most: int = STORYLINES, views: Mapping[str, EventView] | None = None
) -> list[tuple[WeekStoryline, list[EventView], EventView]]:
    """Return the first storylines of these events that have several events, one of them of several reports, by the place of their
    first event here; each with its events here, oldest first, and the event that it is named after. `views`: the events, if they
    were read already.
    """
    storyline_of = dict(Event.objects.filter(pk__in=event_ids).exclude(storyline=None).values_list("event_id", "storyline_id"))
    chapters = Story.objects.live().filter(event__storyline__in=set(storyline_of.values())).order_by()
    reports = list(chapters.values_list("event__storyline", "event").annotate(Count("pk")))
    shared = {storyline for storyline, _, number in reports if number > 1}  # others are linked nowhere, nor in a sitemap
    totals = Counter(storyline for storyline, _, _ in reports if storyline in shared)
    members: dict[str, list[str]] = defaultdict(list)
    for event_id in event_ids:
        if totals[storyline_of.get(event_id, "")] > 1:
            members[storyline_of[event_id]].append(event_id)
    chosen = list(members.items())[:most]
    headlines = find_headline_events([storyline_id for storyline_id, _ in chosen])
    shown = {*headlines.values(), *(event_id for _, ids in chosen for event_id in ids)}
    views = {**(views or {}), **find_events_by_id(shown.difference(views or ()))}
    found = []
    for storyline_id, ids in chosen:
        events = [views[event_id] for event_id in ids if event_id in views]
        named_after = views.get(headlines.get(storyline_id, ""))
        if not events or named_after is None:  # withdrawn meanwhile
            continue
        events.sort(key=lambda event: (event.first.published_at, event.event_id))
        storyline = WeekStoryline(
            storyline_id=storyline_id,
            permalink=f"{settings.WIRE_SITE_URL}/storyline/{storyline_id}",
            headline=named_after.lead.headline,
            events=[event.event_id for event in events],
            total=totals[storyline_id],
        )
        found.append((storyline, events, named_after))
    return found
