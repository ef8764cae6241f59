"""What a person or an agent asks of a search, in words, and how well a text answers it. Pure, so that every database agrees.

A question has several forms, strict ones first: all words, a name and its number being one ("GPT 5.2" is GPT-5.2); all words;
most words, which a text holds that has words of at least half of the question's rarity; and some words, which takes a tenth. A
single word has the strict forms alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from string import ascii_lowercase
from typing import Final

from wire.stories.rarity import is_known, rarity
from wire.stories.tokens import MAX_TOKEN, PART, chains, is_name, name_of, pair, token, tokens, words_of
from wire.stories.wording import FILLERS, synonyms

HEADLINE_WEIGHT: Final = 3.0
K1: Final = 1.2  # BM25: how soon a repeated word stops counting more
B: Final = 0.75  # BM25: how much long texts are held back
MEAN_LENGTH: Final = 60.0  # tokens of a usual story; fixed, so that a story's score never moves when others arrive
MAX_TERMS: Final = 16

ALL: Final = 1.0  # share of a question's rarity that a text must hold …
MOST: Final = 0.5  # … where it need not hold every word …
SOME: Final = 0.1  # … and where hardly any text holds most
LOOKED_UP: Final = 6  # rarest words of whose combinations an index is asked for candidates
SYNONYM_WEIGHT: Final = 0.5  # of a word that newsrooms use for the one asked for, beside that very word

PREFIX_WEIGHT: Final = 0.25  # of a word that only begins like the last one asked for, beside that very word
SHORTEST_PREFIX: Final = 3
LONGEST_PREFIX: Final = 6  # letters of the beginnings of words that databases keep lists for
_ENDINGS: Final = (*ascii_lowercase, "es", "ed", "ing", "er", "ies", "ied", "ity", "ion", "ions", "ment", "al", "ally")
_QUOTED: Final = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Term:
    """One word asked for: a text holds one of `exact`, or a token that begins with one of `prefixes`, or, for less, a synonym."""

    exact: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    rarity: float = 1.0
    is_required: bool = False
    written: str = ""  # the word or name as it was typed, folded; nothing for a quoted one

    def share(self, padded: str) -> float:
        """1 for a text (tokens, each with a space before and behind it) that holds it, less for one with a synonym, else 0."""
        if any(f" {word} " in padded for word in self.exact) or any(f" {prefix}" in padded for prefix in self.prefixes):
            return 1.0
        return SYNONYM_WEIGHT if any(f" {word} " in padded for word in self.synonyms) else 0.0


@dataclass(frozen=True, slots=True)
class Query:
    """One form of a question. `phrases` must stand in a text word by word; of the rarity of all `terms`, `least` must occur."""

    terms: tuple[Term, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    least: float = ALL

    @property
    def looked_up(self) -> tuple[tuple[Term, ...], ...]:
        """What an index is asked for: stories that hold all terms of any of these. Most that do, and hardly others, are what is
        meant: see `is_certain`.
        """
        pairs = [Term((pair(*two),)) for phrase in self.phrases for two in pairwise(phrase)]
        chosen = [self.terms] if self.least == ALL else list(self._sufficient())
        return tuple((*map(_looked_up, terms), *pairs) for terms in chosen)

    @property
    def is_certain(self) -> bool:
        """Whether every story that an index finds is what is meant, or `holds` has to look at them."""
        return self.least == ALL and not self.phrases and all(_indexed(p) == p for term in self.terms for p in term.prefixes)

    @property
    def finished(self) -> "Query":
        """The same question, its last word taken as it stands."""
        return replace(self, terms=tuple(replace(term, prefixes=()) for term in self.terms))

    @property
    def enough(self) -> float:
        """The rarity that a text must hold."""
        return self.least * sum(term.rarity for term in self.terms)

    def missing_from(self, texts: Sequence["Text"]) -> list[str]:
        """Its words, folded and in their order, that none of these texts holds."""
        held = [text.shares(self) for text in texts]
        return [term.written for at, term in enumerate(self.terms) if term.written and not any(shares[at] for shares in held)]

    def _sufficient(self) -> Iterator[tuple[Term, ...]]:
        """Small sets of terms that are enough, each with all that are required: every term that is enough alone, and combinations
        of the rarest others. A text that has enough by none of these is not found.
        """
        required = tuple(term for term in self.terms if term.is_required)
        missing = self.enough - sum(term.rarity for term in required)
        others = sorted((term for term in self.terms if not term.is_required), key=lambda term: -term.rarity)
        if missing <= 0 or not others:
            yield required
            return
        alone = [term for term in others if term.rarity >= missing]
        yield from ((*required, term) for term in alone)
        rarest = [term for term in others if term not in alone][:LOOKED_UP]
        found: list[set[Term]] = []
        for size in range(2, len(rarest) + 1):
            for some in combinations(rarest, size):
                if sum(term.rarity for term in some) >= missing and not any(smaller <= set(some) for smaller in found):
                    found.append(set(some))
                    yield (*required, *some)
        if not alone and not found:
            yield (*required, *rarest)


NOTHING: Final[Mapping[str, Sequence[str]]] = {}

EVERYTHING: Final = Query(())
"""A question without words, which every text answers."""


def forms(question: str, also: Mapping[str, Sequence[str]] = NOTHING) -> list[Query]:
    """What a person typed, in the forms in which it is asked one after the other. None when it holds no word.

    The last word may be unfinished, phrases in double quotes are taken as they stand. Nothing in it is query syntax beyond the
    quotes. Words that ask rather than tell ("what", "latest") are passed over, unless there are no others. `also` says by which
    other tokens a stemmed word is found.
    """
    phrases = [words_of(tokens(part)) for part in _QUOTED.findall(question)]
    quoted = [Term((word,), rarity=rarity(word), is_required=True) for phrase in phrases for word in phrase]
    loose = _compounds(chains(_QUOTED.sub(" ", question)))
    told = list(dict.fromkeys(chain for chain in loose if chain not in FILLERS)) or ([] if quoted else loose)
    if not quoted and not told:
        return []
    is_unfinished = bool(told) and loose[-1] == told[-1] and not question.rstrip().endswith(('"', "?", ".", "!"))
    long_enough = tuple(tuple(phrase)[:MAX_TERMS] for phrase in phrases if len(phrase) > 1)

    def form(terms: Sequence[Term], least: float = ALL) -> Query:
        found = [replace(term, exact=(*term.exact, *(one for word in term.exact for one in also.get(word, ())))) for term in terms]
        return Query(tuple(dict.fromkeys([*quoted, *found]))[:MAX_TERMS], long_enough, least)

    names = _joined([term for chain in _with_numbers(told) for term in _terms(chain)])
    words = _joined([term for chain in told for term in _terms(chain)])
    loosely = [replace(term, synonyms=synonyms(term.exact[0])) for term in _with_names(words, told)]
    if is_unfinished:
        names, words, loosely = (_unfinished(terms, told[-1]) for terms in (names, words, loosely))
    loose_forms = [form(loosely, MOST), form(loosely, SOME)] if len(quoted) + len(words) > 1 else []
    return list(dict.fromkeys([form(names), form(words), *loose_forms]))


@dataclass(frozen=True, slots=True)
class Text:
    """What a story is found and ranked by: the tokens of its headline and of its summary, and its marks (`wire.models.search`)."""

    headline: Sequence[str]
    summary: Sequence[str]
    marks: Sequence[str] = ()

    def holds(self, query: Query) -> bool:
        """Whether it has enough of the terms, and every phrase word by word in its headline or in its summary."""
        shares = self.shares(query)
        if any(share < 1 for term, share in zip(query.terms, shares, strict=True) if query.least == ALL or term.is_required):
            return False
        if self.share(query) < query.enough - 1e-9:
            return False
        parts = [f" {' '.join(words_of(part))} " for part in (self.headline, self.summary)] if query.phrases else []
        return all(any(f" {' '.join(phrase)} " in part for part in parts) for phrase in query.phrases)

    def share(self, query: Query) -> float:
        """The rarity of the terms that it has, synonyms counting less."""
        return sum(term.rarity * share for term, share in zip(query.terms, self.shares(query), strict=True))

    def shares(self, query: Query) -> list[float]:
        """Of each term, whether it has it: 1, or less for a synonym, or 0."""
        padded = f" {' '.join((*self.headline, *self.summary, *self.marks))} "
        return [term.share(padded) for term in query.terms]

    def score(self, query: Query) -> float:
        """0-1, by BM25F with the fixed rarities of `wire.stories.rarity`, not those among the stories at hand.

        Fixed statistics keep a story's score the same for ever, and with it the paging of a list that grows meanwhile.
        """
        held_back = K1 * (1 - B + B * (len(self.headline) + len(self.summary)) / MEAN_LENGTH)
        others = (*self.summary, *self.marks)
        total = most = 0.0
        for term in query.terms:
            frequency = HEADLINE_WEIGHT * _frequency(self.headline, term) + _frequency(others, term)
            total += term.rarity * frequency / (frequency + held_back)
            most += term.rarity
        return round(total / (most or 1), 6)


def _frequency(part: Sequence[str], term: Term) -> float:
    """The sum of the weights of a part's tokens: hundreds of texts are counted a search, so nothing here loops in Python."""
    exact: float = part.count(term.exact[0]) if len(term.exact) == 1 else sum(map(part.count, term.exact))
    if term.synonyms:
        exact += SYNONYM_WEIGHT * sum(map(part.count, term.synonyms))
    if not term.prefixes:
        return exact
    text = " " + " ".join(part)
    begun = sum(text.count(" " + prefix) for prefix in term.prefixes)
    return exact + PREFIX_WEIGHT * (begun - sum(part.count(token) for token in term.exact if token.startswith(term.prefixes)))


def _compounds(told: Sequence[str]) -> list[str]:
    """Words that are one word elsewhere, as one: Open AI, Chat GPT, You Tube."""
    found: list[str] = []
    for chain in told:
        before = found[-1] if found else ""
        if _may_be_one(before, chain) and is_known(token(before + chain)):
            found[-1] = before + chain
        else:
            found.append(chain)
    return found


def _may_be_one(one: str, other: str) -> bool:
    both = (one, other)
    return all(word.isascii() and word.isalpha() and len(word) > 1 for word in both) and not FILLERS.issuperset(both)


def _with_numbers(told: Sequence[str]) -> list[str]:
    """A word and the number behind it as one: GPT 5.2."""
    found: list[str] = []
    for chain in told:
        if found and chain[0].isdigit() and found[-1].isalpha() and len(found[-1]) > 1:
            found[-1] += chain
        else:
            found.append(chain)
    return found


def _with_names(terms: Sequence[Term], told: Sequence[str]) -> list[Term]:
    """Numbers also as part of the name that they make with the word before."""
    names = {}
    for before, number in pairwise(told):
        if number[0].isdigit() and before.isalpha():
            parts = PART.findall(number)
            names[name_of(parts) if is_name(parts) else number] = name_of([before, *parts])
    return [replace(term, exact=(*term.exact, names[term.exact[0]])) if term.exact[0] in names else term for term in terms]


def _joined(terms: Sequence[Term]) -> list[Term]:
    """Neighbours also as one word, which no table knows: deep seek."""
    found = list(terms)
    for at, (one, other) in enumerate(pairwise(terms)):
        if one.written and other.written and _may_be_one(one.written, other.written):
            both = token(one.written + other.written)
            found[at] = replace(found[at], exact=(*found[at].exact, both))
            found[at + 1] = replace(found[at + 1], exact=(*found[at + 1].exact, both))
    return found


def _terms(chain: str) -> list[Term]:
    """A name is one term; of 24-hour and 5-year, which are none, each word is."""
    parts = PART.findall(chain)
    if is_name(parts) and (not parts[0].isdigit() or chain.replace(".", "").isalnum()):
        return [replace(_term(name_of(parts)), written=chain)]
    return [_word(part) for part in parts]


def _word(word: str) -> Term:
    """A word, also where it is written as two: OpenAI, data center."""
    split = ((word[:at], word[at:]) for at in range(2, len(word) - 1)) if word.isascii() and word.isalpha() else ()
    pairs = [pair(token(one), token(two)) for one, two in split if is_known(token(one)) and is_known(token(two))]
    return replace(_term(token(word), *pairs), written=word)


def _term(*exact: str) -> Term:
    return Term(exact, rarity=rarity(exact[0]))


def _unfinished(terms: Sequence[Term], chain: str) -> list[Term]:
    """The terms, the last of which may go on: "securit" is the beginning of a word whose stem, "secur", is shorter than itself;
    GPT-5 may become GPT-5.2 and GPT-5o, not GPT-55.
    """
    *others, last = terms
    name, word = last.exact[0], PART.findall(chain)[-1]
    if name[0] == "0" and not name.isdigit():
        prefixes = [name + letter for letter in ascii_lowercase] if name[-1].isdigit() else [name]
        return [*others, replace(last, prefixes=tuple(prefixes))]
    if len(word) < SHORTEST_PREFIX or word.isdigit() or not word.isascii() or len(word) > MAX_TOKEN:
        return list(terms)
    stems = {name, *(token(word + ending) for ending in _ENDINGS)}
    exact = sorted(stem for stem in stems if stem == name or not stem.startswith(word))
    return [*others, replace(last, exact=(*exact, *last.exact[1:]), prefixes=(word,))]


def _looked_up(term: Term) -> Term:
    """Words that begin with one of the prefixes are found by it."""
    prefixes = tuple(map(_indexed, term.prefixes))
    exact = (*term.exact, *term.synonyms)
    return Term(tuple(word for word in exact if not (prefixes and word.startswith(prefixes))), prefixes)


def _indexed(prefix: str) -> str:
    """Of a word its first letters; names begin alike too seldom to need it."""
    return prefix if prefix[0] == "0" else prefix[:LONGEST_PREFIX]
