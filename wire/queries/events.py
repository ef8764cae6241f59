"""Events: everything that was reported about one happening. The unit of the front page, of a day, of a category and of a topic."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Final, NamedTuple

from django.conf import settings

from config.errors import NotFound
from sources.ownership import Houses
from wire.models import Event, Snapshot, Story
from wire.models.compiled_sql import Row
from wire.publishing import event_view
from wire.publishing.event_view import EventView
from wire.publishing.story_json import COLUMNS, read_json
from wire.queries.snapshots import find_snapshot, is_stale, latest_snapshot
from wire.queries.stories import LIST, LIST_COUNT, TOPIC, TOPIC_COUNT, get_standing, list_place, pins_hint
from wire.schemas.params import LIST_LIMIT
from wire.schemas.story import EventBrief, EventsOut, StoryOut, estimated_tokens
from wire.search.cursor import count_capped, decode, encode, invalid, place_of
from wire.text.identity import is_story_id
from wire.text.plain_text import plain_text
from wire.text.vocabulary import Category, Status, Topic

MOST: Final = 500  # stories of one event that are shown; no event of 24 publications comes near
ENOUGH: Final = 20  # events from which on a day needs no earlier ones below it
DAYS: Final = 7  # days, itself included, that a page of a day goes back at most


class DayEvents(NamedTuple):
    """The events of one UTC day, most widely reported first."""

    day: dt.date
    events: list[EventView]


class EventList(NamedTuple):
    """A page of the events of a category or topic, by their newest story in it, newest first. `total` counts stories."""

    events: list[EventView]
    next_cursor: str | None
    total: int
    total_is_exact: bool


def list_events(
    date: dt.date | None = None,
    category: Category | None = None,
    topic: Topic | None = None,
    limit: int = LIST_LIMIT,
    cursor: str | None = None,
    now: dt.datetime | None = None,
) -> EventsOut:
    """Return the events of one UTC day (default: the latest published), most widely reported first, in brief; those with a report
    in the category and on the topic, where given. Raises: NotFound, NothingPublished, InvalidArgument for a strange cursor.
    """
    snapshot = find_snapshot(date) if date else latest_snapshot(now)
    day = snapshot.wire_date
    name = f"events {day} {category or ''} {topic or ''}"
    events = left = [event for event in list_day_events(day) if _is_about(event, category, topic)]
    if cursor is not None:
        *figures, last = decode(cursor, {name: 7})[1]
        if not isinstance(last, str) or not all(isinstance(figure, int | float) for figure in figures):
            raise invalid()
        left = [event for event in events if event_view.rank(event, day) > (*figures, last)]
    found = EventsOut(
        wire_date=day,
        is_stale=date is None and is_stale(snapshot, now),
        story_url=f"{settings.WIRE_SITE_URL}/story/{{lead}}",
        events=[_to_brief(event) for event in left[:limit]],
        next_cursor=encode(name, *event_view.rank(left[limit - 1], day)) if len(left) > limit else None,
        total=len(events),
        est_tokens=0,
    )
    found.est_tokens = estimated_tokens([found.model_dump_json().encode()])
    return found


def view_event(event_id: str) -> EventView:
    """Return an event with every report: of this id, of the one it was merged into, or of this story. Raises: NotFound."""
    event = find_event(event_id)
    found = events_by_id([event.event_id]) if event else {}
    if not found:
        raise NotFound(
            f"There is no event {plain_text(event_id, 40)!r}.",
            pins_hint(event_id) or "Every story names its event_id; list_events (/api/events.json) lists those of a day.",
        )
    return next(iter(found.values()))


def find_event(event_id: str) -> Event | None:
    """Return the event with a live story that has this id, that it was merged into, or that this story belongs to."""
    if not is_story_id(event_id):
        return None
    event = Event.objects.filter(event_id=event_id).first()
    while event is not None and event.merged_into_id:
        event = event.merged_into
    if event is not None and Story.objects.live().filter(event=event).exists():
        return event
    story = Story.objects.published().filter(chatbotnews_id=event_id).first()
    standing = get_standing(story) if story else None
    return standing.event if standing and standing.status != Status.WITHDRAWN else None


def events_by_id(event_ids: Collection[str]) -> dict[str, EventView]:
    """Return those of these events that have a live story, as pages and answers show them."""
    live = Story.objects.live().filter(event__in=list(event_ids))
    rows = live.order_by("published_at", "chatbotnews_id").values_list(*COLUMNS)
    chosen = set(live.filter(leads_event=True).values_list("chatbotnews_id", flat=True))
    stories: dict[str, list[StoryOut]] = defaultdict(list)
    for story in map(StoryOut.model_validate_json, read_json(rows)):
        if len(stories[story.event_id]) < MOST:
            stories[story.event_id].append(story)
    houses = Houses.load()
    return {event_id: event_view.view(event_id, reports, houses, chosen) for event_id, reports in stories.items()}


def list_day_events(day: dt.date) -> list[EventView]:
    """Return the events with a story on this UTC day, most widely reported first, with their reports of other days."""
    ids = set(Story.objects.live().on(day).values_list("event_id", flat=True))
    return event_view.by_weight(events_by_id(ids).values(), day)


def days_down_from(day: dt.date) -> Iterator[DayEvents]:
    """Yield this day and, while it has few events, the published days before it; each event once, on its newest day."""
    days = Snapshot.objects.days().filter(wire_date__lte=day, wire_date__gt=day - dt.timedelta(DAYS)).order_by("-wire_date")
    seen: set[str] = set()
    for one in days.values_list("wire_date", flat=True):
        events = [event for event in list_day_events(one) if event.event_id not in seen]
        seen |= {event.event_id for event in events}
        if events or one == day:
            yield DayEvents(one, events)
        if len(seen) >= ENOUGH:
            return


def category_events(category: Category, limit: int, cursor: str | None = None) -> EventList:
    """Return events with a report in a category, of all days. Raises: InvalidArgument for a strange cursor."""
    rows, total = partial(LIST.rows, category), count_capped(LIST_COUNT, category)
    return _page_events(f"events {category}", rows, lambda story: story.category == category, total, limit, cursor)


def topic_events(topic: Topic, limit: int, cursor: str | None = None) -> EventList:
    """Return events with a report on a topic, of all days. Raises: InvalidArgument for a strange cursor."""
    rows, total = partial(TOPIC.rows, topic, None), count_capped(TOPIC_COUNT, topic, None)
    return _page_events(f"events on {topic}", rows, lambda story: topic in story.topics, total, limit, cursor)


def _page_events(
    name: str,
    list_rows: Callable[..., list[Row]],
    is_listed: Callable[[StoryOut], bool],
    total: tuple[int, bool],
    limit: int,
    cursor: str | None,
) -> EventList:
    """Return the events of a list of stories, each at its newest story in the list; later stories of it are skipped."""
    place, found, size = list_place(name, cursor), list[tuple[EventView, bytes]](), 2 * limit
    while len(found) <= limit:
        rows = list_rows(*place, size)
        jsons = read_json(rows)
        stories = [StoryOut.model_validate_json(json) for json in jsons]
        events = events_by_id({story.event_id for story in stories})
        for json, story in zip(jsons, stories, strict=True):
            place = story.published_at, story.chatbotnews_id
            event = events.get(story.event_id)  # None: it was withdrawn or moved meanwhile
            listed = [report.story for report in event.reports if is_listed(report.story)] if event else []
            first = min(listed, key=lambda one: (-one.published_at.timestamp(), one.chatbotnews_id), default=None)
            if event and first and first.chatbotnews_id == story.chatbotnews_id:
                found.append((event, json))
        if len(rows) < size:
            break
    following = encode(name, place_of(found[limit - 1][1])) if len(found) > limit else None
    return EventList([event for event, _ in found[:limit]], following, *total)


def _is_about(event: EventView, category: Category | None, topic: Topic | None) -> bool:
    stories = [report.story for report in event.reports]
    in_category = category is None or any(story.category == category for story in stories)
    return in_category and (topic is None or any(topic in story.topics for story in stories))


def _to_brief(event: EventView) -> EventBrief:
    return EventBrief(
        event_id=event.event_id,
        lead=None if event.lead.chatbotnews_id == event.event_id else event.lead.chatbotnews_id,
        headline=event.lead.headline,
        publisher=event.lead.original_publisher,
        tier=event.lead.original_publisher_tier,
        published_at=event.lead.published_at,
        agreement=event.agreement,
    )
