"""The probability that two stories report one happening: a logistic regression over `pair_features`, with its weights in
fixtures/pair_weights.json. `manage.py fitevents` fits them to labelled pairs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from django.conf import settings

from wire.publishing.grouping.pair_features import Floats

WEIGHTS_FILE: Final = Path(settings.BASE_DIR) / "fixtures" / "pair_weights.json"


@dataclass(frozen=True, slots=True)
class PairModel:
    """Weights of features by name; from a mean probability of `threshold` on two groups are one."""

    threshold: float
    bias: float
    weights: Mapping[str, float]

    def estimate(self, features: Mapping[str, Floats]) -> Floats:
        """Return the probability, 0–1, for each row of the features' columns."""
        rows = len(next(iter(features.values())))
        score = np.full(rows, self.bias)
        for name, weight in self.weights.items():
            score += weight * features[name]
        return np.asarray(1 / (1 + np.exp(-np.clip(score, -30, 30))), float)


@cache
def load_models() -> dict[str, PairModel]:
    return parse_models(json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["models"])


def parse_models(models: Mapping[str, Any]) -> dict[str, PairModel]:
    return {name: PairModel(model["threshold"], model["bias"], model["weights"]) for name, model in models.items()}
