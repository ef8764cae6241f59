"""Streams that tell clients that a list changed, of resources or of tools; none of them for ever.

GET /mcp is the handshake era's; 2026-07-28 has the SDK's `subscriptions/listen`, which is only bounded here.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from config.http.connection_slots import Places, wait_for_disconnect
from config.http.request_guard import App, Message, Receive, Scope, Send

LIFETIME: Final = 300.0  # seconds; a client that still cares opens another
HEARTBEAT: Final = 15.0  # seconds; keeps proxies from closing an idle stream
MAX_OPEN: Final = 50  # GET streams of one server and process at a time
ALLOW: Final = (b"allow", b"POST, GET, OPTIONS")

_EVENT: Final = 'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/%s/list_changed"}\r\n\r\n'
_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Streams:
    def __init__(self, path: str) -> None:
        self._open: dict[asyncio.Event, list[str]] = {}  # by open stream, whose event wakes it: the lists to tell it of
        self._places = Places(f"GET {path}")

    def announce_list_changes(self, lists: Sequence[str]) -> None:
        for changed, untold in self._open.items():
            untold += [name for name in lists if name not in untold]
            changed.set()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one stream until it is too old or the client leaves. Without a place it is 405: clients then go on without."""
        with self._places.hold_slot(scope, MAX_OPEN) as refusal:
            if refusal is not None:
                refusal = replace(refusal, status=405, headers=(*refusal.headers, ALLOW))
                await refusal.send(send, jsonrpc=True)
            else:
                await self._send_events(receive, send)

    async def _send_events(self, receive: Receive, send: Send) -> None:
        changed = asyncio.Event()
        untold = self._open[changed] = []
        leaving = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await send({"type": "http.response.body", "body": b": open\r\n\r\n", "more_body": True})
            ends = asyncio.get_running_loop().time() + LIFETIME
            while (left := ends - asyncio.get_running_loop().time()) > 0 and not leaving.done():
                waiting = asyncio.create_task(changed.wait())
                await asyncio.wait({waiting, leaving}, timeout=min(HEARTBEAT, left), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                chunks = [(_EVENT % name).encode() for name in untold] or [b": still here\r\n\r\n"]
                untold.clear()
                changed.clear()
                for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            del self._open[changed]
            leaving.cancel()


async def serve_sdk_stream(sdk: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a stream of the SDK's, for which time is no limit, no longer than LIFETIME; a client that still cares listens again."""
    unfinished = False

    async def send_watched(message: Message) -> None:
        nonlocal unfinished
        unfinished = message["type"] == "http.response.start" or message.get("more_body", False)
        await send(message)

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LIFETIME):
            await sdk(scope, receive, send_watched)
    if unfinished:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
