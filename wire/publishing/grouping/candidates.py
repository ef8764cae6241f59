"""Candidates for being one event: pairs of stories near in time and somewhat alike, with features, also of their rivals."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from wire.publishing.grouping.linkage import Floats, Ints
from wire.publishing.grouping.pair_context import rank_within
from wire.publishing.grouping.pair_features import FEATURES, FeatureTable, extract_terms

WINDOW: Final = dt.timedelta(days=4)  # reports of one event never lie further apart
# Pairs below both are of different events: of 388 pairs of one event that readers found, none.
LEAST_COSINE: Final = 0.06
LEAST_VECTOR_COSINE: Final = 0.86
MOST_EARLIER: Final = 120  # candidates of a story before it, the most alike, so that a day of like headlines stays bounded
# How alike a story's likest other is on a usual day: below, a pair ranks no better than second.
USUAL: Final = {"text": 0.15, "vector": 0.87}
RIVAL: Final = 0.12  # text cosine from which another story is a rival of a pair's
HALF: Final = np.dtype("<f2")
COLUMNS: Final = (*FEATURES, "text_rank", "vector_rank", "rivals")
# Columns that say nothing where a story has no vector.
OF_VECTORS: Final = frozenset({"vector_cosine", "vector_cosine_above_0.87", "cosine_product", "vector_rank"})
_DAY: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Item:
    """A story as grouping sees it. `event_id` is set where its event is settled; whoever founded that belongs to it too.

    `vector` has little-endian halves, as `StoryVector` stores them; empty where there is none.
    """

    chatbotnews_id: str
    headline: str
    published_at: dt.datetime
    event_id: str | None = None
    summary: str = ""
    publisher: str = ""
    vector: bytes = b""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of places, `ones` before `others`, and a row of `COLUMNS` for each."""

    ones: Ints
    others: Ints
    columns: dict[str, NDArray[np.float32]]


def find_candidates(stories: Sequence[Item]) -> Candidates:
    """Return the candidates among stories that come by (published_at, chatbotnews_id)."""
    table, days = build_feature_table(stories), count_days(stories)
    ones, others = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    columns: dict[str, list[NDArray[np.float32]]] = {name: [np.zeros(0, np.float32)] for name in FEATURES}
    for place in range(1, len(stories)):
        start = int(np.searchsorted(days, days[place] - WINDOW / _DAY))
        places, features = table.compare(place, start, LEAST_COSINE, LEAST_VECTOR_COSINE)
        if len(places) > MOST_EARLIER:
            likeness = features["text_cosine"] + features["vector_cosine"]
            chosen = np.sort(np.argsort(-likeness, kind="stable")[:MOST_EARLIER])
            places, features = places[chosen], {name: column[chosen] for name, column in features.items()}
        ones.append(places)
        others.append(np.full(len(places), place, np.intp))
        for name in FEATURES:
            columns[name].append(features[name].astype(np.float32))
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    pairs = Candidates(np.concatenate(ones), np.concatenate(others), joined)
    _add_context_columns(pairs, len(stories))
    return pairs


def build_feature_table(stories: Sequence[Item]) -> FeatureTable:
    terms = [extract_terms(story.headline, story.summary) for story in stories]
    # Zeros where a story has no vector, or one of another size than the first.
    size = next((len(story.vector) for story in stories if story.vector), 0)
    joined = b"".join(story.vector if len(story.vector) == size else bytes(size) for story in stories)
    vectors = np.frombuffer(joined, HALF).astype(np.float32).reshape(len(stories), size // HALF.itemsize)
    return FeatureTable(terms, [story.publisher for story in stories], count_days(stories), vectors)


def _add_context_columns(pairs: Candidates, stories: int) -> None:
    columns, both = pairs.columns, np.concatenate([pairs.ones, pairs.others])
    for kind, choose in (("text", np.maximum), ("vector", np.minimum)):
        likeness = np.tile(columns[f"{kind}_cosine"], 2)
        ranks = rank_within(both, likeness) + (likeness < USUAL[kind])
        columns[f"{kind}_rank"] = (1 / (1 + choose(*np.split(ranks, 2)))).astype(np.float32)
    near = np.tile(columns["text_cosine"] > RIVAL, 2)
    rivals = np.bincount(both[near], minlength=stories)
    columns["rivals"] = np.log1p(np.maximum(rivals[pairs.ones], rivals[pairs.others])).astype(np.float32)


def count_days(stories: Sequence[Item]) -> Floats:
    return np.array([story.published_at.timestamp() / _DAY.total_seconds() for story in stories])
