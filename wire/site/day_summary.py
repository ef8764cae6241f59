"""The shape of a day in two sentences: how many events, how widely reported, what goes on, what is named most. Pure."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from sources.choices import ROSTER_SIZE
from wire.publishing.event_view import WIDELY, EventView
from wire.text.choices import Topic

BUSY, QUIET = 1.3, 0.7  # times the usual number of stories
FEWEST_DAYS: Final = 7  # published days, from which on there is a usual day
NAMED: Final = 3  # events from which on a topic is worth a word


def describe_day(events: Sequence[EventView], day: dt.date, stories: int, publications: int, stories_before: Sequence[int]) -> str:
    """Return the sentences; `stories_before`: the numbers of stories of the published days of the weeks before."""
    usual = fmean(stories_before) if len(stories_before) >= FEWEST_DAYS else 0
    about = f" about {_format_count(len(events), 'event')}" if len(events) != stories else ""
    counts = f"{_format_count(stories, 'story', 'stories')}{about}"
    found = [f"{counts} from {publications} of {ROSTER_SIZE} publications"]
    if usual >= 1 and stories >= BUSY * usual:
        found.append(f", more stories than the usual {round(usual)}")
    elif usual >= 1 and stories <= QUIET * usual:
        found.append(f", fewer stories than the usual {round(usual)}")
    widely = sum(event.newsrooms >= WIDELY for event in events)
    going_on = sum(event.first.published_at.astimezone(dt.UTC).date() < day for event in events)
    facts = [
        f"{_format_count(widely, 'event')} widely reported" if widely else "",
        f"{_format_count(going_on, 'event')} continued from earlier days" if going_on else "",
    ]
    topic, number = max(Counter(topic for event in events for topic in event.lead.topics).items(), key=_rank, default=(None, 0))
    if topic and number >= NAMED:
        facts.append(f"most frequent topic: {Topic(topic).label} ({_format_count(number, 'event')})")
    if facts := [fact for fact in facts if fact]:
        words = "; ".join(facts)
        found.append(f". {words[0].upper()}{words[1:]}")
    return f"{''.join(found)}."


def _format_count(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or f'{one}s'}"


def _rank(counted: tuple[str, int]) -> tuple[int, str]:
    return counted[1], counted[0]
