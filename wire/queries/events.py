"""Events: everything that was reported about one happening. The unit of the front page, of a day, of a category and of a topic."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.utils import timezone

from config.errors import InvalidArgument, NotFound
from sources.roster import Houses
from wire.models import Event, Snapshot, Story, StoryTopic
from wire.publishing import consensus, event_view
from wire.publishing.event_view import EventView
from wire.publishing.story_json import COLUMNS, read_stories_json
from wire.publishing.trending import Growth, measure_growth
from wire.queries.snapshots import find_snapshot, get_latest_snapshot, is_stale_day
from wire.queries.stories import (
    explain_pin,
    parse_list_cursor,
    read_story_rows,
    resolve_merged_story,
    select_category,
    select_category_ids,
    select_topic_ids,
)
from wire.schemas import build_from
from wire.schemas.params import LIST_LIMIT
from wire.schemas.story import EventBrief, EventsOut, StoryOut, estimate_tokens
from wire.search.cursor import build_cursor_error, count_rows, decode_cursor, encode_cursor, encode_story_position
from wire.text.choices import Category, Status, Topic
from wire.text.filters import Genre, find_genre
from wire.text.identity import is_story_id
from wire.text.plain_text import plain_text
from wire.text.provenance_manifest import to_rfc3339

MOST: Final = 500  # stories of one event that are shown; no event of 24 publications comes near
ENOUGH: Final = 20  # events from which on a day needs no earlier ones below it
MOST_DAYS: Final = 31  # of one list
DAYS: Final = 7  # days, itself included, that a page of a day goes back at most
TRENDING: Final = 20_000  # stories of one window that are looked at; a month has fewer
GROWTH: Final = 0.5  # what the highest growth adds to a score, as a share of what is missing to the highest
_LOT: Final = 500


class EventList(NamedTuple):
    """A page of the events of a category or topic, by their newest story in it, newest first. `total` counts stories."""

    events: list[EventView]
    next_cursor: str | None
    total: int
    total_is_exact: bool


def list_events(
    days: tuple[dt.date, dt.date] | None = None,
    category: Category | None = None,
    topic: Topic | None = None,
    limit: int = LIST_LIMIT,
    cursor: str | None = None,
    now: dt.datetime | None = None,
) -> EventsOut:
    """Return the events of UTC days, first <= day < second (default: the latest published day), in brief, each by the place it has
    among those of its best day; those with a report in the category and on the topic, where given.

    Raises: NotFound, NothingPublished; InvalidArgument for a strange cursor or too long a period.
    """
    published = _list_days_published_between(*days) if days else [get_latest_snapshot(now).wire_date]
    name = f"events {published[0]} {published[-1]} {category or ''} {topic or ''}"
    best: dict[str, tuple[consensus.Key, EventView]] = {}
    for day in published:
        for event in list_day_events(day):
            place = event_view.rank_event(event, day)
            if event.event_id not in best or place < best[event.event_id][0]:
                best[event.event_id] = place, event
    events = left = [
        (place, event)
        for place, event in sorted(best.values(), key=itemgetter(0))
        if category in (None, *(report.story.category for report in event.reports))
        and topic in (None, *(about for report in event.reports for about in report.story.topics))
    ]
    if cursor is not None:
        *figures, last = decode_cursor(cursor, {name: 7})[1]
        if not isinstance(last, str) or not all(isinstance(figure, int | float) for figure in figures):
            raise build_cursor_error()
        left = [(place, event) for place, event in events if place > (*figures, last)]
    found = EventsOut(
        wire_date=published[-1],
        is_stale=days is None and is_stale_day(find_snapshot(published[-1]), now),
        story_url=f"{settings.WIRE_SITE_URL}/story/{{lead}}",
        events=[to_event_brief(event) for _, event in left[:limit]],
        next_cursor=encode_cursor(name, *left[limit - 1][0]) if len(left) > limit else None,
        total=len(events),
        est_tokens=0,
    )
    found.est_tokens = estimate_tokens([found.model_dump_json().encode()])
    return found


def _list_days_published_between(since: dt.date, until: dt.date) -> list[dt.date]:
    """Return the published days with since <= day < until, oldest first. Raises: NotFound, InvalidArgument."""
    if until - since == dt.timedelta(1):
        return [find_snapshot(since).wire_date]
    rows = Snapshot.objects.days().filter(wire_date__gte=since, wire_date__lt=until).order_by("wire_date")
    found = list(rows.values_list("wire_date", flat=True)[: MOST_DAYS + 1])
    if len(found) > MOST_DAYS:
        raise InvalidArgument(
            f"date covers more than {MOST_DAYS} published days.",
            "Give a week or two, or search for words with search_wire (/api/search.json).",
        )
    if not found:
        raise NotFound(
            f"Nothing was published from {since} to {until - dt.timedelta(1)}.",
            f"The newest published day is {get_latest_snapshot().wire_date}. All days are listed at /api/archive.json.",
        )
    return found


def view_event(event_id: str) -> EventView:
    """Return an event with every report: of this id, of the one it was merged into, or of this story. Raises: NotFound."""
    event = find_event(event_id)
    found = find_events_by_id([event.event_id]) if event else {}
    if not found:
        raise NotFound(
            f"There is no event {plain_text(event_id, 40)!r}.",
            explain_pin(event_id) or "Every story names its event_id; list_events (/api/events.json) lists those of a day.",
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
    standing = resolve_merged_story(story) if story else None
    return standing.event if standing and standing.status != Status.WITHDRAWN else None


def find_events_by_id(event_ids: Collection[str]) -> dict[str, EventView]:
    """Return those of these events that have a live story, as pages and answers show them."""
    live = Story.objects.live().filter(event__in=list(event_ids))
    rows = live.order_by("published_at", "chatbotnews_id").values_list(*COLUMNS)
    chosen = set(live.filter(leads_event=True).values_list("chatbotnews_id", flat=True))
    stories: dict[str, list[StoryOut]] = defaultdict(list)
    for story in map(StoryOut.model_validate_json, read_stories_json(rows)):
        if len(stories[story.event_id]) < MOST:
            stories[story.event_id].append(story)
    houses = Houses.load()
    return {event_id: event_view.build_event_view(event_id, reports, houses, chosen) for event_id, reports in stories.items()}


def list_day_events(day: dt.date) -> list[EventView]:
    """Return the events with a story on this UTC day, most widely reported first, with their reports of other days."""
    ids = set(Story.objects.live().on(day).values_list("event_id", flat=True))
    return event_view.sort_by_weight(find_events_by_id(ids).values(), day)


def list_days_down_from(day: dt.date) -> Iterator[tuple[dt.date, list[EventView]]]:
    """Yield this day with its events, most widely reported first, and while they are few the days before; each event once."""
    days = Snapshot.objects.days().filter(wire_date__lte=day, wire_date__gt=day - dt.timedelta(DAYS)).order_by("-wire_date")
    seen: set[str] = set()
    for one in days.values_list("wire_date", flat=True):
        events = [event for event in list_day_events(one) if event.event_id not in seen]
        seen |= {event.event_id for event in events}
        if events or one == day:
            yield one, events
        if len(seen) >= ENOUGH:
            return


def list_category_events(category: Category | None, limit: int, cursor: str | None = None) -> EventList:
    """Return events of all days, with a report in a category where one is given. Raises: InvalidArgument for a strange cursor."""
    total = count_rows(select_category_ids, category)
    return build_event_page(f"events {category}", select_category(category), total, limit, cursor, prefix="")


def list_topic_events(topic: Topic, limit: int, cursor: str | None = None) -> EventList:
    """Return events with a report on a topic, of all days. Raises: InvalidArgument for a strange cursor."""
    total = count_rows(select_topic_ids, topic)
    return build_event_page(f"events on {topic}", StoryTopic.objects.about(topic), total, limit, cursor)


def build_event_page(
    name: str, listed: Any, total: tuple[int, bool], limit: int, cursor: str | None, prefix: str = "story__"
) -> EventList:
    """Return the events of a list of stories, each at its newest story in the list; later stories of it are skipped. `listed`: the
    rows of the list; `prefix` leads from these to the story.
    """
    position, found, size = parse_list_cursor(name, cursor), list[tuple[EventView, bytes]](), 2 * limit
    while len(found) <= limit:
        rows = read_story_rows(listed, position, size, [f"{prefix}{column}" for column in COLUMNS])
        jsons = read_stories_json(rows)
        stories = [StoryOut.model_validate_json(json) for json in jsons]
        events = find_events_by_id({story.event_id for story in stories})
        of_events = listed.filter(**{f"{prefix}event__in": list(events)})
        ids = set(of_events.values_list(f"{prefix}chatbotnews_id", flat=True))
        for json, story in zip(jsons, stories, strict=True):
            position = story.published_at, story.chatbotnews_id
            event = events.get(story.event_id)  # None: it was withdrawn or moved meanwhile
            listed_reports = [report.story for report in event.reports if report.story.chatbotnews_id in ids] if event else []
            first = min(listed_reports, key=lambda one: (-one.published_at.timestamp(), one.chatbotnews_id), default=None)
            if event and first and first.chatbotnews_id == story.chatbotnews_id:
                found.append((event, json))
        if len(rows) < size:
            break
    following = encode_cursor(name, encode_story_position(found[limit - 1][1])) if len(found) > limit else None
    return EventList([event for event, _ in found[:limit]], following, *total)


def to_event_brief(event: EventView) -> EventBrief:
    return build_from(
        EventBrief,
        event.lead,
        event_id=event.event_id,
        lead=None if event.lead.chatbotnews_id == event.event_id else event.lead.chatbotnews_id,
        publisher=event.lead.original_publisher,
        tier=event.lead.original_publisher_tier,
        agreement=event.agreement,
    )


def list_trending_events(
    window: dt.timedelta,
    categories: Iterable[Category] | None = None,
    sort_by: str = "engagement_score",
    limit: int = 50,
    now: dt.datetime | None = None,
) -> tuple[list[dict[str, Any]], str]:
    """Return events with a live story published within `window` before now, in the gateway's shape; highest scores first, or newest
    with `timestamp`. Without any story in that time the window ends with the newest story, and the note says so.
    """
    until = now or timezone.now()
    live = Story.objects.live()
    rows = live.filter(published_at__gt=until - window, published_at__lte=until)
    note = ""
    if not rows.exists():
        newest = live.filter(published_at__lte=until).order_by("-published_at").values_list("published_at", flat=True).first()
        if newest is None:
            return [], "The wire has no story yet."
        until = newest
        rows = live.filter(published_at__gt=newest - window, published_at__lte=newest)
        note = f"The wire has no story from that period, so it ends at the wire's newest story instead, {to_rfc3339(newest)}."
    if categories is not None:
        rows = rows.filter(current__category__in=list(categories))
    ids = list(dict.fromkeys(rows.order_by("-published_at").values_list("event_id", flat=True)[:TRENDING]))
    events: dict[str, list[Story]] = defaultdict(list)
    for begin in range(0, len(ids), _LOT):
        found = live.filter(event_id__in=ids[begin : begin + _LOT]).order_by("published_at", "chatbotnews_id")
        for story in found.with_text():
            events[str(story.event_id)].append(story)
    growth = measure_growth(until - window, until)
    trends = [_to_trend(event_id, stories, growth) for event_id, stories in events.items()]
    trends.sort(key=lambda trend: str(trend["id"]))
    is_by_score = sort_by != "timestamp"
    trends.sort(key=lambda trend: (is_by_score and trend["engagement_score"], trend["timestamp"]), reverse=True)
    return trends[:limit], note


def _to_trend(event_id: str, stories: list[Story], growth: Mapping[int, Growth]) -> dict[str, Any]:
    """Return an event as a trend, named by its founder if that is news; its stories are given oldest first.

    Its score is its consensus, if several stories report it; what grows in it makes up to half of what is missing to 100.
    """
    texts = {story.chatbotnews_id: story.current for story in stories if story.current}
    news = {
        story_id: text
        for (story_id, text), story in zip(texts.items(), stories, strict=True)
        if find_genre(text.headline, story.original_url, text.summary_medium) == Genre.NEWS
    }
    named = event_id if event_id in news else next(iter(news or texts))
    score = max(float(story.consensus_score) for story in stories)
    growing = max((growth[story.pk] for story in stories if story.pk in growth), key=attrgetter("score"), default=None)
    reported = score if len(stories) > 1 else 0.0
    return {
        "id": event_id,
        "topic": texts[named].headline,
        "source": "ChatbotNews.ai",
        "url": f"{settings.WIRE_SITE_URL}/story/{named}",
        "engagement_score": round(100 * (reported + (1 - reported) * GROWTH * growing.score if growing else reported), 1),
        "geographic_origin": None,
        "timestamp": to_rfc3339(stories[0].published_at),
        "language": texts[named].language,
        "metadata": {
            "category": texts[named].category,
            "cross_source_count": max(story.cross_source_count for story in stories),
            "consensus_score": round(score, 2),
            "event_id": event_id,
            "story_ids": list(texts),
            "publishers": list(dict.fromkeys(text.original_publisher for text in texts.values())),
            "growing": None if growing is None else growing._asdict(),
            "untrusted_instructions": any(text.untrusted_instructions for text in texts.values()),
        },
    }
