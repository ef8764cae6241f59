"""The queues of fact-checks at the desk."""

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from django.db.models import Exists, OuterRef, QuerySet

from wire.admin.review_queues import build_queues
from wire.corpora.factchecks import embedding
from wire.corpora.factchecks.models import Claim, ClaimVector, RatingName
from wire.corpora.factchecks.ratings import Rating

MOST_LISTED: Final = 1000
EVERY: Final = 60  # seconds between two looks for claims without vectors: each page of the desk counts, and claims may be a million


def _find_unknown_ratings() -> QuerySet[Any, Any]:
    used = Exists(Claim.objects.filter(rating_key=OuterRef("pk")))
    return RatingName.objects.filter(used, rating=Rating.UNKNOWN, is_edited=False).values("pk")


@lru_cache(maxsize=1)
def _list_unembedded_cached(_period: int) -> list[int]:
    has_vector = Exists(ClaimVector.objects.filter(claim=OuterRef("pk")))
    return list(Claim.objects.live().exclude(has_vector).values_list("pk", flat=True)[:MOST_LISTED])


def _find_unembedded_claims() -> list[int]:
    return _list_unembedded_cached(int(time.monotonic() / EVERY)) if embedding.has_configured_model() else []


_UNKNOWN, _WITHOUT_VECTORS = build_queues(
    {"unknown-ratings": (RatingName, _find_unknown_ratings), "no-vectors": (Claim, _find_unembedded_claims)},
    "factcheck_queues",
    {"vectors": f"{MOST_LISTED:,}"},
)
QUEUES: Final = [_UNKNOWN, replace(_WITHOUT_VECTORS, is_for_operators=True)]
