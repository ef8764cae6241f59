"""Plain BM25, which the wire's search is compared with: Robertson and Zaragoza 2009, k₁ = 1.2, b = 0.75."""

import math
from collections import Counter
from collections.abc import Mapping, Set
from typing import Any

from wire.ops.quality.evaluate import grade_rankings
from wire.ops.quality.event_metrics import Figures
from wire.text import tokens


def searches(document: Mapping[str, Any], *, every: bool) -> Figures:
    """`wire.ops.quality.evaluate.score_searches` of stories that hold any word of a query, or every one."""
    texts = {row["id"]: terms(f"{row['title']} {row.get('summary') or ''}") for row in document["stories"]}
    plain = PlainBM25(texts)
    judged = [asked for asked in document["queries"] if asked["judged"]]
    return grade_rankings([(plain.ranked(set(terms(asked["query"])), every=every), asked["judged"]) for asked in judged])


class PlainBM25:
    def __init__(self, documents: Mapping[str, list[str]]) -> None:
        self._counts = {one: Counter(words) for one, words in documents.items()}
        self._mean = sum(map(len, documents.values())) / max(1, len(documents)) or 1.0
        self._held_by = Counter(word for counts in self._counts.values() for word in counts)

    def ranked(self, words: Set[str], *, every: bool = False) -> list[str]:
        held = {one: counts for one, counts in self._counts.items() if not every or words <= counts.keys()}
        scores = {one: self._score(counts, words) for one, counts in held.items()}
        return sorted((one for one, score in scores.items() if score > 0), key=lambda one: (-scores[one], one))

    def _score(self, counts: Counter[str], words: Set[str]) -> float:
        damped = 1.2 * (0.25 + 0.75 * counts.total() / self._mean)
        return sum(
            math.log(1 + (len(self._counts) - self._held_by[word] + 0.5) / (self._held_by[word] + 0.5))
            * (counts[word] * 2.2 / (counts[word] + damped))
            for word in words & counts.keys()
        )


def terms(text: str) -> list[str]:
    """The stemmed words of a text, in its order."""
    return [tokens.stem_word(word) for word in tokens.words(text)]
