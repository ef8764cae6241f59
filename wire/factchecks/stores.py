"""Where vectors are searched: in memory by numpy, or by pgvector where Postgres has it."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from wire.factchecks import pgvector
from wire.factchecks.embedding import HALF
from wire.factchecks.models import ClaimVector, FactcheckState
from wire.postings import Numbers
from wire.vectors.embedder import Vectors

SAMPLED: Final = 2_000  # vectors from which a question's usual likeness is told
LEAST: Final = 50  # vectors below which chance decides what is usual
PIECE: Final = 20_000  # rows that are read at a time
FEW: Final = 500  # rows that a search waits for
BITS: Final = 64  # of one number that holds signs
RESCORED: Final = 2_000  # vectors whose cosines are taken, of those whose signs agree most with the question's

NONE: Final = -2.0  # below every cosine

Likeness = NDArray[np.float32]


class Store(Protocol):
    """`name` is what the doctor and `stats` say."""

    name: str

    @property
    def is_sampled(self) -> bool:
        """Whether there are enough vectors to tell what is usual; if not, whatever is nearest counts as near."""
        ...

    def follow(self, *, at_once: bool = False) -> bool:
        """Read what came since the last time; False, and nothing is read, if that takes long and is wanted at once."""
        ...

    def compare(self, vector: Vectors, candidates: Numbers, many: int, allowed: NDArray[np.bool_]) -> tuple[Numbers, Likeness]:
        """These candidates and the claims nearest to a question among those allowed (by number), each once; and beside them the
        cosine of the best part of each, NaN for one without a vector.
        """
        ...

    def usual(self, vector: Vectors) -> tuple[float, float]:
        """Mean and deviation of the cosines of a question and claims in general."""
        ...


class InMemory:
    """All vectors of one model in this process, read once and followed from then on.

    A question is compared with all of them by one bit a number, its sign, and by cosines with the RESCORED that agree most and with
    the candidates: a tenth of the time of 100,000 cosines. Up to RESCORED vectors that is exact.
    """

    name = "numpy, signs and cosines"

    def __init__(self, model: str, dimensions: int) -> None:
        self.model = model
        self._matrix = np.zeros((0, dimensions), dtype=np.float32)
        self._numbers: Numbers = np.zeros(0, dtype=np.int64)
        self._signs = np.zeros((-(-dimensions // BITS), 0), dtype=np.uint64)
        self._middle = np.zeros(dimensions, dtype=np.float32)
        """Signs are counted from here: models put all vectors on one side of zero."""
        self._centred = 0
        """Vectors that the middle is of."""
        self._count = 0
        self._last = 0
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
                    self._take(found)
                if len(found) < PIECE:
                    return not at_once or len(found) < FEW

    def ranking(self, vector: Vectors) -> Iterator[int]:
        """Claims by their best part, the most alike first."""
        count = self._count
        best = np.argsort(-(self._matrix[:count] @ vector), kind="stable")
        return iter(dict.fromkeys(self._numbers[:count][best].tolist()))

    def everything(self) -> tuple[Numbers, Vectors]:
        """The claims' numbers, and a vector for each part beside them."""
        return self._numbers[: self._count], self._matrix[: self._count]

    def _take(self, rows: Sequence[tuple[int, int, Any]]) -> None:
        """Arrays are filled before their length is raised, so that a search meanwhile sees only what is whole."""
        vectors = np.frombuffer(b"".join(bytes(vector) for _, _, vector in rows), dtype=HALF).reshape(len(rows), -1)
        count, needed = self._count, self._count + len(rows)
        if needed > len(self._matrix):
            size = max(needed, min(2 * needed, needed + PIECE))
            self._matrix = _longer(self._matrix[:count], (size, vectors.shape[1]))
            self._numbers = _longer(self._numbers[:count], (size,))
            self._signs = _longer(self._signs[:, :count], (len(self._signs), size))
        self._matrix[count:needed] = vectors
        self._numbers[count:needed] = [number for _, number, _ in rows]
        if needed >= 2 * self._centred and self._centred < SAMPLED:  # few vectors have no middle to speak of
            self._middle, self._centred = self._matrix[:needed].mean(axis=0), needed
            count = 0
        self._signs[:, count:needed] = self._signs_of(self._matrix[count:needed])
        self._count, self._last = needed, rows[-1][0]

    def _signs_of(self, vectors: Vectors) -> NDArray[np.uint64]:
        """One column a vector, BITS numbers a row."""
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
        """By claim, the cosine of the best of these rows."""
        best = np.full(size, NONE, dtype=np.float32)
        np.maximum.at(best, self._numbers[rows], _cosines(self._matrix[rows], vector))
        return best

    def _agreeing(self, vector: Vectors, passes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """By row, whether it is among the RESCORED that agree with the question in most signs; with equals, some more."""
        differing = np.zeros(len(passes), dtype=np.uint16)
        for theirs, ours in zip(self._signs, self._signs_of(vector[np.newaxis]), strict=True):
            differing += np.bitwise_count(theirs[: len(passes)] ^ ours)
        upto = np.cumsum(np.bincount(differing[passes]))
        agreeing: NDArray[np.bool_] = differing <= np.searchsorted(upto, RESCORED)
        return agreeing

    def usual(self, vector: Vectors) -> tuple[float, float]:
        sample = _cosines(self._matrix[: min(self._count, SAMPLED)], vector)
        return (float(sample.mean()), float(sample.std())) if self.is_sampled else UNSAMPLED

    @property
    def is_sampled(self) -> bool:
        return self._count >= LEAST


def _longer(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    found = np.zeros(shape, dtype=array.dtype)
    found[tuple(map(slice, array.shape))] = array
    return found


def _cosines(vectors: Vectors, vector: Vectors) -> Likeness:
    """In this thread alone: BLAS would wake one for each core, which costs more than so few take."""
    found: Likeness = np.einsum("ij,j", vectors, vector)
    return found


UNSAMPLED: Final = (0.75, 0.05)
"""Mean and deviation where there are too few vectors to tell."""


class PgVector:
    """The extension of Postgres: an HNSW index, and nothing of it in this process but a sample."""

    name = "pgvector, HNSW"

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self._dimensions = model, dimensions
        self._sample = np.zeros((0, dimensions), dtype=np.float32)
        self._sampled_at = -1

    def follow(self, *, at_once: bool = False) -> bool:
        """`embedding.fill` keeps the table in step; only the sample is read."""
        state = FactcheckState.objects.get(pk=1)
        if state.vectors_dropped != self._sampled_at or len(self._sample) < SAMPLED:
            if at_once and state.vectors_dropped != self._sampled_at:
                return False
            rows = ClaimVector.objects.filter(model=self.model).order_by("pk").values_list("vector", flat=True)[:SAMPLED]
            halves = np.frombuffer(b"".join(bytes(row) for row in rows), dtype=HALF)
            self._sample, self._sampled_at = halves.reshape(-1, self._dimensions).astype(np.float32), state.vectors_dropped
        return True

    def compare(self, vector: Vectors, candidates: Numbers, many: int, allowed: NDArray[np.bool_]) -> tuple[Numbers, Likeness]:
        written = pgvector.written(vector)
        passing = np.flatnonzero(allowed)
        near = pgvector.nearest(self.model, self._dimensions, written, many, passing)
        given = pgvector.among(self.model, self._dimensions, written, candidates[~np.isin(candidates, list(near))].tolist())
        both = np.union1d(candidates, np.fromiter(near, dtype=np.int64, count=len(near)))
        found = near | given
        return both, np.array([found.get(int(number), np.nan) for number in both], dtype=np.float32)

    def usual(self, vector: Vectors) -> tuple[float, float]:
        sample = _cosines(self._sample, vector)
        return (float(sample.mean()), float(sample.std())) if self.is_sampled else UNSAMPLED

    @property
    def is_sampled(self) -> bool:
        return len(self._sample) >= LEAST


def store_for(model: str, dimensions: int) -> Store:
    """The one that this installation has."""
    return PgVector(model, dimensions) if pgvector.is_ready(dimensions) else InMemory(model, dimensions)
