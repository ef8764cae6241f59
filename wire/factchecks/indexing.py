"""What a claim is found by: stems in its own language with a weight each, and its filters. Pure but for `wire.postings`.

A weight is BM25's share of a term that does not depend on the other claims, so a claim's postings never change because of others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from wire.factchecks.chunks import published
from wire.factchecks.languages import STOP_WORDS, stem
from wire.stories.tokens import folded, words

INDEX: Final = "factchecks"
LONGEST: Final = 60  # characters of a token
MOST_WORDS: Final = 20_000  # of one claim
FULL: Final = 255  # the greatest weight: a term said for ever
USUAL: Final = 30.0  # words of a claim, as BM25's average length: fixed, so that no claim is weighed anew because of others
SATURATION: Final = 1.2
LENGTH: Final = 0.5
IN_DETAIL: Final = 0.5  # what a word in the assessment or in a fact counts beside one in the claim or its summary

FILTER: Final = "="
"""Begins a filter's token; no word does."""


def tokens_of(claim: Any) -> dict[str, int]:
    """Every token that a claim is found by, with its weight."""
    counts, length = Counter[str](), 0.0
    for text, worth in _texts(claim):
        found = [word for word in words(text)[:MOST_WORDS] if word not in STOP_WORDS.get(claim.language, ())]
        length += worth * len(found)
        for word in found:
            counts[stem(word, claim.language)[:LONGEST]] += worth  # type: ignore[assignment]
    norm = SATURATION * (1 - LENGTH + LENGTH * length / USUAL)
    weighed = {token: max(1, round(FULL * count / (count + norm))) for token, count in counts.items()}
    return weighed | dict.fromkeys(filters_of(claim), 1)


def filters_of(claim: Any) -> set[str]:
    categories = {name for one in claim.categories for name in (one["name"], one.get("de"), one.get("en")) if name}
    return {
        filter_token("status", claim.status),
        filter_token("rating", claim.rating_label),
        filter_token("language", claim.language),
        *(filter_token("category", name) for name in categories),
    }


def filter_token(name: str, value: str) -> str:
    return f"{FILTER}{name} {folded(' '.join(storable(value).split()))}"[:100]


def storable(given: str) -> str:
    """A stranger's text as every database takes it: NUL, which Postgres refuses, becomes a character that no claim holds."""
    return given.replace("\0", "\ufffd")


def words_in(tokens: Iterable[str]) -> set[str]:
    """Those that are words."""
    return {token for token in tokens if not token.startswith(FILTER)}


def _texts(claim: Any) -> Sequence[tuple[str, float]]:
    facts: list[Mapping[str, Any]] = list(published(claim.facts))
    return [
        (claim.synopsis, 1.0),
        (claim.rating_summary, 1.0),
        (claim.rating_statement, IN_DETAIL),
        *((str(fact.get("text") or ""), IN_DETAIL) for fact in facts),
        *((str(one.get("excerpt") or ""), IN_DETAIL) for fact in facts for one in published(fact.get("sources") or ())),
    ]
