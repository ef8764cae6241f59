"""Queries of one event and its storyline: events over weeks, each a consequence of, or the next step after, an earlier one."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from django.conf import settings
from django.db.models import Max, Min

from config.errors import NotFound
from wire.models import Event, Story, StoryPair
from wire.publishing.event_view import EventView, find_most_reported
from wire.publishing.grouping.cluster import DOUBTFUL
from wire.publishing.grouping.storyline_store import sort_events
from wire.queries.events import find_event, find_events_by_id, view_event
from wire.queries.site_pages import list_not_received
from wire.queries.stories import explain_pin
from wire.schemas import build_from
from wire.schemas import story as schemas
from wire.schemas.params import LIST_LIMIT
from wire.search.cursor import decode_cursor, encode_cursor
from wire.text.identity import is_story_id
from wire.text.plain_text import plain_text


def get_event(event_id: str) -> schemas.EventOut:
    """Return an event and its place in a storyline; by its id, that of an event merged into it, or a story's. Raises: NotFound."""
    event = view_event(event_id)
    storyline_id, earlier, later = find_storyline_neighbours(event.event_id)
    return build_from(
        schemas.EventOut,
        event,
        permalink=f"{settings.WIRE_SITE_URL}/event/{event.event_id}",
        lead=event.lead.chatbotnews_id,
        headline=event.lead.headline,
        cross_source_count=event.count,
        consensus_score=event.score,
        first_reported=build_from(schemas.FirstReport, event.first, certain=event.is_first_known),
        latest_report_at=event.latest.published_at,
        not_received=list_not_received([report.story.published_at for report in event.reports]),
        reports=[
            build_from(
                schemas.ReportOut,
                report.story,
                independent=report.independent,
                is_copy=report.is_copy,
                genre=report.genre,
                layered_ready=report.story.citation_objects.layered_ready if report.story.citation_objects else "",
            )
            for report in event.reports
        ],
        storyline_id=storyline_id,
        earlier=earlier,
        later=later,
        possibly_same=list_possible_duplicates(event),
    )


def get_storyline(event_id: str, limit: int = LIST_LIMIT, cursor: str | None = None) -> schemas.StorylineOut:
    """Return the events of a storyline, oldest first, by its id or that of any of its events or stories. An event without others
    around it is a storyline of its own. Raises: NotFound, InvalidArgument for a strange cursor.
    """
    return _read_storyline(event_id, limit, cursor)[0]


def view_storyline(event_id: str) -> tuple[schemas.StorylineOut, Sequence[EventView]]:
    """Return all of `get_storyline`, with its events as pages show them. Raises: NotFound."""
    found, views = _read_storyline(event_id, limit=1_000)
    return found, [views[chapter.event_id] for chapter in found.events]


def _read_storyline(event_id: str, limit: int, cursor: str | None = None) -> tuple[schemas.StorylineOut, Mapping[str, EventView]]:
    event = find_event(event_id)
    if event is None and is_story_id(event_id):  # an event of a storyline that has no live story any more
        event = Event.objects.filter(pk=event_id).exclude(storyline=None).first()
    chapters = list_storyline_events(event) if event else []
    if event is None or not chapters:
        raise NotFound(
            f"There is no storyline {plain_text(event_id, 40)!r}.",
            explain_pin(event_id) or "get_event and /api/events/{id}.json give the storyline_id of an event that belongs to one.",
        )
    storyline_id = event.storyline_id or event.event_id
    name = f"storyline {storyline_id}"
    start = decode_cursor(cursor, {name: 1})[1][0] if cursor else 0
    shown = chapters[start : start + limit]
    views = find_events_by_id(chapters)
    found = schemas.StorylineOut(
        storyline_id=storyline_id,
        permalink=f"{settings.WIRE_SITE_URL}/storyline/{storyline_id}",
        headline=find_most_reported(views.values()).lead.headline,
        first_at=views[chapters[0]].first.published_at,
        latest_at=max(view.latest.published_at for view in views.values()),
        events=[
            schemas.StorylineEvent(event_id=chapter, line=cited.inline_ready)
            for chapter in shown
            if (cited := views[chapter].lead.citation_objects)  # a live story has them
        ],
        next_cursor=encode_cursor(name, start + limit) if start + limit < len(chapters) else None,
        total=len(chapters),
        est_tokens=0,
    )
    found.est_tokens = schemas.estimate_tokens([found.model_dump_json().encode()])
    return found, views


def list_storyline_events(event: Event) -> list[str]:
    """Return the ids of the events of an event's storyline that have a live story, oldest first."""
    events = {"event__storyline": event.storyline_id} if event.storyline_id else {"event": event.event_id}
    return sort_events(Story.objects.live().filter(**events))


def find_headline_events(storyline_ids: Collection[str]) -> dict[str, str]:
    """Return the storylines among these that have several events with a live story, each with its `find_most_reported` event."""
    live = Story.objects.live().filter(event__storyline__in=storyline_ids).order_by()
    rows = live.values_list("event__storyline", "event").annotate(Max("cross_source_count"), Min("published_at"))
    chapters: dict[str, list[tuple[int, dt.datetime, str]]] = defaultdict(list)
    for storyline_id, event_id, sources, began in rows:
        chapters[storyline_id].append((sources, began, event_id))
    return {storyline_id: max(events)[2] for storyline_id, events in chapters.items() if len(events) > 1}


def find_storyline_neighbours(event_id: str) -> tuple[str | None, schemas.EventLink | None, schemas.EventLink | None]:
    """Return an event's storyline_id, and the events of the storyline before and after it."""
    event = Event.objects.filter(event_id=event_id).exclude(storyline=None).first()
    if event is None:
        return None, None, None
    chapters = list_storyline_events(event)
    place = chapters.index(event_id)
    near = [chapters[at] if 0 <= at < len(chapters) else None for at in (place - 1, place + 1)]
    views = find_events_by_id([chapter for chapter in near if chapter])
    earlier, later = (_to_event_link(views[chapter]) if chapter else None for chapter in near)
    return (event.storyline_id, earlier, later) if earlier or later else (None, None, None)


def list_possible_duplicates(event: EventView) -> list[schemas.EventLink]:
    """Return other events that may be the same happening, the likeliest first. They count in no score."""
    ids = [report.story.chatbotnews_id for report in event.reports]
    columns = ("story__event", "other__event", "probability")
    undecided = StoryPair.objects.waiting().filter(probability__gte=DOUBTFUL)
    rows = (undecided.filter(**{f"{side}__chatbotnews_id__in": ids}).values_list(*columns) for side in ("story", "other"))
    likeliest: dict[str, float] = {}
    for one, other, probability in chain.from_iterable(rows):
        theirs = other if one == event.event_id else one
        if theirs != event.event_id:
            likeliest[theirs] = max(probability, likeliest.get(theirs, 0.0))
    views = find_events_by_id(likeliest)
    ranked = sorted(views, key=lambda theirs: (-likeliest[theirs], theirs))
    return [_to_event_link(views[theirs], round(likeliest[theirs], 2)) for theirs in ranked]


def _to_event_link(event: EventView, probability: float | None = None) -> schemas.EventLink:
    names = {"event_id": event.event_id, "publisher": event.lead.original_publisher}
    return build_from(schemas.EventLink, event.lead, **names, probability=probability)
