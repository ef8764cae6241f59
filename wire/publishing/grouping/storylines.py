"""Storylines: events over weeks that belong to one matter, such as the steps of a lawsuit. Pure.

Events are compared by the likeliest two of their stories, and join by average linkage as stories join into events, but over weeks.
What is fixed stays; the machine decides anew as long as an event's first day is open.
"""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from wire.publishing.grouping.candidates import Item, build_feature_table, count_days
from wire.publishing.grouping.linkage import Pairs, link_items
from wire.publishing.grouping.pair_features import ALIKE_VECTORS
from wire.publishing.grouping.pair_model import PairModel, load_models

REACH: Final = dt.timedelta(days=60)  # events that began further apart are not compared with each other
# Stories whose words are less alike, and whose vectors are too, are not compared: nor were they when the weights were fitted.
LEAST_COSINE: Final = 0.1
LEAST: Final = 0.05  # a lower probability that two events belong to one matter counts as none
WITH_VECTORS: Final = "storyline_and_vector"
WITHOUT: Final = "storyline"
_DAY: Final = dt.timedelta(days=1)


def find_storylines(
    items: Sequence[Item],
    fixed: Mapping[str, str],
    fresh: Collection[str] | None = None,
    models: Mapping[str, PairModel] | None = None,
) -> dict[str, str]:
    """Return the storyline of each event that has one: its fixed name, else the id of the storyline's first event.

    `items` are the stories of the events, each with its event_id. Fixed storylines never join each other. With `fresh` only these
    events are compared with those before them: the others were, when they were fresh. `models` are those that ship, unless others
    are measured.
    """
    models = models or load_models()
    stories = sorted(items, key=lambda item: (item.published_at, item.chatbotnews_id))
    began: dict[str, dt.datetime] = {}
    for story in stories:
        began.setdefault(str(story.event_id), story.published_at)
    events = list(began)
    days = np.array([began[event].timestamp() / _DAY.total_seconds() for event in events])
    names = [fixed.get(event) for event in events]
    pairs = _score_events(stories, events, fresh, models)
    found: dict[str, str] = {}
    for places in link_items(pairs, days, names, models[WITH_VECTORS].threshold, float("inf")):
        name = next((name for place in places if (name := names[place])), events[places[0]] if len(places) > 1 else None)
        found |= {events[place]: name for place in places if name}
    return found


def _score_events(
    stories: Sequence[Item], events: Sequence[str], fresh: Collection[str] | None, models: Mapping[str, PairModel]
) -> Pairs:
    """Return the probability that two events belong to one matter: that of the likeliest two of their stories."""
    table, days = build_feature_table(stories), count_days(stories)
    with_vector = np.array([bool(story.vector) for story in stories], bool)
    numbers = {event: number for number, event in enumerate(events)}
    event_of = np.array([numbers[str(story.event_id)] for story in stories], np.intp)
    keys, probabilities = [np.zeros(0, np.intp)], [np.zeros(0)]  # of two events: the lower number times their count, plus the other
    for place, story in enumerate(stories):
        start = int(np.searchsorted(days, days[place] - REACH / _DAY))
        if start == place or (fresh is not None and story.event_id not in fresh):
            continue
        places, features = table.compare(place, start, LEAST_COSINE, ALIKE_VECTORS)
        scores = models[WITHOUT].estimate(features)
        if with_vector[place]:
            scores = np.where(with_vector[places], models[WITH_VECTORS].estimate(features), scores)
        mine, theirs = event_of[place], event_of[places]
        likely = (scores >= LEAST) & (theirs != mine)
        low, high = np.minimum(mine, theirs[likely]), np.maximum(mine, theirs[likely])
        keys.append(low * len(events) + high)
        probabilities.append(scores[likely])
    pairs, rows = np.unique(np.concatenate(keys), return_inverse=True)
    likeliest = np.zeros(len(pairs))
    np.maximum.at(likeliest, rows, np.concatenate(probabilities))
    return Pairs(pairs // max(len(events), 1), pairs % max(len(events), 1), likeliest)
