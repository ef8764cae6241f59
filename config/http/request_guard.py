"""Checks that every public request passes first, before its body is read: Host, Origin, size, rate; then a bound on its body.

One mechanism for the site, REST and every MCP server. Pure ASGI, so that a refusal costs neither Django nor the MCP SDK.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Self

import orjson
from django.conf import settings

from config.errors import WireError
from config.http.client_address import get_client_key, get_client_network
from config.ratelimit.limiter import Limiter

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
Headers = Sequence[tuple[bytes, bytes]]
OwnLimit = Callable[[str], Awaitable[tuple[str, int] | None]]

WIRE: Final = "wire"  # what REST, searches, cards, pictures, publishers' pages and the wire's own server count under
LIMITS: Final = "/api/limits.json"  # not counted itself, and made without Django, since nothing limits it
caller: Final = ContextVar("caller", default="")  # the `get_client_key` of the request that is being answered
MAX_BODY: Final = 65_536  # bytes; no public request needs more
MAX_DESK_BODY: Final = 10_485_760  # bytes; editors bring roster and lexicon as files
JSONRPC_REFUSED: Final = -32000  # JSON-RPC 2.0: the range for errors of the server's own
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]*)?")
_LENGTH: Final = re.compile(rb"0|[1-9][0-9]{0,8}")
_ONCE: Final = frozenset((b"host", b"origin", b"content-length", b"transfer-encoding"))


class Edge:
    """`app` behind the checks. `servers`: the MCP servers, path to name; a path that ends in a slash is that of a family, whose
    members are one step below it and count as one. `own_limit` tells for a path the limit of whoever's content is asked for, as the
    name under which requests count and how many a client may send in a minute; it holds beside the one limit of all.
    """

    def __init__(self, app: App, servers: Mapping[str, str], own_limit: OwnLimit | None = None) -> None:
        self._app = app
        self._servers = servers
        self._own_limit = own_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller.set(get_client_key(scope))
        path = scope["path"]
        server = self._find_mcp_server(path)
        if (server is None or path[-1] == "/") and (meant := self._fix_trailing_slash(path)) != path:
            path, server = meant, self._find_mcp_server(meant)
            scope = {**scope, "path": path, "raw_path": path.encode()}
        refusal = _check_headers(scope, is_mcp=server is not None)
        if refusal is None and (rate := settings.WIRE_RATE_LIMIT) != "off" and (counted := _get_rate_bucket(scope, server)):
            refusal = await _check_rate(scope, counted, rate)
            if refusal is None and self._own_limit is not None and (own := await self._own_limit(path)) is not None:
                refusal = await _check_rate(scope, f"own {own[0]}", f"{own[1]}/m")
        if refusal is None and _expects_body(scope, is_mcp=server is not None):
            body = await _read_body(scope, receive)
            if body is None:
                return
            if isinstance(body, bytes):
                receive = replay_body(body, receive)
            else:
                refusal = body
        if refusal is None:
            has_begun = False

            async def note_and_send(message: Message) -> None:
                nonlocal has_begun
                has_begun = True
                await send(message)

            try:
                await self._app(scope, receive, note_and_send)
            except asyncio.CancelledError:  # by uvicorn, of what outlasts its graceful shutdown; left to it, that is a 500
                if has_begun:
                    raise
                await _STOPPING.send(send, jsonrpc=server is not None)
        else:
            await refusal.send(send, jsonrpc=server is not None)

    def _fix_trailing_slash(self, path: str) -> str:
        """An address typed with a slash is the same server's, and without one its family's."""
        if path[-1:] == "/":
            return path[:-1] if self._find_mcp_server(path[:-1]) else path
        return f"{path}/" if f"{path}/" in self._servers and not self._find_mcp_server(path) else path

    def _find_mcp_server(self, path: str) -> str | None:
        return self._servers.get(path) or self._servers.get(get_family_path(path))


def get_family_path(path: str) -> str:
    return path[: path.rfind("/") + 1]


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    code: str
    message: str
    hint: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def from_error(cls, error: WireError) -> Self:
        headers = tuple((name.lower().encode(), value.encode()) for name, value in error.headers.items())
        return cls(error.status, error.code, error.message, error.hint, headers)

    async def send(self, send: Send, *, jsonrpc: bool) -> None:
        error = {"error": self.code, "message": self.message, "hint": self.hint}
        if jsonrpc:
            text = f"{self.message} {self.hint}"
            body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": JSONRPC_REFUSED, "message": text, "data": error}})
        else:
            body = orjson.dumps(error)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"access-control-allow-origin", b"*"),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


_CLOSE: Final = ((b"connection", b"close"),)  # a proxy may have read the request otherwise, and take what follows for its rest
_WRONG_HOST: Final = Refusal(421, "wrong_host", "This server does not serve that Host.", "Use its public address.")
_STOPPING: Final = Refusal(
    503, "stopping", "This server is stopping.", "Try again in 5 seconds.", ((b"retry-after", b"5"), *_CLOSE)
)
_TWICE: Final = Refusal(400, "header_twice", "Host, Origin or a body length is sent twice.", "Send each of them once.", _CLOSE)
_LENGTH_HINT: Final = "Send Content-Length alone, or chunked encoding alone."
_AMBIGUOUS: Final = Refusal(400, "ambiguous_length", "The length of the body is ambiguous.", _LENGTH_HINT, _CLOSE)
_ORIGIN_HINT: Final = "Clients other than browsers should not send an Origin."
_WRONG_ORIGIN: Final = Refusal(403, "origin_refused", "This Origin may not use the MCP server.", _ORIGIN_HINT)


def _check_headers(scope: Scope, *, is_mcp: bool) -> Refusal | None:
    headers = dict(scope["headers"])
    if len(headers) < len(scope["headers"]):  # a proxy might read the other one
        names = [name for name, _ in scope["headers"] if name in _ONCE]
        if len(names) > len(set(names)):
            return _TWICE
    if not _is_allowed_host(headers.get(b"host", b"")):
        return _WRONG_HOST
    origin = headers.get(b"origin")
    if is_mcp and origin is not None and origin.decode("latin-1") not in settings.WIRE_ALLOWED_ORIGINS:
        return _WRONG_ORIGIN
    if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        return _AMBIGUOUS
    length = headers.get(b"content-length")
    if length is None:
        return None
    if length.isdigit() and length[0] == 48 and length != b"0":  # RFC 9110 allows leading zeros; some read them as octal
        return _AMBIGUOUS
    if _LENGTH.fullmatch(length) and (int(length) <= MAX_BODY or int(length) <= _get_body_limit(scope)):
        return None
    return _refuse_large_body(_get_body_limit(scope))


def _get_body_limit(scope: Scope) -> int:
    return MAX_DESK_BODY if scope["path"].startswith("/admin/") else MAX_BODY


def _refuse_large_body(most: int) -> Refusal:
    what = "file" if most == MAX_DESK_BODY else "request"
    return Refusal(413, "body_too_large", f"The body is larger than {most:,} bytes.", f"Send a smaller {what}.")


def _expects_body(scope: Scope, *, is_mcp: bool) -> bool:
    """Return whether somebody behind reads the body. The site wants none, but Django would write it to the disk first."""
    if is_mcp:
        return bool(scope["method"] == "POST")
    if scope["path"].startswith("/api/"):
        return scope["method"] not in ("GET", "HEAD")
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


@lru_cache(maxsize=1_000)
def _is_allowed_host(host: bytes) -> bool:
    found = _HOST.fullmatch(host.decode("latin-1"))
    return found is not None and found[1].lower() in settings.ALLOWED_HOSTS


def _get_rate_bucket(scope: Scope, server: str | None) -> str:
    """The name under which a request counts towards the limit; "" for one that does not: preflights, and pages that cost little."""
    if scope["method"] == "OPTIONS":
        return ""
    if server is not None:
        return server
    path = scope["path"]
    if path == LIMITS and scope["method"] in ("GET", "HEAD"):
        return ""
    counted = ("/api/", "/articles/", "/export/", "/feeds/search.", "/og/", "/pictures/")
    return WIRE if path.startswith(counted) or path == "/search" else ""


_shared: Any = None  # the SharedLimiter, loaded where there is one: a wire without Redis need not carry that library


async def _check_rate(scope: Scope, counted: str, rate: str) -> Refusal | None:
    """A rate for one client and one server, over all processes that have the same Redis; a higher one for the client's network."""
    limiter, key = _get_limiter(rate), get_client_key(scope)
    client, network = f"{counted} {key}", f"{counted} {get_client_network(key)}"
    wait = limiter.count_request(client, network) if _shared is None else await _shared.count_request(client, limiter, network)
    if not wait:
        return None
    # As in draft-ietf-httpapi-ratelimit-headers; only here, since a cached answer knows no client.
    headers = (
        (b"retry-after", b"%d" % wait),
        (b"ratelimit-policy", b'"doors";q=%d;w=%d' % (limiter.limit, limiter.period)),
        (b"ratelimit", b'"doors";r=0;t=%d' % wait),
        (b"access-control-expose-headers", b"Retry-After, RateLimit, RateLimit-Policy"),
    )
    message = f"More than {limiter.limit} requests in {limiter.period} seconds."
    return Refusal(429, "rate_limited", message, f"Wait {wait} seconds.", headers)


def get_rate_limit() -> tuple[int, int]:
    """Return WIRE_RATE_LIMIT as a number of requests, and the seconds in which they may come."""
    limiter = _get_limiter(settings.WIRE_RATE_LIMIT)
    return limiter.limit, limiter.period


def list_request_ages(client: str) -> list[float]:
    """Return how many seconds ago each request of this client came that counts towards WIRE_RATE_LIMIT. For any thread."""
    ages: list[float] = (_shared or _get_limiter(settings.WIRE_RATE_LIMIT)).list_request_ages(f"{WIRE} {client}")
    return ages


def uncount_request(client: str) -> None:
    """Uncount a request of this client towards WIRE_RATE_LIMIT; its network's count stays. For any thread."""
    if settings.WIRE_RATE_LIMIT != "off":
        (_shared or _get_limiter(settings.WIRE_RATE_LIMIT)).uncount_request(f"{WIRE} {client}")


@lru_cache(maxsize=100)  # rates; publishers of the same one share its limiter, each under its own name
def _get_limiter(rate: str) -> Limiter:
    return Limiter(rate)


@contextlib.asynccontextmanager
async def share_rate_limit() -> AsyncIterator[None]:
    """While it lasts, requests are counted together with all other processes that have the same Redis, if there is one."""
    global _shared
    if settings.WIRE_RATE_LIMIT == "off" or not settings.REDIS_URL:
        yield
        return
    from config.ratelimit.redis_limiter import SharedLimiter

    _shared = SharedLimiter(_get_limiter(settings.WIRE_RATE_LIMIT), settings.REDIS_URL, settings.SECRET_KEY)
    try:
        yield
    finally:
        shared, _shared = _shared, None
        await shared.close()


async def _read_body(scope: Scope, receive: Receive) -> bytes | Refusal | None:
    """The whole body, a refusal as soon as it is too large, or None if the client leaves. uvicorn_protocol limits the time."""
    most = _get_body_limit(scope)
    message = await receive()
    body = message.get("body", b"")
    while message["type"] == "http.request" and len(body) <= most:
        if not message.get("more_body"):
            return bytes(body)
        message = await receive()
        body += message.get("body", b"")
    return _refuse_large_body(most) if len(body) > most else None


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was read already, then whatever follows."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
