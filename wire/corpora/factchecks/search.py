"""Claims that answer a question: by words, by meaning, and both together (docs/factchecks.md, "How search works").

Filters come before ranking. Both databases give the same order.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wire.corpora.factchecks.index_terms import INDEX, USUAL_WEIGHT, build_filter_token
from wire.corpora.factchecks.models import FactcheckState, Word
from wire.corpora.factchecks.query_terms import OF_PARTS, Question, Vocabulary, parse_words
from wire.corpora.factchecks.vector_store import VectorStore
from wire.models import Postings
from wire.search import postings_index
from wire.search.postings_index import Numbers
from wire.search.vectors import Vectors

CANDIDATES: Final = 100  # claims of each half that are compared by both
SHARE: Final = 0.25  # of the best claim's score by words, below which a claim only shares a word or two with the question
NEAREST: Final = 15  # claims that are found by meaning alone, at most
NEAR: Final = 2.0  # deviations above the usual from which a claim is found by meaning alone
MEANING: Final = 0.35  # what a deviation counts beside all of a question's words, which count 1

Scores = NDArray[np.float64]


class ClaimHit(NamedTuple):
    """A claim that was found. `rank` falls from hit to hit, `tie` decides among equals."""

    rank: int
    tie: int
    number: int


@dataclass(frozen=True, slots=True)
class Filters:
    """Before ranking: any of these categories, any of these labels, and so on; None for no such filter. `since` in milliseconds."""

    statuses: Sequence[str] = ()
    categories: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    since: int | None = None


Meant = tuple[Vectors, VectorStore]  # the vector half: what the question means, and where vectors are searched


class WordScores(NamedTuple):
    """By number: scores by words, and whether a claim passes every filter. `reach` is what a claim that says all words scores."""

    scores: Scores
    allowed: NDArray[np.bool_]
    reach: float


@dataclass(frozen=True, slots=True)
class ClaimRanking:
    """Hits, best first; by number shares of the best score by words, and cosines. `vectors`: share of claims with a vector."""

    hits: list[ClaimHit]
    words: Scores
    meaning: Mapping[int, float] = field(default_factory=dict)
    vectors: float = 0.0


_vocabulary = Vocabulary()  # of all versions of the index: a word that came stays
_read_words = 0  # the key of the last one
_lock: Final = threading.Lock()


class _Version:
    """The index at one version, cached as far as it was read."""

    def __init__(self, state: FactcheckState) -> None:
        self.number = state.version
        self._postings: dict[str, tuple[Numbers, NDArray[np.int64]]] = {}
        self._bytes = 0
        begun = build_filter_token("language", "")
        tokens = Postings.objects.filter(index=INDEX, token__startswith=begun).values_list("token", flat=True).distinct()
        self.spoken = sorted(token.removeprefix(begun) for token in tokens if token != begun)  # languages of the claims

    @cached_property
    def moments(self) -> Numbers:
        return postings_index.get_values(INDEX)

    def read_postings(self, tokens: Sequence[str]) -> dict[str, tuple[Numbers, NDArray[np.int64]]]:
        """Return numbers and weights of each token; both are empty for one that no claim has."""
        known, empty = self._postings, np.zeros(0, dtype=np.int64)
        wanted = [token for token in dict.fromkeys(tokens) if token not in known]
        read = postings_index.get_weights(INDEX, wanted) if wanted else {}
        new = {token: read.get(token, (empty, empty)) for token in wanted}
        found = {token: known.get(token) or new[token] for token in tokens}
        if self._bytes > 48_000_000:
            self._postings, self._bytes = {}, 0
        self._postings.update(new)
        self._bytes += sum(200 + numbers.nbytes + weights.nbytes for numbers, weights in new.values())
        return found


_version: _Version | None = None


def _refresh_index() -> tuple[_Version, FactcheckState]:
    """Return the index as it is now, after reading the words that came since the last time, and its state."""
    global _version, _read_words
    state = FactcheckState.objects.get(pk=1)
    with _lock:
        if _version is None or _version.number != state.version:
            while rows := list(Word.objects.filter(pk__gt=_read_words).order_by("pk").values_list("pk", "token")[:50_000]):
                _vocabulary.add(token for _, token in rows)
                _read_words = rows[-1][0]
            _version = _Version(state)
        return _version, state


def clear_cache() -> None:
    """Drop what is cached of the index, as after another database took its place."""
    global _vocabulary, _version, _read_words
    _vocabulary, _version, _read_words = Vocabulary(), None, 0


def parse_question(text: str, language: str | None) -> tuple[Question, FactcheckState]:
    """Parse a question. `language`: the code that was given; None to have it detected."""
    version, state = _refresh_index()
    return parse_words(text, language, version.spoken, _vocabulary), state


def has_claims_with(name: str, value: str) -> bool:
    token = build_filter_token(name, value)
    return len(_refresh_index()[0].read_postings([token])[token][0]) > 0


def score_by_words(asked: Question, state: FactcheckState, filters: Filters, *, none: bool = False) -> WordScores:
    version = _version or _refresh_index()[0]
    size = max(len(version.moments), state.next_number)
    allowed = _filter_claims(filters, size, version)
    if none:
        return WordScores(np.zeros(size), allowed, 1.0)
    scores, reach = _score_words(asked, version, state.found, size)
    return WordScores(scores * allowed, allowed, reach)


def rank_claims(words: WordScores, meant: Meant | None) -> ClaimRanking:
    """Rank the claims. Without `meant` words decide alone; with neither nothing is found."""
    shares, allowed = words.scores / max(float(words.scores.max(initial=0.0)), 1e-9), words.allowed  # of the best score
    if meant is None:
        return ClaimRanking(_sort_hits(np.flatnonzero(shares >= SHARE), shares), shares)
    vector, store = meant
    cosines = store.compute_likeness(vector, len(allowed))
    known = allowed & ~np.isnan(cosines)
    near = np.flatnonzero(known)
    if len(near) > CANDIDATES:
        near = near[np.argpartition(-cosines[near], CANDIDATES)[:CANDIDATES]]
    near = near[np.argsort(-cosines[near], kind="stable")]
    compared = np.union1d(_select_best(shares, CANDIDATES), near)
    mean, deviation = store.measure_usual_cosine(vector)
    far = (cosines[compared].astype(np.float64) - mean) / max(deviation, 1e-6)
    is_near = np.isin(compared, near[:NEAREST]) & (far >= (NEAR if store.has_enough_vectors else -np.inf))
    said = words.scores[compared] / words.reach
    fused = np.where(shares >= SHARE, shares - 4.0, -np.inf)  # those that were not compared come last, by words alone
    scores = said + MEANING * _estimate_missing_cosines(far, said)
    fused[compared] = np.where((shares[compared] >= SHARE) | is_near, scores, -np.inf)
    meaning = {number: round(float(cosines[number]), 4) for number in compared[known[compared]].tolist()}
    made = int(np.count_nonzero(known)) / max(int(np.count_nonzero(allowed)), 1)
    return ClaimRanking(_sort_hits(np.flatnonzero(fused > -np.inf), fused), shares, meaning, made)


def _estimate_missing_cosines(far: Scores, said: Scores) -> Scores:
    """Estimate the likeness of claims without a vector: as the nearest of those that say no more of the question's words."""
    order = np.argsort(said, kind="stable")
    estimate = np.empty_like(far)
    estimate[order] = np.fmax.accumulate(np.where(np.isnan(far[order]), -np.inf, far[order]))
    return np.where(np.isnan(far), np.maximum(estimate, 0.0), far)


def _filter_claims(filters: Filters, size: int, version: _Version) -> NDArray[np.bool_]:
    wanted = {"status": filters.statuses, "category": filters.categories, "rating": filters.labels}
    allowed = np.ones(size, dtype=bool)
    for name, values in wanted.items():
        if values is not None:
            passing = np.zeros(size, dtype=bool)
            for numbers, _ in version.read_postings([build_filter_token(name, value) for value in values]).values():
                passing[numbers[numbers < size]] = True
            allowed &= passing
    if filters.since is not None:
        late = np.zeros(size, dtype=bool)
        late[: len(version.moments)] = version.moments >= filters.since
        allowed &= late
    return allowed


def _score_words(asked: Question, version: _Version, of: int, size: int) -> tuple[Scores, float]:
    """Return the scores by number, and what a claim of usual length that says each word once would score."""
    postings = version.read_postings([token for term in asked.terms for token in (*term.tokens, *term.parts)])
    scores, reach = np.zeros(size, dtype=np.float64), 0.0
    for term in asked.terms:
        by_worth = sorted(term.tokens.items(), key=lambda one: one[1])
        held = [(*postings[token], worth) for token, worth in by_worth if len(postings[token][0])]
        of_term = np.zeros(size, dtype=np.float64)
        for token in term.parts:
            numbers, weights = postings[token]
            of_term[numbers] += weights * (OF_PARTS / len(term.parts))
        for numbers, weights, worth in held:
            of_term[numbers] = np.maximum(of_term[numbers], weights * worth)
        rarity = _compute_idf(int(np.count_nonzero(of_term)), of)
        scores += of_term * rarity
        reach += USUAL_WEIGHT * rarity
    return scores, max(reach, 1e-9)


def measure_rarities(tokens: Sequence[str]) -> dict[str, float]:
    version, state = _refresh_index()
    postings = version.read_postings(tokens)
    return {token: _compute_idf(len(numbers), state.found) for token, (numbers, _) in postings.items()}


def _compute_idf(holding: int, of: int) -> float:
    return float(np.log(1 + (max(of, holding) - holding + 0.5) / (holding + 0.5)))


def _select_best(scores: Scores, many: int) -> Numbers:
    """Return the numbers of the highest scores above 0; among equals those that come first in lists."""
    numbers = np.flatnonzero(scores)
    if len(numbers) > many:
        least = np.partition(scores[numbers], -many)[-many]
        numbers = numbers[scores[numbers] >= least]
        numbers = numbers[np.lexsort((_break_ties(numbers), -scores[numbers]))][:many]
    return numbers


def _sort_hits(numbers: Numbers, scores: Scores) -> list[ClaimHit]:
    ranks = np.round(scores[numbers] * 1_000_000).astype(np.int64)
    ties = _break_ties(numbers)
    order = np.lexsort((ties, -ranks))
    return [ClaimHit(*one) for one in zip(ranks[order].tolist(), ties[order].tolist(), numbers[order].tolist(), strict=True)]


def _break_ties(numbers: Numbers) -> Numbers:
    # An order among equals that has nothing to do with the order in which claims were loaded.
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(33)).astype(np.int64)
