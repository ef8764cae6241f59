"""Misspelt words of a question, put right by words that the newest stories use."""

import re
from collections import Counter
from functools import cache, lru_cache
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA
from spellchecker import SpellChecker

from wire.models import Snapshot, Story
from wire.models.search import newest_places
from wire.text.query import Term
from wire.text.tokens import FILLERS, token, words

NEWEST: Final = 5000  # stories whose words a misspelt one may have meant
SHORTEST: Final = 4  # letters of a word that may be put right
SHORT: Final = 5  # letters of a word to which many are near: only one that …
SELDOM: Final = 1000  # … one in so many stories uses is meant
LONG: Final = 9  # letters from which two slips may be, one else
_WRITTEN: Final = re.compile(r"[^\W_]+")


def corrections(question: str) -> dict[str, str]:
    """Return, for each word that no story holds and no dictionary knows, the nearest that stories use, if one is near: a slip away
    (a letter more, less or other, two swapped), of several the most frequent. Beginnings of words are no slips, and a name is
    put right by names only: Sonos may be missing from the news, but it is no slip of "songs".
    """
    written = _WRITTEN.findall(question)
    # A capital tells a name behind other words, one of which has none.
    names = {word.casefold() for word in written[1:] if word[0].isupper()} if any(map(str.islower, written)) else set()
    found = {word: _find_nearest(word, is_name=word in names) for word in dict.fromkeys(words(question)) if _is_unknown(word)}
    return {word: nearest for word, nearest in found.items() if nearest}


def _is_unknown(word: str) -> bool:
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()) or word in FILLERS:
        return False
    return not newest_places([[Term((token(word),))]], limit=1) and word not in _load_dictionary()


def _find_nearest(word: str, *, is_name: bool) -> str | None:
    newest = Snapshot.objects.order_by("-sequence").values_list("wire_sha256", flat=True).first()
    frequencies, capitals, stories = _count_words(newest)
    if any(other.startswith(word) for other in frequencies):
        return None
    slips = 2 if len(word) >= LONG else 1
    alike = process.extract(word, frequencies.keys(), scorer=OSA.distance, score_cutoff=slips, limit=None)
    least = stories / SELDOM if len(word) <= SHORT else 0
    near = [
        (distance, -frequencies[other], other)
        for other, distance, _ in alike
        if other[0] == word[0] and frequencies[other] >= least and (not is_name or 2 * capitals[other] > frequencies[other])
    ]
    return min(near)[2] if near else None


@lru_cache(maxsize=1)  # for one state of the wire, which its newest snapshot's hash names
def _count_words(_wire_sha256: str | None) -> tuple[Counter[str], Counter[str], int]:
    """Return how often the newest stories use each word, how often with a capital, and how many stories these are."""
    newest = Story.objects.live().newest_first().values_list("current__headline", "current__summary_medium")[:NEWEST]
    written = Counter(word for texts in newest for text in texts for word in _WRITTEN.findall(text) if word.isalpha())
    used, capitals = Counter[str](), Counter[str]()
    for spelling, count in written.items():
        for word in words(spelling):
            used[word] += count
            capitals[word] += count * spelling[0].isupper()
    return used, capitals, len(newest)


@cache
def _load_dictionary() -> SpellChecker:
    return SpellChecker(language="en", distance=1)
