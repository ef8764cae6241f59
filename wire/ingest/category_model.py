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
from wire.text.vocabulary import Category

MODEL_FILE: Final = settings.BASE_DIR / "fixtures" / "category_model.json"
BIAS: Final = "bias"

Model = dict[Category, dict[str, float]]  # by category, the weight of each feature and the bias

# Weights beyond these say no more; few headlines have them.
HEADLINE_LIMIT: Final = 30.0
SUMMARY_LIMIT: Final = 20.0

_OPENING: Final = re.compile(r"[\w$'-]+")
# By the first word of a headline; others open with a name (a capital) or with any other word.
_OPENINGS: Final = {
    word: opening
    for opening, words in {
        "how": "how",
        "why": "why",
        "which": "what when who where which",
        "question": "is are can will do does should could",
        "this": "this these here here's inside meet",
        "first_person": "i i've my i'm",
        "we": "we our introducing",
        "article": "the a an",
        "you": "you your if",
    }.items()
    for word in words.split()
}
_MARKS: Final = {
    "question_mark": re.compile(r"\?"),
    "colon": re.compile(":"),
    "quotation": re.compile('[“”"‘]'),
    "money": re.compile(r"[$€£]\s?\d|\b\d[\d.,]*\s?(?:m|b|bn|million|billion|trillion)\b", re.I),
    "first_person": re.compile(r"\b(?:I|my|me)\b"),
    "we": re.compile(r"\b(?:we|our)\b", re.I),
    "you": re.compile(r"\byou", re.I),
}
_OF_SUMMARIES: Final = ("money", "first_person", "we")


def read_features(headline: str, summary: str, of_headline: Mapping[str, float], of_both: Mapping[str, float]) -> dict[str, float]:
    """Return what is known of a story by name, absent names being 0. `of_headline` and `of_both` are the lexicon's weights of the
    headline alone and with the summary.
    """
    features = {f"genre_{find_genre(headline, summary=summary)}": 1.0, f"opening_{_read_opening(headline)}": 1.0}
    for category in Category:
        weight = of_headline.get(category, 0.0)
        features[f"headline_{category}"] = _clip(weight, HEADLINE_LIMIT)
        features[f"summary_{category}"] = _clip(of_both.get(category, 0.0) - weight, SUMMARY_LIMIT)
    features |= {mark: 1.0 for mark, pattern in _MARKS.items() if pattern.search(headline)}
    return features | {f"summary_{mark}": 1.0 for mark in _OF_SUMMARIES if _MARKS[mark].search(summary)}


def _clip(weight: float, limit: float) -> float:
    return max(-limit, min(limit, weight))


def _read_opening(headline: str) -> str:
    words = _OPENING.search(headline.replace("’", "'"))
    word = words[0].casefold() if words else ""
    if word[:1].isdigit():
        return "number"
    return _OPENINGS.get(word) or ("participle" if word.endswith("ing") else "name" if headline[:1].isupper() else "other")


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
