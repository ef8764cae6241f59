"""Figures of events on labelled stories: grouped at once, or day by day as ingest and publish do it. Pure."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from wire.publishing.grouping import cluster
from wire.publishing.grouping.candidates import WINDOW, Item
from wire.publishing.grouping.pair_model import PairModel

Figures = dict[str, float]

DAYS_OPEN: Final = 3  # UTC days that are not final when a day is published at its end: that day and two before (72 hours)


def replay_days(items: Sequence[Item], models: Mapping[str, PairModel] | None = None) -> dict[str, str]:
    """Return the event of each story as the wire shows it at last, when each UTC day is published at its end."""
    by_day: dict[dt.date, list[Item]] = defaultdict(list)
    for item in items:
        by_day[item.published_at.date()].append(item)
    events: dict[str, str] = {}
    for day in sorted(by_day):
        open_from = day - dt.timedelta(days=DAYS_OPEN - 1)
        near = [
            replace(item, event_id=events.get(item.chatbotnews_id) if other < open_from else None)
            for other, stories in by_day.items()
            if open_from - WINDOW <= other <= day
            for item in stories
        ]
        events |= cluster.group_stories(near, models).events
    return events


def compare_groups(found: Sequence[Hashable], truth: Sequence[Hashable], publications: Sequence[str]) -> Figures:
    """Return how far found events are the true ones: `bcubed_*` over stories (Bagga and Baldwin 1998), `pairwise_*` over pairs,
    `between_*` over pairs of two publications.
    """
    both, ours, theirs = Counter(zip(found, truth, strict=True)), Counter(found), Counter(truth)
    total = max(1, len(truth))
    precision = sum(count * count / ours[one] for (one, _), count in both.items()) / total
    recall = sum(count * count / theirs[other] for (_, other), count in both.items()) / total
    figures = {
        "stories": float(len(truth)),
        "events_found": float(len(ours)),
        "events_true": float(len(theirs)),
        "bcubed_precision": precision,
        "bcubed_recall": recall,
        "bcubed_f1": harmonic_mean(precision, recall),
    }
    right, said, true = _count_pairs(both.values()), _count_pairs(ours.values()), _count_pairs(theirs.values())
    figures |= {"pairwise_precision": right / (said or 1), "pairwise_recall": right / (true or 1)}
    if any(publications):
        columns = ((found, truth), (found,), (truth,))
        within = [_count_pairs(Counter(zip(*column, publications, strict=True)).values()) for column in columns]
        right, said, true = (count - inside for count, inside in zip((right, said, true), within, strict=True))
        figures |= {"between_precision": right / (said or 1), "between_recall": right / (true or 1)}
    return figures


def count_misleading_events(found: Sequence[str], truth: Sequence[str], items: Sequence[Item]) -> Figures:
    """Return what readers see wrong: events that name a publication too many, stories shown with too few sources, and how often the
    first report of an event is among the true first ones.
    """
    of_truth, of_found = _list_publications(truth, items), _list_publications(found, items)
    several = [place for place, event in enumerate(found) if len(of_found[event]) > 1]
    alone = [place for place, event in enumerate(found) if len(of_found[event]) == 1]
    members: dict[str, list[int]] = defaultdict(list)
    for place in several:
        members[found[place]].append(place)
    first = defaultdict[str, dt.datetime](lambda: dt.datetime.max.replace(tzinfo=dt.UTC))
    for item, event in zip(items, truth, strict=True):
        first[event] = min(first[event], item.published_at)
    right = 0
    for places in members.values():
        event = Counter(truth[place] for place in places).most_common(1)[0][0]
        earliest = min(places, key=lambda place: (items[place].published_at, items[place].chatbotnews_id))
        right += truth[earliest] == event and items[earliest].published_at == first[event]
    return {
        "events_of_several": float(len(members)),
        "too_many_sources": sum(bool(of_found[found[place]] - of_truth[truth[place]]) for place in several) / (len(several) or 1),
        "too_few_sources": sum(len(of_truth[truth[place]]) > 1 for place in alone) / (len(alone) or 1),
        "first_right": right / (len(members) or 1),
    }


def harmonic_mean(one: float, two: float) -> float:
    return 2 * one * two / ((one + two) or 1)


def _list_publications(events: Sequence[str], items: Sequence[Item]) -> dict[str, set[str]]:
    publications: dict[str, set[str]] = defaultdict(set)
    for event, item in zip(events, items, strict=True):
        publications[event].add(item.publisher)
    return publications


def _count_pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)
