"""A question made into terms: cleaned, its words each once, and for each the stems and compounds that mean it. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from wire.factchecks.indexing import LONGEST
from wire.factchecks.languages import COMPOUNDING, STOP_WORDS, detect, stem
from wire.stories.tokens import words

MOST_TERMS: Final = 64
MOST_COMPOUNDS: Final = 16  # of one word
PART: Final = 4  # characters of the shortest part of a compound
AS_PART: Final = 0.6  # what a compound counts for a word that is part of it, and the other way round
_ADDRESS: Final = re.compile(r"(?:https?://|www\.|pic\.twitter\.com|t\.co/)\S*", re.I)
_HANDLE: Final = re.compile(r"(?<!\w)@\w+")
_HASHTAG: Final = re.compile(r"#(\w+)")
_HUMP: Final = re.compile(r"(?<=[a-zäöüß0-9])(?=[A-ZÄÖÜ])|(?<=[A-ZÄÖÜ])(?=[A-ZÄÖÜ][a-zäöüß])|(?<=[^\W\d_])(?=\d)")
_LINKING: Final = ("", "s", "es", "n", "en", "er", "e")
"""What German and its neighbours put between the parts of a compound."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a question: the tokens that mean it, and how well each does, 0 to 1."""

    word: str
    tokens: dict[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    """Cleaned; what its vector is made of."""
    language: str | None
    is_detected: bool
    terms: tuple[Term, ...]


class Vocabulary:
    """The tokens of an index, in which compounds are looked for. `add` only from one thread at a time."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._text = "\n"

    def __len__(self) -> int:
        return len(self._known)

    def add(self, tokens: Iterable[str]) -> None:
        new = [token for token in tokens if token not in self._known]
        self._known.update(new)
        self._text += "".join(f"{token}\n" for token in new if len(token) >= PART and not token.isdigit())

    def holding(self, part: str) -> list[str]:
        """Compounds one of whose two parts is `part`."""
        return list(islice((token for token in self._around(part) if self._is_compound(token, part)), MOST_COMPOUNDS))

    def _around(self, part: str) -> Iterable[str]:
        """Tokens that hold `part` and more."""
        text, place, seen = self._text, 0, 0
        while seen < 1_000 and (place := text.find(part, place)) >= 0:
            begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
            token, place, seen = text[begin:end], end, seen + 1
            if len(token) > len(part):
                yield token

    def _is_compound(self, token: str, part: str) -> bool:
        """Whether what is left of it is a word as well: a known one, or long enough to be one."""
        if token.startswith(part):
            return self._may_stand(token[len(part) :], before=False)
        return token.endswith(part) and self._may_stand(token[: -len(part)], before=True)

    def _may_stand(self, rest: str, *, before: bool) -> bool:
        for link in _LINKING:
            if (before and link and not rest.endswith(link)) or (not before and link and not rest.startswith(link)):
                continue
            stripped = (rest[: -len(link)] if before else rest[len(link) :]) if link else rest
            if len(stripped) > PART or (len(stripped) >= 3 and stripped in self._known):
                return True
        return False

    def parts_of(self, token: str) -> list[str]:
        """The known words that a compound begins and ends with; the longest of each."""
        if len(token) < 2 * PART:
            return []
        first = next((token[:end] for end in range(len(token) - 3, PART - 1, -1) if token[:end] in self._known), None)
        last = next((token[begin:] for begin in range(3, len(token) - PART + 1) if token[begin:] in self._known), None)
        return [part for part in (first, last) if part]


def cleaned(text: str) -> str:
    """Without addresses and handles; hashtags as the words that they are made of."""
    text = _HANDLE.sub(" ", _ADDRESS.sub(" ", text))
    return " ".join(_HASHTAG.sub(lambda tag: " ".join(_HUMP.split(tag[1].replace("_", " "))), text).split())


def question(text: str, language: str | None, spoken: Sequence[str], vocabulary: Vocabulary) -> Question:
    """`language`: the code that was given; None to have it detected. `spoken`: the languages of the claims: where the question's is
    not known, its words are stemmed as in each.
    """
    plain = cleaned(text) or text
    told = language or detect(plain)
    stop = STOP_WORDS.get(told or "", frozenset())
    given = list(dict.fromkeys(words(plain)))
    kept = [word for word in given if word not in stop and (len(word) > 1 or word.isdigit())] or given
    languages = [told] if told else [code for code in spoken if code] or ["en"]
    compounding = any(code in COMPOUNDING for code in {*languages, *(() if told else spoken)})
    terms = tuple(_term(word, languages, spoken, vocabulary, compounding) for word in kept[:MOST_TERMS])
    return Question(plain, told, language is None and told is not None, terms)


def _term(word: str, languages: Sequence[str], spoken: Sequence[str], vocabulary: Vocabulary, compounding: bool) -> Term:
    tokens = {stem(word, code)[:LONGEST]: 1.0 for code in languages}
    for code in spoken:  # a claim in another language may hold the same name, stemmed in its own way
        tokens.setdefault(stem(word, code)[:LONGEST], 0.9)
    if compounding and not word.isdigit():
        for token in list(tokens):
            if len(token) >= PART:
                for other in (*vocabulary.holding(token), *vocabulary.parts_of(token)):
                    tokens.setdefault(other, AS_PART)
    return Term(word, tokens)
