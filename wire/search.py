"""Words of texts and queries, and how well they meet. Pure Python, so that every database gives the same answer."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import snowballstemmer

HEADLINE_WEIGHT: Final = 3.0
K1: Final = 1.2  # BM25: how soon a repeated word stops counting more
B: Final = 0.75  # BM25: how much long texts are held back
MEAN_LENGTH: Final = 60.0  # tokens of a usual story; fixed, so that a story's score never moves when others arrive
MAX_QUERY_TOKENS: Final = 16
MAX_TOKEN: Final = 500  # letters; Postgres takes no lexeme above 2,046 bytes, and a script without spaces makes long words

_WORD: Final = re.compile(r"[^\W_]+")
_STEMMER: Final = snowballstemmer.stemmer("english")


@dataclass(frozen=True, slots=True)
class Query:
    """A question in words. `phrases` must stand in a text word by word; all `tokens` must occur in it."""

    tokens: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]

    @property
    def mark(self) -> str:
        """Eight hex digits that tell this question from others: a place in its ranking means nothing in theirs."""
        return hashlib.sha256(repr((self.tokens, self.phrases)).encode()).hexdigest()[:8]


def words(text: str) -> list[str]:
    """Runs of letters and digits, compatibility forms and case folded, accents removed."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii():
        folded = "".join(c for c in unicodedata.normalize("NFD", folded) if not unicodedata.combining(c))
    return _WORD.findall(folded)


def tokens(text: str) -> list[str]:
    """The stemmed words of a text, each spelled in ASCII letters and digits, in order."""
    return [token(word) for word in words(text)]


@lru_cache(maxsize=65_536)
def token(word: str) -> str:
    """One folded word, stemmed. What is not ASCII is spelled in hex, so that no index ever splits it; very long words by hash."""
    spelled = str(_STEMMER.stemWord(word)) if word.isascii() else "x" + word.encode().hex()
    return spelled if len(spelled) <= MAX_TOKEN else "x" + hashlib.sha256(spelled.encode()).hexdigest()


def parse(question: str) -> Query:
    """What a person typed: words, and phrases in double quotes. Nothing in it is query syntax beyond the quotes."""
    phrases = []
    for quoted in re.findall(r'"([^"]*)"', question):
        phrase = tuple(tokens(quoted))[:MAX_QUERY_TOKENS]
        if len(phrase) > 1:
            phrases.append(phrase)
    return Query(tuple(dict.fromkeys(tokens(question)))[:MAX_QUERY_TOKENS], tuple(phrases))


def holds_phrases(document: Sequence[str], headline_length: int, query: Query) -> bool:
    """Whether every phrase stands word by word in the headline or in the summary."""
    parts = (document[:headline_length], document[headline_length:])
    return all(any(_holds(part, phrase) for part in parts) for phrase in query.phrases)


def score(document: Sequence[str], headline_length: int, query: Query) -> float:
    """BM25F without collection statistics: every candidate holds every word, so only where and how often counts.

    Fixed statistics keep a story's score the same for ever, and with it the paging of a list that grows meanwhile.
    """
    held_back = K1 * (1 - B + B * len(document) / MEAN_LENGTH)
    total = 0.0
    for word in query.tokens:
        in_headline = document[:headline_length].count(word)
        frequency = HEADLINE_WEIGHT * in_headline + (document[headline_length:].count(word))
        total += frequency * (K1 + 1) / (frequency + held_back)
    return round(total, 6)


def _holds(part: Sequence[str], phrase: tuple[str, ...]) -> bool:
    width = len(phrase)
    return any(tuple(part[i : i + width]) == phrase for i in range(len(part) - width + 1))
