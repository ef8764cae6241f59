"""How well other publications bear a story out. Pure; the formula is in docs/consensus.md."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rapidfuzz import fuzz

from sources.vocabulary import Tier
from wire.identity import headline_key
from wire.search import words

if TYPE_CHECKING:
    from wire.models import StoryRevision

# How much one more witness of each tier counts. A maker's own blog is not independent of what it announces.
WEIGHTS: Final[Mapping[int, float]] = {Tier.CORPORATE: 0.5, Tier.SPECIALIST: 0.6, Tier.GLOBAL: 0.7, Tier.CATEGORY: 0.3}


@dataclass(frozen=True, slots=True)
class Witness:
    """One story of an event, as consensus sees it."""

    chatbotnews_id: str
    publisher: str
    tier: int
    published_at: dt.datetime
    headline: str
    summary: str


def witness(chatbotnews_id: str, revision: "StoryRevision") -> Witness:
    """A story as that revision tells it."""
    return Witness(
        chatbotnews_id,
        revision.original_publisher,
        revision.original_publisher_tier,
        revision.published_at,
        revision.headline,
        revision.summary_medium,
    )


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another publication's story of the same event, and what it adds."""

    witness: Witness
    similarity: float
    independent: bool
    is_copy: bool


@dataclass(frozen=True, slots=True)
class Consensus:
    """`score` 0-1, two decimals; `count` distinct witnesses, the story's own included; siblings in list order."""

    score: float
    count: int
    siblings: tuple[Sibling, ...]
    first: Witness
    has_maker: bool  # a tier 1 publication is among them, or is the story's own


def weigh(story: Witness, others: Iterable[Witness]) -> Consensus:
    """Consensus about `story` by the other stories of its event.

    1 - Π(1 - wᵢ·sᵢ) over the other witnesses: each publication once, and copies of one text once.
    """
    others = [other for other in others if other.chatbotnews_id != story.chatbotnews_id]
    if not others:  # most stories
        return Consensus(0.0, 1, (), story, has_maker=story.tier == Tier.CORPORATE)
    alike = {other.chatbotnews_id: similarity(story.headline, other.headline) for other in others}
    strength = {other.chatbotnews_id: WEIGHTS[other.tier] * alike[other.chatbotnews_id] for other in others}
    ranked = sorted(others, key=lambda other: (-strength[other.chatbotnews_id], other.published_at, other.chatbotnews_id))
    publications = {story.publisher}
    texts = set(_texts(story))
    independent, copies = set(), set()
    doubt = 1.0
    for other in ranked:
        told = _texts(other)
        is_copy = not texts.isdisjoint(told)
        texts |= told
        if is_copy:
            copies.add(other.chatbotnews_id)
        elif other.publisher not in publications:
            publications.add(other.publisher)
            independent.add(other.chatbotnews_id)
            doubt *= 1 - strength[other.chatbotnews_id]
    newest_first = sorted(others, key=lambda other: (-other.published_at.timestamp(), other.chatbotnews_id))
    return Consensus(
        score=round(1 - doubt, 2),
        count=1 + len(independent),
        siblings=tuple(
            Sibling(
                other,
                round(alike[other.chatbotnews_id], 2),
                independent=other.chatbotnews_id in independent,
                is_copy=other.chatbotnews_id in copies,
            )
            for other in newest_first
            if other.publisher != story.publisher
        ),
        has_maker=any(one.tier == Tier.CORPORATE for one in [story, *others]),
        first=min([story, *others], key=lambda one: (one.published_at, one.chatbotnews_id)),
    )


def similarity(one: str, other: str) -> float:
    """0-1, of two headlines, whatever the order of their words."""
    return fuzz.token_set_ratio(_folded(one), _folded(other)) / 100


@lru_cache(maxsize=16_384)
def _folded(headline: str) -> str:
    return " ".join(words(headline))


def _texts(witness: Witness) -> set[str]:
    """What makes two stories copies of one agency text: the same headline, or the same summary."""
    return {key for key in (headline_key(witness.headline), headline_key(witness.summary)) if key}
