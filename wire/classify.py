"""Category and topics of a story, and whether it is about AI at all, by the lexicon. Pure; quality is measured elsewhere."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from wire.vocabulary import Category, Topic

HEADLINE_WEIGHT: Final = 3.0
TOPIC_THRESHOLD: Final = 3.0  # one plain mention in the headline, or three in the summary
RELEVANCE_THRESHOLD: Final = 3.0  # one plain mention of AI anywhere, or a hint (weight 1) in the headline
DEFAULT: Final = Category.INDUSTRY
# When two categories weigh the same, the more specific one wins.
TIE_ORDER: Final = (Category.FUNDING, Category.AGENTS, Category.LAUNCHES, Category.ANALYSIS, Category.INDUSTRY)

GAP: Final = 5  # the most words that `…` stands for
EDGE: Final = "^"
REMEMBERED: Final = 2_000  # texts; the feeds of one run show about as many

_TOKEN: Final = re.compile(r"[^\W_]+|[:?|%$€£]")
_DIGIT: Final = re.compile(r"\d")
_LABEL: Final = re.compile(r"\A\s*\[[^\]]*\]")  # [Updated], [Fictional]
_ELEMENT: Final = re.compile(r"[^\W_]+\*?|[:?|%$€£^…#]")


@dataclass(frozen=True, slots=True)
class Term:
    """What to look for, word by word. A word with a capital letter only matches that spelling; `word*` takes any ending; `…` stands
    for up to five words and `#` for one with a digit in it; `^` is where the headline starts or ends. The marks `: ? | % $ € £`
    count as words; other punctuation is passed over, in terms as in texts, and so is a bracketed label before a headline.
    """

    target: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class _Element:
    text: str
    prefix: bool
    exact_case: bool

    def takes(self, token: str, folded: str) -> bool:
        if self.text == "#":
            return _DIGIT.search(token) is not None
        word = token if self.exact_case else folded
        return word.startswith(self.text) if self.prefix else word == self.text


@dataclass(frozen=True, slots=True)
class _Pattern:
    term: Term
    elements: tuple[_Element, ...]
    words: frozenset[str]  # whole words that any text it is in has, folded: a quick way to say no


def _match(elements: tuple[_Element, ...], raw: list[str], folded: list[str], at: int) -> bool:
    """All places are followed at once, so that no term takes long, however many gaps it has."""
    places = [at]
    for element in elements:
        if element.text == "…":
            places = sorted({place + skipped for place in places for skipped in range(GAP + 1)})
        else:
            places = [place + 1 for place in places if place < len(raw) and element.takes(raw[place], folded[place])]
        if not places:
            return False
    return True


class Lexicon:
    """Terms made ready to look up: a text's words are read once, whatever the number of terms."""

    def __init__(self, categories: Iterable[Term], topics: Iterable[Term], relevance: Iterable[Term]) -> None:
        self._categories, self._topics, self._relevance = (_remembered(_index(terms)) for terms in (categories, topics, relevance))

    def category(self, headline: str, summary: str) -> Category:
        """The category with the most weight; the default when nothing speaks for any."""
        return self.told_category(headline, summary) or DEFAULT

    def told_category(self, headline: str, summary: str) -> Category | None:
        """The category with the most weight; None when nothing speaks for any."""
        weights = self._categories(headline, summary)
        best = max(TIE_ORDER, key=lambda category: weights.get(category, 0.0))
        return best if weights.get(best, 0.0) > 0 else None

    def topics(self, headline: str, summary: str) -> list[Topic]:
        """Every topic with enough weight, in the vocabulary's order."""
        weights = self._topics(headline, summary)
        return [topic for topic in Topic if weights.get(topic, 0.0) >= TOPIC_THRESHOLD]

    def is_about_ai(self, headline: str, summary: str) -> bool:
        """Whether a story of a feed that brings all kinds of news belongs on this wire."""
        return sum(self._relevance(headline, summary).values()) >= RELEVANCE_THRESHOLD


def _remembered(index: Mapping[str, list[_Pattern]]) -> Callable[[str, str], Mapping[str, float]]:
    """`_weigh` by this index. Feeds show each text again and again, so the last ones are not read anew."""
    return lru_cache(maxsize=REMEMBERED)(partial(_weigh, index))


def _elements(text: str) -> tuple[_Element, ...]:
    """A term's elements. A gap needs something on both sides, so others are left out."""
    found = _ELEMENT.findall(text.replace("...", "…"))
    kept = [element for at, element in enumerate(found) if element != "…" or (0 < at < len(found) - 1 and found[at - 1] != "…")]
    return tuple(
        _Element(word if exact_case else word.casefold(), element.endswith("*"), exact_case)
        for element in kept
        for word in [element.rstrip("*")]
        for exact_case in [word != word.casefold()]
    )


def _index(terms: Iterable[Term]) -> dict[str, list[_Pattern]]:
    """Patterns by where to look for them: the folded first word, or its first four letters (or fewer) and `*`, or `#`. After `^`,
    the second word is looked up too, since every headline has a start.
    """
    index: dict[str, list[_Pattern]] = defaultdict(list)
    for term in terms:
        if elements := _elements(term.text):
            keys = [_key(element) for element in elements[:2]]
            index["".join(keys) if keys[0] == EDGE and keys[1:] != ["…"] else keys[0]].append(_pattern(term, elements))
    return dict(index)


def _pattern(term: Term, elements: tuple[_Element, ...]) -> _Pattern:
    words = (element.text.casefold() for element in elements if not element.prefix and element.text not in ("…", "#"))
    return _Pattern(term, elements, frozenset(words))


def _key(element: _Element) -> str:
    word = element.text.casefold()
    return f"{word[:4]}*" if element.prefix else word


@lru_cache(maxsize=10_000)
def _keys(word: str) -> tuple[str, ...]:
    """Where patterns that could begin with this word are."""
    return word, *(f"{word[:length]}*" for length in range(1, min(len(word), 4) + 1)), *("#" if _DIGIT.search(word) else "")


def _weigh(index: Mapping[str, list[_Pattern]], headline: str, summary: str) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)
    tokens = [EDGE, *_TOKEN.findall(_LABEL.sub("", headline)), EDGE]
    for raw, factor in ((tokens, HEADLINE_WEIGHT), (_TOKEN.findall(summary), 1.0)):
        folded = [word.casefold() for word in raw]
        present = frozenset(folded)
        for at, word in enumerate(folded):
            keys = [EDGE, *(EDGE + key for key in _keys(folded[1]))] if word == EDGE and not at else _keys(word)
            for key in keys:
                for pattern in index.get(key, ()):
                    if pattern.words <= present and _match(pattern.elements, raw, folded, at):
                        weights[pattern.term.target] += factor * pattern.term.weight
    return weights
