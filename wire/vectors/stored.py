"""Stories' vectors: made after publishing, newest first, and read for a search."""

import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from wire.models import Story, StoryVector
from wire.models.story import StoryQuerySet
from wire.vectors.embedder import Vectors, embedder

BATCH: Final = 64  # stories of one transaction
HALF: Final = np.dtype("<f2")


def fill(seconds: float | None = None) -> int:
    """Make the vectors that published stories lack, newest first, for as long as there are any, or for some `seconds`.

    Returns how many were made; 0 without a model. Killed half-way it keeps every finished batch.
    """
    model, made, until = embedder(), 0, None if seconds is None else time.monotonic() + seconds
    while model and (until is None or time.monotonic() < until):
        rows = missing(model.name).newest_first().values_list("pk", "current__headline", "current__summary_medium")
        stories = list(rows[:BATCH])
        if not stories:
            break
        vectors = model.embed([f"{headline}. {summary}" for _, headline, summary in stories])
        kept = [
            StoryVector(story_id=key, model=model.name, vector=vector.astype(HALF).tobytes())
            for (key, *_), vector in zip(stories, vectors, strict=True)
        ]
        StoryVector.objects.bulk_create(kept, update_conflicts=True, update_fields=["model", "vector"], unique_fields=["story"])
        made += len(kept)
    return made


def missing(model: str) -> StoryQuerySet:
    """Live stories without a vector of this model."""
    return Story.objects.live().exclude(vector__model=model)


def vectors_of(keys: Sequence[int], model: str) -> tuple[list[int], Vectors]:
    """Those of these stories (by primary key) that have a vector of the model, and the vectors, in the same order."""
    rows = list(StoryVector.objects.filter(story__in=keys, model=model).values_list("story_id", "vector"))
    stacked = np.frombuffer(b"".join(bytes(vector) for _, vector in rows), dtype=HALF).astype(np.float32)
    return [key for key, _ in rows], stacked.reshape(len(rows), -1) if rows else stacked.reshape(0, 1)
