"""Questions to a search, and how well a text answers them. Pure, so that every database agrees.

A question has several forms, strict ones first: all words, a name and its number being one ("GPT 5.2" is GPT-5.2); all words;
most words, which a text holds that has words of at least half of the question's rarity; and some words, which takes a tenth. A
single word has the strict forms alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from string import ascii_lowercase
from typing import Final

from wire.text.question_language import find_languages, list_small_words
from wire.text.tokens import (
    FILLERS,
    MAX_TOKEN,
    PART,
    drop_names,
    encode_name,
    encode_pair,
    has_number,
    is_unspaced,
    list_run_triples,
    list_synonyms,
    locate_pairs,
    split_written_words,
    stem_word,
    tokenize,
    trim_phrase,
)
from wire.text.word_frequency import RAREST, get_rarity, is_known

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
TRIPLE_RARITY: Final = 4.0  # of three characters side by side, which their pairs count for already
KANA_RARITY: Final = 2.0  # of two Hiragana, which mostly are endings and particles
LONGEST_PREFIX: Final = 6  # letters of the beginnings of words that databases keep lists for
_ENDINGS: Final = (*ascii_lowercase, "es", "ed", "ing", "er", "ies", "ied", "ity", "ion", "ions", "ment", "al", "ally")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_HIRAGANA: Final = re.compile("[\u3041-\u309f]+")


@dataclass(frozen=True, slots=True)
class Term:
    """Word asked for: a text holds one of `exact`, or a token that begins with one of `prefixes`, or, for less, a synonym."""

    exact: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    rarity: float = 1.0
    is_required: bool = False
    written: str = ""  # the word or name as it was typed, folded; nothing for a quoted one

    def measure_match(self, padded: str) -> float:
        """Return 1 for a text (tokens, each with a space on both sides) that holds it, less for one with a synonym, else 0."""
        # Loops, since generators take twice the time, and each of hundreds of texts is asked for each term.
        for word in self.exact:
            if f" {word} " in padded:
                return 1.0
        for prefix in self.prefixes:
            if f" {prefix}" in padded:
                return 1.0
        for word in self.synonyms:
            if f" {word} " in padded:
                return SYNONYM_WEIGHT
        return 0.0


@dataclass(frozen=True, slots=True)
class Query:
    """Form of a question. `phrases` must stand in a text word by word; of the rarity of all `terms`, `least` must occur."""

    terms: tuple[Term, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    least: float = ALL

    @property
    def lookup_sets(self) -> tuple[tuple[Term, ...], ...]:
        """Sets of terms that an index is asked for: stories that hold all terms of any set. See `is_certain`."""

        def simplify(term: Term) -> Term:
            prefixes = tuple(map(_shorten_prefix, term.prefixes))
            words = (*term.exact, *term.synonyms)
            return Term(tuple(word for word in words if not (prefixes and word.startswith(prefixes))), prefixes)

        pairs = [Term((encode_pair(*two),)) for phrase in self.phrases for two in pairwise(phrase)]
        chosen = [self.terms] if self.least == ALL else list(self._list_sufficient_sets())
        return tuple((*map(simplify, terms), *pairs) for terms in chosen)

    @property
    def is_certain(self) -> bool:
        """False if `holds` has to look at the stories that an index finds."""
        return self.least == ALL and not self.phrases and all(_shorten_prefix(p) == p for term in self.terms for p in term.prefixes)

    @property
    def finished(self) -> "Query":
        """The same question, its last word taken as it stands."""
        return replace(self, terms=tuple(replace(term, prefixes=()) for term in self.terms))

    @property
    def required_rarity(self) -> float:
        return self.least * sum(term.rarity for term in self.terms)

    def missing_from(self, texts: Sequence["Text"]) -> list[str]:
        """List its words, folded and in their order, that none of these texts holds."""
        held = [text.measure_matches(self) for text in texts]
        return [term.written for at, term in enumerate(self.terms) if term.written and not any(shares[at] for shares in held)]

    def _list_sufficient_sets(self) -> Iterator[tuple[Term, ...]]:
        """Yield small sets of terms that are enough, each with all that are required: every term that is enough alone, and
        combinations of the rarest others. A text that has enough by none of these is not found.
        """
        required = tuple(term for term in self.terms if term.is_required)
        missing = self.required_rarity - sum(term.rarity for term in required)
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

EVERYTHING: Final = Query(())  # a question without words, which every text answers


def list_query_forms(question: str, also: Mapping[str, Sequence[str]] = NOTHING) -> list[Query]:
    """List the forms in which a question is asked one after the other; none when it holds no word. The last word may be unfinished,
    phrases in double quotes are taken as they stand. `also` says by which other tokens a stemmed word is found.
    """
    parts = _QUOTED.findall(question)
    phrases = [drop_names(tokenize(part)) for part in parts]
    quoted = [Term((word,), rarity=get_rarity(word), is_required=True) for phrase in phrases for word in phrase]
    # Open AI, Chat GPT, You Tube
    written = split_written_words(_QUOTED.sub(" ", question))
    loose = _merge(written, lambda one, two: _may_join(one, two) and is_known(stem_word(one + two)))
    small = list_small_words(find_languages(loose))
    told = list(dict.fromkeys(chain for chain in loose if chain not in small)) or ([] if quoted else loose)
    if not quoted and not told:
        return []
    is_unfinished = bool(told) and loose[-1] == told[-1] and not question.rstrip().endswith(('"', "?", ".", "!"))
    trimmed = [trim_phrase(phrase, part) for phrase, part in zip(phrases, parts, strict=True)]
    long_enough = tuple(tuple(phrase)[:MAX_TERMS] for phrase in trimmed if len(phrase) > 1)

    numbered: dict[str, tuple[str, ...]] = {}  # a number as part of the name that it makes with the word before
    for before, number in pairwise(told):
        if number[0].isdigit() and before.isalpha() and not is_unspaced(before):
            parts = PART.findall(number)
            numbered[encode_name(parts) if has_number(parts) else number] = (encode_name([before, *parts]),)
    # GPT 5.2
    merged = _merge(told, lambda word, number: number[0].isdigit() and word.isalpha() and len(word) > 1 and not is_unspaced(word))
    names = _add_compounds([term for chain in merged for term in _build_terms(chain)])
    words = _add_compounds([term for chain in told for term in _build_terms(chain)])
    loosely = [
        replace(term, exact=term.exact + numbered.get(term.exact[0], ()), synonyms=list_synonyms(term.exact[0])) for term in words
    ]
    if is_unfinished:
        names, words, loosely = (_add_prefixes(terms, told[-1]) for terms in (names, words, loosely))

    def form(terms: Sequence[Term], least: float = ALL) -> Query:
        found = [replace(term, exact=(*term.exact, *(one for word in term.exact for one in also.get(word, ())))) for term in terms]
        return Query(tuple(dict.fromkeys([*quoted, *found]))[:MAX_TERMS], long_enough, least)

    loose_forms = [form(loosely, MOST), form(loosely, SOME)] if len(quoted) + len(words) > 1 else []
    return list(dict.fromkeys([form(names), form(words), *loose_forms]))


@dataclass(frozen=True, slots=True)
class Text:
    """Tokens that a story is found and ranked by: of its headline and of its summary, and its marks (`wire.models.search`)."""

    headline: Sequence[str]
    summary: Sequence[str]
    marks: Sequence[str] = ()

    def holds(self, query: Query) -> bool:
        """Return whether it has enough of the terms, and every phrase word by word in its headline or in its summary."""
        shares = self.measure_matches(query)
        if any(share < 1 for term, share in zip(query.terms, shares, strict=True) if query.least == ALL or term.is_required):
            return False
        if _sum_rarity(query, shares) < query.required_rarity - 1e-9:
            return False
        parts = [f" {' '.join(drop_names(part))} " for part in (self.headline, self.summary)] if query.phrases else []
        return all(any(f" {' '.join(phrase)} " in part for part in parts) for phrase in query.phrases)

    def measure_matches(self, query: Query) -> list[float]:
        """Return for each term 1 if it has it, less for a synonym, or 0."""
        padded = f" {' '.join((*self.headline, *self.summary, *self.marks))} "
        return [term.measure_match(padded) for term in query.terms]

    def score(self, query: Query) -> float:
        """Return 0-1, by BM25F with fixed rarities, so that a story's score, and the paging of a list that grows, stay the same."""
        held_back = K1 * (1 - B + B * (len(self.headline) + len(self.summary)) / MEAN_LENGTH)
        headline, others = Counter(self.headline), Counter((*self.summary, *self.marks))
        total = most = 0.0
        for term in query.terms:
            frequency = HEADLINE_WEIGHT * _count_weighted(headline, term) + _count_weighted(others, term)
            total += term.rarity * frequency / (frequency + held_back)
            most += term.rarity
        return round(total / (most or 1), 6)


def _sum_rarity(query: Query, shares: Sequence[float]) -> float:
    return sum(term.rarity * share for term, share in zip(query.terms, shares, strict=True))


def _count_weighted(counts: Mapping[str, int], term: Term) -> float:
    exact = 0.0
    for word in term.exact:
        exact += counts.get(word, 0)
    for word in term.synonyms:
        exact += SYNONYM_WEIGHT * counts.get(word, 0)
    if not term.prefixes:
        return exact
    begun = sum(count for word, count in counts.items() if word.startswith(term.prefixes))
    own = sum(counts.get(word, 0) for word in term.exact if word.startswith(term.prefixes))
    return exact + PREFIX_WEIGHT * (begun - own)


def _merge(chains: Sequence[str], are_one: Callable[[str, str], bool]) -> list[str]:
    """Return the words, each joined to the one before where `are_one` says so."""
    merged = [""]
    for chain in chains:
        if are_one(merged[-1], chain):
            merged[-1] += chain
        else:
            merged.append(chain)
    return merged[1:]


def _may_join(one: str, other: str) -> bool:
    both = (one, other)
    return all(word.isascii() and word.isalpha() and len(word) > 1 for word in both) and not FILLERS.issuperset(both)


def _add_compounds(terms: Sequence[Term]) -> list[Term]:
    """Return the terms, neighbours also as one word, which no table knows: deep seek."""
    found = list(terms)
    for at, (one, other) in enumerate(pairwise(terms)):
        if one.written and other.written and _may_join(one.written, other.written):
            both = stem_word(one.written + other.written)
            found[at] = replace(found[at], exact=(*found[at].exact, both))
            found[at + 1] = replace(found[at + 1], exact=(*found[at + 1].exact, both))
    return found


def _build_terms(chain: str) -> list[Term]:
    """Return a name as one term; of 24-hour and 5-year, which are none, each word, also as it is written as two: OpenAI; of a run
    its pairs, and each three characters.
    """
    if is_unspaced(chain):
        words = [word for word, _, _ in locate_pairs(chain)]
        terms = [Term((stem_word(one),), rarity=KANA_RARITY if _HIRAGANA.fullmatch(one) else RAREST, written=one) for one in words]
        return [*terms, *(Term((triple,), rarity=TRIPLE_RARITY) for triple in list_run_triples(chain))]
    parts = PART.findall(chain)
    if has_number(parts) and (not parts[0].isdigit() or chain.replace(".", "").isalnum()):
        name = encode_name(parts)
        return [Term((name,), rarity=get_rarity(name), written=chain)]
    terms = []
    for word in parts:
        split = ((word[:at], word[at:]) for at in range(2, len(word) - 1)) if word.isascii() and word.isalpha() else ()
        stems = ((stem_word(one), stem_word(two)) for one, two in split)
        pairs = [encode_pair(*two) for two in stems if all(map(is_known, two))]
        terms.append(Term((stem_word(word), *pairs), rarity=get_rarity(stem_word(word)), written=word))
    return terms


def _add_prefixes(terms: Sequence[Term], chain: str) -> list[Term]:
    """Return the terms, the last of which may go on: GPT-5 may become GPT-5.2 and GPT-5o, not GPT-55."""
    if is_unspaced(chain):
        return list(terms)
    *others, last = terms
    name, word = last.exact[0], PART.findall(chain)[-1]
    if name[0] == "0" and not name.isdigit():
        prefixes = [name + letter for letter in ascii_lowercase] if name[-1].isdigit() else [name]
        return [*others, replace(last, prefixes=tuple(prefixes))]
    if len(word) < SHORTEST_PREFIX or word.isdigit() or not word.isascii() or len(word) > MAX_TOKEN:
        return list(terms)
    stems = {name, *(stem_word(word + ending) for ending in _ENDINGS)}
    exact = sorted(stem for stem in stems if stem == name or not stem.startswith(word))
    return [*others, replace(last, exact=(*exact, *last.exact[1:]), prefixes=(word,))]


def _shorten_prefix(prefix: str) -> str:
    # Databases keep lists for the beginnings of words; names begin alike too seldom to need them.
    return prefix if prefix[0] == "0" else prefix[:LONGEST_PREFIX]
