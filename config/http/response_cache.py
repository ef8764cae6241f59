"""Django's answers to GET and HEAD as finished bytes: cached, compressed once for each coding, 304 without asking Django.

Django sees nothing of a read but its address, so no header of one client can ever colour an answer that another one gets.
"""

import base64
import gzip
import hashlib
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from functools import lru_cache, partial
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote_plus

import zstandard
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse

from config.database.threads import run_in_thread
from config.http import publish_waiters
from config.http.accept_header import read_weights
from config.http.memory_cache import AnswerCache
from config.http.request_guard import App, Headers, Message, Receive, Scope, Send

READS: Final = ("GET", "HEAD")
CHANGES: Final = "/api/changes.json"
WORTH_COMPRESSING: Final = 1_000  # bytes; below, headers weigh more than what is saved
COMPRESSORS: Final[Mapping[bytes, Callable[[bytes], bytes]]] = {
    b"zstd": zstandard.ZstdCompressor(level=3).compress,
    b"gzip": partial(gzip.compress, compresslevel=6, mtime=0),
}
STALE: Final = (b"warning", b'110 - "Response is Stale"')  # RFC 7234, 5.5.1; RFC 9111 has no header in its place
_HOST: Final = (b"host", b"localhost")  # by whatever name of ours the first request came, the answer is for all
_DROPPED_BY_304: Final = frozenset((b"content-type", b"content-length", b"content-encoding", b"content-digest"))


@dataclass(slots=True)
class StoredResponse:
    """An answer of Django's. A cacheable one has an ETag, and `variants` by content coding, each with an ETag of its own."""

    status: int
    headers: Headers
    body: bytes
    is_cacheable: bool = False
    variants: dict[bytes, "Variant"] = field(default_factory=dict)

    def variant(self, coding: bytes) -> "Variant":
        if coding not in self.variants:
            self.variants[coding] = _build_variant(self, coding)
        return self.variants[coding]


@dataclass(frozen=True, slots=True)
class Variant:
    tag: bytes
    headers: Headers
    body: bytes
    unchanged: Headers  # the headers of a 304


def _build_variant(answer: StoredResponse, coding: bytes) -> Variant:
    headers, body, tag = answer.headers, answer.body, dict(answer.headers)[b"etag"]
    if coding:
        body = COMPRESSORS[coding](body)
        tag = tag[:-1] + b"-" + coding + b'"'
        changed = {b"etag": tag, b"content-length": str(len(body)).encode()}
        headers = [*((name, changed.get(name, value)) for name, value in headers), (b"content-encoding", coding)]
    if dict(headers).get(b"content-type", b"").startswith(b"application/json"):
        digest = base64.b64encode(hashlib.sha256(body).digest())
        headers = [*headers, (b"content-digest", b"sha-256=:" + digest + b":")]  # RFC 9530: of the bytes as they are sent
    return Variant(tag, headers, body, [one for one in headers if one[0] not in _DROPPED_BY_304])


class CachedApp:
    """`reads`, called only for what is not cached; `app` for everything else.

    `parameters_of` names the parameters that a path takes; None sends all of a path to `app`. Others are not passed on, unless
    `app` is to refuse them.
    """

    def __init__(
        self,
        app: App,
        reads: App,
        answers: AnswerCache,
        parameters_of: Callable[[str], Set[str] | None],
        *,
        refuses_unknown: bool = False,
    ) -> None:
        self._app = app
        self._reads = reads
        self._answers = answers
        self._parameters_of = parameters_of
        self._refuses_unknown = refuses_unknown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known, sent = self._parameters_of(scope["path"]) if scope["method"] in READS else None, scope["query_string"]
        if known is None or (self._refuses_unknown and not {_param_name(part) for part in sent.split(b"&") if part} <= known):
            await self._app(scope, receive, send)
            return
        query = normalize_query(sent, known) if sent else b""
        # The log of changes grows when changes are told, and not when they are published.
        told = publish_waiters.settled.number if scope["path"] == CHANGES else None
        key = ("http", scope["path"], query, told)
        answer, is_stale = self._answers.get(key), self._answers.is_stale
        if answer is None:
            answer, is_stale = await self._answers.make(key, partial(self._make_response, scope, query)), False
        status, headers, body = _build_response(answer, scope, stale_for=self._answers.age if is_stale else None)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _make_response(self, scope: Scope, query: bytes) -> tuple[StoredResponse, int | None]:
        made = await _call_app(self._reads, {**scope, "query_string": query})
        return made, 2 * len(made.body) + len(query) + 1_000 if made.is_cacheable else None


class DjangoReads(BaseHandler):
    """Django's answers to public GETs, made in threads that keep their database connection. An ASGI application; the views behind
    it read only, and answer with a whole body.

    Django's own ASGI handler starts a thread for each request, and with it a database connection, which takes three times as long
    as a search. What is left out here no public read needs: uploads, streamed answers, and the signals that open and close
    connections.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        response = await run_in_thread(lambda: self._answer(scope))
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": response.content})

    def _answer(self, scope: Scope) -> HttpResponse:
        response: Any = self.get_response(ASGIRequest(dict(scope), BytesIO()))
        assert isinstance(response, HttpResponse), "public reads answer with a whole body"  # noqa: S101
        return response


def normalize_query(query: bytes, known: Set[str]) -> bytes:
    """Return the parameters that mean something, in one order where order means nothing: if each is there once."""
    if b"&" not in query:
        return query if _param_name(query) in known else b""
    parts = [(_param_name(part), part) for part in query.split(b"&")]
    parts = [(name, part) for name, part in parts if name in known]
    if len({name for name, _ in parts}) == len(parts):
        parts.sort()
    return b"&".join(part for _, part in parts)


def _param_name(part: bytes) -> str:
    name = part.partition(b"=")[0].decode("latin-1")
    return unquote_plus(name) if "%" in name or "+" in name else name


@lru_cache(maxsize=100)
def choose_coding(accepted: bytes) -> bytes:
    """Return the content coding for an Accept-Encoding: zstd before gzip, or b"" for none of them (RFC 9110, 12.5.3)."""
    weights = read_weights(accepted)
    return next((coding for coding in COMPRESSORS if weights.get(coding)), b"")


async def _call_app(app: App, scope: Scope) -> StoredResponse:
    start: Message = {}
    chunks = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            chunks.append(message.get("body", b""))

    scheme = "https" if settings.SITE_IS_HTTPS else "http"
    await app({**scope, "method": "GET", "scheme": scheme, "headers": [_HOST]}, _receive_no_body, send)
    body = b"".join(chunks)
    headers = [(name.lower(), value) for name, value in start["headers"] if name.lower() != b"content-length"]
    fields = dict(headers)
    is_cacheable = start["status"] == 200 and b"etag" in fields and fields.get(b"cache-control", b"").startswith(b"public")
    return StoredResponse(start["status"], [*headers, (b"content-length", str(len(body)).encode())], body, is_cacheable)


async def _receive_no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _build_response(answer: StoredResponse, scope: Scope, stale_for: int | None) -> tuple[int, Headers, bytes]:
    status, headers, body = answer.status, answer.headers, answer.body
    if answer.is_cacheable:
        request = dict(scope["headers"])
        variant = answer.variant(choose_coding(request.get(b"accept-encoding", b"")) if len(body) >= WORTH_COMPRESSING else b"")
        headers, body = variant.headers, variant.body
        tags = {one.strip().removeprefix(b"W/") for one in request.get(b"if-none-match", b"").split(b",")}
        if variant.tag in tags or b"*" in tags:  # compared weakly (RFC 9110, 13.1.2)
            status, headers, body = 304, variant.unchanged, b""
    if stale_for is not None:
        headers = [*headers, STALE, (b"age", b"%d" % stale_for)]
    return status, headers, b"" if scope["method"] == "HEAD" else body
