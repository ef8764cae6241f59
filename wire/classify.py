"""Category and topics of a story, by the lexicon. Pure; quality is measured elsewhere, the seam is here."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from wire.vocabulary import Category, Topic

HEADLINE_WEIGHT: Final = 3.0
TOPIC_THRESHOLD: Final = 3.0  # one plain mention in the headline, or three in the summary
DEFAULT: Final = Category.INDUSTRY
# When two categories weigh the same, the more specific one wins.
TIE_ORDER: Final = (Category.FUNDING, Category.AGENTS, Category.LAUNCHES, Category.ANALYSIS, Category.INDUSTRY)

_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase with a capital letter only matches that spelling; a final `*` takes any ending."""

    target: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class _Pattern:
    term: Term
    words: tuple[str, ...]
    prefix: bool
    exact_case: bool

    def matches(self, raw: list[str], folded: list[str], at: int) -> bool:
        words = (raw if self.exact_case else folded)[at : at + len(self.words)]
        if len(words) < len(self.words):
            return False
        last = words[-1].startswith(self.words[-1]) if self.prefix else words[-1] == self.words[-1]
        return last and tuple(words[:-1]) == self.words[:-1]


class Lexicon:
    """Terms made ready to look up: a text's words are read once, whatever the number of terms."""

    def __init__(self, categories: Iterable[Term], topics: Iterable[Term]) -> None:
        self._categories = _index(categories)
        self._topics = _index(topics)

    def category(self, headline: str, summary: str) -> Category:
        """The category with the most weight; the default when nothing speaks for any."""
        weights = _weigh(self._categories, headline, summary)
        best = max(TIE_ORDER, key=lambda category: weights.get(category, 0.0))
        return best if weights.get(best, 0.0) > 0 else DEFAULT

    def topics(self, headline: str, summary: str) -> list[Topic]:
        """Every topic with enough weight, in the vocabulary's order."""
        weights = _weigh(self._topics, headline, summary)
        return [topic for topic in Topic if weights.get(topic, 0.0) >= TOPIC_THRESHOLD]


def _index(terms: Iterable[Term]) -> dict[str, list[_Pattern]]:
    """Patterns by the folded first four letters of their first word (fewer, if a wildcard ends it sooner)."""
    index: dict[str, list[_Pattern]] = defaultdict(list)
    for term in terms:
        prefix = term.text.endswith("*")
        exact_case = term.text != term.text.casefold()
        words = tuple(_WORD.findall(term.text if exact_case else term.text.casefold()))
        if words:
            index[words[0].casefold()[:4]].append(_Pattern(term, words, prefix, exact_case))
    return dict(index)


def _weigh(index: Mapping[str, list[_Pattern]], headline: str, summary: str) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)
    for text, factor in ((headline, HEADLINE_WEIGHT), (summary, 1.0)):
        raw = _WORD.findall(text)
        folded = [word.casefold() for word in raw]
        for at, word in enumerate(folded):
            for length in (1, 2, 3, 4):
                for pattern in index.get(word[:length], ()) if len(word) >= length else ():
                    if pattern.matches(raw, folded, at):
                        weights[pattern.term.target] += factor * pattern.term.weight
    return weights
