"""Makes a question terms: cleaned, its words each once, and for each the stems and compounds that mean it. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wire.corpora.factchecks.index_terms import LONGEST
from wire.corpora.factchecks.languages import COMPOUNDING, STOP_WORDS, detect_language, stem
from wire.text.tokens import is_unspaced, list_run_triples, split_words

MOST_TERMS: Final = 64
PART: Final = 4  # characters of the shortest part of a compound
SURE: Final = 5  # characters from which a known word is taken for a part, whatever is left
OF_PARTS: Final = 0.8  # what all parts of a compound count together for it
_BEFORE: Final = "abab"  # stands for the part before; stemmers go by vowels and consonants
_ADDRESS: Final = re.compile(r"(?:https?://|www\.|pic\.twitter\.com|t\.co/)\S*", re.I)
_HANDLE: Final = re.compile(r"(?<!\w)@\w+")
_HASHTAG: Final = re.compile(r"#(\w+)")
_HUMP: Final = re.compile(r"(?<=[a-zäöüß0-9])(?=[A-ZÄÖÜ])|(?<=[A-ZÄÖÜ])(?=[A-ZÄÖÜ][a-zäöüß])|(?<=[^\W\d_])(?=\d)")
_LINKING: Final = ("", "s", "es", "n", "en", "er", "e")  # between the parts of a compound, in German and its neighbours


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question: the tokens that mean it, and how well each does, 0 to 1; of a compound also the words it is made of."""

    word: str
    tokens: dict[str, float]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    text: str  # cleaned; its vector is made of it
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

    def find_compounds_with(self, part: str) -> list[str]:
        text, place, found = self._text, 0, list[str]()
        for _ in range(1_000):
            place = text.find(part, place)
            if place < 0 or len(found) == 16:
                break
            begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
            token, place = text[begin:end], end
            if len(token) > len(part) and self._is_compound(token, part):
                found.append(token)
        return found

    def _is_compound(self, token: str, part: str) -> bool:
        """Return whether what is left of it is a word as well: a known one, or long enough to be one."""
        if token.startswith(part):
            rests = _strip_linking_letters(token[len(part) :], before=False)
        else:
            rests = _strip_linking_letters(token[: -len(part)], before=True) if token.endswith(part) else iter(())
        return any(len(rest) > PART or (len(rest) >= 3 and rest in self._known) for rest in rests)

    def find_compound_parts(self, token: str) -> list[str]:
        """Return the known words at both ends of a compound; a short one only if the rest is known too (“trag” in “beitrag”)."""
        if len(token) < 2 * PART:
            return []
        cuts = range(len(token) - 3, PART - 1, -1)
        first = next((token[:cut] for cut in cuts if self._is_compound_part(token[:cut], token[cut:], before=True)), None)
        last = next((token[cut:] for cut in reversed(cuts) if self._is_compound_part(token[cut:], token[:cut], before=False)), None)
        return list(dict.fromkeys(part for part in (first, last) if part))

    def _is_compound_part(self, part: str, rest: str, *, before: bool) -> bool:
        if part not in self._known or len(part) < PART:
            return False
        return len(part) >= SURE or any(
            other in self._known
            or any(other[cut:] in self._known for cut in range(3, len(other) - PART + 1))  # ends as compounds do
            for other in _strip_linking_letters(rest, before=not before)
        )


def _strip_linking_letters(rest: str, *, before: bool) -> Iterator[str]:
    """Yield the rest of a compound without one of its parts, with and without what links them."""
    for link in _LINKING:
        if before and rest.endswith(link):
            yield rest.removesuffix(link)
        elif not before and rest.startswith(link):
            yield rest.removeprefix(link)


def strip_handles_and_links(text: str) -> str:
    """Take addresses and handles out; make hashtags the words that they are made of."""
    text = _HANDLE.sub(" ", _ADDRESS.sub(" ", text))
    return " ".join(_HASHTAG.sub(lambda tag: " ".join(_HUMP.split(tag[1].replace("_", " "))), text).split())


def parse_words(text: str, language: str | None, spoken: Sequence[str], vocabulary: Vocabulary) -> Question:
    """Parse a question. `language`: as given, None to detect it; `spoken`: languages of the claims, used where it is not known."""
    plain = strip_handles_and_links(text) or text
    code = language or detect_language(plain)
    stop = STOP_WORDS.get(code or "", frozenset())
    given = list(dict.fromkeys(split_words(plain)))
    wanted = [word for word in given if word not in stop and (len(word) > 1 or word.isdigit() or is_unspaced(word))] or given
    languages = [code] if code else [one for one in spoken if one] or ["en"]
    compounding = any(one in COMPOUNDING for one in {*languages, *(() if code else spoken)})
    terms = [_make_term(word, languages, spoken, vocabulary, compounding) for word in wanted[:MOST_TERMS]]
    terms += [Term("", {triple: 1.0}) for triple in dict.fromkeys(list_run_triples(plain))]
    return Question(plain, code, language is None and code is not None, tuple(terms[:MOST_TERMS]))


def _make_term(word: str, languages: Sequence[str], spoken: Sequence[str], vocabulary: Vocabulary, compounding: bool) -> Term:
    tokens = {stem(word, code)[:LONGEST]: 1.0 for code in languages}
    for code in spoken:  # a claim in another language may hold the same name, stemmed in its own way
        tokens.setdefault(stem(word, code)[:LONGEST], 0.9)
    if not compounding or word.isdigit():
        return Term(word, tokens)
    codes = [code for code in dict.fromkeys((*languages, *spoken)) if code in COMPOUNDING]
    alone = list(tokens)
    # At the end of a compound more endings are cut off: Impfung, but Coronaimpf.
    endings = (stem(f"{_BEFORE}{word}", code).removeprefix(_BEFORE)[:LONGEST] for code in codes)
    for part in dict.fromkeys((*alone, *endings)):
        if len(part) >= PART:
            for other in vocabulary.find_compounds_with(part):
                tokens.setdefault(other, 0.6)  # a compound counts less
    parts = max((vocabulary.find_compound_parts(token) for token in alone), key=len)
    return Term(word, tokens, tuple(part for part in parts if part not in tokens))
