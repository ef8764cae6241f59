"""Claims that answer a question: by words, by meaning, and both together.

Words: BM25 over stems, a term's compounds counting less. Meaning: cosines, counted in deviations from what is usual for the
question, so
that the same weight fits models whose cosines lie close together. Filters come before ranking. Both databases give the same order.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from wire import postings
from wire.factchecks.indexing import INDEX, filter_token
from wire.factchecks.models import FactcheckState, Word
from wire.factchecks.question import OF_PARTS, Question, Vocabulary, question
from wire.factchecks.stores import Likeness, Store
from wire.models import Postings
from wire.postings import Numbers
from wire.vectors.embedder import Vectors

CANDIDATES: Final = 100  # claims of each half that are compared by both
SHARE: Final = 0.25  # of the best claim's score by words, below which a claim only shares a word or two with the question
NEAREST: Final = 15  # claims that are found by meaning alone, at most
NEAR: Final = 2.0  # deviations above the usual from which a claim is found by meaning alone
MEANING: Final = 0.35  # what a deviation counts beside the best score by words, which counts 1
HELD_BYTES: Final = 48_000_000  # of postings that a process holds between questions
RRF_K: Final = 60.0
RRF_WORDS: Final = 0.5
RRF_MEANING: Final = 1.0

Scores = NDArray[np.float64]


class Hit(NamedTuple):
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
    languages: Sequence[str] | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Meant:
    """The vector half: what the question means, and where vectors are searched."""

    vector: Vectors
    store: Store


class ByWords(NamedTuple):
    """By number: the share of the best score by words, and whether a claim passes every filter."""

    shares: Scores
    allowed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """Every hit, best first, and of those that were compared what each half says."""

    hits: list[Hit]
    words: Scores
    """By number, the share of the best score by words."""
    meaning: Mapping[int, float] = field(default_factory=dict)
    """Cosines."""


class _Held:
    """Postings of the index as it is now, kept between questions while it does not change."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._seen = 0
        self._version = -1
        self._bytes = 0
        self._postings: dict[str, tuple[Numbers, NDArray[np.int64]]] = {}
        self._moments: Numbers | None = None
        self.spoken: list[str] = []
        """The languages of the claims, as few as there are."""
        self._lock = threading.Lock()

    def follow(self) -> FactcheckState:
        """The state of the index, after reading the words that came since the last time."""
        state = FactcheckState.objects.get(pk=1)
        with self._lock:
            if state.version != self._version:
                self._postings, self._bytes, self._moments = {}, 0, None
                self._version = state.version
                begun = filter_token("language", "")
                tokens = Postings.objects.filter(index=INDEX, token__startswith=begun).values_list("token", flat=True).distinct()
                self.spoken = sorted(token.removeprefix(begun) for token in tokens if token != begun)
                while rows := list(Word.objects.filter(pk__gt=self._seen).order_by("pk").values_list("pk", "token")[:50_000]):
                    self.vocabulary.add(token for _, token in rows)
                    self._seen = rows[-1][0]
        return state

    def weights(self, tokens: Sequence[str], version: int) -> dict[str, tuple[Numbers, NDArray[np.int64]]]:
        held = self._postings
        wanted = [token for token in dict.fromkeys(tokens) if token not in held]
        read = postings.weights(INDEX, wanted) if wanted else {}
        empty = np.zeros(0, dtype=np.int64)
        new = {token: read.get(token, (empty, empty)) for token in wanted}
        found = {token: held.get(token) or new[token] for token in tokens if token in held or token in new}
        with self._lock:
            if version == self._version and held is self._postings:
                if self._bytes > HELD_BYTES:
                    self._postings, self._bytes = {}, 0
                self._postings.update(new)
                self._bytes += sum(200 + numbers.nbytes + weights.nbytes for numbers, weights in new.values())
        return found

    def moments(self, version: int) -> Numbers:
        found = self._moments
        if found is None:
            found = postings.values(INDEX)
            with self._lock:
                if version == self._version:
                    self._moments = found
        return found


_held: Final = _Held()
"""This process's own."""


def forget() -> None:
    """What is held of the index, as after another database took its place."""
    global _held
    _held = _Held()  # type: ignore[misc]


def understood(text: str, language: str | None) -> tuple[Question, FactcheckState]:
    """`language`: the code that was given; None to have it detected."""
    state = _held.follow()
    return question(text, language, _held.spoken, _held.vocabulary), state


def holds(name: str, value: str) -> bool:
    """Whether any claim that is found passes a filter."""
    state, token = _held.follow(), filter_token(name, value)
    return len(_held.weights([token], state.version)[token][0]) > 0


def by_words(asked: Question, state: FactcheckState, filters: Filters, *, none: bool = False) -> ByWords:
    """The first half of a search. `none`: no word counts."""
    moments = _held.moments(state.version)
    size = max(len(moments), state.next_number)
    allowed = _allowed(filters, size, state, moments)
    scores = np.zeros(size) if none else _scores(asked, state, size) * allowed
    best = float(scores.max(initial=0.0))
    return ByWords(scores / best if best > 0 else scores, allowed)


def found(words: ByWords, meant: Meant | None, fusion: str = "") -> Found:
    """What answers the question. Without `meant` words decide alone; with neither nothing is found. `fusion`: `sum` or `rrf`, in
    place of what is set.
    """
    shares, allowed = words
    candidates = _most(shares, CANDIDATES)
    if meant is None:
        return Found(_ranked(np.flatnonzero(shares >= SHARE), shares), shares)
    compared, cosines = meant.store.compare(meant.vector, candidates, CANDIDATES, allowed)
    mean, deviation = meant.store.usual(meant.vector)
    far = (np.nan_to_num(cosines, nan=mean).astype(np.float64) - mean) / max(deviation, 1e-6)
    fused = np.where(shares >= SHARE, shares - 4.0, -np.inf)  # those that were not compared come last, by words alone
    near = compared[np.argsort(-far, kind="stable")[:NEAREST]]
    is_near = np.isin(compared, near) & (~np.isnan(cosines)) & (far >= (NEAR if meant.store.is_sampled else -np.inf))
    matches = (shares[compared] >= SHARE) | is_near
    fuse = _by_rank if (fusion or settings.FACTCHECKS_FUSION) == "rrf" else _summed
    fused[compared] = np.where(matches, fuse(shares[compared], far), -np.inf)
    numbers = np.flatnonzero(fused > -np.inf)
    known = ~np.isnan(cosines)
    return Found(_ranked(numbers, fused), shares, _by_number(compared[known], cosines[known]))


def _summed(shares: Scores, far: Scores) -> Scores:
    return shares + MEANING * far


def _by_rank(shares: Scores, far: Scores) -> Scores:
    """Reciprocal rank fusion, as checkbot-rag has it: only the first of each half count."""
    ranks = [np.empty(len(half)) for half in (shares, far)]
    for rank, half in zip(ranks, (shares, far), strict=True):
        rank[np.argsort(-half, kind="stable")] = np.arange(1, len(half) + 1)
    words = np.where((shares > 0) & (ranks[0] <= NEAREST), RRF_WORDS / (RRF_K + ranks[0]), 0.0)
    fused: Scores = words + np.where(ranks[1] <= NEAREST, RRF_MEANING / (RRF_K + ranks[1]), 0.0)
    return fused


def _allowed(filters: Filters, size: int, state: FactcheckState, moments: Numbers) -> NDArray[np.bool_]:
    """By number, whether a claim passes every filter."""
    wanted = {"status": filters.statuses, "category": filters.categories, "rating": filters.labels, "language": filters.languages}
    tokens = {name: [filter_token(name, value) for value in values] for name, values in wanted.items() if values is not None}
    held = _held.weights([token for some in tokens.values() for token in some], state.version)
    allowed = np.ones(size, dtype=bool)
    for some in tokens.values():
        passing = np.zeros(size, dtype=bool)
        for token in some:
            numbers = held[token][0] if token in held else np.zeros(0, dtype=np.int64)
            passing[numbers[numbers < size]] = True
        allowed &= passing
    if filters.since is not None:
        late = np.zeros(size, dtype=bool)
        late[: len(moments)] = moments[:size] >= filters.since
        allowed &= late
    return allowed


def _scores(asked: Question, state: FactcheckState, size: int) -> Scores:
    """BM25 by number."""
    held = _held.weights([token for term in asked.terms for token in (*term.tokens, *term.parts)], state.version)
    scores = np.zeros(size, dtype=np.float64)
    for term in asked.terms:
        parts = [(*held[token], worth) for token, worth in sorted(term.tokens.items(), key=lambda one: one[1]) if token in held]
        parts = [part for part in parts if len(part[0])]
        if len(parts) == 1 and not term.parts:
            numbers, weights, worth = parts[0]
            scores[numbers] += weights * (worth * _rarity(len(numbers), state.found))
        elif parts or term.parts:
            said = np.zeros(size, dtype=np.float64)
            for token in term.parts:
                numbers, weights = held[token]
                said[numbers] += weights * (OF_PARTS / len(term.parts))
            for numbers, weights, worth in parts:
                said[numbers] = np.maximum(said[numbers], weights * worth)
            scores += said * _rarity(int(np.count_nonzero(said)), state.found)
    return scores


def rarities(tokens: Sequence[str]) -> dict[str, float]:
    """How rare tokens are among the claims; of one that none holds, the most."""
    state = _held.follow()
    held = _held.weights(tokens, state.version)
    return {token: _rarity(len(held[token][0]), state.found) for token in held}


def _rarity(holding: int, of: int) -> float:
    return float(np.log(1 + (max(of, holding) - holding + 0.5) / (holding + 0.5)))


def _most(scores: Scores, many: int) -> Numbers:
    """The numbers of the highest scores above 0; among equals those that come first in lists."""
    numbers = np.flatnonzero(scores)
    if len(numbers) > many:
        least = np.partition(scores[numbers], -many)[-many]
        numbers = numbers[scores[numbers] >= least]
        numbers = numbers[np.lexsort((_ties(numbers), -scores[numbers]))][:many]
    return numbers


def _ranked(numbers: Numbers, scores: Scores) -> list[Hit]:
    ranks = np.round(scores[numbers] * 1_000_000).astype(np.int64)
    ties = _ties(numbers)
    order = np.lexsort((ties, -ranks))
    return [Hit(*one) for one in zip(ranks[order].tolist(), ties[order].tolist(), numbers[order].tolist(), strict=True)]


def _ties(numbers: Numbers) -> Numbers:
    """An order among equals that has nothing to do with the order in which claims were loaded."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(33)).astype(np.int64)


def _by_number(numbers: Numbers, values: Likeness) -> dict[int, float]:
    return dict(zip(numbers.tolist(), [round(float(value), 4) for value in values], strict=True))
