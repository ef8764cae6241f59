"""Samples of labelled headlines."""

import random
from collections import defaultdict
from collections.abc import Sequence

from wire.evaluate import Row


def small_events(rows: Sequence[Row], seed: int, *, events_at_most: int = 60, stories_at_most: int = 6) -> list[Row]:
    """A sample in which every event has one to six stories, as most events of a day have; the same for the same seed."""
    pick = random.Random(seed)
    by_event: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_event[row["event"]].append(row)
    chosen = sorted(by_event)
    pick.shuffle(chosen)
    return [
        row
        for event in chosen[:events_at_most]
        for row in pick.sample(by_event[event], min(len(by_event[event]), pick.randint(1, stories_at_most)))
    ]
