"""Models that make vectors of claims and questions, and the vectors that are missing.

Vectors are made beside searches, never for them: a search goes on with what there is.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef

from config.errors import UpstreamFailed
from wire.corpora.factchecks.chunks import split_claim
from wire.corpora.factchecks.languages import stem
from wire.corpora.factchecks.models import Claim, ClaimQuerySet, ClaimVector, FactcheckState
from wire.search.vectors import HALF, PACKAGE, Embedder, Vectors
from wire.search.vectors import load_embedder as packaged
from wire.text.tokens import words

log = logging.getLogger(__name__)

BATCH: Final = 32  # texts of one request, and claims of one transaction
PATIENCE: Final = 10.0  # seconds for one answer of the endpoint, which no search waits for
REST: Final = 30.0  # seconds in which an endpoint that failed is not asked again


class Endpoint:
    def __init__(self, address: str, model: str, key: str, dimensions: int) -> None:
        self.name = f"{model}@{dimensions}"[:100]
        self.dimensions = dimensions
        self._address, self._model, self._key = address, model, key
        self._again = 0.0

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:  # noqa: ARG002  the model reads both alike
        """Raises: UpstreamFailed."""
        if time.monotonic() < self._again:
            raise UpstreamFailed("The embedding endpoint failed a moment ago.", f"It is tried again within {REST:.0f} seconds.")
        try:
            return np.concatenate([self._post_texts(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])
        except UpstreamFailed:
            self._again = time.monotonic() + REST
            raise

    def _post_texts(self, texts: Sequence[str]) -> Vectors:
        import httpcore2  # takes long to load, and few installations have an endpoint

        body: dict[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if settings.FACTCHECKS_EMBEDDING_SENDS_DIMENSIONS:
            body["dimensions"] = self.dimensions
        headers = [("content-type", "application/json"), ("accept", "application/json")]
        headers += [("authorization", f"Bearer {self._key}")] if self._key else []
        times = dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE)
        try:
            answer = httpcore2.request(
                "POST", f"{self._address}/embeddings", headers=headers, content=orjson.dumps(body), extensions={"timeout": times}
            )
            if answer.status != 200:
                raise ValueError(f"status {answer.status}")
            rows = sorted(orjson.loads(answer.content)["data"], key=lambda row: row["index"])
            found = np.array([row["embedding"] for row in rows], dtype=np.float32)
            if found.shape != (len(texts), self.dimensions) or not np.isfinite(found).all():
                raise ValueError(f"vectors of shape {found.shape}, expected {(len(texts), self.dimensions)}")
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise self._log_failure(f"does not answer: {type(error).__name__}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise self._log_failure(f"gave an answer that cannot be used: {str(error)[:200]}") from error
        return _normalise(found)

    def _log_failure(self, what: str) -> UpstreamFailed:
        log.warning("The embedding endpoint %s %s", self._address, what)
        return UpstreamFailed(f"The embedding endpoint {what}.", "Search goes on by words; see FACTCHECKS_EMBEDDING_URL.")


class Hashed:
    """For tests and benchmarks: texts that share stems are alike, and nothing else is. Instant, and the same everywhere."""

    name = "hashed-stems-64"
    dimensions = 64

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:  # noqa: ARG002
        return _normalise(np.stack([sum((_to_vector(stem(word, "en")) for word in words(text)), _to_vector("")) for text in texts]))


@lru_cache(maxsize=100_000)
def _to_vector(word: str) -> Any:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(Hashed.dimensions).astype(np.float32)


def _normalise(vectors: Any) -> Vectors:
    normed: Vectors = (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)).astype(np.float32)
    return normed


_endpoint = lru_cache(maxsize=8)(Endpoint)


def get_model() -> Embedder | None:
    """Return the model that is to be used; None without one."""
    if settings.FACTCHECKS_EMBEDDING_URL:
        return _endpoint(*(getattr(settings, f"FACTCHECKS_EMBEDDING_{name}") for name in ("URL", "MODEL", "KEY", "DIMENSIONS")))
    if settings.FACTCHECKS_EMBEDDING == "hashed":
        return Hashed()
    return packaged() if settings.FACTCHECKS_EMBEDDING == "package" else None


def has_configured_model() -> bool:
    """Return whether `get_model` has one, without loading it."""
    is_packaged = settings.FACTCHECKS_EMBEDDING == "package" and settings.WIRE_VECTORS and find_spec(PACKAGE) is not None
    return bool(settings.FACTCHECKS_EMBEDDING_URL) or settings.FACTCHECKS_EMBEDDING == "hashed" or is_packaged


def find_model(name: str) -> Embedder | None:
    """Return the model of that name, if it can still be asked, else the one that is to be used."""
    model = get_model()
    if model is None or not name or model.name == name:
        return model
    former = packaged()
    return former if former is not None and former.name == name else model


def select_unembedded(model: str) -> ClaimQuerySet:
    return Claim.objects.live().exclude(Exists(ClaimVector.objects.filter(claim=OuterRef("pk"), model=model)))


def embed_missing(seconds: float | None = None, progress: Callable[[int], None] = lambda _made: None) -> int:
    """Make missing vectors, newest claims first; return how many claims were done. Every batch is kept. Raises: UpstreamFailed."""
    model, made, until = get_model(), 0, None if seconds is None else time.monotonic() + seconds
    while model and (until is None or time.monotonic() < until):
        claims = list(select_unembedded(model.name).newest_first()[:BATCH])
        if not claims:
            with transaction.atomic():
                if FactcheckState.lock().model != model.name:  # the vectors of other models are no longer needed
                    ClaimVector.objects.exclude(model=model.name).delete()
                    FactcheckState.objects.filter(pk=1).update(model=model.name, vectors_dropped=F("vectors_dropped") + 1)
            break
        parts = [(claim, part, chunk.plain) for claim in claims for part, chunk in enumerate(split_claim(claim))]
        vectors = model.embed([text for _, _, text in parts])
        with transaction.atomic():
            FactcheckState.lock()
            as_it_was = {claim.pk: claim.content_sha256 for claim in claims}
            now = dict(Claim.objects.filter(pk__in=as_it_was).values_list("pk", "content_sha256"))
            common = {"model": model.name, "dimensions": model.dimensions}
            rows = [
                ClaimVector(claim=claim, part=part, vector=vector.astype(HALF).tobytes(), **common)
                for (claim, part, _), vector in zip(parts, vectors, strict=True)
                if now.get(claim.pk) == as_it_was[claim.pk]  # else it changed meanwhile, and comes again
            ]
            ClaimVector.objects.bulk_create(rows, ignore_conflicts=True)
        made += len(claims)
        progress(made)
    return made
