"""How like stories are to a question in what they mean."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from wire.vectors.embedder import Vectors, embedder
from wire.vectors.stored import vectors_of

KEPT: Final = 1000  # questions whose vectors are kept


def likeness(question: str, keys: Sequence[int]) -> dict[int, float]:
    """Of each of these stories (by primary key) the cosine of its vector and the question's, two decimals. A story whose vector is
    not made yet counts as the mean of the others; without a model or a question all are alike.
    """
    model = embedder() if keys and question else None
    if model is None:
        return dict.fromkeys(keys, 0.0)
    known, vectors = vectors_of(keys, model.name)
    if not known:
        return dict.fromkeys(keys, 0.0)
    found = dict(zip(known, (vectors @ _vector(question)).tolist(), strict=True))
    usual = sum(found.values()) / len(found)
    return {key: round(found.get(key, usual), 4) for key in keys}


@lru_cache(maxsize=KEPT)
def _vector(question: str) -> Vectors:
    model = embedder()
    assert model is not None, "only asked where there is one"  # noqa: S101
    vector: Vectors = model.embed([question], asked=True)[0]
    return vector
