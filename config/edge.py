"""What every request to the public doors passes first, before its body is read: Host, Origin, size, rate; then a bound on its body.

One mechanism in front of REST and MCP alike. Pure ASGI, so that a refusal costs neither Django nor the MCP SDK.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from django.conf import settings

from config.client import client_key
from config.limit import Limiter
from config.limit_sqlite import SQLiteStore
from config.shared_limit import SharedLimiter, Store

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
Headers = Sequence[tuple[bytes, bytes]]
Finished = tuple[int, Headers, bytes]
"""Status, headers and body of an answer."""

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]*)?")
MAX_BODY: Final = 65_536  # bytes; no public request needs more
MAX_DESK_BODY: Final = 10_485_760  # bytes; editors bring roster and lexicon as files
BODY_WITHIN: Final = 10.0  # seconds; on the desk config.protocol's patience alone
BODY_ARRIVED: Final = "wire.body_arrived"
"""The ASGI extension by which config.protocol says that nothing needs waiting for: a timer costs more than reading such a body."""
PASSED: Final = "wire.passed"
"""The scope's mark of a request that was checked and counted."""
CHECKED: Final = "wire.checked"
"""The scope's mark of a head that was checked; config.protocol leaves it on each request whose head is the same."""
JSONRPC_REFUSED: Final = -32000  # JSON-RPC 2.0: the range for errors of the server's own


class Edge:
    """`app` behind the checks; `kept` gives those of its answers for which nobody has to be asked."""

    def __init__(self, app: App, kept: Callable[[Scope, bytes], Finished | None]) -> None:
        self._app = app
        self._kept = kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        door = _door(scope["path"])
        if PASSED not in scope:
            refusal = _refusal(scope, door)
            if refusal is None and _is_counted(scope, door):
                refusal = await _over_limit(scope)
            if refusal is not None:
                await refusal.send(send, jsonrpc=door == "mcp")
                return
        if _body_is_read(scope, door):
            body = await _body(scope, receive)
            if isinstance(body, Refusal):
                await body.send(send, jsonrpc=door == "mcp")
                return
            receive = replay(body, receive)
        await self._app(scope, receive, send)

    def at_once(self, scope: Scope, body: bytes) -> Finished | None:
        """The answer to a request that is here with its whole body, if it is kept and nothing has to be waited for: a task for each
        request takes as long as all else. After None the request takes the long way, where what was checked is not checked again.
        """
        if PASSED not in scope:
            if not _passes_at_once(scope, len(body)):
                return None
            scope[PASSED] = True
        return self._kept(scope, body)


def _passes_at_once(scope: Scope, length: int) -> bool:
    door = _door(scope["path"])
    if CHECKED not in scope:
        if _refusal(scope, door) is not None:
            return False
        scope[CHECKED] = True
    if length > MAX_BODY:
        return False
    rate = settings.WIRE_RATE_LIMIT if _is_counted(scope, door) else "off"
    return rate == "off" or (_shared is None and not _limiter_of(rate).wait(client_key(scope)))


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that ends a request at the edge."""

    status: int
    code: str
    message: str
    hint: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, send: Send, *, jsonrpc: bool) -> None:
        said = {"error": self.code, "message": self.message, "hint": self.hint}
        if jsonrpc:
            text = f"{self.message} {self.hint}"
            body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": JSONRPC_REFUSED, "message": text, "data": said}})
        else:
            body = orjson.dumps(said)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
            (b"access-control-allow-origin", b"*"),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


_TOO_LARGE: Final = Refusal(413, "body_too_large", f"The body is larger than {MAX_BODY:,} bytes.", "Send a smaller request.")
_TOO_LARGE_FOR_THE_DESK: Final = Refusal(
    413, "body_too_large", f"The body is larger than {MAX_DESK_BODY:,} bytes.", "Send a smaller file."
)
_TOO_SLOW: Final = Refusal(
    408,
    "body_too_slow",
    f"The body was not complete within {BODY_WITHIN:.0f} seconds.",
    "Send it at once.",
    ((b"connection", b"close"),),
)
_WRONG_HOST: Final = Refusal(421, "wrong_host", "This server does not answer for that Host.", "Use its public address.")
_TWICE: Final = Refusal(400, "header_twice", "Host, Origin or Content-Length comes twice.", "Send each of them once.")
_WRONG_ORIGIN: Final = Refusal(
    403, "origin_refused", "This Origin may not use the MCP door.", "Clients that are no browser send none."
)


def _is_counted(scope: Scope, door: str) -> bool:
    return bool(door) and scope["method"] != "OPTIONS"


def _door(path: str) -> str:
    if path == "/mcp":
        return "mcp"
    return "rest" if path.startswith("/api/") else ""


def _refusal(scope: Scope, door: str) -> Refusal | None:
    headers = dict(scope["headers"])
    if len(headers) < len(scope["headers"]) and _comes_twice(scope):
        return _TWICE
    if not _host_allowed(headers.get(b"host", b"")):
        return _WRONG_HOST
    origin = headers.get(b"origin")
    if door == "mcp" and origin is not None and origin.decode("latin-1") not in settings.WIRE_ALLOWED_ORIGINS:
        return _WRONG_ORIGIN
    length = headers.get(b"content-length", b"0")
    too_large = _too_large(scope)
    if not (length.isdigit() and len(length) < 10 and int(length) <= too_large[0]):
        return too_large[1]
    return None


def _comes_twice(scope: Scope) -> bool:
    """Of what is decided here, whoever stands in front or behind could have read the other one."""
    named = [name for name, _ in scope["headers"] if name in (b"host", b"origin", b"content-length")]
    return len(named) > len(set(named))


def _too_large(scope: Scope) -> tuple[int, Refusal]:
    """The most bytes that a body may have, and what is said of a larger one."""
    return (MAX_DESK_BODY, _TOO_LARGE_FOR_THE_DESK) if scope["path"].startswith("/admin/") else (MAX_BODY, _TOO_LARGE)


def _body_is_read(scope: Scope, door: str) -> bool:
    """By whoever is behind: the MCP door reads that of a POST, REST that of anything but a read. The site wants none, but Django
    would first write whatever comes to the disk, to its end.
    """
    if door == "mcp":
        return bool(scope["method"] == "POST")
    if door == "rest":
        return scope["method"] not in ("GET", "HEAD")
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


@lru_cache(maxsize=1_000)
def _host_allowed(host: bytes) -> bool:
    """A name or address of ours, with any port or none."""
    found = _HOST.fullmatch(host.decode("latin-1"))
    return found is not None and found[1].lower() in settings.ALLOWED_HOSTS


_limiter: Limiter | None = None
_shared: SharedLimiter | None = None


async def _over_limit(scope: Scope) -> Refusal | None:
    """Sixty a minute for one client over both doors and all workers (WIRE_RATE_LIMIT)."""
    rate = settings.WIRE_RATE_LIMIT
    if rate == "off":
        return None
    limiter, client = _limiter_of(rate), client_key(scope)
    wait = limiter.wait(client) if _shared is None else await _shared.wait(client)
    return _too_many(limiter, wait) if wait else None


def _limiter_of(rate: str) -> Limiter:
    global _limiter  # made when it is first needed, and again when tests change the rate
    if _limiter is None or _limiter.rate != rate:
        _limiter = Limiter(rate)
    return _limiter


def _too_many(limiter: Limiter, wait: int) -> Refusal:
    """Headers as in draft-ietf-httpapi-ratelimit-headers; only here, since an answer that is kept knows no client."""
    headers = (
        (b"retry-after", b"%d" % wait),
        (b"ratelimit-policy", b'"doors";q=%d;w=%d' % (limiter.limit, limiter.period)),
        (b"ratelimit", b'"doors";r=0;t=%d' % wait),
        (b"access-control-expose-headers", b"Retry-After, RateLimit, RateLimit-Policy"),
    )
    message = f"More than {limiter.limit} requests in {limiter.period} seconds."
    return Refusal(429, "rate_limited", message, f"Wait {wait} seconds.", headers)


@contextlib.asynccontextmanager
async def one_limit() -> AsyncIterator[None]:
    """While it lasts, requests are counted together with the other workers, if there are any."""
    global _shared
    if settings.WIRE_RATE_LIMIT == "off" or not (settings.REDIS_URL or settings.WIRE_WORKERS > 1):
        yield
        return
    limiter = _limiter_of(settings.WIRE_RATE_LIMIT)
    _shared = SharedLimiter(limiter, store_of(limiter, "limit.sqlite3"), settings.SECRET_KEY)
    sharing = asyncio.create_task(_shared.run())
    try:
        await _shared.tried.wait()
        yield
    finally:
        _shared = None
        sharing.cancel()
        await asyncio.gather(sharing, return_exceptions=True)


def store_of(limiter: Limiter, file: str) -> Store:
    """Where all processes count together: the Redis, or else a file in the data directory, one for each period."""
    if settings.REDIS_URL:
        from config.limit_redis import RedisStore  # 10 MB of library that a wire without Redis need not carry

        return RedisStore(limiter, settings.REDIS_URL)
    return SQLiteStore(limiter, settings.WIRE_DATA_DIR / file)


async def _body(scope: Scope, receive: Receive) -> bytes | Refusal:
    """The whole body, or a refusal as soon as it is too large or takes longer than BODY_WITHIN."""
    most, too_large = _too_large(scope)
    if BODY_ARRIVED in (scope.get("extensions") or ()):
        return await _read(receive, most, too_large)
    try:
        async with asyncio.timeout(None if most > MAX_BODY else BODY_WITHIN):
            return await _read(receive, most, too_large)
    except TimeoutError:
        return _TOO_SLOW


async def _read(receive: Receive, most: int, too_large: Refusal) -> bytes | Refusal:
    chunks = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(chunks)
        chunks += message.get("body", b"")
        if len(chunks) > most:
            return too_large
        if not message.get("more_body"):
            return bytes(chunks)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read already, then whatever follows."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
