"""Which report stands for an event, and which event leads a day: one rule for the pages and for the day's brief. Pure."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from sources.vocabulary import Tier
from wire.snapshots.consensus import similarity
from wire.stories.roundups import is_roundup
from wire.stories.vocabulary import Category

FAINT: Final = 0.3  # under a lower consensus, two reports are as often of two happenings as of one

TYPICAL: Final = 0.9

Key = tuple[float | str, ...]


def of_report(*, quotable: bool, is_typical: bool, tier: int, published_at: dt.datetime, story_id: str) -> Key:
    """Sorts the report first that stands for its event: of what may be quoted newsrooms before makers, then those whose headline is
    `typical`, then by tier, then the earliest.
    """
    return not quotable, tier == Tier.CORPORATE, not is_typical, tier, published_at.timestamp(), story_id


def typical(headlines: Sequence[str]) -> list[bool]:
    """Whether each headline of an event is about as like all others as the one that is most like them. An early report often tells
    of something beside the event ("Claude 4.1 dominates tests days before GPT-5 arrives").
    """
    likeness = [sum(similarity(one, other) for other in headlines) for one in headlines]
    return [sum_ >= TYPICAL * max(likeness) for sum_ in likeness]


def of_event(
    day: dt.date,
    *,
    newsrooms: int,
    that_day: int,
    score: float,
    began: dt.datetime,
    latest: dt.datetime,
    headline: str,
    category: str,
    has_topics: bool,
    event_id: str,
) -> Key:
    """Sorts the event first that leads a UTC day: by how many of its `newsrooms` reported it `that_day`, what began earlier after
    what is new, then by how widely it is reported in all, news on a tracked topic before analysis and the rest, round-ups last,
    then the newest of that day. One newsroom's report, a maker's own post and reports that hardly agree stand alike.
    """
    newest, in_all = (max(min(that_day, newsrooms), 1), max(newsrooms, 1)) if score >= FAINT else (1, 1)
    is_old = began.astimezone(dt.UTC).date() < day - dt.timedelta(days=1)
    is_aside = is_roundup(headline) + (category == Category.ANALYSIS or not has_topics)
    return -newest, is_old, -in_all, -score if score >= FAINT else 0.0, is_aside, -latest.timestamp(), event_id
