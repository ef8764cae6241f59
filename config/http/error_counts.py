"""Counts of faults of this wire since the start of the process, by the surface that answered: `/metrics` shows them."""

from collections import Counter
from http import HTTPStatus
from typing import Final

from config.http.request_guard import Message, Send

DOORS: Final = ("site", "rest", "mcp", "desk")
counts: Final[Counter[str]] = Counter()


def count_errors(door: str, send: Send) -> Send:
    """Return `send` that counts an answer with a status of 500 or above, but for 502, which is a publisher's or an upstream's."""

    async def send_counted(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 500 and message["status"] != HTTPStatus.BAD_GATEWAY:
            counts[door] += 1
        await send(message)

    return send_counted
