"""Tokens that a claim is found by: stems in its own language with a weight each, and its filters. Pure.

A weight is BM25's share of a term that does not depend on the other claims, so a claim's postings never change because of others.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from wire.corpora.factchecks.chunks import filter_published
from wire.corpora.factchecks.languages import STOP_WORDS, stem
from wire.text.tokens import fold_text, list_run_characters, list_run_triples, split_words

INDEX: Final = "factchecks"
LONGEST: Final = 60  # characters of a token
MOST_WORDS: Final = 10_000  # of one claim
MOST_CHARACTERS: Final = 10_000  # of one text, in scripts without spaces between words
FULL: Final = 255  # the greatest weight: a term said for ever
USUAL: Final = 30.0  # words of a claim, as BM25's average length: fixed, so that no claim is weighed anew because of others
SATURATION: Final = 1.2
LENGTH: Final = 0.5
USUAL_WEIGHT: Final = FULL / (1 + SATURATION)  # of a word that a claim of usual length says once

FILTER: Final = "="  # begins a filter's token; no word does


def weigh_claim_tokens(claim: Any) -> dict[str, int]:
    counts, length, left = Counter[str](), 0.0, MOST_WORDS
    facts = list(filter_published(claim.facts))
    sources = (source for fact in facts for source in filter_published(fact.get("sources") or ()))
    details = [claim.rating_statement, *(fact.get("text") for fact in facts), *(source.get("excerpt") for source in sources)]
    texts = [(claim.synopsis, 1.0), (claim.rating_summary, 1.0), *((str(text or ""), 0.5) for text in details)]
    for text, worth in texts:
        if left <= 0:
            break
        all_words = split_words(text)[:left]
        left -= len(all_words)
        found = [word for word in all_words if word not in STOP_WORDS.get(claim.language, ())]
        length += worth * len(found)
        for word in found:
            counts[stem(word, claim.language)[:LONGEST]] += worth  # type: ignore[assignment]
        for token in (*list_run_characters(text[:MOST_CHARACTERS]), *list_run_triples(text[:MOST_CHARACTERS])):
            counts[token] += worth  # type: ignore[assignment]
    norm = SATURATION * (1 - LENGTH + LENGTH * length / USUAL)
    weighed = {token: max(1, round(FULL * count / (count + norm))) for token, count in counts.items()}
    categories = {name for one in claim.categories for name in (one["name"], one.get("de"), one.get("en")) if name}
    filters = [("status", claim.status), ("rating", claim.rating_label), ("language", claim.language)]
    filters += [("category", name) for name in categories]
    return weighed | {build_filter_token(name, value): 1 for name, value in filters}


def build_filter_token(name: str, value: str) -> str:
    return f"{FILTER}{name} {fold_text(' '.join(replace_nul(value).split()))}"[:100]


def replace_nul(given: str) -> str:
    """Return a stranger's text as every database takes it: NUL, which Postgres refuses, becomes a character that no claim holds."""
    return given.replace("\0", "\ufffd")


def select_words(tokens: Iterable[str]) -> set[str]:
    return {token for token in tokens if not token.startswith(FILTER)}
