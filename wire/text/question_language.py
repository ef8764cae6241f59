"""The language of a question, told by its small words. Pure."""

from collections.abc import Collection, Iterable
from typing import Final

from wire.text.lexicons import load_lexicon
from wire.text.tokens import FILLERS

ENGLISH: Final = "en"
LEAST: Final = 2  # small words that tell a language
SMALL_WORDS: Final[dict[str, frozenset[str]]] = {
    ENGLISH: FILLERS,
    **{language: frozenset(words.split()) for language, words in load_lexicon("questions")["other_languages"].items()},
}


def find_languages(words: Iterable[str]) -> list[str]:
    """Return the languages (ISO 639-1) whose small words stand most often among these folded words: several where they tell no
    difference, English where fewer than `LEAST` do, for one alone may be a word of another language, such as "plus" or "io".
    """
    asked = set(words)
    counts = {language: len(asked & small) for language, small in SMALL_WORDS.items()}
    most = max(counts.values())
    is_other = most >= LEAST and most > counts[ENGLISH]
    return [language for language, count in counts.items() if count == most] if is_other else [ENGLISH]


def list_small_words(languages: Collection[str]) -> frozenset[str]:
    """Return words that ask rather than tell: the English ones, and those of these languages."""
    return FILLERS.union(*(SMALL_WORDS[language] for language in languages))
