"""The vector half of a search: the question's vector, made beside the search and waited for only so long, and the store."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from typing import Final

from django.conf import settings
from django.db import connections

from config.database import routing
from wire.factchecks import embedding, stores
from wire.factchecks.models import FactcheckState
from wire.factchecks.searching import Meant
from wire.factchecks.stores import Store
from wire.vectors.embedder import Embedder, Vectors

log = logging.getLogger(__name__)

KEPT: Final = 2_000  # questions whose vectors are kept
WAITING: Final = 20  # questions that may wait for the model; further ones go on without it
LONGEST: Final = 2_000  # characters of a question that the model reads

_threads: Final = ThreadPoolExecutor(2, "factchecks-vectors")
_opener: Final = ThreadPoolExecutor(1, "factchecks-store")
_vectors: Final[OrderedDict[tuple[str, str], Vectors]] = OrderedDict()
_making: Final[dict[tuple[str, str], Future[Vectors]]] = {}
_lock: Final = threading.Lock()
_store: tuple[str, Store] | None = None
_opening: Future[Store] | None = None


Answer = tuple[Meant | None, bool]
"""What a question means, and whether that should have had a part in the search and has none."""


def asked(text: str, state: FactcheckState) -> Callable[[], Answer]:
    """Begins to make the question's vector. What comes back waits for it; there is none because there is no model, it failed, or
    took longer than FACTCHECKS_VECTOR_MS.
    """
    if not state.found:
        return lambda: (None, False)
    model = embedding.called(state.model)
    if model is None:
        return lambda: (None, True)
    until = time.monotonic() + settings.FACTCHECKS_VECTOR_MS / 1000
    making, opening = _vector(model, text[:LONGEST]), _opened(model)
    if making is None:
        return lambda: (None, True)
    return lambda: _waited(making, opening, until)


def _waited(making: Future[Vectors], opening: Future[Store], until: float) -> Answer:
    try:
        store = opening.result(max(0.0, until - time.monotonic()))
        return Meant(making.result(max(0.0, until - time.monotonic())), store), False
    except TooLate:
        return None, True
    except Exception as error:  # whatever the model or the store did, words go on
        log.warning("Search goes on without vectors: %s", error)
        return None, True


def store_name() -> str:
    return _store[1].name if _store else "not opened yet"


def forget() -> None:
    """Vectors of questions and the store, as after another database took its place."""
    global _store, _opening
    with _lock:
        _vectors.clear()
        _making.clear()
        _store = _opening = None


def _vector(model: Embedder, text: str) -> Future[Vectors] | None:
    """The question's vector, kept or being made; None where too many wait already."""
    key = model.name, text
    with _lock:
        if key in _vectors:
            _vectors.move_to_end(key)
            done: Future[Vectors] = Future()
            done.set_result(_vectors[key])
            return done
        if key in _making:
            return _making[key]
        if len(_making) >= WAITING:
            return None
        _making[key] = making = _threads.submit(_make, model, key)
    return making


def _make(model: Embedder, key: tuple[str, str]) -> Vectors:
    try:
        vector: Vectors = model.embed([key[1]], asked=True)[0]
        with _lock:
            _vectors[key] = vector
            while len(_vectors) > KEPT:
                _vectors.popitem(last=False)
        return vector
    finally:
        with _lock:
            _making.pop(key, None)


def _opened(model: Embedder) -> "Future[Store]":
    """The store as it is now. A large one takes longer to read than a search may: it is read beside, and searches go on without."""
    global _opening
    store = _store
    if store is not None and store[0] == model.name and store[1].follow(at_once=True):
        done: Future[Store] = Future()
        done.set_result(store[1])
        return done
    with _lock:
        if _opening is None or _opening.done():
            _opening = _opener.submit(_open, model)
        return _opening


def _open(model: Embedder) -> Store:
    global _store
    try:
        with routing.reading():
            found = _store[1] if _store is not None and _store[0] == model.name else stores.store_for(model.name, model.dimensions)
            found.follow()
            _store = model.name, found
            return found
    finally:
        connections.close_all()  # of this thread, which comes back rarely
