"""Events: one happening, with every report of it. The unit of the front page, of a day, of a category and of a topic."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.conf import settings

from config.errors import NotFound
from sources.houses import Houses
from wire.bounds import LIST_LIMIT
from wire.models import Event, Snapshot, Story
from wire.models.compiled import Row
from wire.queries.days import is_stale, latest_snapshot, snapshot_of
from wire.queries.stories import LIST, LIST_COUNT, TOPIC, TOPIC_COUNT, list_place, pins_hint
from wire.schemas import REPORT_FIELDS, EventBrief, EventOut, EventsOut, FirstReport, ReportOut, StoryOut, estimated_tokens
from wire.search.cursor import decode, encode, invalid, place_of
from wire.search.total import counted
from wire.snapshots import event_view
from wire.snapshots.event_view import EventView
from wire.snapshots.story_json import COLUMNS, shown
from wire.stories.identity import is_story_id
from wire.stories.text import plain_text
from wire.stories.vocabulary import Category, Topic

MOST: Final = 500  # stories of one event that are shown; no event of 24 publications comes near
ENOUGH: Final = 20  # events from which on a day needs no earlier ones below it
DAYS: Final = 7  # days, itself included, that a page of a day goes back at most


@dataclass(frozen=True, slots=True)
class DayEvents:
    """The events of one UTC day, best borne out first."""

    day: dt.date
    events: list[EventView]


@dataclass(frozen=True, slots=True)
class EventList:
    """One page of the events of a category or topic, by their newest story in it, newest first. `total` counts stories."""

    events: list[EventView]
    next_cursor: str | None
    total: int
    total_is_exact: bool


def get_event(event_id: str) -> EventOut:
    """Every report of an event: of this id, of the one it was merged into, or of this story. Raises: NotFound."""
    return _out(view_event(event_id))


def list_events(
    date: dt.date | None = None,
    category: Category | None = None,
    topic: Topic | None = None,
    limit: int = LIST_LIMIT,
    cursor: str | None = None,
    now: dt.datetime | None = None,
) -> EventsOut:
    """The events of one UTC day (default: the latest published), most widely reported first, in brief; those with a report in the
    category and on the topic, where given. Raises: NotFound, NothingPublished, InvalidArgument for a strange cursor.
    """
    snapshot = snapshot_of(date) if date else latest_snapshot(now)
    day = snapshot.wire_date
    name = f"events {day} {category or ''} {topic or ''}"
    events = [event for event in events_of_day(day) if _is_about(event, category, topic)]
    left = events if cursor is None else _behind(events, decode(cursor, {name: 7})[1], day)
    brief = [_brief(event) for event in left[:limit]]
    found = EventsOut(
        wire_date=day,
        is_stale=date is None and is_stale(snapshot, now),
        story_url=f"{settings.WIRE_SITE_URL}/story/{{lead}}",
        events=brief,
        next_cursor=encode(name, *event_view.rank(left[limit - 1], day)) if len(left) > limit else None,
        total=len(events),
        est_tokens=0,
    )
    found.est_tokens = estimated_tokens([found.model_dump_json().encode()])
    return found


def view_event(event_id: str) -> EventView:
    """As `get_event`, with the stories whole. Raises: NotFound."""
    event = Event.objects.filter(event_id=event_id).first() if is_story_id(event_id) else None
    while event is not None and event.merged_into_id:
        event = event.merged_into
    of_story = Story.objects.live().filter(chatbotnews_id=event_id).values_list("event_id", flat=True)
    found = events_by_id([event.event_id] if event else []) or events_by_id(of_story if is_story_id(event_id) else [])
    if not found:
        raise NotFound(
            f"There is no event {plain_text(event_id, 40)!r}.",
            pins_hint(event_id) or "Every story names its event_id; list_events (/api/events.json) lists those of a day.",
        )
    return next(iter(found.values()))


def events_by_id(event_ids: Collection[str]) -> dict[str, EventView]:
    """Each of these events that has a live story, as every page and answer has it."""
    live = Story.objects.live().filter(event__in=list(event_ids))
    rows = live.order_by("published_at", "chatbotnews_id").values_list(*COLUMNS)
    chosen = set(live.filter(leads_event=True).values_list("chatbotnews_id", flat=True))
    stories: dict[str, list[StoryOut]] = defaultdict(list)
    for story in _read(shown(rows)):
        if len(stories[story.event_id]) < MOST:
            stories[story.event_id].append(story)
    houses = Houses.load()
    return {event_id: event_view.view(event_id, reports, houses, chosen) for event_id, reports in stories.items()}


def events_of_day(day: dt.date) -> list[EventView]:
    """The events that have a story on this UTC day, best borne out first; their reports of other days are among them."""
    ids = set(Story.objects.live().on(day).values_list("event_id", flat=True))
    return event_view.by_weight(events_by_id(ids).values(), day)


def days_down_from(day: dt.date) -> Iterator[DayEvents]:
    """This day and, as long as it has few events, the published days before it: each event once, on its newest day."""
    days = Snapshot.objects.days().filter(wire_date__lte=day, wire_date__gt=day - dt.timedelta(DAYS)).order_by("-wire_date")
    seen: set[str] = set()
    for one in days.values_list("wire_date", flat=True):
        events = [event for event in events_of_day(one) if event.event_id not in seen]
        seen |= {event.event_id for event in events}
        if events or one == day:
            yield DayEvents(one, events)
        if len(seen) >= ENOUGH:
            return


def category_events(category: Category, limit: int, cursor: str | None = None) -> EventList:
    """Events with a report in a category, of all days. Raises: InvalidArgument for a strange cursor."""
    rows = partial(LIST.rows, category)
    return _listed(
        f"events {category}", rows, lambda story: story.category == category, counted(LIST_COUNT, category), limit, cursor
    )


def topic_events(topic: Topic, limit: int, cursor: str | None = None) -> EventList:
    """Events with a report on a topic, of all days. Raises: InvalidArgument for a strange cursor."""
    rows = partial(TOPIC.rows, topic, None)
    return _listed(
        f"events on {topic}", rows, lambda story: topic in story.topics, counted(TOPIC_COUNT, topic, None), limit, cursor
    )


def _listed(
    name: str,
    rows_of: Callable[..., list[Row]],
    is_listed: Callable[[StoryOut], bool],
    total: tuple[int, bool],
    limit: int,
    cursor: str | None,
) -> EventList:
    """The events of a list of stories, each where its newest story in the list stands: of others it was shown before."""
    place, found, pieces = list_place(name, cursor), list[tuple[EventView, bytes]](), 2 * limit
    while len(found) <= limit:
        rows = rows_of(*place, pieces)
        stories = shown(rows)
        events = events_by_id({story.event_id for story in _read(stories)})
        for json, story in zip(stories, _read(stories), strict=True):
            place = story.published_at, story.chatbotnews_id
            event = events.get(story.event_id)  # None: it was withdrawn or moved meanwhile
            if event and story.chatbotnews_id == _newest(event, is_listed):
                found.append((event, json))
        if len(rows) < pieces:
            break
    following = encode(name, place_of(found[limit - 1][1])) if len(found) > limit else None
    return EventList([event for event, _ in found[:limit]], following, *total)


def _newest(event: EventView, is_listed: Callable[[StoryOut], bool]) -> str | None:
    """The id of the event's story that comes first in a list."""
    listed = (report.story for report in event.reports if is_listed(report.story))
    first = min(listed, key=lambda story: (-story.published_at.timestamp(), story.chatbotnews_id), default=None)
    return first.chatbotnews_id if first else None


def _read(stories: Iterable[bytes]) -> list[StoryOut]:
    return [StoryOut.model_validate_json(story) for story in stories]


def _is_about(event: EventView, category: Category | None, topic: Topic | None) -> bool:
    stories = [report.story for report in event.reports]
    in_category = category is None or any(story.category == category for story in stories)
    return in_category and (topic is None or any(topic in story.topics for story in stories))


def _behind(events: Sequence[EventView], values: Sequence[Any], day: dt.date) -> list[EventView]:
    """The events that come after a place. Raises: InvalidArgument."""
    *figures, last = values
    if not isinstance(last, str) or not all(isinstance(figure, int | float) for figure in figures):
        raise invalid()
    return [event for event in events if event_view.rank(event, day) > tuple(values)]


def _brief(event: EventView) -> EventBrief:
    return EventBrief(
        event_id=event.event_id,
        lead=None if event.lead.chatbotnews_id == event.event_id else event.lead.chatbotnews_id,
        headline=event.lead.headline,
        publisher=event.lead.original_publisher,
        tier=event.lead.original_publisher_tier,
        published_at=event.lead.published_at,
        agreement=event.agreement,
    )


def _out(event: EventView) -> EventOut:
    first = event.first
    return EventOut(
        event_id=event.event_id,
        permalink=f"{settings.WIRE_SITE_URL}/event/{event.event_id}",
        lead=event.lead.chatbotnews_id,
        headline=event.lead.headline,
        agreement=event.agreement,
        cross_source_count=event.count,
        consensus_score=event.score,
        first_reported=FirstReport(
            chatbotnews_id=first.chatbotnews_id, original_publisher=first.original_publisher, published_at=first.published_at
        ),
        latest_report_at=event.latest.published_at,
        reports=[
            ReportOut(
                **{name: getattr(report.story, name) for name in REPORT_FIELDS},
                independent=report.independent,
                is_copy=report.is_copy,
                layered_ready=report.story.citation_objects.layered_ready if report.story.citation_objects else "",
            )
            for report in event.reports
        ],
    )
