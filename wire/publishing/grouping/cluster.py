"""Group stories that report the same event, by average linkage of pair probabilities. Pure and deterministic."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from wire.publishing.grouping.candidates import WINDOW, Item, count_days, find_candidates
from wire.publishing.grouping.linkage import Floats, Pairs, link_items
from wire.publishing.grouping.pair_context import build_context_columns
from wire.publishing.grouping.pair_model import PairModel, load_models
from wire.text.numbered_names import have_other_versions

HEADLINES: Final = 2_000  # headlines without one summary, from which they are joined by weights of their own
LEAST: Final = 0.02  # a lower probability counts as none
CONTEXT_MODEL: Final = "context"  # the model by which a pair is estimated once more, among the likely pairs around it
DOUBTFUL: Final = 0.3  # mean probability from which two groups are shown as possibly one event
_DAY: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two stories of different events that may be one, by chatbotnews_id, the earlier first: the likeliest two of their events."""

    story: str
    other: str
    probability: float


@dataclass(frozen=True, slots=True)
class Grouping:
    """The event of each story, by chatbotnews_id, and events that may be one, the likeliest first."""

    events: dict[str, str]
    doubts: list[Doubt]


def group_stories(items: Iterable[Item], models: Mapping[str, PairModel] | None = None) -> Grouping:
    """Group stories into events, named by a fixed event, else by their first story. Fixed events never join each other."""
    models = models or load_models()
    stories = sorted(items, key=lambda item: (item.published_at, item.chatbotnews_id))
    settled = {story.event_id for story in stories}
    fixed = [story.event_id or (story.chatbotnews_id if story.chatbotnews_id in settled else None) for story in stories]
    pairs = score_pairs(stories, models)
    groups = link_items(pairs, count_days(stories), fixed, models[_choose_models(stories)[0]].threshold, WINDOW / _DAY)
    events: dict[str, str] = {}
    for places in groups:
        event_id = next((name for place in places if (name := fixed[place])), stories[places[0]].chatbotnews_id)
        events |= {stories[place].chatbotnews_id: event_id for place in places}
    return Grouping(events, list(_find_doubts(stories, pairs, groups)))


def _find_doubts(stories: Sequence[Item], pairs: Pairs, groups: Sequence[Sequence[int]]) -> Iterator[Doubt]:
    """Yield the likeliest pair of each two groups that are one with a mean probability of `DOUBTFUL` at least."""
    group_of = {place: number for number, places in enumerate(groups) for place in places}
    between: dict[tuple[int, int], list[tuple[float, int, int]]] = defaultdict(list)
    for one, other, probability in zip(pairs.ones.tolist(), pairs.others.tolist(), pairs.probabilities.tolist(), strict=True):
        numbers = sorted((group_of[one], group_of[other]))
        if numbers[0] != numbers[1]:
            between[numbers[0], numbers[1]].append((probability, one, other))
    doubtful = []
    for (first, second), scored in between.items():
        mean = sum(probability for probability, *_ in scored) / (len(groups[first]) * len(groups[second]))
        if mean >= DOUBTFUL:
            _, one, other = max(scored)
            doubtful.append((-mean, one, other))
    for negative, one, other in sorted(doubtful):
        yield Doubt(stories[one].chatbotnews_id, stories[other].chatbotnews_id, round(-negative, 4))


def score_pairs(stories: Sequence[Item], models: Mapping[str, PairModel]) -> Pairs:
    """Return the probability that two stories, which come by (published_at, chatbotnews_id), report one happening."""
    pairs = find_candidates(stories)
    with_summary = np.array([bool(story.summary) for story in stories], bool)
    with_vector = np.array([bool(story.vector) for story in stories], bool)
    has_text = with_summary[pairs.ones] & with_summary[pairs.others]
    has_vector = with_vector[pairs.ones] & with_vector[pairs.others]
    found = np.zeros(len(pairs.ones))
    masks = has_text & has_vector, has_text & ~has_vector, ~has_text & has_vector, ~has_text & ~has_vector
    for name, fits in zip(_choose_models(stories), masks, strict=True):
        if fits.any():
            found[fits] = models[name].estimate({feature: column[fits] for feature, column in pairs.columns.items()})
    for row in np.flatnonzero(found >= LEAST).tolist():
        if have_other_versions(stories[pairs.ones[row]].headline, stories[pairs.others[row]].headline):
            found[row] = 0.0  # GPT-5.3 is not GPT-5.4
    likely = found >= LEAST
    scored = Pairs(pairs.ones[likely], pairs.others[likely], found[likely])
    if _are_headlines_only(stories):
        return scored
    return replace(scored, probabilities=models[CONTEXT_MODEL].estimate(describe_pairs(scored, stories)))


def describe_pairs(pairs: Pairs, stories: Sequence[Item]) -> dict[str, Floats]:
    """Return the columns of `pair_context`. A story without a publication competes with none."""
    _, publications = np.unique([story.publisher or story.chatbotnews_id for story in stories], return_inverse=True)
    return build_context_columns(pairs, publications)


def _are_headlines_only(stories: Sequence[Item]) -> bool:
    # Of thousands of headlines without one summary, as of an aggregator of all news, each event has dozens of reports.
    return len(stories) >= HEADLINES and not any(story.summary for story in stories)


def _choose_models(stories: Sequence[Item]) -> tuple[str, str, str, str]:
    """Return the models of pairs with summaries and vectors, with summaries alone, with vectors alone, and with neither."""
    if _are_headlines_only(stories):
        return "headlines_and_vector", "headlines", "headlines_and_vector", "headlines"
    return "text_and_vector", "text", "title_and_vector", "title"
