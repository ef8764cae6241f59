"""The vector half of a search: the question's vector, made beside the search and waited for only so long, and the store."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from django.conf import settings
from django.db import connections

from config.database import routing
from wire.corpora.factchecks import embedding
from wire.corpora.factchecks.models import FactcheckState
from wire.corpora.factchecks.search import Meant
from wire.corpora.factchecks.vector_store import VectorStore
from wire.search.vectors import Embedder, Vectors

log = logging.getLogger(__name__)

KEPT: Final = 2_000  # questions whose vectors are cached
WAITING: Final = 20  # questions that may wait for the model; further ones go on without it
LONGEST: Final = 2_000  # characters of a question that the model reads

_threads: Final = ThreadPoolExecutor(2, "factchecks-vectors")
_opener: Final = ThreadPoolExecutor(1, "factchecks-store")
_vectors: Final[OrderedDict[tuple[str, str], Future[Vectors]]] = OrderedDict()
_pending: Final[set[Future[Vectors]]] = set()
_lock: Final = threading.Lock()
_store: VectorStore | None = None
_opening: Future[VectorStore] | None = None

# The meaning of a question, if it has a part in the search; and whether it should have had one.
Meaning = tuple[Meant | None, bool]


def start_embedding(text: str, state: FactcheckState) -> Callable[[], Meaning]:
    """Begin to make the question's vector, and return a function that waits for it. It gives up if there is no model, it failed, or
    took longer than FACTCHECKS_VECTOR_MS.
    """
    if not state.found:
        return lambda: (None, False)
    model, until = embedding.find_model(state.model), time.monotonic() + settings.FACTCHECKS_VECTOR_MS / 1000
    making = _start_query_vector(model, text[:LONGEST]) if model else None
    if model is None or making is None:
        return lambda: (None, True)
    opening = _open_store(model)

    def wait_for_vector() -> Meaning:
        try:
            store = opening.result(max(0.0, until - time.monotonic()))
            return (making.result(max(0.0, until - time.monotonic())), store), False
        except TimeoutError:
            return None, True
        except Exception as error:  # whatever the model or the store did, words go on
            log.warning("Search goes on without vectors: %s", error)
            return None, True

    return wait_for_vector


def describe_store() -> str:
    return _store.name if _store else "not opened yet"


def clear_cache() -> None:
    """Drop cached vectors and the store, as after another database took its place."""
    global _store, _opening
    with _lock:
        _vectors.clear()
        _store = _opening = None


def _start_query_vector(model: Embedder, text: str) -> Future[Vectors] | None:
    """Return the question's vector, cached or being made; None where too many wait already."""
    key = model.name, text
    with _lock:
        making = _vectors.get(key)
        if making is None or (making.done() and making.exception()):
            if len(_pending) >= WAITING:
                return None
            making = _vectors[key] = _threads.submit(lambda: model.embed([text], asked=True)[0])
            _pending.add(making)
            making.add_done_callback(_pending.discard)
        _vectors.move_to_end(key)
        if len(_vectors) > KEPT:
            _vectors.popitem(last=False)
    return making


def _open_store(model: Embedder) -> Future[VectorStore]:
    """Return the store as it is now. A large one takes longer to read than a search may: it is read in a thread of its own, and
    searches go on without it.
    """
    global _opening
    known = _store
    if known is not None and known.model == model.name and known.read_new_rows(at_once=True):
        done: Future[VectorStore] = Future()
        done.set_result(known)
        return done
    with _lock:
        if _opening is None or _opening.done():
            _opening = _opener.submit(_read_store, model)
        return _opening


def _read_store(model: Embedder) -> VectorStore:
    global _store
    try:
        with routing.public_reads():
            known = _store
            store = known if known is not None and known.model == model.name else VectorStore(model.name, model.dimensions)
            store.read_new_rows()
            _store = store
            return store
    finally:
        connections.close_all()  # of this thread, which comes back rarely
