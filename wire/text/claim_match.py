"""Comparison of a claim with a text: word by word, number by number, nothing to the contrary. English, precision first. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from wire.text.lexicons import load
from wire.text.numbered_names import differ
from wire.text.quantities import Quantity
from wire.text.quantities import find_quantities as read_quantities
from wire.text.tokens import STOP_WORDS, fold_text, token, words

_LEXICON: Final = load("claim_match")
_MEANINGS: Final[Mapping[str, str]] = {token(word): token(group.split()[0]) for group in _LEXICON["same"] for word in group.split()}


def _stem_words(listed: str) -> frozenset[str]:
    """Return the stems of words, each replaced by the word that stands for its group."""
    return frozenset(_MEANINGS.get(stem, stem) for stem in map(token, listed.split()))


NEGATIONS: Final = frozenset(_LEXICON["negations"].split())
COMMON: Final = _stem_words(_LEXICON["common"])
_OPPOSITES: Final = [(_stem_words(one), _stem_words(other)) for one, other in _LEXICON["opposites"]]
_OPPOSITES_OF_A_CLAIM: Final = [(_stem_words(one), _stem_words(other)) for one, other in _LEXICON["opposites_of_a_claim"]]
_DIRECTED: Final = _stem_words(_LEXICON["directed"])
_NOUNS: Final = frozenset(_LEXICON["nouns"].split())
_EXEMPTING: Final = _stem_words(_LEXICON["exempting"])
_LIGHT: Final = _stem_words(_LEXICON["light"])
_PHRASES: Final = {re.compile(rf"\b{one}\b", re.I): other for one, other in _LEXICON["phrases"].items()}
_CONTRACTED: Final = re.compile(r"\b(wo|ca|sha)?n['’]t\b|n['’]t\b")
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?!\w)")
_SPELLINGS: Final = (
    (re.compile(r"(?<=[a-z]{4})is(e[sd]?|ing|ation)\b"), r"iz\1"),
    (re.compile(r"(?<=[a-z]{2})our(?=s?\b|ed\b|ing\b|ite)"), "or"),
)
_CLAUSE: Final = re.compile(r"[,;:()–—\"“”]|[.!?]\s| - | but | and ")
_SENTENCE: Final = re.compile(r"[;:]|[.!?]\s")
LEAST: Final = 2  # words and numbers of a claim besides those of COMMON, from which it says something
KEPT: Final = 2_000  # characters of a text that is remembered
REACH: Final = 12  # words before a verb and behind it, that it may be said of
SCOPE: Final = 3  # words behind a "not" that it denies


@dataclass(frozen=True, slots=True)
class Statement:
    """Content of a text: `stems` are of its words without stop words and numbers."""

    text: str
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    names: frozenset[str]
    denied: tuple[tuple[str, ...], ...]  # the stems behind each "not"
    asserted: frozenset[str]  # stems that stand elsewhere; perhaps behind a "not" as well
    done: tuple[tuple[str, frozenset[str], frozenset[str]], ...]  # verbs that have a direction; the stems before and behind each

    @property
    def told(self) -> frozenset[str]:
        """Stems that have to be reported."""
        return self.stems - COMMON or self.stems


def parse_statement(text: str) -> Statement:
    """Parse headline and summary, or a claim."""
    return _read(text) if len(text) <= KEPT else _read.__wrapped__(text)


@lru_cache(maxsize=1024)
def _read(text: str) -> Statement:
    plain = _POSSESSIVE.sub("", _CONTRACTED.sub(" not", text))
    for phrase, other in _PHRASES.items():
        plain = phrase.sub(other, plain)
    quantities, rest = read_quantities(fold_text(plain))
    counted = tuple(replace(one, of=min(_find_stems(one.of), default="")) for one in quantities)
    return Statement(plain, _find_stems(rest), counted, _find_names(plain), *_find_negations(plain), _find_actions(plain))


def measure_coverage(claim: Statement, told: Statement) -> float:
    """Return the share of a claim that a text says, 0 to 1; 0 if its numbers or names are others, or if it says the contrary."""
    if (
        not all(any(one.agrees(other) for other in told.quantities) for one in claim.quantities)
        or not claim.names <= told.stems
        or find_contradiction(claim, told, is_whole=True)
        or len(claim.stems - COMMON) + len(claim.quantities) < LEAST
        or any(frozenset().union(*told.denied).isdisjoint(denied) for denied in claim.denied)
    ):
        return 0.0
    return len(claim.told & told.stems) / len(claim.told) if claim.told else 0.0


def find_contradiction(claim: Statement, told: Statement, *, is_whole: bool = False) -> str:
    """Return what a text denies of a claim, as a sentence or "". `is_whole`: all of the claim is about what the text tells."""
    for one in claim.quantities:
        # It says that it is not this one: "$18 million, not $80 million".
        if re.search(rf"\b(?:not|instead of|rather than)(?: just| only)? {re.escape(one.said)}", fold_text(claim.text)):
            continue
        if any(one.counts_alike(same) and any(same.agrees(other) for other in told.quantities) for same in claim.quantities):
            continue  # it says both, as in "$12 million of a planned $20 million"
        rivals = [other for other in told.quantities if one.counts_alike(other)]
        if rivals and not any(one.agrees(other) for other in told.quantities):
            return f"It says {one.said}, the record says {' and '.join(dict.fromkeys(other.said for other in rivals))}."
    if differ(claim.text, told.text):
        return "It names another version."
    for pair in _OPPOSITES + (_OPPOSITES_OF_A_CLAIM if is_whole else []):
        for mine, theirs in (pair, pair[::-1]):
            if claim.stems & mine and told.stems & theirs and not told.stems & mine:
                return f"It says {min(claim.stems & mine)!r}, the record says the opposite."
    told_denied = frozenset[str]().union(*told.denied)
    if any(denied[0] in told.asserted and told_denied.isdisjoint(denied) for denied in claim.denied):
        return "It denies what the record says."
    claim_denied = frozenset[str]().union(*claim.denied, told_denied if claim.stems & _EXEMPTING else ())
    of_record = frozenset[str]().union(*(denied for denied in told.denied if claim_denied.isdisjoint(denied)))
    if denied := (claim.asserted & of_record) - told.asserted - _LIGHT:
        return f"The record denies what it says of {sorted(denied)[0]!r}."
    for verb, doers, others in claim.done:
        same_verb = [(theirs, what) for done, theirs, what in told.done if done == verb]
        is_so = any(doers & theirs and others & what for theirs, what in same_verb)
        if not is_so and any(doers & what and others & theirs for theirs, what in same_verb):
            return f"It says {verb!r} the other way round."
    return ""


def list_unsupported(claim: Statement, *told: Statement) -> list[str]:
    """List the words and numbers of a claim, as it has them, that none of these texts has."""
    stems = claim.told.difference(COMMON, *(text.stems for text in told))
    known = [quantity for text in told for quantity in text.quantities]
    numbers = [one.said for one in claim.quantities if not any(one.agrees(other) for other in known)]
    return [*numbers, *(word for word in dict.fromkeys(words(claim.text)) if not _find_stems(word).isdisjoint(stems))]


def _find_stems(text: str) -> frozenset[str]:
    for spelling, american in _SPELLINGS:
        text = spelling.sub(american, text)
    stems = (token(word) for word in words(text) if word not in STOP_WORDS and word not in NEGATIONS)
    return frozenset(_MEANINGS.get(stem, stem) for stem in stems)


def _find_names(text: str) -> frozenset[str]:
    """Return the stems of words with a capital or a digit; none where nearly every word has one."""
    found = [word for word in re.findall(r"[^\W_]+(?:-\d+)?", text)[1:] if not word.islower() and not word.isdigit()]
    if len(found) > 0.8 * len(text.split()):
        return frozenset()
    return frozenset(stem for word in found for stem in _find_stems(read_quantities(fold_text(word))[1])) - COMMON


def _find_negations(text: str) -> tuple[tuple[tuple[str, ...], ...], frozenset[str]]:
    """Return the stems of the few words behind each "not" of a clause, in their order, and those of all other words."""
    denied: list[list[str]] = []
    asserted: set[str] = set()
    for clause in _CLAUSE.split(fold_text(text)):
        left = 0
        for word in words(read_quantities(clause)[1].replace("not only", "").replace("not just", "")):
            if word in NEGATIONS:
                left = SCOPE
                denied.append([])
            elif left and word.endswith("ly"):
                continue  # "not officially approved" denies the verb
            elif stems := _find_stems(word):
                if left:
                    denied[-1] += stems
                else:
                    asserted |= stems
                left = max(left - 1, 0)
    return tuple(tuple(one) for one in denied if one), frozenset(asserted)


def _find_actions(text: str) -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Return who does what to whom, by what stands before a verb and behind it; "by" turns it round."""
    found = []
    for sentence in _SENTENCE.split(fold_text(text)):
        said = words(sentence)
        for at, word in enumerate(said):
            verb = _MEANINGS.get(token(word), token(word))
            if verb in _DIRECTED and word not in _NOUNS:
                before = _find_stems(" ".join(said[max(at - REACH, 0) : at]))
                behind = _find_stems(" ".join(said[at + 1 : at + 1 + REACH]))
                found.append((verb, behind, before) if "by" in said[at + 1 : at + 3] else (verb, before, behind))
    return tuple(found)
