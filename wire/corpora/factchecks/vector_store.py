"""Search of claims by vectors: one seam, numpy in this process behind it, or pgvector where Postgres has it."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wire.corpora.factchecks import pgvector
from wire.corpora.factchecks.models import ClaimVector, FactcheckState
from wire.search.index import Numbers
from wire.search.vectors import HALF, Vectors

SAMPLED: Final = 2_000  # vectors from which a question's usual likeness is computed
LEAST: Final = 50  # vectors below which chance decides what is usual
UNSAMPLED: Final = (0.75, 0.05)  # mean and deviation where there are too few vectors
PIECE: Final = 20_000  # rows that are read at a time
FEW: Final = 500  # rows that a search waits for
BITS: Final = 64  # of one number that holds signs
RESCORED: Final = 2_000  # vectors whose cosines are taken, of those whose signs agree most with the question's
NONE: Final = -2.0  # below every cosine

Likeness = NDArray[np.float32]


class Store(ABC):
    """Vectors of one model. `name` is what the doctor and `stats` say."""

    name: str

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self._dimensions = model, dimensions

    @abstractmethod
    def sample(self) -> Vectors:
        """Return up to SAMPLED vectors."""

    @abstractmethod
    def follow(self, *, at_once: bool = False) -> bool:
        """Read what came since the last time; False, and nothing is read, if that takes long and is wanted at once."""

    @abstractmethod
    def compare(self, vector: Vectors, candidates: Numbers, many: int, allowed: NDArray[np.bool_]) -> tuple[Numbers, Likeness]:
        """Return the numbers of these candidates and of the claims nearest to a question among those allowed (by number), each
        once; and beside them the cosine of the best part of each, NaN for a claim without a vector.
        """

    @property
    def is_sampled(self) -> bool:
        """True with enough vectors to know what is usual; if not, whatever is nearest counts as near."""
        return len(self.sample()) >= LEAST

    def usual(self, vector: Vectors) -> tuple[float, float]:
        cosines = _cosines(self.sample(), vector)
        return (float(cosines.mean()), float(cosines.std())) if self.is_sampled else UNSAMPLED


class InMemory(Store):
    """The vectors of a model in this process, read once and followed from then on.

    A question is compared with all of them by one bit a number, its sign, and by cosines with the RESCORED that agree most and with
    the candidates: a tenth of the time of 100,000 cosines. Up to RESCORED vectors that is exact.
    """

    name = "numpy, signs and cosines"

    def __init__(self, model: str, dimensions: int) -> None:
        super().__init__(model, dimensions)
        self._matrix = np.zeros((0, dimensions), dtype=np.float32)
        self._numbers: Numbers = np.zeros(0, dtype=np.int64)
        self._signs = np.zeros((-(-dimensions // BITS), 0), dtype=np.uint64)
        self._middle = np.zeros(dimensions, dtype=np.float32)  # signs are counted from here: models put all on one side of zero
        self._centred = 0  # vectors that the middle is of
        self._count = self._last = 0
        self._dropped = -1
        self._lock = threading.Lock()

    def follow(self, *, at_once: bool = False) -> bool:
        dropped = FactcheckState.objects.values_list("vectors_dropped", flat=True).get(pk=1)
        if at_once and dropped != self._dropped:
            return False
        with self._lock:
            if dropped != self._dropped:  # everything, since rows may be gone
                self._count, self._last, self._centred, self._dropped = 0, 0, 0, dropped
            while True:
                rows = ClaimVector.objects.filter(model=self.model, pk__gt=self._last).order_by("pk")
                found = list(rows.values_list("pk", "claim__number", "vector")[: FEW if at_once else PIECE])
                if found:
                    self._append(found)
                if len(found) < PIECE:
                    return not at_once or len(found) < FEW

    def ranking(self, vector: Vectors) -> Iterator[int]:
        numbers, matrix = self.everything()
        return iter(dict.fromkeys(numbers[np.argsort(-(matrix @ vector), kind="stable")].tolist()))

    def everything(self) -> tuple[Numbers, Vectors]:
        """Return the claims' numbers, and a vector for each part beside them."""
        count = self._count
        return self._numbers[:count], self._matrix[:count]

    def _append(self, rows: Sequence[tuple[int, int, Any]]) -> None:
        # Arrays are filled before their length is raised, so that a search meanwhile sees only what is whole.
        vectors = read_halves((vector for _, _, vector in rows), self._dimensions)
        count, needed = self._count, self._count + len(rows)
        if needed > len(self._matrix):
            size = max(needed, min(2 * needed, needed + PIECE))
            self._matrix = _enlarge(self._matrix[:count], (size, vectors.shape[1]))
            self._numbers = _enlarge(self._numbers[:count], (size,))
            self._signs = _enlarge(self._signs[:, :count], (len(self._signs), size))
        self._matrix[count:needed] = vectors
        self._numbers[count:needed] = [number for _, number, _ in rows]
        if needed >= 2 * self._centred and self._centred < SAMPLED:  # few vectors have no middle to speak of
            self._middle, self._centred = self._matrix[:needed].mean(axis=0), needed
            count = 0
        self._signs[:, count:needed] = self._signs_of(self._matrix[count:needed])
        self._count, self._last = needed, rows[-1][0]

    def _signs_of(self, vectors: Vectors) -> NDArray[np.uint64]:
        bits = np.packbits(vectors > self._middle, axis=1)
        whole = np.zeros((len(bits), len(self._signs) * BITS // 8), dtype=np.uint8)
        whole[:, : bits.shape[1]] = bits
        return np.ascontiguousarray(whole.view(np.uint64).T)

    def compare(self, vector: Vectors, candidates: Numbers, many: int, allowed: NDArray[np.bool_]) -> tuple[Numbers, Likeness]:
        numbers = self._numbers[: self._count]
        passing, given = np.zeros((2, max(len(allowed), int(numbers.max(initial=-1)) + 1)), dtype=bool)
        passing[: len(allowed)], given[candidates] = allowed, True
        passes = passing[numbers]
        if np.count_nonzero(passes) > RESCORED:
            passes &= self._agreeing(vector, passes)
        found = self._best(vector, np.flatnonzero(passes), len(passing))
        near = np.flatnonzero(found > NONE)
        if len(near) > many:
            near = near[np.argpartition(-found[near], many)[:many]]
        given[near] = True  # of these every part counts, whatever its signs
        found = self._best(vector, np.flatnonzero(given[numbers]), len(passing))
        both = np.union1d(candidates, near)
        return both, np.where(found[both] > NONE, found[both], np.float32(np.nan))

    def _best(self, vector: Vectors, rows: Numbers, size: int) -> Likeness:
        best = np.full(size, NONE, dtype=np.float32)
        np.maximum.at(best, self._numbers[rows], _cosines(self._matrix[rows], vector))
        return best

    def _agreeing(self, vector: Vectors, passes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark the RESCORED rows that agree with the question in most signs; with equals, some more."""
        differing = np.zeros(len(passes), dtype=np.uint16)
        for theirs, ours in zip(self._signs, self._signs_of(vector[np.newaxis]), strict=True):
            differing += np.bitwise_count(theirs[: len(passes)] ^ ours)
        upto = np.cumsum(np.bincount(differing[passes]))
        agreeing: NDArray[np.bool_] = differing <= np.searchsorted(upto, RESCORED)
        return agreeing

    def sample(self) -> Vectors:
        return self._matrix[: min(self._count, SAMPLED)]


class PgVector(Store):
    """The extension of Postgres: an HNSW index, and nothing of it in this process but a sample."""

    name = "pgvector, HNSW"
    _sample: Vectors | None = None
    _sampled_at = -1

    def follow(self, *, at_once: bool = False) -> bool:
        # `embedding.fill` keeps the table in step; only the sample is read.
        dropped = FactcheckState.objects.values_list("vectors_dropped", flat=True).get(pk=1)
        if dropped != self._sampled_at or len(self.sample()) < SAMPLED:
            if at_once and dropped != self._sampled_at:
                return False
            rows = ClaimVector.objects.filter(model=self.model).order_by("pk").values_list("vector", flat=True)[:SAMPLED]
            self._sample, self._sampled_at = read_halves(rows, self._dimensions), dropped
        return True

    def compare(self, vector: Vectors, candidates: Numbers, many: int, allowed: NDArray[np.bool_]) -> tuple[Numbers, Likeness]:
        literal = pgvector.to_literal(vector)
        near = pgvector.nearest(self.model, self._dimensions, literal, many, np.flatnonzero(allowed))
        others = candidates[~np.isin(candidates, list(near))].tolist()
        found = near | pgvector.among(self.model, self._dimensions, literal, others)
        both = np.union1d(candidates, np.fromiter(near, dtype=np.int64, count=len(near)))
        return both, np.array([found.get(int(number), np.nan) for number in both], dtype=np.float32)

    def sample(self) -> Vectors:
        return self._sample if self._sample is not None else np.zeros((0, self._dimensions), dtype=np.float32)


def store_for(model: str, dimensions: int) -> Store:
    return PgVector(model, dimensions) if pgvector.is_ready(dimensions) else InMemory(model, dimensions)


def read_halves(rows: Iterable[Any], dimensions: int) -> Vectors:
    halves = np.frombuffer(b"".join(map(bytes, rows)), dtype=HALF)
    vectors: Vectors = halves.reshape(-1, dimensions).astype(np.float32)
    return vectors


def _enlarge(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger


def _cosines(vectors: Vectors, vector: Vectors) -> Likeness:
    # In this thread alone: BLAS would wake one for each core, which costs more than so few take.
    cosines: Likeness = np.einsum("ij,j", vectors, vector)
    return cosines
