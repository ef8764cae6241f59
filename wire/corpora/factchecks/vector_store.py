"""Vectors of claims in this process, read once and followed from then on. A question is compared with all of them."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wire.corpora.factchecks.models import ClaimVector, FactcheckState
from wire.search.postings_index import Numbers
from wire.search.vectors import HALF, Vectors

LEAST: Final = 50  # vectors below which chance decides what is usual
PIECE: Final = 20_000  # rows that are read at a time
FEW: Final = 500  # rows that a search waits for

Likeness = NDArray[np.float32]


class VectorStore:
    """The vectors of one model. `name` is what the doctor and `stats` say."""

    name = "numpy, cosines"

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self._dimensions = model, dimensions
        self._matrix = np.zeros((0, dimensions), dtype=np.float32)
        self._numbers: Numbers = np.zeros(0, dtype=np.int64)
        self._count = self._last = 0
        self._dropped = -1
        self._lock = threading.Lock()

    def read_new_rows(self, *, at_once: bool = False) -> bool:
        """Read what came since the last time; return False, reading nothing, if that takes long and is wanted at once."""
        dropped = FactcheckState.objects.values_list("vectors_dropped", flat=True).get(pk=1)
        if at_once and dropped != self._dropped:
            return False
        with self._lock:
            if dropped != self._dropped:  # everything, since rows may be gone
                self._count, self._last, self._dropped = 0, 0, dropped
            while True:
                rows = ClaimVector.objects.filter(model=self.model, pk__gt=self._last).order_by("pk")
                found = list(rows.values_list("pk", "claim__number", "vector")[: FEW if at_once else PIECE])
                if found:
                    self._append_rows(found)
                if len(found) < PIECE:
                    return not at_once or len(found) < FEW

    def get_vectors(self) -> tuple[Numbers, Vectors]:
        """Return the claims' numbers, and a vector for each part beside them."""
        count = self._count
        return self._numbers[:count], self._matrix[:count]

    def _append_rows(self, rows: Sequence[tuple[int, int, Any]]) -> None:
        # Arrays are filled before their length is raised, so that a search meanwhile sees only what is whole.
        count, needed = self._count, self._count + len(rows)
        if needed > len(self._matrix):
            size = max(needed, min(2 * needed, needed + PIECE))
            self._matrix = _grow_array(self._matrix[:count], size)
            self._numbers = _grow_array(self._numbers[:count], size)
        self._matrix[count:needed] = decode_half_floats((vector for _, _, vector in rows), self._dimensions)
        self._numbers[count:needed] = [number for _, number, _ in rows]
        self._count, self._last = needed, rows[-1][0]

    def compute_likeness(self, vector: Vectors, size: int) -> Likeness:
        """Return by number, below `size`, the cosine of the question and each claim's best part; NaN without a vector."""
        numbers, matrix = self.get_vectors()
        best = np.full(max(size, int(numbers.max(initial=-1)) + 1), np.nan, dtype=np.float32)
        np.fmax.at(best, numbers, _compute_cosines(matrix, vector))
        return best[:size]

    @property
    def has_enough_vectors(self) -> bool:
        """True with enough vectors to know what is usual; if not, whatever is nearest counts as near."""
        return self._count >= LEAST

    def measure_usual_cosine(self, vector: Vectors) -> tuple[float, float]:
        """Return mean and deviation of the question's cosines."""
        if not self.has_enough_vectors:
            return 0.75, 0.05
        cosines = _compute_cosines(self.get_vectors()[1][:2_000], vector)
        return float(cosines.mean()), float(cosines.std())


def decode_half_floats(rows: Iterable[Any], dimensions: int) -> Vectors:
    halves = np.frombuffer(b"".join(map(bytes, rows)), dtype=HALF)
    vectors: Vectors = halves.reshape(-1, dimensions).astype(np.float32)
    return vectors


def _grow_array(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _compute_cosines(vectors: Vectors, vector: Vectors) -> Likeness:
    # In this thread alone: BLAS would wake one for each core, which costs more than so few take.
    cosines: Likeness = np.einsum("ij,j", vectors, vector)
    return cosines
