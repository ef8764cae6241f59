"""Words of texts and queries, and how well they meet. Pure Python, so that every database gives the same answer."""

import hashlib
import re
import threading
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase
from typing import Final

import snowballstemmer

HEADLINE_WEIGHT: Final = 3.0
K1: Final = 1.2  # BM25: how soon a repeated word stops counting more
B: Final = 0.75  # BM25: how much long texts are held back
MEAN_LENGTH: Final = 60.0  # tokens of a usual story; fixed, so that a story's score never moves when others arrive
MAX_QUERY_TOKENS: Final = 16
MAX_TOKEN: Final = 500  # letters; Postgres takes no lexeme above 2,046 bytes, and a script without spaces makes long words

PREFIX_WEIGHT: Final = 0.25  # of a word that only begins like the last one asked for, beside that very word
SHORTEST_PREFIX: Final = 3
LONGEST_PREFIX: Final = 6  # letters of the beginnings of words that databases keep lists for
_STOP_WORDS: Final = """
a an and are as at be by did do does for from had has have how in into is it its of on or that the their this to was were
what when where which who why will with
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())  # that a question may hold and a story need not

_WORD: Final = re.compile(r"[^\W_]+")
_CHAIN: Final = re.compile(r"[^\W_]+(?:[-‐‑–.][^\W_]+)*")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_ENDINGS: Final = (*ascii_lowercase, "es", "ed", "ing", "er", "ies", "ied", "ity", "ion", "ions", "ment", "al", "ally")
_STEMMER: Final = snowballstemmer.stemmer("english")
_STEMMING: Final = threading.Lock()  # it has one state: of two threads at once, one gets the other's word, and `token` caches it


@dataclass(frozen=True, slots=True)
class Term:
    """One word asked for: a story holds one of `exact`, or a token that begins with one of `prefixes`."""

    exact: tuple[str, ...]
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question in words. `phrases` must stand in a text word by word; all `terms` must occur in it."""

    terms: tuple[Term, ...]
    phrases: tuple[tuple[str, ...], ...]

    @property
    def looked_up(self) -> tuple[Term, ...]:
        """What an index is asked for: the terms, none of whose words begins with more than LONGEST_PREFIX letters, and the pairs
        that the words of a phrase make. Most stories that hold all of them, and no others, are what is meant: see `is_certain`.
        """
        pairs = (Term((pair(*two),)) for phrase in self.phrases for two in pairwise(phrase))
        return (*map(_looked_up, self.terms), *pairs)

    @property
    def is_certain(self) -> bool:
        """Whether every story that an index finds is what is meant, or `holds` has to look at them."""
        return not self.phrases and all(_indexed(prefix) == prefix for term in self.terms for prefix in term.prefixes)

    @property
    def finished(self) -> "Query":
        """The same question, its last word taken as it stands."""
        return Query(tuple(Term(term.exact) for term in self.terms), self.phrases)


EVERYTHING: Final = Query((), ())
"""A question without words, which every text answers."""


def words(text: str) -> list[str]:
    """Runs of letters and digits, compatibility forms and case folded, accents removed."""
    return _WORD.findall(folded(text))


def chains(text: str) -> list[str]:
    """Words as they are written, folded: GPT-5 and co-founder are one each."""
    return _CHAIN.findall(folded(text))


def tokens(text: str) -> list[str]:
    """What a text is found by, in order: its words, stemmed, each spelled in ASCII letters and digits; and behind their words
    the names that these make with numbers, as one token: GPT-5, GPT5 and GPT 5 are the words `gpt`, `5` and the name `0gpt5`.
    """
    return [found for found, _, _ in placed(folded(text))]


def placed(text: str) -> list[tuple[str, int, int]]:
    """The tokens of a text that is folded already, each with where it begins and ends."""
    found: list[tuple[str, int, int]] = []
    before, begin, end = "", 0, -1
    for chain in _CHAIN.finditer(text):
        (start, stop), parts = chain.span(), _PART.findall(chain[0])
        if len(parts) == 1:
            found.append((token(parts[0]), start, stop))
        else:
            found += ((token(part[0]), start + part.start(), start + part.end()) for part in _PART.finditer(chain[0]))
        if _is_name(parts):
            found.append((_name(parts), start, stop))
        if before and parts[0].isdigit() and start == end + 1 and text[end] == " ":
            found.append((_name([before, *parts]), begin, stop))
        goes_on = len(parts) == 1 and len(parts[0]) > 1 and not parts[0].isdigit() and parts[0] not in STOP_WORDS
        before, begin, end = parts[0] if goes_on else "", start, stop
    return found


@lru_cache(maxsize=65_536)
def token(word: str) -> str:
    """One folded word, stemmed. What is not ASCII is spelled in hex, so that no index ever splits it; very long words by hash."""
    if word.isascii():
        with _STEMMING:
            spelled = str(_STEMMER.stemWord(word))
    else:
        spelled = "x" + word.encode().hex()
    return spelled if len(spelled) <= MAX_TOKEN else "x" + hashlib.sha256(spelled.encode()).hexdigest()


def parse(question: str) -> Query:
    """What a person typed: words, the last of which may be unfinished, and phrases in double quotes, which are taken as they stand.
    Nothing in it is query syntax beyond the quotes. Words such as "the" are passed over, unless there are no others.
    """
    quoted = [_words_of(tokens(part)) for part in re.findall(r'"([^"]*)"', question)]
    terms = [Term((word,)) for phrase in quoted for word in phrase]
    loose = chains(re.sub(r'"[^"]*"', " ", question))
    telling = [chain for chain in loose if chain not in STOP_WORDS] or ([] if terms else loose)
    for chain in telling:
        terms += _terms(chain, unfinished=chain is loose[-1] and not question.rstrip().endswith('"'))
    phrases = [tuple(phrase)[:MAX_QUERY_TOKENS] for phrase in quoted if len(phrase) > 1]
    return Query(tuple(dict.fromkeys(terms))[:MAX_QUERY_TOKENS], tuple(phrases))


def is_word(token: str) -> bool:
    """Whether a token is a word of the text, and no name."""
    return token[0] != "0" or token.isdigit()


def pair(one: str, two: str) -> str:
    """A token for two words that stand side by side, out of 456,976: two Chinese characters, as no token of a text is spelled."""
    number = zlib.crc32(f"{one} {two}".encode())
    return chr(0x4E00 + number % 676) + chr(0x4E00 + number // 676 % 676)


def pairs(tokens: Sequence[str]) -> list[str]:
    """The pairs of a headline or of a summary."""
    return [pair(*two) for two in pairwise(_words_of(tokens))]


def holds(text: str, headline_length: int, query: Query) -> bool:
    """Whether every term occurs in a text, and every phrase stands word by word in its headline or in its summary.

    `text`: the tokens of both, separated by single spaces; the first `headline_length` are the headline's.
    """
    padded = f" {text} "
    if not all(_occurs(term, padded) for term in query.terms):
        return False
    if not query.phrases:
        return True
    told = text.split(" ")
    parts = [f" {' '.join(_words_of(part))} " for part in (told[:headline_length], told[headline_length:])]
    return all(any(f" {' '.join(phrase)} " in part for part in parts) for phrase in query.phrases)


def _occurs(term: Term, padded: str) -> bool:
    return any(f" {word} " in padded for word in term.exact) or any(f" {prefix}" in padded for prefix in term.prefixes)


def score(headline: Sequence[str], summary: Sequence[str], query: Query) -> float:
    """BM25F without collection statistics: every candidate holds every word, so only where and how often counts.

    Fixed statistics keep a story's score the same for ever, and with it the paging of a list that grows meanwhile.
    """
    held_back = K1 * (1 - B + B * (len(headline) + len(summary)) / MEAN_LENGTH)
    total = 0.0
    for term in query.terms:
        frequency = HEADLINE_WEIGHT * _frequency(headline, term) + _frequency(summary, term)
        total += frequency * (K1 + 1) / (frequency + held_back)
    return round(total, 6)


def _frequency(part: Sequence[str], term: Term) -> float:
    """The sum of the weights of a part's tokens: hundreds of texts are counted a search, so nothing here loops in Python."""
    exact = part.count(term.exact[0]) if len(term.exact) == 1 else sum(map(part.count, term.exact))
    if not term.prefixes:
        return exact
    text = " " + " ".join(part)
    begun = sum(text.count(" " + prefix) for prefix in term.prefixes)
    return exact + PREFIX_WEIGHT * (begun - sum(part.count(token) for token in term.exact if token.startswith(term.prefixes)))


def _looked_up(term: Term) -> Term:
    """Words that begin with one of the prefixes are found by it."""
    prefixes = tuple(map(_indexed, term.prefixes))
    return Term(tuple(word for word in term.exact if not (prefixes and word.startswith(prefixes))), prefixes)


def _indexed(prefix: str) -> str:
    """Of a word its first letters; names begin alike too seldom to need it."""
    return prefix if prefix[0] == "0" else prefix[:LONGEST_PREFIX]


def folded(text: str) -> str:
    """Compatibility forms and case folded, accents removed; character by character it is the same."""
    found = unicodedata.normalize("NFKC", text).casefold()
    if not found.isascii():
        found = "".join(c for c in unicodedata.normalize("NFD", found) if not unicodedata.combining(c))
    return found


def _is_name(parts: Sequence[str]) -> bool:
    return len(parts) > 1 and any(part.isdigit() for part in parts)


def _name(parts: Sequence[str]) -> str:
    """`0gpt5`, `0gemini2x5`: no word begins like this, for the parts of words are all letters or all digits."""
    joined = "".join(
        ("x" if part.isdigit() and before.isdigit() else "") + (part if part.isascii() else token(part))
        for before, part in zip(["", *parts], parts, strict=False)
    )
    return "0" + joined if len(joined) < MAX_TOKEN else "0x" + hashlib.sha256(joined.encode()).hexdigest()


def _words_of(tokens: Sequence[str]) -> list[str]:
    """Without the names, so that words that follow each other stand side by side."""
    return [token for token in tokens if is_word(token)]


def _terms(chain: str, *, unfinished: bool) -> list[Term]:
    """A name is one term; of 24-hour and 5-year, which are none, each word is."""
    parts = _PART.findall(chain)
    if _is_name(parts) and (not parts[0].isdigit() or _WORD.fullmatch(chain.replace(".", ""))):
        name = _name(parts)
        goes_on = [name + letter for letter in ascii_lowercase] if parts[-1].isdigit() else [name]  # GPT-5.2 and GPT-5o, not GPT-55
        return [Term((name,), tuple(goes_on) if unfinished else ())]
    *others, last = parts
    return [*(Term((token(part),)) for part in others), _last(last) if unfinished else Term((token(last),))]


def _last(word: str) -> Term:
    """A word that may go on: "securit" is the beginning of a word whose stem, "secur", is shorter than itself."""
    if len(word) < SHORTEST_PREFIX or word.isdigit() or not word.isascii() or len(word) > MAX_TOKEN:
        return Term((token(word),))
    stems = {token(word), *(token(word + ending) for ending in _ENDINGS)}
    return Term(tuple(sorted(stem for stem in stems if stem == token(word) or not stem.startswith(word))), (word,))
