"""Which report stands for an event, and which event leads a day: one rule for the pages and for the day's brief. Pure."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from sources.vocabulary import Tier
from wire.publishing.consensus import Report, similarity
from wire.text.vocabulary import Category

FAINT: Final = 0.3  # under a lower consensus, two reports are as often of two happenings as of one
TYPICAL: Final = 0.9

Key = tuple[float | str, ...]


def rank_reports(reports: Sequence[Report], quotable: Sequence[bool]) -> list[Key]:
    """Return a key of each report; the least is of the one that stands for the event: of what may be quoted news before other
    genres, newsrooms before makers, then typical headlines, then by tier, then the earliest.
    """
    # Typical is about as like all others as the one most like them. An early report often tells of something beside the event
    # ("Claude 4.1 dominates tests days before GPT-5 arrives").
    likeness = [sum(similarity(one.headline, other.headline) for other in reports) for one in reports]
    return [
        (
            not is_quotable,
            not one.is_news,
            one.tier == Tier.CORPORATE,
            total < TYPICAL * max(likeness),
            one.tier,
            one.published_at.timestamp(),
            one.chatbotnews_id,
        )
        for one, is_quotable, total in zip(reports, quotable, likeness, strict=True)
    ]


def rank_event(
    day: dt.date,
    *,
    newsrooms: int,
    that_day: int,
    score: float,
    began: dt.datetime,
    latest: dt.datetime,
    is_news: bool,
    category: str,
    has_topics: bool,
    event_id: str,
) -> Key:
    """Return an event's key; the least is of the one that leads a UTC day: by how many of its `newsrooms` reported it `that_day`,
    what began earlier after what is new, then by how widely it is reported in all, news on a tracked topic before analysis and the
    rest, then the newest of that day. One newsroom's report, a maker's own post and reports that hardly agree stand alike. Events
    of which the day has no news report (`is_news`) come last.
    """
    newest, in_all = (max(min(that_day, newsrooms), 1), max(newsrooms, 1)) if score >= FAINT else (1, 1)
    is_old = began.astimezone(dt.UTC).date() < day - dt.timedelta(days=1)
    is_aside = category == Category.ANALYSIS or not has_topics
    place = -newest if is_news else 0
    return place, is_old, -in_all, -score if score >= FAINT else 0.0, is_aside, -latest.timestamp(), event_id
