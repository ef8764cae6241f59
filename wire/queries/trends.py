"""Trends: the events of a window of time that newsrooms report most."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from wire.models import Story
from wire.schemas.story import TrendMetaOut, TrendOut, TrendsOut
from wire.text.filters import Genre, find_genre
from wire.text.provenance import timestamp
from wire.text.vocabulary import Category

SOURCE: Final = "ChatbotNews.ai"
MOST: Final = 20_000  # stories of one window that are looked at; a week has fewer
_LOT: Final = 500
_COLUMNS: Final = (
    *("chatbotnews_id", "event_id", "published_at", "consensus_score", "cross_source_count", "current__headline"),
    *("current__category", "current__original_publisher", "current__language", "current__untrusted_instructions"),
    *("original_url", "current__summary_medium"),
)


def list_trends(
    window: dt.timedelta,
    categories: Iterable[Category] | None = None,
    sort_by: str = "engagement_score",
    limit: int = 50,
    now: dt.datetime | None = None,
) -> TrendsOut:
    """Return events with a live story published within `window` before now, most reported first, or newest first with `timestamp`.
    Without any story in that time the window ends with the newest story, and the note says so.
    """
    until = now or timezone.now()
    live = Story.objects.live()
    rows = live.filter(published_at__gt=until - window, published_at__lte=until)
    note = ""
    if not rows.exists():
        newest = live.filter(published_at__lte=until).order_by("-published_at").values_list("published_at", flat=True).first()
        if newest is None:
            return TrendsOut(trends=[], note="The wire has no story yet.")
        until = newest
        rows = live.filter(published_at__gt=until - window, published_at__lte=until)
        note = f"The wire has no story of this time; its newest is of {timestamp(newest)}, where the window ends instead."
    if categories is not None:
        rows = rows.filter(current__category__in=[str(one.value) for one in categories])
    ids = list(dict.fromkeys(rows.order_by("-published_at").values_list("event_id", flat=True)[:MOST]))
    events: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for begin in range(0, len(ids), _LOT):
        found = live.filter(event_id__in=ids[begin : begin + _LOT]).order_by("published_at", "chatbotnews_id")
        for row in found.values_list(*_COLUMNS):
            events[row[1]].append(row)
    trends = [_to_trend(event_id, stories) for event_id, stories in events.items()]
    if sort_by == "timestamp":
        trends.sort(key=lambda one: (-one.timestamp.timestamp(), one.id))
    else:
        trends.sort(key=lambda one: (-one.engagement_score, -one.timestamp.timestamp(), one.id))
    return TrendsOut(trends=trends[:limit], note=note)


def _to_trend(event_id: str, stories: list[tuple[Any, ...]]) -> TrendOut:
    """Return an event as a trend, named by its founder if that is news; its stories are given oldest first."""
    news = [row for row in stories if find_genre(row[5], row[10], row[11]) == Genre.NEWS] or stories
    founder = next((row for row in news if row[0] == event_id), news[0])
    score = max(float(row[3]) for row in stories)
    return TrendOut(
        id=event_id,
        topic=founder[5],
        source=SOURCE,
        url=f"{settings.WIRE_SITE_URL}/story/{founder[0]}",
        engagement_score=round(100 * score, 1) if len(stories) > 1 else 0.0,
        geographic_origin=None,
        timestamp=stories[0][2],
        language=founder[8],
        metadata=TrendMetaOut(
            category=founder[6],
            cross_source_count=max(int(row[4]) for row in stories),
            consensus_score=round(score, 2),
            event_id=event_id,
            story_ids=[str(row[0]) for row in stories],
            publishers=list(dict.fromkeys(str(row[7]) for row in stories)),
            untrusted_instructions=any(bool(row[9]) for row in stories),
        ),
    )
