"""Category and topics of a story, and whether it is about AI at all, by the lexicon. Pure and deterministic.

A logistic regression decides between categories, by what the lexicon says and by the headline's form; its named weights are in
fixtures/category_model.json, and `python -m benchmarks.quality.fit` fits them.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from django.conf import settings

from wire.text.choices import Category, Topic
from wire.text.filters import find_genre
from wire.text.lexicons import load_lexicon

MODEL_FILE: Final = settings.BASE_DIR / "fixtures" / "category_model.json"
BIAS: Final = "bias"

Model = dict[Category, dict[str, float]]  # by category, the weight of each feature and the bias

_OPENINGS: Final = {word: opening for opening, words in load_lexicon("headlines")["openings"].items() for word in words.split()}
_MARKS: Final = {mark: re.compile(pattern) for mark, pattern in load_lexicon("headlines")["marks"].items()}
HEADLINE_WEIGHT: Final = 3.0
TOPIC_THRESHOLD: Final = 3.0  # one plain mention in the headline; of what summaries say too, three there
RELEVANCE_THRESHOLD: Final = 3.0  # one plain mention of AI anywhere, or a hint (weight 1) in the headline
DEFAULT: Final = Category.INDUSTRY
DECISIVE: Final = 100.0  # by which a category leads that needs no comparison: an editor's term of much weight
# When two categories weigh the same, the more specific one wins.
TIE_ORDER: Final = (Category.FUNDING, Category.AGENTS, Category.LAUNCHES, Category.ANALYSIS, Category.INDUSTRY)

OF_CATEGORY: Final = {Topic.AGENTS: Category.AGENTS, Topic.FUNDING: Category.FUNDING}  # defined alike: see fixtures/eval/GUIDE.md
# Where no headline names a maker, the summary does in one story of seven, and is about it in one of ten of these: too few to count.
SUMMARIES_SAY: Final = frozenset({Topic.REGULATION})

GAP: Final = 5  # the most words that `…` stands for
EDGE: Final = "^"
REMEMBERED: Final = 2_000  # texts; the feeds of one run show about as many
REMEMBERED_WORDS: Final = 20_000

_TOKEN: Final = re.compile(r"[^\W_]+|[:?|%$€£]")
_DIGIT: Final = re.compile(r"\d")
_LABEL: Final = re.compile(r"\A\s*\[[^\]]*\]")  # [Updated], [Fictional]
_ELEMENT: Final = re.compile(r"[^\W_]+\*?|[:?|%$€£^…#]")


def read_features(headline: str, summary: str, of_headline: Mapping[str, float], of_both: Mapping[str, float]) -> dict[str, float]:
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
    return {
        category: weights[BIAS] + sum(weights.get(name, 0.0) * value for name, value in features.items())
        for category, weights in (model or _load_model()).items()
    }


@cache
def _load_model() -> Model:
    document = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return {Category(category): weights for category, weights in document.items()}


@dataclass(frozen=True, slots=True)
class Term:
    """Pattern of words. A word with a capital only matches that spelling; `word*` takes any ending; `…` stands for up to five
    words, `#` for one with a digit, `^` for either end of the headline. The marks `: ? | % $ € £` count as words, others do not.
    """

    target: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class _Element:
    text: str
    prefix: bool
    exact_case: bool

    def matches(self, token: str, folded: str) -> bool:
        if self.text == "#":
            return _DIGIT.search(token) is not None
        word = token if self.exact_case else folded
        return word.startswith(self.text) if self.prefix else word == self.text


@dataclass(frozen=True, slots=True, eq=False)
class _Pattern:
    target: str
    weight: float
    first: _Element
    rest: tuple[_Element, ...]
    words: frozenset[str]  # whole words that any text it is in has, folded: a quick way to say no


def _match_elements(elements: Sequence[_Element], raw: list[str], folded: list[str], at: int) -> bool:
    # All places are followed at once, so that no term takes long, however many gaps it has.
    places: Sequence[int] = (at,)
    for element in elements:
        if element.text == "…" and len(places) == 1:
            places = range(places[0], places[0] + GAP + 1)
        elif element.text == "…":
            places = sorted({place + skipped for place in places for skipped in range(GAP + 1)})
        else:
            places = [place + 1 for place in places if place < len(raw) and element.matches(raw[place], folded[place])]
        if not places:
            return False
    return True


class Lexicon:
    """Terms made ready to look up. Of `makers`, the text is a publication's name: what it posts has its maker's topic."""

    def __init__(self, categories: list[Term], topics: list[Term], relevance: list[Term], makers: Sequence[Term] = ()) -> None:
        # What the text's terms weigh together for each category that any of them speaks for or against.
        self.category_weights = _Reader(categories).weigh
        self._topics, self._relevance = _Reader(topics).weigh, _Reader(relevance).weigh
        self._topics_of_summaries = _Reader(term for term in topics if term.target in SUMMARIES_SAY).weigh
        self._makers = frozenset((maker.text, maker.target) for maker in makers if maker.weight > 0)

    def read_features(self, headline: str, summary: str) -> dict[str, float]:
        weights = self.category_weights
        of_headline, of_both = weights(headline, ""), weights(headline, summary)
        return read_features(_LABEL.sub("", headline).strip(), summary, of_headline, of_both)

    def category(self, headline: str, summary: str) -> Category:
        return self.category_or_none(headline, summary) or DEFAULT

    def category_or_none(self, headline: str, summary: str) -> Category | None:
        """Return the most likely category, or the one that terms speak for alone or by far; None when they speak for none."""
        weights = self.category_weights(headline, summary)
        first, second = sorted(TIE_ORDER, key=lambda category: -weights.get(category, 0.0))[:2]
        if weights.get(first, 0.0) <= 0:
            return None
        if weights.get(second, 0.0) <= 0 or weights[first] - weights[second] >= DECISIVE:
            return first
        scores = score_categories(self.read_features(headline, summary))
        return max(TIE_ORDER, key=scores.__getitem__)

    def topics(self, headline: str, summary: str, publication: str = "") -> list[Topic]:
        """Return topics with enough weight, that of the category and of the maker whose `publication` it is; in their order."""
        weights, category = self.category_weights(headline, summary), self.category(headline, summary)
        by_headline, by_all = self._topics(headline, ""), self._topics_of_summaries(headline, summary)
        return [
            topic
            for topic in Topic
            if (OF_CATEGORY.get(topic) == category and weights[category] >= TOPIC_THRESHOLD)
            or (publication, topic) in self._makers
            or (by_all if topic in SUMMARIES_SAY else by_headline).get(topic, 0.0) >= TOPIC_THRESHOLD
        ]

    def is_about_ai(self, headline: str, summary: str) -> bool:
        """Return whether a story of a feed that brings all kinds of news belongs on this wire."""
        return sum(self._relevance(headline, summary).values()) >= RELEVANCE_THRESHOLD


def _parse_elements(text: str) -> tuple[_Element, ...]:
    """Return a term's elements. A gap needs something on both sides, so others are left out."""
    found = _ELEMENT.findall(text.replace("...", "…"))
    kept = [element for at, element in enumerate(found) if element != "…" or (0 < at < len(found) - 1 and found[at - 1] != "…")]
    return tuple(
        _Element(word if exact_case else word.casefold(), element.endswith("*"), exact_case)
        for element in kept
        for word in [element.rstrip("*")]
        for exact_case in [word != word.casefold()]
    )


@lru_cache(maxsize=REMEMBERED_WORDS)
def _word_keys(word: str) -> tuple[str, ...]:
    return word, *(f"{word[:length]}*" for length in range(1, min(len(word), 4) + 1)), *("#" if _DIGIT.search(word) else "")


class _Reader:
    """Weighs texts by an index of patterns, in one order always, or sums might differ in their last digit."""

    def __init__(self, terms: Iterable[Term]) -> None:
        # By where to look for a pattern: the folded first word, or its first four letters (or fewer) and `*`, or `#`. After `^`,
        # the second word is looked up too, since every headline has a start.
        self._index: dict[str, list[_Pattern]] = defaultdict(list)
        for term in terms:
            if elements := _parse_elements(term.text):
                starts = [(element.text.casefold(), element.prefix) for element in elements[:2]]
                keys = [f"{word[:4]}*" if is_prefix else word for word, is_prefix in starts]
                whole = (element.text for element in elements if not element.prefix and element.text not in ("…", "#"))
                words = frozenset(map(str.casefold, whole))
                pattern = _Pattern(term.target, term.weight, elements[0], elements[1:], words)
                self._index["".join(keys) if keys[0] == EDGE and keys[1:] != ["…"] else keys[0]].append(pattern)
        self._starting = lru_cache(maxsize=REMEMBERED_WORDS)(self._list_patterns)
        # Feeds show each text again and again, so the last ones are not read anew.
        self.weigh = lru_cache(maxsize=REMEMBERED)(self._weigh_targets)

    def _weigh_targets(self, headline: str, summary: str) -> dict[str, float]:
        weights: dict[str, float] = defaultdict(float)
        words = [EDGE, *_TOKEN.findall(_LABEL.sub("", headline)), EDGE]
        for raw, factor in ((words, HEADLINE_WEIGHT), (_TOKEN.findall(summary), 1.0)):
            folded = [word.casefold() for word in raw]
            present = frozenset(folded)
            for at, word in enumerate(raw):
                patterns = self._starting(word)
                if word == EDGE and not at:
                    patterns += tuple(pattern for key in _word_keys(folded[1]) for pattern in self._index.get(EDGE + key, ()))
                for pattern in patterns:
                    if pattern.words <= present and _match_elements(pattern.rest, raw, folded, at + 1):
                        weights[pattern.target] += factor * pattern.weight
        return weights

    def _list_patterns(self, token: str) -> tuple[_Pattern, ...]:
        word = token.casefold()
        return tuple(found for key in _word_keys(word) for found in self._index.get(key, ()) if found.first.matches(token, word))
