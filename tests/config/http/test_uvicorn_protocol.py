"""The server's own HTTP/1.1 on real sockets, with short deadlines: slow and silent clients, large heads, and the order of answers.

Behind it is the edge, and behind that an application that notes which requests reach it.
"""

import contextlib
import http.client
import select
import socket
import time
from collections.abc import Iterator
from typing import Final

import pytest
from pytest_django import Settings

from config.http import uvicorn_protocol
from tests.config.http.served import LARGE, PATIENCE, Served

SILENT: Final = 500
SHORT: Final = 0.3  # seconds, of every deadline here
LONG: Final = 600.0
HEALTH: Final = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST: Final = b"GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
SLOW: Final = b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Served]:
    """Its deadlines are far away; tests about one of them set it."""
    settings.WIRE_RATE_LIMIT = "off"
    for name in ("HEAD_WITHIN", "BODY_WITHIN", "DESK_BODY_WITHIN", "WRITE_WITHIN"):
        monkeypatch.setattr(uvicorn_protocol, name, LONG)
    with Served() as served:
        yield served


@pytest.fixture
def short(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001  which sets it otherwise
    """For a complete head."""
    monkeypatch.setattr(uvicorn_protocol, "HEAD_WITHIN", SHORT)


def said(connection: socket.socket) -> bytes:
    """All that the server says until it closes."""
    heard = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(65_536):
            heard += more
    return heard


def answers(server: Served, sent: bytes) -> list[str]:
    """Status and, of those that the application made, body, of all answers on one connection until it is closed."""
    with server.connect() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(sent)
        return told(said(connection))
    return []


def told(heard: bytes) -> list[str]:
    parts = [part.decode().partition("\r\n\r\n") for part in heard.split(b"HTTP/1.1 ")[1:]]
    return [f"{head[:3]} {body}" if head[:3] == "200" else head[:3] for head, _, body in parts]


def healthy(server: Served) -> bool:
    return answers(server, LAST) == ["200 /last"]


def status(connection: socket.socket) -> int:
    """Of the next answer, which is read to its end."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def post(path: str, *headers: str, length: int = 40) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {length}", *headers)
    return "\r\n".join((*lines, "", "")).encode()


def dribbled(connection: socket.socket, part: bytes) -> bool:
    """Whether the connection ends while it is sent a few bytes again and again."""
    ends = time.monotonic() + PATIENCE
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < ends and not select.select([connection], [], [], 0.05)[0]:
            connection.sendall(part)
    return time.monotonic() < ends


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_hundreds_of_silent_connections_are_closed_and_hold_nobody_up(server: Served) -> None:
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(SILENT)]
        assert healthy(server)
        assert {connection.recv(1) for connection in silent} == {b""}
    assert server.app.reached == ["/last"]


@pytest.mark.usefixtures("short")
@pytest.mark.slow
def test_a_head_that_dribbles_is_closed_when_its_time_is_over(server: Served) -> None:
    for begun, part in ((b"GET / HTTP/1.1\r\n", b"a: b\r\n"), (b"", b"\r\n")):
        with server.connect() as connection:
            connection.sendall(begun)
            assert dribbled(connection, part)
            assert said(connection) == b""
    assert server.app.reached == []


@pytest.mark.usefixtures("short")
@pytest.mark.slow
def test_a_kept_connection_that_begins_a_request_and_leaves_it_is_closed(server: Served) -> None:
    for begun in (b"\r\n", b"GET / HT"):
        with server.connect() as connection:
            connection.sendall(HEALTH)
            assert status(connection) == 200
            connection.sendall(begun)
            assert said(connection) == b""


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"\r\n\r\n", b""], ids=["complete", "incomplete"])
@pytest.mark.parametrize("filling", [b"a: " + b"b" * 20_000, b"a: b\r\n" * 4_000], ids=["one header", "many"])
def test_a_head_that_is_too_large_is_refused(server: Served, filling: bytes, end: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + filling + end)
        answer = said(connection)
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b'"error":"head_too_large"' in answer
    assert server.app.reached == []


def test_a_large_head_and_requests_sent_together_are_served(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\na: " + b"b" * 16_000 + b"\r\n\r\n")
        assert status(connection) == 200
        connection.sendall(HEALTH * 600 + LAST[:40])
        time.sleep(0.05)
        connection.sendall(LAST[40:])
        assert told(said(connection)) == ["200 /healthz"] * 600 + ["200 /last"]


@pytest.mark.slow
def test_a_large_body_is_no_large_head(server: Served) -> None:
    with server.connect() as connection:
        for _ in range(3):
            connection.sendall(post("/mcp", length=60_000) + b" " * 30_000)
            time.sleep(0.05)
            connection.sendall(b" " * 30_000)
            assert status(connection) == 200


def test_another_origin_is_refused_without_a_byte_of_its_body(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(post("/mcp", "Origin: https://evil.example"))
        assert status(connection) == 403
    assert server.app.reached == []


@pytest.mark.parametrize("path", ["/mcp", "/search"])
@pytest.mark.slow
def test_a_public_body_that_is_too_slow_is_refused_and_reaches_nobody(
    server: Served, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn_protocol, "BODY_WITHIN", SHORT)
    chunked = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % path.encode()
    for head, part in ((post(path), b""), (post(path), b" "), (chunked, b"1\r\n \r\n")):
        with server.connect() as connection:
            connection.sendall(head)
            if part:
                assert dribbled(connection, part)
            answer = said(connection)
        assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert b"connection: close\r\n" in answer
        assert answer.endswith(uvicorn_protocol.TOO_SLOW)
    assert healthy(server)
    assert server.app.reached == ["/last"]


@pytest.mark.slow
def test_the_desk_has_longer_for_a_body_and_not_for_ever(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_protocol, "BODY_WITHIN", SHORT)
    with server.connect() as desk, server.connect() as public:
        desk.sendall(post("/admin/login/"))
        public.sendall(post("/mcp"))
        assert status(public) == 408
        desk.sendall(b" " * 40)
        assert status(desk) == 200
        monkeypatch.setattr(uvicorn_protocol, "DESK_BODY_WITHIN", SHORT)
        desk.sendall(post("/admin/login/"))
        assert dribbled(desk, b" ")
        assert said(desk) == b""
    assert server.app.reached == ["/admin/login/"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/mcp", "/admin/login/"])
def test_a_request_whose_client_leaves_within_the_body_reaches_nobody(server: Served, path: str) -> None:
    with server.connect() as connection:
        connection.sendall(post(path) + b"{")
    assert healthy(server)
    time.sleep(0.1)
    assert server.app.reached == ["/last"]


BROKEN: Final = {
    "no HTTP": (b"QUINCE\r\n\r\n", "400"),
    "no path": (b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
    "a broken chunk": (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"),
    "too large a head": (b"GET / HTTP/1.1\r\nHost: localhost\r\na: " + b"b" * 20_000 + b"\r\n\r\n", "431"),
    "no body": (post("/mcp"), "408"),
}


@pytest.mark.parametrize(("broken", "refusal"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("earlier", [0, 2])
@pytest.mark.slow
def test_a_refusal_comes_after_the_answers_to_earlier_requests(
    server: Served, earlier: int, broken: bytes, refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be taken for one of theirs."""
    monkeypatch.setattr(uvicorn_protocol, "BODY_WITHIN", SHORT)
    with server.connect() as connection:
        connection.sendall(SLOW * earlier + broken)
        if earlier:
            assert select.select([connection], [], [], 2 * SHORT)[0] == []
        server.app.go_on.set()
        assert told(said(connection)) == ["200 /slow"] * earlier + [refusal]
    assert server.app.reached == ["/slow"] * earlier


def test_a_refusal_cuts_no_earlier_answer_short(server: Served) -> None:
    """As a reset would, by which the kernel ends a connection that is closed while something is still to be read from it."""
    with server.connect() as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\nQUINCE\r\n\r\n")
        heard = b""
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(20_000):
                heard += more
                connection.sendall(b"more of the same")
    assert heard.count(b"x") >= LARGE
    assert heard.endswith(uvicorn_protocol.INVALID)


def test_an_answered_request_whose_body_is_wrong_gets_no_second_answer(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(b"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert status(connection) == 200
        connection.sendall(b"x\r\n" + LAST)
        assert said(connection) == b""


def test_a_client_that_leaves_is_noticed_by_the_request_that_is_being_answered(server: Served) -> None:
    """Also while another one waits behind it."""
    with server.connect() as connection:
        connection.sendall(SLOW + HEALTH)
        while server.app.reached != ["/slow"]:
            time.sleep(0.01)
        # With a reset: uvicorn reads no further while a request waits, and an end is only found by reading.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    ends = time.monotonic() + PATIENCE
    while server.app.left != ["/slow"] and time.monotonic() < ends:
        time.sleep(0.01)
    assert server.app.left == ["/slow"]


def test_an_upgrade_that_nobody_makes_is_answered_and_ends_the_connection(server: Served) -> None:
    upgrade = b"GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert answers(server, upgrade + LAST) == ["200 /a"]


def asking(server: Served) -> socket.socket:
    """A client that has room for little, and asked for a long answer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.settimeout(PATIENCE)
    connection.connect(server.address)
    connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return connection


@pytest.mark.slow
def test_a_client_that_does_not_take_its_answer_is_let_go_and_a_slow_one_is_not(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn_protocol, "WRITE_WITHIN", 2 * SHORT)
    with asking(server) as silent, asking(server) as trickling, asking(server) as slow:
        watched = select.poll()
        for connection in (silent, trickling):
            watched.register(connection, select.POLLHUP | select.POLLERR)
        gone, taken, ends = set[int](), 0, time.monotonic() + PATIENCE
        while len(gone) < 2 and time.monotonic() < ends:
            taken += len(slow.recv(10_000))
            if trickling.fileno() not in gone:
                trickling.recv(10)
            for descriptor, _ in watched.poll(100):
                gone.add(descriptor)
                watched.unregister(descriptor)
        assert gone == {silent.fileno(), trickling.fileno()}
        while more := slow.recv(1_000_000):
            taken += len(more)
        assert taken > LARGE
    assert healthy(server)


@pytest.mark.slow
def test_a_request_that_outlasts_a_stop_is_told_to_come_again(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(SLOW)
        while not server.app.reached:
            time.sleep(0.01)
        server.stop()
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert (answer.status, answer.headers["retry-after"], answer.headers["connection"]) == (503, "5", "close")
        assert b"stopping" in answer.read()
