"""A pair of stories among the likely pairs around it: what speaks for the pair and against it. Pure."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from wire.publishing.grouping.linkage import Floats, Ints, Pairs

# Log-odds of a pair's probability, and what `read_context` finds.
CONTEXT: Final = ("log_odds", "competition", "support")
MOST_NEIGHBOURS: Final = 8  # likeliest pairs of a story that may support others, so that a day of like headlines stays bounded


def read_context(pairs: Pairs, publications: Ints) -> dict[str, Floats]:
    """Return the columns `CONTEXT` for each pair. `publications` has the number of each story's publication.

    A publication reports an event once: `competition` is how likely each story is one event with another report of the other's
    publication, summed. `support` is how likely any third story is one event with both.
    """
    ones, others = np.concatenate([pairs.ones, pairs.others]), np.concatenate([pairs.others, pairs.ones])
    twice = np.tile(pairs.probabilities, 2)
    _, likeliest_other = rank_within(ones * (publications.max(initial=0) + 1) + publications[others], twice)
    ranks, _ = rank_within(ones, twice)
    stories, near = len(publications), ranks < MOST_NEIGHBOURS
    neighbours = np.full((stories, MOST_NEIGHBOURS), -1, np.intp)
    likelihoods = np.zeros((stories, MOST_NEIGHBOURS))
    neighbours[ones[near], ranks[near]], likelihoods[ones[near], ranks[near]] = others[near], twice[near]
    opposed = np.ones(len(pairs.ones))
    for column in range(MOST_NEIGHBOURS):
        is_common = neighbours[pairs.others] == neighbours[pairs.ones, column, None]
        both = likelihoods[pairs.ones, column] * (likelihoods[pairs.others] * is_common).sum(axis=1)
        opposed *= 1 - both
    return {
        "log_odds": np.log(pairs.probabilities / (1 - pairs.probabilities)),
        "competition": np.add(*np.split(likeliest_other, 2)),
        "support": 1 - opposed,
    }


def rank_within(groups: Ints, values: Floats | NDArray[np.float32]) -> tuple[Ints, Floats]:
    """Return the rank of each value in its group, from 0, the largest first and of equals the first; and the largest of the
    group's other values, 0 if it has none.
    """
    size = len(values)
    order = np.lexsort((-values, groups))
    ordered, names = np.append(values[order], 0.0), np.append(groups[order], -1)
    begins = np.searchsorted(names[:size], names[:size])
    ranks, rest = np.zeros(size, np.intp), np.zeros(size)
    ranks[order] = np.arange(size) - begins
    second = np.where(names[begins + 1] == names[:size], ordered[begins + 1], 0.0)
    rest[order] = np.where(ranks[order] == 0, second, ordered[begins])
    return ranks, rest
