"""Fit the models of headlines alone and of storylines: `python -m benchmarks.quality.fit_storylines PAIRS STORIES`.

`manage.py fitevents` fits the others to the same PAIRS and STORIES, and leaves these as they are. Prints how far the events of the
held-back sagas are in one storyline, then writes fixtures/pair_weights.json. The same files give the same weights.
"""

import argparse
import datetime as dt
import json
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
import django

django.setup()
from wire.management.commands.fitevents import read_labelled_stories, read_stories, read_text  # noqa: E402
from wire.ops.quality.event_metrics import Figures  # noqa: E402
from wire.ops.quality.pair_fit import LabelledStories, describe_model, fit_logistic  # noqa: E402
from wire.publishing.grouping import storylines  # noqa: E402
from wire.publishing.grouping.candidates import OF_VECTORS, build_feature_table, count_days, find_candidates  # noqa: E402
from wire.publishing.grouping.pair_features import ALIKE_VECTORS, FEATURES  # noqa: E402
from wire.publishing.grouping.pair_model import WEIGHTS_FILE, parse_models  # noqa: E402
from wire.text.choices import PairLabel  # noqa: E402

SAGAS: Final = Path(__file__).resolve().parents[2] / "fixtures" / "eval" / "storylines.json"
HEADLINES_THRESHOLD: Final = 0.28
STORYLINE_THRESHOLD: Final = 0.3
MOST_ROWS: Final = 20_000  # of one set of headlines, so that none outweighs the others
# Features that separate a report from a follow-up do not help to link the events of a storyline.
OF_EVENTS: Final = {"days", "same_day", "next_day", "shared_idf", "length", "subject_in_text", "first_person_in_one"}
OF_STORYLINES: Final = tuple(name for name in FEATURES if name not in OF_EVENTS)
# Of subjects, of which each story has hundreds alike: who is whose nearest says nothing.
OF_HEADLINES: Final = tuple(name for name in FEATURES if name not in {"same_publication", "guide", "live", "first_person"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("stories", type=Path)
    alone = "Headlines alone (title, event; published_at) for wires of these."
    parser.add_argument("--headlines", nargs="+", type=Path, default=[], metavar="CSV", help=alone)
    of_storylines = "name, half, stories and undecided (ids) of each storyline."
    parser.add_argument("--storylines", type=Path, default=SAGAS, metavar="JSON", help=of_storylines)
    parser.add_argument("--only-try", action="store_true", help="Print the figures and write nothing.")
    options = parser.parse_args()
    labelled, places = read_labelled_stories(options.pairs, options.stories)
    document = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    models = document["models"] | fit_storylines(labelled, *_read_storylines(options.storylines, places, "tune"))
    if options.headlines:
        models |= fit_headlines([read_stories(file, ("title", "event"))[0] for file in options.headlines])
    figures = measure_storylines(labelled, models, *_read_storylines(options.storylines, places, "report"))
    print(", ".join(f"{what} {value:.3g}" for what, value in figures.items()))
    if not options.only_try:
        WEIGHTS_FILE.write_text(json.dumps(document | {"models": models}, indent=1) + "\n", encoding="utf-8")


def _read_storylines(file: Path, places: Mapping[str, int], half: str) -> tuple[list[set[int]], list[set[int]]]:
    """Return the places of the stories of each storyline in a half, and of those that were left open."""
    rows = [row for row in json.loads(read_text(file)) if row["half"] == half]
    columns = ([{places[name] for name in row[column] if name in places} for row in rows] for column in ("stories", "undecided"))
    members, undecided = columns
    return members, undecided


def measure_storylines(
    labelled: LabelledStories, models: Mapping[str, Any], sagas: Sequence[Collection[int]], undecided: Sequence[Set[int]]
) -> Figures:
    """Return how far the events of each saga are in one storyline, and how many of its events are strangers: means."""
    stories = [replace(story, event_id=event) for story, event in zip(labelled.stories, labelled.events, strict=True)]
    found = storylines.find_storylines(stories, {}, models=parse_models(models))
    members: dict[str, set[str]] = defaultdict(set)
    for event in set(labelled.events):
        members[found.get(event, event)].add(event)
    covered, strange = [], []
    for saga, left_open in zip(sagas, undecided, strict=True):
        events = {labelled.events[place] for place in saga}
        name, hits = Counter(found.get(event, event) for event in sorted(events)).most_common(1)[0]
        covered.append(hits / len(events))
        strange.append(len(members[name] - events - {labelled.events[place] for place in left_open}) / len(members[name]))
    return {"sagas": float(len(covered)), "events_in_one_storyline": fmean(covered), "strangers": fmean(strange)}


def fit_headlines(sets: Sequence[LabelledStories]) -> dict[str, Any]:
    """Return the models for wires of headlines alone, by name, from stories of which each belongs to a known event."""
    models = {}
    for name, has_vector in (("headlines_and_vector", True), ("headlines", False)):
        columns = [column for column in OF_HEADLINES if has_vector or column not in OF_VECTORS]
        features, answers = [], []
        for labelled in sets:
            stories = [story if has_vector else replace(story, vector=b"") for story in labelled.stories]
            pairs = find_candidates(stories)
            chosen = np.random.default_rng(0).permutation(len(pairs.ones))[:MOST_ROWS]
            features.append(np.column_stack([pairs.columns[column][chosen] for column in columns]).astype(float))
            events = np.array(labelled.events)
            answers.append((events[pairs.ones[chosen]] == events[pairs.others[chosen]]).astype(float))
        models[name] = describe_model(*fit_logistic(np.vstack(features), np.concatenate(answers)), columns, HEADLINES_THRESHOLD)
    return models


def fit_storylines(labelled: LabelledStories, sagas: Sequence[Collection[int]], undecided: Sequence[Set[int]]) -> dict[str, Any]:
    """Return the models of storylines, by name, from sagas (places of the stories of each) and stories left open."""
    models = {}
    for name, has_vector in (("storyline_and_vector", True), ("storyline", False)):
        columns = [column for column in OF_STORYLINES if has_vector or column not in OF_VECTORS]
        stories = [story if has_vector else replace(story, vector=b"") for story in labelled.stories]
        rows = list(_read_saga_pairs(labelled._replace(stories=stories), sagas, undecided, columns))
        features, answers = np.array([row for row, _ in rows]), np.array([answer for _, answer in rows], float)
        models[name] = describe_model(*fit_logistic(features, answers), columns, STORYLINE_THRESHOLD)
    return models


def _read_saga_pairs(
    labelled: LabelledStories, sagas: Sequence[Collection[int]], undecided: Sequence[Set[int]], columns: Sequence[str]
) -> Iterator[tuple[list[float], bool]]:
    """Yield the features of two stories that are somewhat alike, and whether they belong to one saga."""
    table, days = build_feature_table(labelled.stories), count_days(labelled.stories)
    saga_of = {place: number for number, saga in enumerate(sagas) for place in saga}
    for place in range(1, len(labelled.stories)):
        start = int(np.searchsorted(days, days[place] - storylines.REACH / dt.timedelta(days=1)))
        places, features = table.compare(place, start, storylines.LEAST_COSINE, ALIKE_VECTORS)
        mine = saga_of.get(place)
        for number, other in enumerate(places.tolist()):
            theirs, label = saga_of.get(other), labelled.labels.get((other, place))
            row = [float(features[column][number]) for column in columns]
            if mine is None and theirs is None:
                if label is not None:
                    yield row, label != PairLabel.DIFFERENT
            elif all(saga is None or undecided[saga].isdisjoint({place, other}) for saga in (mine, theirs)):
                yield row, mine == theirs


if __name__ == "__main__":
    main()
