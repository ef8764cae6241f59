"""Features of two stories that tell whether both report one happening, computed for one story against many at once. Pure."""

import math
import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wire.text.filters import Genre, find_genre
from wire.text.identity import headline_key
from wire.text.lexicons import load_lexicon
from wire.text.tokens import fold_text, stem_word, words
from wire.text.word_frequency import FREQUENT_WORDS, read_idf

Floats = NDArray[np.float64]
Terms = Mapping[str, float]

# The columns of `FeatureTable.compare`. Sums of idf are in tens.
FEATURES: Final = (
    *("same_publication", "days", "log_days", "same_day", "next_day"),
    *("text_cosine", "text_cosine_above_0.3", "shared_idf", "length"),
    *("title_in_text", "equal_titles", "title_names", "missing_names", "bigrams", "same_subject", "subject_in_text"),
    *("same_action", "guide", "live", "first_person", "first_person_in_one"),
    *("vector_cosine", "vector_cosine_above_0.87", "cosine_product"),
)

TITLE_TIMES: Final = 2.0  # how often the title counts in the whole text
MOST_NAMED: Final = 0.85  # share of words with a capital above which capitals tell no names
MOST_SHARED: Final = 3.0  # bigrams
MOST_ACTIONS: Final = 2.0
ALIKE: Final = 0.3
ALIKE_VECTORS: Final = 0.87
_WORD: Final = re.compile(r"[^\W_]+")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|my|me|we|our|mine)\b")
_ACTIONS: Final = {stem: action for action, stems in load_lexicon("actions").items() for stem in stems.split()}


class StoryTerms(NamedTuple):
    """A story's texts, read for their features; `title`, `text` (title twice, summary) and `names` have the idf of each stem."""

    title: Terms
    text: Terms
    names: Terms
    subject: str
    actions: Terms
    bigrams: Terms
    is_guide: bool
    is_live: bool
    is_personal: bool
    headline_key: str


@lru_cache(maxsize=16_384)
def extract_terms(headline: str, summary: str) -> StoryTerms:
    stems = [stem_word(word) for word in words(headline) if word not in FREQUENT_WORDS]
    title = _weigh_stems(stems)
    text = {stem: TITLE_TIMES * weight for stem, weight in title.items()}
    for stem, weight in _weigh_stems(stem_word(word) for word in words(summary) if word not in FREQUENT_WORDS).items():
        text[stem] = text.get(stem, 0.0) + weight
    telling = [word for word in _WORD.findall(headline) if word.casefold() not in FREQUENT_WORDS and not word.isdigit()]
    names = [stem_word(fold_text(word)) for word in telling if not word.islower()]
    if len(names) > MOST_NAMED * len(telling):
        names = []
    genre = find_genre(headline, summary=summary)
    return StoryTerms(
        title=title,
        text=text,
        names=_weigh_stems(names),
        subject=names[0] if names else "",
        actions=dict.fromkeys((_ACTIONS[stem] for stem in stems if stem in _ACTIONS), 1.0),
        bigrams=dict.fromkeys((f"{one} {two}" for one, two in pairwise(stems)), 1.0),
        is_guide=genre in (Genre.HOWTO, Genre.REVIEW),
        is_live=genre in (Genre.LIVE, Genre.ROUNDUP),
        is_personal=bool(_FIRST_PERSON.search(headline)),
        headline_key=headline_key(headline),
    )


class FeatureTable:
    """Many stories, indexed by their terms. `vectors` has a row of length 1 for each story, or of zeros where it has none."""

    def __init__(
        self,
        stories: Sequence[StoryTerms],
        publishers: Sequence[str],
        days: Floats,
        vectors: NDArray[np.float32],
    ) -> None:
        self._stories, self._days, self._vectors = stories, days, vectors
        self._publishers = _number_values(publishers)
        self._titles = TermIndex([story.title for story in stories])
        self._texts = TermIndex([story.text for story in stories])
        self._text_stems = self._texts.weigh_equally()
        self._names = TermIndex([story.names for story in stories])
        self._bigrams = TermIndex([story.bigrams for story in stories])
        self._actions = TermIndex([story.actions for story in stories])
        self._subject_stems = TermIndex([{story.subject: 1.0} if story.subject else {} for story in stories])
        self._stem_counts = np.array([math.log1p(len(story.text)) for story in stories])
        self._lengths = np.array([math.hypot(*story.text.values()) or 1.0 for story in stories])
        self._title_sums = np.array([sum(story.title.values()) or 1.0 for story in stories])
        self._name_sums = np.array([sum(story.names.values()) for story in stories])
        self._subjects = _number_values([story.subject for story in stories])
        self._keys = _number_values([story.headline_key for story in stories])
        self._guides = np.array([story.is_guide for story in stories], bool)
        self._lives = np.array([story.is_live for story in stories], bool)
        self._personal = np.array([story.is_personal for story in stories], bool)

    def compare(self, one: int, start: int, least_text: float, least_vector: float) -> tuple[NDArray[np.intp], dict[str, Floats]]:
        """Return the places, from `start` on, of earlier stories that are somewhat like one, and the `FEATURES` of each pair."""
        story, before = self._stories[one], slice(start, one)
        text = self._texts.dot(story.text, before) / (self._lengths[before] * self._lengths[one])
        vector = (self._vectors[before] @ self._vectors[one]).astype(float)
        alike = np.flatnonzero((text >= least_text) | (vector >= least_vector))
        places, text, vector = alike + start, text[alike], vector[alike]
        stems, names = dict.fromkeys(story.text, 1.0), dict.fromkeys(story.names, 1.0)
        mine_in_theirs = self._text_stems.dot(story.title, before)[alike] / self._title_sums[one]
        theirs_in_mine = self._titles.dot(stems, before)[alike] / self._title_sums[places]
        names_found = self._text_stems.dot(story.names, before)[alike] + self._names.dot(stems, before)[alike]
        bigrams = self._bigrams.dot(story.bigrams, before)[alike]
        actions = self._actions.dot(story.actions, before)[alike]
        idf = {stem: read_idf(stem) for stem in story.text}
        subjects = self._subject_stems.dot(stems, before)[alike] + self._text_stems.dot({story.subject: 1.0}, before)[alike]
        days = np.abs(self._days[places] - self._days[one])
        columns = {
            "same_publication": self._publishers[places] == self._publishers[one],
            "days": days,
            "log_days": np.log1p(days),
            "same_day": days < 0.5,
            "next_day": (days >= 0.5) & (days < 1.5),
            "text_cosine": text,
            "text_cosine_above_0.3": np.maximum(text - ALIKE, 0.0),
            "shared_idf": self._text_stems.dot(idf, before)[alike] / 10,
            "length": self._stem_counts[places] + self._stem_counts[one],
            "title_in_text": np.maximum(mine_in_theirs, theirs_in_mine),
            "equal_titles": self._keys[places] == self._keys[one],
            "title_names": self._names.dot(names, before)[alike] / 10,
            "missing_names": (self._name_sums[one] + self._name_sums[places] - names_found) / 10,
            "bigrams": np.minimum(bigrams, MOST_SHARED),
            "same_subject": (self._subjects[places] == self._subjects[one]) & bool(story.subject),
            "subject_in_text": subjects,
            "same_action": np.minimum(actions, MOST_ACTIONS),
            "guide": self._guides[places] | self._guides[one],
            "live": self._lives[places] | self._lives[one],
            "first_person": self._personal[places] & self._personal[one],
            "first_person_in_one": self._personal[places] ^ self._personal[one],
            "vector_cosine": vector,
            "vector_cosine_above_0.87": np.maximum(vector - ALIKE_VECTORS, 0.0),
            "cosine_product": text * vector,
        }
        return places, {name: np.asarray(column, float) for name, column in columns.items()}


class TermIndex:
    def __init__(self, texts: Sequence[Terms]) -> None:
        numbers = {term: number for number, term in enumerate(dict.fromkeys(chain.from_iterable(texts)))}
        of_terms = np.fromiter(map(numbers.__getitem__, chain.from_iterable(texts)), np.intp)
        order = np.argsort(of_terms, kind="stable")
        self._numbers, self._size = numbers, len(texts)
        self._texts = np.repeat(np.arange(len(texts)), [len(text) for text in texts])[order]
        self._listed = self._texts.tolist()  # bisected many times over, which a list does sooner than an array
        self._weights = np.fromiter(chain.from_iterable(text.values() for text in texts), float)[order]
        self._ends = np.cumsum(np.bincount(of_terms, minlength=len(numbers))).tolist()

    def weigh_equally(self) -> "TermIndex":
        """Return the index of the same texts in which each term weighs 1."""
        equal = copy(self)
        equal._weights = np.ones_like(self._weights)
        return equal

    def dot(self, query: Terms, places: slice) -> Floats:
        """Return the product of a query's weights and those of each text in a slice of places."""
        texts, products = [], []
        for term, weight in query.items():
            number = self._numbers.get(term)
            if number is not None and weight:
                begin, end = self._ends[number - 1] if number else 0, self._ends[number]
                first = bisect_left(self._listed, places.start, begin, end)
                last = bisect_left(self._listed, places.stop, first, end)
                if first < last:
                    texts.append(self._texts[first:last])
                    products.append(self._weights[first:last] * weight)
        size = places.stop - places.start
        if not texts:
            return np.zeros(size)
        return np.bincount(np.concatenate(texts) - places.start, np.concatenate(products), size).astype(float)


def _weigh_stems(stems: Iterable[str]) -> dict[str, float]:
    return {stem: read_idf(stem) for stem in stems}


def _number_values(values: Sequence[Hashable]) -> NDArray[np.intp]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.intp)
