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
from wire.stories.question import Term
from wire.stories.tokens import token, words
from wire.stories.wording import FILLERS

NEWEST: Final = 5000  # stories whose words a misspelt one may have meant
SHORTEST: Final = 4  # letters of a word that may be put right
SHORT: Final = 5  # letters of a word to which many are near: only one that …
SELDOM: Final = 1000  # … one in so many stories uses is meant
LONG: Final = 9  # letters from which two slips may be, one else
_WRITTEN: Final = re.compile(r"[^\W_]+")


def corrections(question: str) -> dict[str, str]:
    """For each word that no story holds and no dictionary knows the nearest that stories use, where one is near: a slip away (a
    letter more, less or other, two swapped), of several the most frequent. Beginnings of words are no slips, and a name is
    put right by names only: Sonos may be missing from the news, but it is no slip of "songs".
    """
    names = _names(question)
    told = dict.fromkeys(words(question))
    return {word: meant for word in told if _is_unknown(word) and (meant := _nearest(word, is_name=word in names))}


def _names(text: str) -> set[str]:
    """Words with a capital, where that tells a name: behind others, one of which has none."""
    told = _WRITTEN.findall(text)
    return {word.casefold() for word in told[1:] if word[0].isupper()} if any(word.islower() for word in told) else set()


def _is_unknown(word: str) -> bool:
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()) or word in FILLERS:
        return False
    return not newest_places([[Term((token(word),))]], limit=1) and word not in _dictionary()


def _nearest(word: str, *, is_name: bool) -> str | None:
    newest = Snapshot.objects.order_by("-sequence").values_list("wire_sha256", flat=True).first()
    frequencies, capitals, stories = _vocabulary(newest)
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


@lru_cache(maxsize=1)
def _vocabulary(_wire_sha256: str | None) -> tuple[Counter[str], Counter[str], int]:
    """How often the newest stories use each word, how often with a capital, and how many stories these are. Kept for one state of
    the wire, which its newest snapshot's hash names.
    """
    newest = Story.objects.live().newest_first().values_list("current__headline", "current__summary_medium")[:NEWEST]
    stories = len(newest)
    told = Counter(word for texts in newest for text in texts for word in _WRITTEN.findall(text) if word.isalpha())
    used, capitals = Counter[str](), Counter[str]()
    for written, count in told.items():
        for word in words(written):
            used[word] += count
            capitals[word] += count * written[0].isupper()
    return used, capitals, stories


@cache
def _dictionary() -> SpellChecker:
    return SpellChecker(language="en", distance=1)
