"""How well other publications corroborate a story. Pure; the formula is in docs/consensus.md."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

from rapidfuzz import fuzz

from sources.vocabulary import Tier
from wire.stories.identity import headline_key
from wire.stories.tokens import words

if TYPE_CHECKING:
    from sources.houses import Houses
    from wire.models import StoryRevision

# How much one more source of each tier counts. A maker's own blog is not independent of what it announces.
WEIGHTS: Final[Mapping[int, float]] = {Tier.CORPORATE: 0.5, Tier.SPECIALIST: 0.6, Tier.GLOBAL: 0.7, Tier.CATEGORY: 0.3}
NEARLY_THE_SAME: Final = 90  # of 100: texts of one house that differ by a house style or a cut, not by another report


@dataclass(frozen=True, slots=True)
class Report:
    """One story of an event, as consensus sees it. `house`: who owned the publication on that day, "" for nobody known."""

    chatbotnews_id: str
    publisher: str
    tier: int
    published_at: dt.datetime
    headline: str
    summary: str
    author: str | None = None
    house: str = ""


def report_of(chatbotnews_id: str, revision: "StoryRevision", houses: "Houses") -> Report:
    """A story in that revision."""
    return Report(
        chatbotnews_id,
        revision.original_publisher,
        revision.original_publisher_tier,
        revision.published_at,
        revision.headline,
        revision.summary_medium,
        revision.author,
        houses.of(revision.original_publisher, revision.published_at),
    )


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another publication's story of the same event, and what it adds."""

    report: Report
    similarity: float
    independent: bool
    is_copy: bool


@dataclass(frozen=True, slots=True)
class Consensus:
    """`score` 0-1, two decimals; `count` independent sources, the story's own included; siblings in list order."""

    score: float
    count: int
    siblings: tuple[Sibling, ...]
    first: Report
    has_maker: bool  # a tier 1 publication is among them, or is the story's own


def weigh(story: Report, others: Iterable[Report]) -> Consensus:
    """Consensus about `story` by the other stories of its event.

    1 - Π(1 - wᵢ·sᵢ) over the other sources: each publication once, and copies of one text once.
    """
    others = [other for other in others if other.chatbotnews_id != story.chatbotnews_id]
    if not others:  # most stories
        return Consensus(0.0, 1, (), story, has_maker=story.tier == Tier.CORPORATE)
    alike = {other.chatbotnews_id: similarity(story.headline, other.headline) for other in others}
    strength = {other.chatbotnews_id: WEIGHTS[other.tier] * alike[other.chatbotnews_id] for other in others}
    ranked = sorted(others, key=lambda other: (-strength[other.chatbotnews_id], other.published_at, other.chatbotnews_id))
    publications = {story.publisher}
    texts, *their_texts = _texts([story, *ranked])
    independent, copies = set(), set()
    doubt = 1.0
    for other, theirs in zip(ranked, their_texts, strict=True):
        is_copy = not texts.isdisjoint(theirs)
        texts |= theirs
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


def figures(event: Iterable[Report], wanted: Collection[str]) -> dict[str, tuple[float, int]]:
    """Score and count of the wanted stories (ids) of an event, as `weigh` gives them, of many at once."""
    reports = sorted(event, key=lambda one: (one.published_at, one.chatbotnews_id))
    headlines, texts = [_folded(one.headline) for one in reports], _texts(reports)
    weights = [WEIGHTS[one.tier] for one in reports]
    everybody = {one.publisher for one in reports}
    alike: dict[int, list[float]] = {}
    found = {}
    for mine, story in enumerate(reports):
        if story.chatbotnews_id not in wanted:
            continue
        headline = headlines[mine]
        alike[mine] = [
            alike[number][mine] if number in alike else fuzz.token_set_ratio(headline, other) / 100
            for number, other in enumerate(headlines)
        ]
        strength = [weight * likeness for weight, likeness in zip(weights, alike[mine], strict=True)]
        publications, seen, doubt = {story.publisher}, set(texts[mine]), 1.0
        for number in sorted(range(len(reports)), key=strength.__getitem__, reverse=True):  # of equals the first remain first
            if number == mine:
                continue
            if len(publications) == len(everybody):
                break
            if seen.isdisjoint(texts[number]) and reports[number].publisher not in publications:
                publications.add(reports[number].publisher)
                doubt *= 1 - strength[number]
            seen |= texts[number]
        found[story.chatbotnews_id] = round(1 - doubt, 2), len(publications)
    return found


def similarity(one: str, other: str) -> float:
    """0-1, of two headlines, whatever the order of their words."""
    return fuzz.token_set_ratio(_folded(one), _folded(other)) / 100


@lru_cache(maxsize=16_384)
def _folded(headline: str) -> str:
    return " ".join(words(headline))


def _texts(reports: Sequence[Report]) -> list[set[str]]:
    """Keys of each report's texts; two that share one are copies: the same headline or summary, as agencies distribute them, or
    one text that a house printed twice.
    """
    texts = [{key for key in (headline_key(report.headline), headline_key(report.summary)) if key} for report in reports]
    in_houses = [(report, keys) for report, keys in zip(reports, texts, strict=True) if report.house]
    for (one, its), (other, theirs) in combinations(in_houses, 2):
        if one.house == other.house and one.publisher != other.publisher and _is_reprint(one, other):
            pair = "\n".join(sorted((one.chatbotnews_id, other.chatbotnews_id)))  # no folded text has lines
            its.add(pair)
            theirs.add(pair)
    return texts


def _is_reprint(one: Report, other: Report) -> bool:
    """Whether two publications of one house print one text: nearly the same summary, or headline if one author signs both."""
    if _is_nearly(one.summary, other.summary):
        return True
    same_author = one.author is not None and other.author is not None and _folded(one.author) == _folded(other.author) != ""
    return same_author and _is_nearly(one.headline, other.headline)


def _is_nearly(one: str, other: str) -> bool:
    """Also if one is a part of the other; no text is like none."""
    return fuzz.token_set_ratio(_folded(one), _folded(other)) >= NEARLY_THE_SAME
