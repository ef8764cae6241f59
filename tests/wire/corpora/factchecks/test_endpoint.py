"""An embedding endpoint over real HTTP: what it answers is used, and whatever goes wrong with it, words go on and say so."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import pytest
from pytest_django import Settings

from config.errors import UpstreamFailed
from tests import claims
from tests.claims import LEAD, claim, load, short_ids
from wire.corpora.factchecks import embedding, queries
from wire.corpora.factchecks.embedding import Hashed
from wire.corpora.factchecks.models import ClaimVector, FactcheckState

pytestmark = pytest.mark.django_db(transaction=True)  # stores are read in a thread of their own

DIMENSIONS: Final = Hashed.dimensions
ID: Final = "2025/11/20-2"
Body = tuple[int, bytes]


class Served:
    """The endpoint: it answers as `answer` says, and notes what it was asked."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], Body] = vectors
        self.asked: list[tuple[str, str | None, dict[str, Any]]] = []
        self.freed = threading.Event()
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                served.asked.append((self.path, self.headers["authorization"], body))
                status, content = served.answer(body)
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


def vectors(body: dict[str, Any], dimensions: int = DIMENSIONS) -> Body:
    """As OpenAI answers, not in the order of the texts."""
    found = Hashed().embed(body["input"])[:, :dimensions].tolist()
    rows = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(found)]
    return 200, json.dumps({"object": "list", "data": rows[::-1], "model": body["model"]}).encode()


@pytest.fixture
def endpoint(settings: Settings) -> Iterator[Served]:
    served = Served()
    threading.Thread(target=served.server.serve_forever, args=(0.01,), daemon=True).start()
    settings.FACTCHECKS_EMBEDDING_URL, settings.FACTCHECKS_EMBEDDING_MODEL = served.url, "small"
    settings.FACTCHECKS_EMBEDDING_KEY, settings.FACTCHECKS_EMBEDDING_DIMENSIONS = "secret", DIMENSIONS
    settings.FACTCHECKS_VECTOR_MS = 5_000
    embedding._endpoint.cache_clear()
    yield served
    served.freed.set()
    served.server.shutdown()
    served.server.server_close()
    embedding._endpoint.cache_clear()
    claims.forget()


@pytest.fixture
def filled(endpoint: Served) -> Served:
    load(LEAD, claim(2, "Der Mond ist aus Käse"))
    assert embedding.embed_missing() == 2
    return endpoint


def test_its_vectors_are_used(filled: Served) -> None:
    path, key, body = filled.asked[0]
    assert (path, key, body["model"], body["dimensions"]) == ("/v1/embeddings", "Bearer secret", "small", DIMENSIONS)
    assert len(body["input"]) == 3  # two overviews and a fact
    assert FactcheckState.objects.get().model == f"small@{DIMENSIONS}"
    told = queries.search_claims("Blei im Leitungswasser", language="de")
    assert (short_ids(told.claims)[0], told.degraded) == (ID, [])
    assert told.claims[0].similarity is not None
    assert len(filled.asked) == 2
    queries.search_claims("Blei im Leitungswasser", language="de")
    assert len(filled.asked) == 2  # a question's vector is kept


WRONG: Final[dict[str, Callable[[dict[str, Any]], Body]]] = {
    "an error of its own": lambda _: (500, b'{"error": "out of memory"}'),
    "a key that it does not know": lambda _: (401, b"{}"),
    "vectors of another length": lambda body: vectors(body, 8),
    "too few vectors": lambda _: (200, b'{"data": []}'),
    "no JSON": lambda _: (200, b"<html>Bad gateway</html>"),
    "another form": lambda _: (200, b'{"data": {"embedding": "x"}}'),
    "a list": lambda _: (200, b"[1, 2]"),
    "no numbers": lambda _: (200, b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
    "nothing": lambda _: (200, b""),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_whatever_is_wrong_with_it_words_go_on_and_say_so(filled: Served, wrong: str) -> None:
    filled.answer = WRONG[wrong]
    told = queries.search_claims("Blei im Leitungswasser", language="de")
    assert (short_ids(told.claims), told.degraded) == ([ID], ["vectors"])
    queries.search_claims("Blei und Wasser", language="de")
    assert len(filled.asked) == 2  # it is let rest


def test_a_slow_one_is_not_waited_for(filled: Served, settings: Settings) -> None:
    settings.FACTCHECKS_VECTOR_MS = 20
    filled.answer = lambda body: vectors(body) if filled.freed.wait(10) else (500, b"")
    told = queries.search_claims("Blei im Leitungswasser", language="de")
    assert (short_ids(told.claims), told.degraded) == ([ID], ["vectors"])


@pytest.mark.usefixtures("filled")
def test_one_that_is_away_makes_no_vectors_and_keeps_those_there_are(settings: Settings) -> None:
    load(claim(3, "Der Mars ist rot"))
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))  # and does not listen
        settings.FACTCHECKS_EMBEDDING_URL = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(UpstreamFailed, match="does not answer"):
            embedding.embed_missing()
        told = queries.search_claims("Blei im Leitungswasser", language="de")
    assert (short_ids(told.claims), told.degraded) == ([ID], ["vectors"])
    assert ClaimVector.objects.count() == 3


def test_it_is_asked_again_after_its_rest(filled: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "REST", 0.0)
    filled.answer = WRONG["an error of its own"]
    assert queries.search_claims("Blei", language="de").degraded == ["vectors"]
    filled.answer = vectors
    assert queries.search_claims("Blei", language="de").degraded == []
