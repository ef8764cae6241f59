"""A pair of stories among the likely pairs around it: what speaks for the pair and against it. Pure."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from wire.publishing.grouping.linkage import Floats, Ints, Pairs

# Log-odds of a pair's probability, and what `build_context_columns` finds.
CONTEXT: Final = ("log_odds", "competition", "support")
MOST_NEIGHBOURS: Final = 8  # likeliest pairs of a story that are read, so that a day of like headlines stays bounded


def build_context_columns(pairs: Pairs, publications: Ints) -> dict[str, Floats]:
    """Return the columns `CONTEXT` for each pair. `publications` has the number of each story's publication.

    `competition` is how likely each story is one event with another report of the other's publication instead, summed. `support` is
    how likely a third story is one event with both.
    """
    ones, others = np.concatenate([pairs.ones, pairs.others]), np.concatenate([pairs.others, pairs.ones])
    twice = np.tile(pairs.probabilities, 2)
    ranks = rank_within(ones, twice)
    near, shape = ranks < MOST_NEIGHBOURS, (len(publications), MOST_NEIGHBOURS)
    neighbours, likelihoods = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
    neighbours[ones[near], ranks[near]], likelihoods[ones[near], ranks[near]] = others[near], twice[near]
    of_others, of_ones = neighbours[others], neighbours[ones]
    likely_others, likely_ones = likelihoods[others], likelihoods[ones]
    competition, opposed = np.zeros(len(ones)), np.ones(len(ones))
    for column in range(MOST_NEIGHBOURS):
        third, mine = of_ones[:, column], likely_ones[:, column]
        theirs = np.einsum("ij,ij->i", likely_others, of_others == third[:, None])
        is_rival = (publications[third] == publications[others]) & (third != others)
        competition = np.maximum(competition, is_rival * mine * (1 - theirs))
        opposed *= 1 - mine * theirs
    return {
        "log_odds": np.log(pairs.probabilities / (1 - pairs.probabilities)),
        "competition": np.add(*np.split(competition, 2)),
        "support": 1 - opposed[: len(pairs.ones)],
    }


def rank_within(groups: Ints, values: Floats | NDArray[np.float32]) -> Ints:
    """Return the rank of each value in its group, from 0, the largest first and of equals the first."""
    order = np.lexsort((-values, groups))
    ranks = np.zeros(len(values), np.intp)
    ranks[order] = np.arange(len(values)) - np.searchsorted(groups[order], groups[order])
    return ranks
