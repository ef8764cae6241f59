"""The languages of claims and questions: their stems, their stop words, and detection of a text's language. Pure."""

import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, get_args

import snowballstemmer

from wire.text.lexicons import load_lexicon
from wire.text.tokens import split_words, words

Code = Literal["de", "en", "fr", "es", "it", "pt", "nl", "da", "fi", "no", "nb", "nn", "ru", "sv", "tr", "ro", "hu", "id"]
CODES: Final[tuple[str, ...]] = get_args(Code)

COMPOUNDING: Final = frozenset(("de", "nl", "da", "fi", "no", "nb", "nn", "sv", "hu"))  # they write compounds as one word

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    code: frozenset(words(load_lexicon("factchecks")["stop_words"]["no" if code in ("nb", "nn") else code])) for code in CODES
}
_DETECTED: Final = tuple(code for code in CODES if code not in ("nb", "nn"))

_SPEAKING: Final = {
    word: tuple(code for code in _DETECTED if word in STOP_WORDS[code]) for code in _DETECTED for word in STOP_WORDS[code]
}
ENOUGH: Final = 0.8  # stop words of its own that tell a language

_lock: Final = threading.Lock()  # a stemmer has one state: of two threads at once, one would get the other's word
_made: Final[dict[str, snowballstemmer.stemmer]] = {}


def stem(word: str, language: str) -> str:
    """Stem a folded word as that language does; unknown languages and overlong words leave it as it is."""
    return _stem_cached(word, language) if len(word) <= 100 else word


@lru_cache(maxsize=200_000)
def _stem_cached(word: str, language: str) -> str:
    name = load_lexicon("factchecks")["stemmers"].get(language)
    if name is None or len(word) < 3 or word.isdigit():
        return word
    with _lock:
        if name not in _made:
            _made[name] = snowballstemmer.stemmer(name)
        return str(_made[name].stemWord(word))


def list_content_stems(text: str, language: str) -> set[str]:
    stop = STOP_WORDS.get(language, frozenset())
    return {stem(word, language) for word in split_words(text) if word not in stop}


def detect_language(text: str) -> str | None:
    """Return the language of a text by its stop words, each shared among its languages; None where they do not decide."""
    scores = dict.fromkeys(_DETECTED, 0.0)
    for word in words(text):
        spoken = _SPEAKING.get(word, ())
        for code in spoken:
            scores[code] += 1 / len(spoken)
    (best, most), (_, second) = sorted(scores.items(), key=lambda one: -one[1])[:2]
    return best if most >= ENOUGH and most >= 1.5 * second else None
