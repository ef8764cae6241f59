"""What is kept is answered without a task: over real sockets, in order, after the same checks, and saying the same."""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.clients.server import environment, free_port, running
from tests.mcpserver.asgi import LEGACY, message, rpc_headers
from tests.wire.installation import install
from wire.management.commands import serve

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="one process over an SQLite file, whatever the services"),
]

LIST: Final = message("tools/list", era=LEGACY)
PAGE: Final = b"GET /api/sources.json HTTP/1.1\r\nHost: localhost\r\n"
_ETAG: Final = re.compile(rb'etag: ("[^"]+")')


@contextmanager
def server(directory: Path, **settings: str) -> Iterator[int]:
    """The port of one process over an empty wire."""
    install(directory)
    port = free_port()
    env = environment(directory, port) | settings
    with running(["-m", "uvicorn", *serve.UVICORN, "--port", str(port)], env, directory / "server.log", ready="/about"):
        yield port


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with server(tmp_path) as found:
        yield found


def said(port: int, *pieces: bytes) -> list[bytes]:
    """What the server says to the pieces of one connection, the last of which closes it: each answer, its date left out."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for piece in pieces:
            connection.sendall(piece)
        heard = b""
        while more := connection.recv(65_536):
            heard += more
    return [re.sub(rb"date: [^\r]+\r\n", b"", one) for one in heard.split(b"HTTP/1.1 ")[1:]]


def listing(number: int, *more: str) -> bytes:
    body = json.dumps(LIST | {"id": number}).encode()
    headers = [f"{name}: {value}" for name, value in rpc_headers(LIST, LEGACY).items()]
    return (
        "\r\n".join(["POST /mcp HTTP/1.1", "Host: localhost", *headers, *more, f"Content-Length: {len(body)}", "", ""]).encode()
        + body
    )


def test_requests_in_one_piece_are_answered_in_their_order(port: int) -> None:
    """The first is made, those behind it wait for it; then all are kept, but for one that is not and the last, which closes."""
    missing = b"GET /api/nothing.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    asked = b"".join([listing(1), PAGE + b"\r\n", listing(2), missing, listing(3), PAGE + b"Connection: close\r\n\r\n"])
    first, again = said(port, asked), said(port, asked)
    assert first == again
    assert [answer[:3] for answer in first] == [b"200", b"200", b"200", b"404", b"200", b"200"]
    ids = [json.loads(first[place].partition(b"\r\n\r\n")[2])["id"] for place in (0, 2, 4)]
    assert ids == [1, 2, 3]
    assert first[5].replace(b"connection: close\r\n", b"") == first[1]


def test_whatever_way_it_is_asked_for_it_says_the_same(port: int) -> None:
    asked, last, close = listing(1), listing(1, "Connection: close"), b"Connection: close\r\n\r\n"
    cut = asked.index(b"\r\n\r\n") + 10
    whole, *_ = said(port, asked, last)
    assert said(port, asked[:cut], asked[cut:], last)[0] == whole  # its body came later than its head

    page, _ = said(port, PAGE + b"\r\n", PAGE + close)
    etag = _ETAG.search(page)
    assert etag is not None
    confirming, naming = PAGE + b"If-None-Match: " + etag[1] + b"\r\n\r\n", PAGE.replace(b"GET", b"HEAD") + b"\r\n"
    unchanged, *_ = said(port, confirming + PAGE + close)
    assert unchanged.startswith(b"304 Not Modified\r\n")
    assert etag[0] in unchanged
    assert unchanged.endswith(b"\r\n\r\n")
    assert said(port, naming + PAGE + close)[0] == page.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"


def test_what_is_kept_is_checked_and_counted_as_everything_is(tmp_path: Path) -> None:
    with server(tmp_path, WIRE_RATE_LIMIT="20/h") as port:
        other_host = PAGE.replace(b"localhost", b"evil.example") + b"Connection: close\r\n\r\n"
        browser = listing(1, "Origin: https://evil.example", "Connection: close")
        assert said(port, PAGE + b"\r\n", other_host)[1].startswith(b"421 ")
        assert said(port, listing(1), browser)[1].startswith(b"403 ")
        asked = b"".join([PAGE + b"\r\n"] * 19) + PAGE + b"Connection: close\r\n\r\n"
        assert [answer[:3] for answer in said(port, asked)] == [b"200"] * 18 + [b"429"] * 2
