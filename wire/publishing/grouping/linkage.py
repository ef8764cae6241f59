"""Average linkage: groups grow by joining the two that are most alike on average, until none are alike enough. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FORBIDDEN: Final = -1.0
# Items of one component that are linked at once, in 100 MB; a larger one is linked in runs, and then the groups of its runs.
LARGEST: Final = 5_000
ROUNDING: Final = 1e-6  # means are of single precision


@dataclass(frozen=True, slots=True)
class Pairs:
    """Probabilities that two items are of one group. Each pair stands once, and those that are missing have 0."""

    ones: Ints
    others: Ints
    probabilities: Floats


def link_items(pairs: Pairs, days: Floats, fixed: Sequence[str | None], threshold: float, span: float) -> list[list[int]]:
    """Return the groups of items, each as their places in ascending order.

    Two groups join while the mean probability of their pairs is at least `threshold`. No group grows beyond `span` days. Items with
    the same `fixed` name begin as one group; two such groups never join. Of equals, those with the lowest places join first.
    """
    first: dict[str, int] = {}  # a head is the first item with the same fixed name, or the item itself
    heads = [place if name is None else first.setdefault(name, place) for place, name in enumerate(fixed)]
    groups: list[list[int]] = []
    # Two groups with a mean of `threshold` have a pair of that, so nothing joins across components.
    for component in _split_components(pairs, heads, threshold - ROUNDING):
        if len(component) == 1:
            groups.append(component)
            continue
        runs = [component[start : start + LARGEST] for start in range(0, len(component), LARGEST)]
        linked = [group for run in runs for group in _Linkage(run, heads, pairs, days, fixed, span).join(threshold)]
        if len(runs) > 1 and len(linked) <= LARGEST:
            for group in linked:
                for place in group:
                    heads[place] = group[0]
            linked = _Linkage(component, heads, pairs, days, fixed, span).join(threshold)
        groups += linked
    return groups


class _Linkage:
    """Groups of one component. `_alike` has the mean probability of each two, `_most` no less than the largest of each row."""

    def __init__(
        self, places: Sequence[int], heads: Sequence[int], pairs: Pairs, days: Floats, fixed: Sequence[str | None], span: float
    ) -> None:
        rows = {head: row for row, head in enumerate(dict.fromkeys(heads[place] for place in places))}
        row_of = np.full(len(heads), -1, np.intp)
        self._groups: list[list[int]] = [[] for _ in rows]
        for place in places:
            row_of[place] = rows[heads[place]]
            self._groups[row_of[place]].append(place)
        self._sizes = np.array([len(group) for group in self._groups], float)
        self._first = np.array([days[group].min() for group in self._groups])
        self._last = np.array([days[group].max() for group in self._groups])
        self._fixed = np.array([any(fixed[place] for place in group) for group in self._groups], bool)
        self._span = span
        ones, others = row_of[pairs.ones], row_of[pairs.others]
        inside = (ones >= 0) & (others >= 0)
        self._alike = np.zeros((len(rows), len(rows)), np.float32)
        for one, other in ((ones[inside], others[inside]), (others[inside], ones[inside])):
            np.add.at(self._alike, (one, other), pairs.probabilities[inside].astype(np.float32))
        self._alike /= self._sizes[:, None].astype(np.float32)
        self._alike /= self._sizes.astype(np.float32)
        for row in range(len(rows)):
            self._forbid_joins(row)
        self._most = self._alike.max(axis=1)

    def join(self, threshold: float) -> list[list[int]]:
        while True:
            one = int(self._most.argmax())
            if self._most[one] < threshold:
                return [sorted(group) for group in self._groups if group]
            other = int(self._alike[one].argmax())
            if self._alike[one, other] < self._most[one]:
                self._most[one] = self._alike[one, other]  # a join made it smaller, as a mean can only become
            else:
                self._merge_groups(one, other)

    def _merge_groups(self, one: int, other: int) -> None:
        alike, sizes = self._alike, self._sizes
        barred = (alike[one] < 0) | (alike[other] < 0)
        mean = (sizes[one] * alike[one] + sizes[other] * alike[other]) / (sizes[one] + sizes[other])
        alike[one] = alike[:, one] = np.where(barred, FORBIDDEN, mean)
        alike[other] = alike[:, other] = self._most[other] = FORBIDDEN
        self._groups[one] += self._groups[other]
        self._groups[other] = []
        sizes[one] += sizes[other]
        self._first[one], self._last[one] = min(self._first[one], self._first[other]), max(self._last[one], self._last[other])
        self._fixed[one] |= self._fixed[other]
        self._forbid_joins(one)
        self._most[one] = alike[one].max()

    def _forbid_joins(self, row: int) -> None:
        """Bar a group from those with which it may not join, itself among them."""
        spans = np.maximum(self._last, self._last[row]) - np.minimum(self._first, self._first[row])
        barred = (spans > self._span) | (self._fixed & self._fixed[row])
        barred[row] = True
        self._alike[row, barred] = self._alike[barred, row] = FORBIDDEN


def _split_components(pairs: Pairs, heads: Sequence[int], least: float) -> Iterator[list[int]]:
    """Yield the items that hang together by pairs with at least the probability `least` or by their fixed names."""
    labels, likely = np.array(heads, np.intp), pairs.probabilities >= least
    ones, others = labels[pairs.ones[likely]], labels[pairs.others[likely]]
    while (labels[ones] != labels[others]).any():  # the lower label of two goes over to the other, and what that leads to with it
        np.minimum.at(labels, labels[ones], labels[others])
        np.minimum.at(labels, labels[others], labels[ones])
        while (labels[labels] != labels).any():
            labels = labels[labels]
    components: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(labels.tolist()):
        components[label].append(place)
    yield from components.values()
