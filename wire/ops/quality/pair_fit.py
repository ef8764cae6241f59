"""Weights of `pair_model` from labelled pairs of stories: a logistic regression with a ridge penalty. Deterministic."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wire.ops.quality.event_metrics import Figures, compare_groups, count_misleading_events, harmonic_mean, replay_days
from wire.publishing.grouping import cluster, pair_context
from wire.publishing.grouping.candidates import COLUMNS, OF_VECTORS, Item, find_candidates
from wire.publishing.grouping.linkage import Ints, Pairs
from wire.publishing.grouping.pair_features import Floats
from wire.publishing.grouping.pair_model import parse_models
from wire.text.choices import PairLabel
from wire.text.filters import is_roundup

RIDGE: Final = 5.0
# Mean probability from which two groups are one event. Precision first: a wrong join shows consensus where there is none.
THRESHOLD: Final = 0.53
STEPS: Final = 50
# Whether the stories' summaries and vectors are read, by name.
MODELS: Final = {"text_and_vector": (True, True), "text": (True, False), "title_and_vector": (False, True), "title": (False, False)}


class LabelledStories(NamedTuple):
    """Stories by (published_at, chatbotnews_id), the event that each is said to belong to, and labels of pairs of places."""

    stories: Sequence[Item]
    events: Sequence[str]
    labels: Mapping[tuple[int, int], PairLabel]


class _Rows(NamedTuple):
    """Candidates with their answers. People labelled those of `is_labelled`; the others count as different, but those of one event
    are not fitted to.
    """

    ones: Ints
    others: Ints
    features: Floats
    answers: Floats
    months: NDArray[np.str_]
    is_labelled: NDArray[np.bool_]
    is_fitted: NDArray[np.bool_]

    def select_rows(self, chosen: NDArray[np.bool_]) -> "_Rows":
        return _Rows._make(column[chosen] for column in self)

    def fit_model(self) -> tuple[float, Floats]:
        return fit_logistic(self.features[self.is_fitted], self.answers[self.is_fitted])


def fit_models(labelled: LabelledStories) -> dict[str, Any]:
    """Return the models that `pair_model.load_models` reads, by name."""
    models = {}
    for name, rows, columns in _build_model_rows(labelled):
        models[name] = describe_model(*rows.fit_model(), columns, THRESHOLD)
        if all(MODELS[name]):
            with_context = _add_context(labelled, rows, _estimate_by_month(rows))
            models[cluster.CONTEXT_MODEL] = describe_model(*with_context.fit_model(), pair_context.CONTEXT, THRESHOLD)
    return models


def cross_validate(labelled: LabelledStories) -> dict[str, Figures]:
    """Return the figures of each model on the labelled pairs, those of each month estimated by a model of the other months."""
    figures = {}
    for name, rows, _ in _build_model_rows(labelled):
        estimates = _estimate_by_month(rows)
        estimates[estimates >= cluster.LEAST] = _estimate_by_month(_add_context(labelled, rows, estimates))
        figures[name] = describe_estimates(estimates[rows.is_labelled], rows.answers[rows.is_labelled])
    return figures


def _estimate_by_month(rows: _Rows) -> Floats:
    """Return the probability of each row, by weights fitted to the other months; to its own where there is no other."""
    estimates = np.zeros(len(rows.answers))
    for month in np.unique(rows.months):
        inside = rows.months == month
        bias, weights = rows.select_rows(~inside if rows.is_fitted[~inside].any() else inside).fit_model()
        estimates[inside] = 1 / (1 + np.exp(-np.clip(rows.features[inside] @ weights + bias, -30, 30)))
    return estimates


def _add_context(labelled: LabelledStories, rows: _Rows, estimates: Floats) -> _Rows:
    """Return the rows that are likely, with the columns of `pair_context`."""
    likely = rows.select_rows(estimates >= cluster.LEAST)
    pairs = Pairs(likely.ones, likely.others, estimates[estimates >= cluster.LEAST])
    columns = cluster.describe_pairs(pairs, labelled.stories)
    return likely._replace(features=np.column_stack([columns[name] for name in pair_context.CONTEXT]))


def replay_halves(labelled: LabelledStories) -> dict[str, Figures]:
    """Return what readers see of each half of the months, and of both, grouped as published by weights fitted to the other half."""
    months = [f"{story.published_at:%Y-%m}" for story in labelled.stories]
    middle = sorted(set(months))[len(set(months)) // 2]
    early = [place for place, month in enumerate(months) if month < middle]
    late = [place for place, month in enumerate(months) if month >= middle]
    figures, found_of, both = dict[str, Figures](), dict[str, str](), _choose_stories(labelled, [*early, *late])
    for name, measured, others in ((f"before {middle}", early, late), (f"from {middle} on", late, early)):
        models = parse_models(fit_models(_choose_stories(labelled, others)))
        part = _choose_stories(labelled, measured)
        found_of |= replay_days([story for story in part.stories if not is_roundup(story.headline)], models)
        figures[name] = _measure_events(part, found_of)
    return figures | {"both": _measure_events(both, found_of)}


def _measure_events(part: LabelledStories, found_of: Mapping[str, str]) -> Figures:
    found = [found_of.get(story.chatbotnews_id, story.chatbotnews_id) for story in part.stories]
    publications = [story.publisher for story in part.stories]
    return {**compare_groups(found, part.events, publications), **count_misleading_events(found, part.events, part.stories)}


def _choose_stories(labelled: LabelledStories, places: Sequence[int]) -> LabelledStories:
    numbers = {place: number for number, place in enumerate(places)}
    labels = {(numbers[a], numbers[b]): label for (a, b), label in labelled.labels.items() if {a, b} <= numbers.keys()}
    return LabelledStories([labelled.stories[place] for place in places], [labelled.events[place] for place in places], labels)


def _build_model_rows(labelled: LabelledStories) -> Iterator[tuple[str, _Rows, Sequence[str]]]:
    """Yield each model's name, a row for each candidate, and the columns."""
    for name, (has_text, has_vector) in MODELS.items():
        columns = [column for column in COLUMNS if has_vector or column not in OF_VECTORS]
        stories = [
            replace(story, summary=story.summary if has_text else "", vector=story.vector if has_vector else b"")
            for story in labelled.stories
        ]
        pairs = find_candidates(stories)
        labels = [labelled.labels.get(pair) for pair in zip(pairs.ones.tolist(), pairs.others.tolist(), strict=True)]
        is_labelled = np.array([label is not None for label in labels], bool)
        events, months = np.array(labelled.events), np.array([f"{story.published_at:%Y-%m}" for story in stories])
        is_fitted = is_labelled | (events[pairs.ones] != events[pairs.others])
        features = np.column_stack([pairs.columns[column] for column in columns]).astype(float)
        answers = np.array([label == PairLabel.SAME for label in labels], float)
        yield name, _Rows(pairs.ones, pairs.others, features, answers, months[pairs.ones], is_labelled, is_fitted), columns


def describe_model(bias: float, weights: Floats, columns: Sequence[str], threshold: float) -> dict[str, Any]:
    named = {column: round(float(weight), 4) for column, weight in zip(columns, weights, strict=True)}
    return {"threshold": threshold, "bias": round(bias, 4), "weights": named}


def fit_logistic(rows: Floats, answers: Floats) -> tuple[float, Floats]:
    """Return bias and weights, by Newton's method. Columns are standardised for the penalty, which spares the bias."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    design = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    penalty = RIDGE * np.eye(design.shape[1])
    penalty[-1, -1] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        estimate = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        gradient = design.T @ (estimate - answers) + penalty @ found
        curvature = (design.T * (estimate * (1 - estimate))) @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    weights = found[:-1] / spread
    return float(found[-1] - weights @ mean), weights


def describe_estimates(estimates: Floats, answers: Floats) -> Figures:
    """Return average precision, and precision, recall and F1 at the threshold of the largest F1."""
    order = np.argsort(-estimates, kind="stable")
    hits = np.cumsum(answers[order])
    precision, recall = hits / np.arange(1, len(answers) + 1), hits / answers.sum()
    f1 = [harmonic_mean(*pair) for pair in zip(precision.tolist(), recall.tolist(), strict=True)]
    best = int(np.argmax(f1))
    return {
        "pairs": float(len(answers)),
        "average_precision": float((precision * answers[order]).sum() / answers.sum()),
        "threshold": float(estimates[order][best]),
        "precision": float(precision[best]),
        "recall": float(recall[best]),
        "f1": f1[best],
    }
