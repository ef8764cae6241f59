"""Places for what a client holds open, such as streams: so many in all, for one client, and for the network it lives in."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from config.http.client_address import get_client_key, get_client_network
from config.http.request_guard import Receive, Refusal, Scope

PER_CLIENT: Final = 4
NETWORK_PART: Final = 4  # one network has at most this part of all places, and at least those of a client
RETRY_AFTER: Final = 60  # seconds

_open: Final = Counter[tuple[str, str]]()  # streams, by kind and client


async def wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def count_open_streams(kind: str, client: str) -> int:
    return _open[kind, client]


class Places:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._clients, self._networks = Counter[str](), Counter[str]()

    def __len__(self) -> int:
        return self._clients.total()

    @contextlib.contextmanager
    def hold_slot(self, scope: Scope, most: int) -> Iterator[Refusal | None]:
        """Hold one of `most` places for as long as the block lasts. Yields why there is none, else None."""
        client = get_client_key(scope)
        network = get_client_network(client)
        if self._clients[client] >= PER_CLIENT:
            yield _refuse(429, f"You have {PER_CLIENT} streams open, as many as one client may have.", "Close one of them first")
        elif self._networks[network] >= max(PER_CLIENT, most // NETWORK_PART):
            yield _refuse(429, "Your network has as many streams open as one network may have.", "Share one of them")
        elif len(self) >= most:
            yield _refuse(503, f"{most} streams are open, as many as this server allows.", "Try again in a minute")
        else:
            counted: tuple[tuple[Counter[Any], Any], ...] = (
                *((self._clients, client), (self._networks, network)),
                (_open, (self._kind, client)),
            )
            for counter, name in counted:
                counter[name] += 1
            try:
                yield None
            finally:
                for counter, name in counted:
                    counter[name] -= 1
                    if not counter[name]:
                        del counter[name]


def _refuse(status: int, message: str, hint: str) -> Refusal:
    headers = ((b"retry-after", b"%d" % RETRY_AFTER), (b"access-control-expose-headers", b"Retry-After"))
    return Refusal(status, "too_many_streams", message, f"{hint}, or poll: /api/changes.json?wait=20, get_changes.", headers)
