"""Changes over HTTP: long polling of /api/changes.json, and /api/stream, a stream of server-sent events. Pure ASGI: Django's
threads are few and must not wait for a publish.
"""

import asyncio
import datetime as dt
import re
from collections.abc import Awaitable, Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
from django.conf import settings

from config.database import routing
from config.database.threads import run_in_thread
from config.errors import InvalidArgument, NotFound, Unavailable, WireError
from config.http.connection_slots import Places, wait_for_disconnect
from config.http.publish_waiters import Watch
from config.http.request_guard import LIMITS, App, Message, Receive, Scope, Send
from config.http.response_cache import CHANGES, READS
from wire.queries.changes import LIMIT, MOST, build_cursor_behind, get_changes, get_last_cursor, parse_kinds
from wire.queries.limits import check_limits
from wire.schemas.params import read_moment
from wire.schemas.proofs import ChangesOut
from wire.text.provenance_manifest import to_rfc3339

LONGEST_WAIT: Final = 25  # seconds; proxies close what is silent for longer
HEARTBEAT: Final = 15.0
TIMEGATE: Final = "/api/timegate"
_DATED: Final = re.compile(r"/api/(?:today|(?:archive|stories|categories|provenance)/[\w-]{1,40})\.json")
LIFETIME: Final = 300.0  # seconds of a stream; a client that still cares opens another, with Last-Event-ID
MAX_STREAMS: Final = 100
SLICE: Final = 5.0  # seconds after which a waiting client is looked for changes all the same
_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"access-control-allow-origin", b"*"),
]
_places = Places("/api/stream")


async def wait_for_changes(
    wait: float, ask: Callable[[], Awaitable[ChangesOut]], left: Callable[[], bool] = lambda: False
) -> ChangesOut:
    """Return the answer of `ask`; while it holds no change, ask again at each publish, for up to `wait` seconds."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + min(wait, LONGEST_WAIT)
    with Watch() as watch:
        while True:
            found = await ask()
            remaining = ends - loop.time()
            if found.changes or remaining <= 0 or not watch.is_watching or left():
                return found
            await watch.wait(min(remaining, SLICE))


class StreamingMiddleware:
    """In front of REST: answers long polls, streams, limits and the timegate; passes all other requests to `app`."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        answer: Callable[[Scope, Receive, Send], Awaitable[None]]
        if path == "/api/stream" and method in READS:
            answer = _stream_changes
        elif path == CHANGES and method == "GET" and _read_params(scope).get("wait", "0").strip("0."):
            answer = _answer_poll
        elif path == LIMITS and method in READS and not _read_params(scope):
            answer = _answer_limits
        elif path.startswith(TIMEGATE) and method in READS:
            answer = _redirect_timegate
        else:
            await self._app(scope, receive, send)
            return
        if method == "HEAD":
            send = _drop_body(send)
        try:
            await answer(scope, receive, send)
        except WireError as error:  # raised before anything is sent
            await _send_json(send, int(error.status), orjson.dumps(error.as_dict()))


async def _answer_limits(_scope: Scope, _receive: Receive, send: Send) -> None:
    found = await run_in_thread(check_limits, goes_outside=True)  # Redis may be slow
    await _send_json(send, 200, found.model_dump_json().encode())


def _read_params(scope: Scope) -> dict[str, str]:
    """Return the query's parameters; the last value of one that comes several times."""
    return {name: values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}


async def _redirect_timegate(scope: Scope, _receive: Receive, send: Send) -> None:
    """Redirect to the address as of Accept-Datetime, default now (RFC 7089, pattern 2.1)."""
    path, asked = scope["path"].removeprefix(TIMEGATE), dict(scope["headers"]).get(b"accept-datetime", b"").decode("latin-1")
    try:
        now = dt.datetime.now(dt.UTC)
        moment = min(parsedate_to_datetime(asked).astimezone(dt.UTC), now) if asked else now
    except (ValueError, TypeError, OverflowError):
        error = InvalidArgument("Accept-Datetime cannot be read.", "Send one such as Thu, 15 Jan 2026 10:00:00 GMT.")
        await _send_json(send, 400, orjson.dumps(error.as_dict()))
        return
    if not _DATED.fullmatch(path):
        raise NotFound("There is no timegate for this address.", "See /api/docs.")
    site, query = settings.WIRE_SITE_URL, scope.get("query_string", b"").decode("latin-1")
    query = "".join(f"{part}&" for part in query.split("&") if part and not part.startswith("as_of="))
    headers = [
        (b"location", f"{site}{path}?{query}as_of={to_rfc3339(moment)}".encode()),
        (b"vary", b"accept-datetime"),
        (b"link", f'<{site}{path}>; rel="original"'.encode()),
    ]
    await _send_json(send, 302, b"{}", headers)


async def _answer_poll(scope: Scope, receive: Receive, send: Send) -> None:
    params = _read_params(scope)
    asked = _parse_params(params, {"cursor", "limit", "kinds", "wait", "since"})
    wait = float(_parse_number(params, "wait", 0, LONGEST_WAIT))
    leaving = asyncio.create_task(wait_for_disconnect(receive))
    try:
        found = await wait_for_changes(wait, lambda: _read_changes(**asked), leaving.done)
    finally:
        leaving.cancel()
    await _send_json(send, 200, found.model_dump_json().encode())


async def _stream_changes(scope: Scope, receive: Receive, send: Send) -> None:
    params = _read_params(scope)
    with _places.hold_slot(scope, MAX_STREAMS) as refusal:
        if refusal is not None:
            await refusal.send(send, jsonrpc=False)
            return
        asked = _parse_params(params, {"cursor", "kinds"})
        resumed = dict(scope["headers"]).get(b"last-event-id", b"").decode("latin-1")
        cursor = str(resumed or params.get("cursor") or await _read_last_cursor())
        if not resumed:  # an EventSource that is refused never comes back: one of a foreign id is told to reset instead
            await _read_changes(**{**asked, "cursor": cursor, "limit": 1})
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        if scope["method"] == "GET":
            leaving = asyncio.create_task(wait_for_disconnect(receive))
            try:
                begins = "" if resumed else f"id: {cursor}\n"
                await _send_chunk(send, f"retry: 3000\n{begins}\n".encode())
                await _send_new_changes(send, asked["kinds"], cursor, leaving)
            finally:
                leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_new_changes(send: Send, kinds: Any, cursor: str, leaving: "asyncio.Task[None]") -> None:
    loop = asyncio.get_running_loop()
    ends, beat = loop.time() + LIFETIME, loop.time() + HEARTBEAT
    lost: InvalidArgument | None = None
    with Watch() as watch:
        while loop.time() < ends and not leaving.done():
            try:
                if lost is not None:
                    cursor = await _read_last_cursor()
                    data = orjson.dumps(lost.as_dict()).decode()
                    await _send_chunk(send, f"id: {cursor}\nevent: reset\ndata: {data}\n\n".encode())
                    lost = None
                found = await _read_changes(cursor=cursor, limit=MOST, kinds=kinds)
            except InvalidArgument as error:  # the cursor is of another log, or the wire was restored meanwhile
                lost = error
                continue
            except Unavailable:
                await watch.wait(1.0)
                await asyncio.sleep(0 if watch.is_watching else 1.0)
                continue
            for change in found.changes:
                head = f"id: {build_cursor_behind(found.next_cursor, change.number)}\nevent: {change.kind}\n"
                await _send_chunk(send, f"{head}data: {change.model_dump_json()}\n\n".encode())
            moved = found.next_cursor != cursor
            cursor = found.next_cursor
            if found.has_more:
                continue
            if moved and not found.changes:
                await _send_chunk(send, f"id: {cursor}\n\n".encode())
            if loop.time() >= beat:
                await _send_chunk(send, b": still here\n\n")
                beat = loop.time() + HEARTBEAT
            waiting = asyncio.create_task(
                watch.wait(min(SLICE, max(ends - loop.time(), 0.0))) if watch.is_watching else asyncio.sleep(1.0)
            )
            await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()


async def _read_last_cursor() -> str:
    return await run_in_thread(lambda: routing.run_query(get_last_cursor))


async def _read_changes(**asked: Any) -> ChangesOut:
    if routing.source.away:
        raise Unavailable
    return await run_in_thread(lambda: routing.run_query(lambda: get_changes(**asked)))


def _parse_params(params: dict[str, str], known: set[str]) -> dict[str, Any]:
    """Raises: InvalidArgument."""
    if strange := params.keys() - known:
        raise InvalidArgument(f"{min(strange)[:30]!r} is an unknown parameter.", f"This address takes {', '.join(sorted(known))}.")
    limit, kinds = _parse_number(params, "limit", LIMIT, MOST), parse_kinds(params.get("kinds"))
    try:
        since = {"since": read_moment(params["since"])} if "since" in params else {}
    except ValueError as error:
        raise InvalidArgument(f"since: {error}.", "The accepted values are described in /api/openapi.json.") from None
    return {"cursor": params.get("cursor"), "limit": limit, "kinds": kinds or None, **since}


def _parse_number(params: dict[str, str], name: str, usual: int, most: int) -> int:
    """Raises: InvalidArgument."""
    text = params.get(name, str(usual))
    if not text.isascii() or not text.isdecimal() or len(text) > 6 or not int(name == "limit") <= int(text) <= most:
        raise InvalidArgument(f"{name}: not a whole number up to {most}.", "Use one, or leave it out.")
    return int(text)


def _drop_body(send: Send) -> Send:
    """Return a `send` for HEAD: the same headers, and no byte of a body."""

    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


async def _send_chunk(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _send_json(send: Send, status: int, body: bytes, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"access-control-allow-origin", b"*"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
