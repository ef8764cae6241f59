"""Comparison of a claim with a text: word by word, number by number, nothing to the contrary. English, precision first. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from wire.text.lexicons import load_lexicon
from wire.text.numbered_names import have_other_versions
from wire.text.quantities import Quantity
from wire.text.quantities import find_quantities as read_quantities
from wire.text.tokens import STOP_WORDS, fold_text, stem_word, words
from wire.text.word_frequency import FREQUENT_WORDS, read_frequencies

_LEXICON: Final = load_lexicon("claim_match")
_MEANINGS: Final[Mapping[str, str]] = {stem_word(one): stem_word(row.split()[0]) for row in _LEXICON["same"] for one in row.split()}


def _stem_words(listed: str) -> frozenset[str]:
    """Return the stems of words, each replaced by the word that stands for its group."""
    return frozenset(_MEANINGS.get(stem, stem) for stem in map(stem_word, listed.split()))


NEGATIONS: Final = frozenset(_LEXICON["negations"].split())
COMMON: Final = _stem_words(_LEXICON["common"])
_OPPOSITES: Final = [(_stem_words(one), _stem_words(other)) for one, other in _LEXICON["opposites"]]
_OPPOSITES_OF_A_CLAIM: Final = [(_stem_words(one), _stem_words(other)) for one, other in _LEXICON["opposites_of_a_claim"]]
_OVERCLAIMS: Final = [frozenset(group.split()) for group in _LEXICON["overclaims"]]
_CAUSE: Final = re.compile(rf"\b(?:{'|'.join(_LEXICON['causes'])})\b", re.I)
_HINT: Final = re.compile(rf"\b(?:{'|'.join(_LEXICON['hints_of_causes'])})\b", re.I)
_NO_NAMES: Final = _stem_words(_LEXICON["no_names"])
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
# "May" and "March" are words, too, unless a day or a year stands beside them, or what leads to a month.
_MONTH: Final = re.compile(
    r"\b(?:(?:January|February|April|June|July|August|September|October|November|December)"
    r"|(?:(?<=\d )|(?<=\b(?:in|by|of) )|(?<=\b(?:late|last|next) )|(?<=\b(?:early|since|until) ))(?:March|May)"
    r"|(?:March|May)(?= \d))\b"
)
HALF: Final = 0.5  # share of a claim's names that one report of several has to have
LEAST: Final = 2  # words and numbers of a claim besides those of COMMON, from which it says something
KEPT: Final = 2_000  # characters of a text that is remembered
REACH: Final = 12  # words before a verb and behind it, that it may be said of
TIMES: Final = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})
SCOPE: Final = 3  # words behind a "not" that it denies


@dataclass(frozen=True, slots=True)
class Statement:
    """Content of a text: `stems` are of its words without stop words and numbers."""

    text: str
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    names: frozenset[str]
    months: frozenset[str]
    denied: tuple[tuple[str, ...], ...]  # the stems behind each "not"
    asserted: frozenset[str]  # stems that stand elsewhere; perhaps behind a "not" as well
    done: tuple[tuple[str, frozenset[str], frozenset[str]], ...]  # verbs that have a direction; the stems before and behind each

    @property
    def told(self) -> frozenset[str]:
        """Stems that have to be reported."""
        return self.stems - COMMON or self.stems


def parse_statement(text: str) -> Statement:
    return _analyze_text(text) if len(text) <= KEPT else _analyze_text.__wrapped__(text)


@lru_cache(maxsize=1024)
def _analyze_text(text: str) -> Statement:
    plain = _POSSESSIVE.sub("", _CONTRACTED.sub(" not", text))
    for phrase, other in _PHRASES.items():
        plain = phrase.sub(other, plain)
    quantities, rest = read_quantities(fold_text(plain))
    counted = tuple(replace(one, of=min(_find_stems(one.of), default="")) for one in quantities)
    months = frozenset(stem_word(match[0]) for match in _MONTH.finditer(plain))
    names = _find_names(plain) - months
    return Statement(plain, _find_stems(rest), counted, names, months, *_find_negations(plain), _find_actions(plain))


def measure_coverage(claim: Statement, told: Statement, *, is_part: bool = False) -> float:
    """Return the share of a claim that a text says, 0 to 1; 0 if its numbers or names are others, or if it says the contrary.

    `is_part`: other texts of the same event may have the rest, so that half of its names are enough.
    """
    names = len(claim.names & told.stems) / len(claim.names) if claim.names else 1.0
    kinds = [kind for pair in _OPPOSITES for kind in pair if claim.stems & kind]  # words that have opposites
    if (
        not all(any(one.may_equal(other) for other in told.quantities) for one in claim.quantities)
        or names < (HALF if is_part else 1.0)
        or find_contradiction(claim, told, is_whole=True)
        or len(claim.stems - COMMON) + len(claim.quantities) < LEAST
        or any(frozenset().union(*told.denied).isdisjoint(denied[:1] if is_part else denied) for denied in claim.denied)
        or (is_part and not ({verb for verb, *_ in claim.done} <= told.stems and all(told.stems & kind for kind in kinds)))
    ):
        return 0.0
    return len(claim.told & told.stems) / len(claim.told) if claim.told else 0.0


def has_all_names(claim: Statement, *told: Statement) -> bool:
    """Return whether these texts have every name of a claim; its first word is one, too, unless it is frequent in headlines."""
    known = frozenset[str]().union(*(text.stems for text in told))
    first = next(iter(words(claim.text)), "")
    return claim.names <= known and (first in FREQUENT_WORDS or _find_stems(first) <= known | COMMON)


def find_contradiction(claim: Statement, told: Statement, *, is_whole: bool = False) -> str:
    """Return what a text denies of a claim, as a sentence or "". `is_whole`: all of the claim is about what the text tells."""
    return find_other_figure(claim, told) or _find_denial(claim, told, is_whole=is_whole)


def find_other_figure(claim: Statement, told: Statement) -> str:
    """Return where a text has another number, version or month than a claim, as a sentence or ""."""
    for one in claim.quantities:
        # It says that it is not this one: "$18 million, not $80 million".
        if re.search(rf"\b(?:not|instead of|rather than)(?: just| only)? {re.escape(one.said)}", fold_text(claim.text)):
            continue
        if any(one.has_same_unit(same) and any(same.may_equal(other) for other in told.quantities) for same in claim.quantities):
            continue  # it says both, as in "$12 million of a planned $20 million"
        rivals = [other for other in told.quantities if one.has_same_unit(other)]
        if rivals and not any(one.may_equal(other) for other in told.quantities):
            return f"It says {one.said}, but the record says {' and '.join(dict.fromkeys(other.said for other in rivals))}."
    if have_other_versions(claim.text, told.text):
        return "It names another version."
    if claim.months and told.months and claim.months.isdisjoint(told.months):
        return "It names another month."
    return ""


def _find_denial(claim: Statement, told: Statement, *, is_whole: bool) -> str:
    for pair in _OPPOSITES + (_OPPOSITES_OF_A_CLAIM if is_whole else []):
        for mine, theirs in (pair, pair[::-1]):
            if claim.stems & mine and told.stems & theirs and not told.stems & mine:
                return f"It says {min(claim.stems & mine)!r}, but the record says the opposite."
    told_denied = frozenset[str]().union(*told.denied)
    if any(denied[0] in told.asserted and told_denied.isdisjoint(denied) for denied in claim.denied):
        return "It denies what the record says."
    claim_denied = frozenset[str]().union(*claim.denied, told_denied if claim.stems & _EXEMPTING else ())
    of_record = frozenset[str]().union(*(denied for denied in told.denied if claim_denied.isdisjoint(denied)))
    if denied := (claim.asserted & of_record) - told.asserted - _LIGHT:
        return f"It says something of {sorted(denied)[0]!r} that the record denies."
    for verb, doers, others in claim.done:
        same_verb = [(theirs, what) for done, theirs, what in told.done if done == verb]
        is_so = any(doers & theirs and others & what for theirs, what in same_verb)
        if not is_so and any(doers & what and others & theirs for theirs, what in same_verb):
            return f"It turns round who did what to whom ({verb!r})."
    return ""


def list_missing_names(claim: Statement, told: Statement) -> list[str]:
    first = next(iter(re.findall(r"[^\W_]+(?:-\d+)?", claim.text)), "")
    # A usual word of English that begins a sentence is no name, and no number is.
    is_usual = first.casefold() in FREQUENT_WORDS or bool(read_quantities(fold_text(first))[0])
    is_name = first[:1].isupper() and not is_usual and stem_word(first) not in read_frequencies(1.0, 0.0)
    names = claim.names | (_find_stems(first) if is_name else frozenset())
    missing = names - told.stems - COMMON - _NO_NAMES
    said = dict.fromkeys(re.findall(r"[^\W\d_]{2,}", claim.text))  # of versions `find_other_figure` judges
    return [word for word in said if word[0].isupper() and _find_stems(word) & missing]


def list_missing_numbers(claim: Statement, told: Statement) -> list[str]:
    """List the numbers of a claim, as it has them, that a text does not have; "nine hard months" are nine-month ones."""
    stems = claim.stems | told.stems

    def has(one: Quantity, other: Quantity) -> bool:
        is_apart = one.value == other.value and not (one.unit and other.unit) and (one.unit or other.unit) in TIMES & stems
        return one.may_equal(other) or is_apart

    return [one.said for one in claim.quantities if not any(has(one, other) for other in told.quantities)]


def find_overclaim(claim: Statement, *told: Statement) -> str:
    """Return a word by which a claim says more than all of these texts, such as "all" or "first"; "" if there is none."""
    said, known = words(claim.text), {word for text in told for word in words(text.text)}
    for group in _OVERCLAIMS:
        if known.isdisjoint(group) and (found := next((word for word in said if word in group), "")):
            return found
    return ""


def find_missing_cause(claim: Statement, told: Statement) -> str:
    """Return the word by which a claim gives a cause, such as "because", if a text has none like it; else ""."""
    found = _CAUSE.search(claim.text)
    return found[0] if found and not (_CAUSE.search(told.text) or _HINT.search(told.text)) else ""


def list_unsupported(claim: Statement, *told: Statement) -> list[str]:
    """List the words and numbers of a claim, as it has them, that none of these texts has."""
    stems = claim.told.difference(COMMON, *(text.stems for text in told))
    known = [quantity for text in told for quantity in text.quantities]
    numbers = [one.said for one in claim.quantities if not any(one.may_equal(other) for other in known)]
    return [*numbers, *(word for word in dict.fromkeys(words(claim.text)) if not _find_stems(word).isdisjoint(stems))]


def _find_stems(text: str) -> frozenset[str]:
    for spelling, american in _SPELLINGS:
        text = spelling.sub(american, text)
    stems = (stem_word(word) for word in words(text) if word not in STOP_WORDS and word not in NEGATIONS)
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
            verb = _MEANINGS.get(stem_word(word), stem_word(word))
            if verb in _DIRECTED and word not in _NOUNS:
                before = _find_stems(" ".join(said[max(at - REACH, 0) : at]))
                behind = _find_stems(" ".join(said[at + 1 : at + 1 + REACH]))
                found.append((verb, behind, before) if "by" in said[at + 1 : at + 3] else (verb, before, behind))
    return tuple(found)
