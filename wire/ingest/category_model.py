"""Choice of a story's category by what the lexicon says of it and by the form of its headline: a logistic regression for each
category, with named weights in fixtures/category_model.json, which `python -m benchmarks.quality.fit` fits. Pure and deterministic.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from django.conf import settings

from wire.text.filters import find_genre
from wire.text.lexicons import load
from wire.text.vocabulary import Category

MODEL_FILE: Final = settings.BASE_DIR / "fixtures" / "category_model.json"
BIAS: Final = "bias"

Model = dict[Category, dict[str, float]]  # by category, the weight of each feature and the bias

_OPENINGS: Final = {word: opening for opening, words in load("headlines")["openings"].items() for word in words.split()}
_MARKS: Final = {mark: re.compile(pattern) for mark, pattern in load("headlines")["marks"].items()}


def read_features(headline: str, summary: str, of_headline: Mapping[str, float], of_both: Mapping[str, float]) -> dict[str, float]:
    """Return what is known of a story by name, absent names being 0. `of_headline` and `of_both` are the lexicon's weights of the
    headline alone and with the summary.
    """
    words = re.search(r"[\w$'-]+", headline.replace("’", "'"))
    word = words[0].casefold() if words else ""
    others = "participle" if word.endswith("ing") else "name" if headline[:1].isupper() else "other"
    opening = "number" if word[:1].isdigit() else _OPENINGS.get(word, others)
    features = {f"genre_{find_genre(headline, summary=summary)}": 1.0, f"opening_{opening}": 1.0}
    for category in Category:  # weights beyond these limits say no more; few headlines have them
        weight = of_headline.get(category, 0.0)
        features[f"headline_{category}"] = max(-30.0, min(30.0, weight))
        features[f"summary_{category}"] = max(-20.0, min(20.0, of_both.get(category, 0.0) - weight))
    features |= {mark: 1.0 for mark, pattern in _MARKS.items() if pattern.search(headline)}
    return features | {f"summary_{mark}": 1.0 for mark in ("money", "first_person", "we") if _MARKS[mark].search(summary)}


def score_categories(features: Mapping[str, float], model: Model | None = None) -> dict[Category, float]:
    """Return the log odds of each category, by the shipped model or another."""
    return {
        category: weights[BIAS] + sum(weights.get(name, 0.0) * value for name, value in features.items())
        for category, weights in (model or _load_model()).items()
    }


@cache
def _load_model() -> Model:
    document = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return {Category(category): weights for category, weights in document.items()}
