"""Claims are compared by exact cosines, within the filters, and by what is stored at that moment."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.claims import claim, load
from wire.corpora.factchecks import vector_store
from wire.corpora.factchecks.models import Claim, ClaimVector, FactcheckState
from wire.corpora.factchecks.vector_store import VectorStore

pytestmark = pytest.mark.django_db
CLAIMS, DIMENSIONS, MODEL = 300, 70, "drawn"


@pytest.fixture
def vectors() -> NDArray[np.float32]:
    """One for each claim and a second for every tenth, all on one side of zero, as models make them."""
    load(*(claim(number, f"Behauptung {number}") for number in range(CLAIMS)))
    chance = np.random.default_rng(7)
    drawn = chance.standard_normal((CLAIMS + CLAIMS // 10, DIMENSIONS)) * 0.3 + chance.standard_normal(DIMENSIONS)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    halves = drawn.astype("<f2")
    keys = dict(Claim.objects.values_list("number", "pk"))
    rows = [
        ClaimVector(claim_id=keys[number], part=part, model=MODEL, dimensions=DIMENSIONS, vector=halves[at].tobytes())
        for at, (number, part) in enumerate(_places())
    ]
    ClaimVector.objects.bulk_create(rows)
    return halves.astype(np.float32)


def _places() -> list[tuple[int, int]]:
    return [*((number, 0) for number in range(CLAIMS)), *((number, 1) for number in range(0, CLAIMS, 10))]


def exact(vectors: NDArray[np.float32], question: NDArray[np.float32]) -> dict[int, float]:
    """By claim, the cosine of its best part."""
    found: dict[int, float] = {}
    for (number, _), cosine in zip(_places(), (vectors @ question).tolist(), strict=True):
        found[number] = max(cosine, found.get(number, -2.0))
    return found


def opened() -> VectorStore:
    store = VectorStore(MODEL, DIMENSIONS)
    assert store.read_new_rows()
    return store


def test_claims_are_compared_exactly_by_their_best_part(vectors: Any) -> None:
    cosines, expected = opened().compute_likeness(vectors[17], CLAIMS), exact(vectors, vectors[17])
    assert np.allclose(cosines, [expected[number] for number in range(CLAIMS)], atol=1e-3)
    assert opened().compute_likeness(vectors[17], 20).tolist() == cosines[:20].tolist()


def test_vectors_that_come_later_are_followed(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_store, "PIECE", 7)
    late = list(ClaimVector.objects.filter(claim__number__gte=250))
    ClaimVector.objects.filter(claim__number__gte=250).delete()
    store = opened()
    assert np.isnan(store.compute_likeness(vectors[280], CLAIMS)[250:]).all()
    for row in late:
        row.pk = None
    ClaimVector.objects.bulk_create(late)
    store.read_new_rows()
    assert int(np.nanargmax(store.compute_likeness(vectors[280], CLAIMS))) == 280


def test_vectors_that_are_gone_are_forgotten(vectors: Any) -> None:
    store = opened()
    ClaimVector.objects.filter(claim__number=280).delete()
    FactcheckState.objects.update(vectors_dropped=9)
    assert not store.read_new_rows(at_once=True)
    assert store.read_new_rows()
    assert np.isnan(store.compute_likeness(vectors[280], CLAIMS)[280])


def test_without_vectors_nothing_is_near() -> None:
    load(claim(1, "Mond"))
    assert np.isnan(opened().compute_likeness(np.ones(DIMENSIONS, dtype=np.float32), 1)).tolist() == [True]
