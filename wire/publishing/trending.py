"""Growth: which topics, names and storylines have more of a time's stories than of the weeks before it."""

import datetime as dt
import math
import re
from collections import Counter, defaultdict
from typing import Final, NamedTuple

from wire.models import Story
from wire.text.choices import Topic

PAST: Final = dt.timedelta(weeks=4)  # at least; never less than the time that is looked at
LEAST: Final = 3  # stories, by two publications, below which a thing does not grow
SURE: Final = 2.0  # deviations (of counts, by Poisson) above the expected, from which it does
STEADY: Final = 4.0  # deviations that make some 63 % of the highest growth
MOST: Final = 20_000  # stories that are counted
TITLE_CASE: Final = 0.6  # share of words with a capital above which capitals tell no names
_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][\w’'-]*\w(?: (?:[A-Z][\w’'-]*\w|\d[\w.-]*))*")
_NO_NAMES: Final = frozenset(("AI", "CEO", "US", "UK", "EU", "LLM", "LLMs", "API", "GPU", "GPUs"))


class Growth(NamedTuple):
    """`score` is 0 to 1; `expected` is how many stories there would be at the share of the weeks before."""

    kind: str
    name: str
    stories: int
    expected: float
    score: float


Thing = tuple[str, str]  # kind and name


def measure_growth(since: dt.datetime, until: dt.datetime) -> dict[int, Growth]:
    """Return what grows most in each story published after `since` and up to `until`, by its key; stories in which nothing does are
    left out.
    """
    growing, things = _count_things(since, until)
    by_story = {story: [growing[thing] for thing in found if thing in growing] for story, found in things.items()}
    # Of equals the one of fewest stories, which says most of a story.
    return {
        story: max(growths, key=lambda one: (one.score, -one.stories, one.name)) for story, growths in by_story.items() if growths
    }


def list_growing_names(since: dt.datetime, until: dt.datetime) -> list[Growth]:
    """Return names with more of the stories published after `since` and up to `until` than before; what grows most first."""
    growths = [growth for (kind, _), growth in _count_things(since, until)[0].items() if kind == "name"]
    return sorted(growths, key=lambda one: (-one.score, -one.stories, one.name))


def _count_things(since: dt.datetime, until: dt.datetime) -> tuple[dict[Thing, Growth], dict[int, list[Thing]]]:
    """Return what grows, and the things in each story. Shares are compared, not counts, so that a wire with more feeds than before
    has not grown by that.
    """
    rows = Story.objects.live().filter(published_at__gt=since - max(PAST, until - since), published_at__lte=until)
    columns = ("pk", "published_at", "current__original_publisher", "event__storyline_id", "current__headline")
    topics = defaultdict[int, list[str]](list)
    for story, topic in rows.values_list("pk", "story_topics__topic").exclude(story_topics__topic=None):
        topics[story].append(topic)
    now, past, publishers = Counter[Thing](), Counter[Thing](), defaultdict[Thing, set[str]](set)
    things, totals = dict[int, list[Thing]](), Counter[bool]()
    newest = rows.order_by("-published_at").values_list(*columns, "current__summary_medium")[:MOST]
    for story, moment, publisher, storyline, headline, summary in newest.iterator(2_000):
        found = [
            *(("topic", Topic(topic).label) for topic in topics[story]),
            *(("name", name) for name in find_capitalised_names(headline, summary)),
        ]
        found += [("storyline", storyline)] if storyline else []
        totals[moment > since] += 1
        if moment <= since:
            past.update(found)
            continue
        things[story] = found
        now.update(found)
        for thing in found:
            publishers[thing].add(publisher)
    if not totals[False]:
        return {}, {}  # nothing to compare with
    growing = {}
    for thing, count in now.items():
        expected = past[thing] * totals[True] / totals[False]
        deviations = (count - expected) / math.sqrt(max(expected, 1.0))
        if count >= LEAST and len(publishers[thing]) > 1 and deviations >= SURE:
            growing[thing] = Growth(*thing, count, round(expected, 1), round(1 - math.exp(-deviations / STEADY), 3))
    return growing, things


def find_capitalised_names(headline: str, summary: str) -> set[str]:
    """Return what is written with capitals within a sentence; of headlines in title case nothing."""
    names = set[str]()
    for text in (headline, summary):
        words = text.split()
        if sum(word[0].isupper() for word in words) <= TITLE_CASE * len(words):
            names.update(re.sub(r"['’]s$", "", name[0]) for name in _NAME.finditer(text))
    return names - _NO_NAMES
