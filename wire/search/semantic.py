"""Likeness of meaning between stories and a question."""

from collections.abc import Sequence
from functools import lru_cache

from wire.search.vectors.embedder import Vectors, embedder
from wire.search.vectors.store import vectors_of


def likeness(question: str, keys: Sequence[int]) -> dict[int, float]:
    """Return for each of these stories (by primary key) the cosine of its vector and the question's, four decimals. A story without
    a vector counts as the mean of the others; without a model or a question all are alike.
    """
    model, found = embedder(), dict[int, float]()
    if model and keys and question:
        known, vectors = vectors_of(keys, model.name)
        if known:
            found = dict(zip(known, (vectors @ _embed_question(question)).tolist(), strict=True))
    mean = sum(found.values()) / (len(found) or 1)
    return {key: round(found.get(key, mean), 4) for key in keys}


@lru_cache(maxsize=1000)
def _embed_question(question: str) -> Vectors:
    model = embedder()
    assert model is not None, "only called with a model"  # noqa: S101
    vector: Vectors = model.embed([question], asked=True)[0]
    return vector
