"""Silent and slow clients of the real server: sockets to a uvicorn process that is started as `manage.py serve` starts it."""

import contextlib
import http.client
import select
import socket
import statistics
import time
from collections.abc import Iterator
from typing import Final

import pytest

from config import protocol
from tests.clients.server import environment, free_port, running
from wire.management.commands import serve

PATIENCE: Final = 5.0  # seconds that a test waits for anything of the server; no test waits this long when all is well
SILENT: Final = 500
Address = tuple[str, int]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    directory, port = tmp_path_factory.mktemp("wire"), free_port()
    env = environment(directory, port)
    arguments = ["-m", "uvicorn", *serve.UVICORN, "--port", str(port)]
    with running(arguments, env, directory / "server.log", ready="/healthz"):
        yield ("127.0.0.1", port)


def connect(server: Address) -> socket.socket:
    return socket.create_connection(server, timeout=protocol.HEAD_WITHIN + PATIENCE)


def said(connection: socket.socket) -> bytes:
    """All that the server says until it closes."""
    heard = b""
    with contextlib.suppress(ConnectionResetError):
        while more := connection.recv(65_536):
            heard += more
    return heard


def status(connection: socket.socket) -> int:
    """Of the next answer, which is read to its end."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def health(server: Address) -> float:
    """Seconds until /healthz has answered."""
    began = time.perf_counter()
    with connect(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert said(connection).startswith(b"HTTP/1.1 200")
    return time.perf_counter() - began


def post(path: str, *headers: str, length: int = 40) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {length}", *headers)
    return "\r\n".join((*lines, "", "")).encode()


def closed_after(connection: socket.socket, began: float) -> float:
    assert said(connection) == b""
    return time.perf_counter() - began


def test_hundreds_of_silent_connections_are_closed_and_hold_nobody_up(server: Address) -> None:
    with contextlib.ExitStack() as stack:
        began = time.perf_counter()
        silent = [stack.enter_context(connect(server)) for _ in range(SILENT)]
        opened = time.perf_counter() - began
        times = [health(server) for _ in range(5)]
        assert statistics.median(times) < 0.25
        for connection in silent:
            connection.settimeout(max(0.01, began + opened + protocol.HEAD_WITHIN + 1 - time.perf_counter()))
            assert connection.recv(1) == b""
        assert time.perf_counter() - began > protocol.HEAD_WITHIN - 0.1


def test_a_head_that_dribbles_is_closed_when_its_time_is_over(server: Address) -> None:
    with connect(server) as slow, connect(server) as empty_lines:
        began = time.perf_counter()
        slow.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(OSError):
            while time.perf_counter() - began < protocol.HEAD_WITHIN + PATIENCE and not select.select([slow], [], [], 0.2)[0]:
                slow.sendall(b"a: b\r\n")
                empty_lines.sendall(b"\r\n")
        assert protocol.HEAD_WITHIN - 0.2 < closed_after(slow, began) < protocol.HEAD_WITHIN + 1
        assert closed_after(empty_lines, began) < protocol.HEAD_WITHIN + 2


def test_a_kept_connection_that_begins_a_request_and_leaves_it_is_closed(server: Address) -> None:
    with connect(server) as one, connect(server) as other:
        for connection in (one, other):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert status(connection) == 200
        began = time.perf_counter()
        one.sendall(b"\r\n")
        other.sendall(b"GET / HT")
        assert closed_after(one, began) < protocol.HEAD_WITHIN + 1
        assert closed_after(other, began) < protocol.HEAD_WITHIN + 1


@pytest.mark.parametrize("complete", [True, False])
def test_a_head_that_is_too_large_is_refused(server: Address, complete: bool) -> None:
    for filling in (b"a: " + b"b" * 20_000, b"a: b\r\n" * 4_000):
        with connect(server) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + filling + (b"\r\n\r\n" if complete else b""))
            answer = said(connection)
            assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
            assert b'"error":"head_too_large"' in answer


def test_a_large_head_and_requests_sent_together_are_served(server: Address) -> None:
    with connect(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\na: " + b"b" * 16_000 + b"\r\n\r\n")
        assert status(connection) == 200
    with connect(server) as connection:
        together = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 600
        connection.sendall(together + b"GET /healthz HTTP/1.1\r\nHost: local")
        time.sleep(0.05)
        connection.sendall(b"host\r\nConnection: close\r\n\r\n")
        assert said(connection).count(b"HTTP/1.1 200 OK") == 601


def test_a_large_body_is_no_large_head(server: Address) -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'.ljust(60_000)
    with connect(server) as connection:
        for _ in range(3):
            connection.sendall(post("/mcp", "Accept: application/json", length=len(ping)) + ping[:30_000])
            time.sleep(0.05)
            connection.sendall(ping[30_000:])
            assert status(connection) == 200


def test_another_origin_is_refused_without_a_byte_of_its_body(server: Address) -> None:
    times = []
    for _ in range(9):
        with connect(server) as connection:
            began = time.perf_counter()
            connection.sendall(post("/mcp", "Origin: https://evil.example"))
            assert status(connection) == 403
            times.append(time.perf_counter() - began)
    assert statistics.median(times) < 1


def test_a_body_that_never_ends_is_refused_in_the_shape_of_its_door(server: Address) -> None:
    with connect(server) as stalled, connect(server) as dribbling, connect(server) as rest:
        for connection in (stalled, dribbling, rest):
            connection.settimeout(10 + PATIENCE)
        began = time.perf_counter()
        stalled.sendall(post("/mcp"))
        dribbling.sendall(post("/mcp"))
        rest.sendall(post("/api/today.json"))
        while time.perf_counter() - began < 9:
            dribbling.sendall(b" ")
            time.sleep(0.3)
        answers = [said(connection) for connection in (stalled, dribbling, rest)]
        assert 9.5 < time.perf_counter() - began < 12
    assert all(answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n") for answer in answers)
    assert [b'"jsonrpc":"2.0"' in answer for answer in answers] == [True, True, False]


LARGE = "/static/unfold/css/styles.css"  # bytes enough to fill what the two kernels keep
TIMES: Final = 40


def asking(server: Address, *, last: bool) -> socket.socket:
    """A client that keeps little, and asked for a large file many times."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(server)
    head = f"GET {LARGE} HTTP/1.1\r\nHost: localhost\r\n"
    connection.sendall((f"{head}\r\n" * (TIMES - 1) + f"{head}Connection: {'close' if last else 'keep-alive'}\r\n\r\n").encode())
    return connection


def test_who_does_not_take_an_answer_is_let_go_and_who_takes_it_slowly_is_not(server: Address) -> None:
    with asking(server, last=True) as silent, asking(server, last=False) as trickling, asking(server, last=True) as slow:
        slow.settimeout(PATIENCE)
        watched = select.poll()
        for connection in (silent, trickling):
            watched.register(connection, select.POLLHUP | select.POLLERR)
        began, gone, taken = time.perf_counter(), dict[int, float](), 0
        while time.perf_counter() - began < 2 * protocol.WRITE_WITHIN + PATIENCE and len(gone) < 2:
            taken += len(slow.recv(10_000))
            if trickling.fileno() not in gone:
                trickling.recv(10)
            for descriptor, _ in watched.poll(100):
                gone[descriptor] = time.perf_counter() - began
                watched.unregister(descriptor)
        assert protocol.WRITE_WITHIN - 1 < gone[silent.fileno()] < protocol.WRITE_WITHIN + PATIENCE
        assert gone[trickling.fileno()] < 2 * protocol.WRITE_WITHIN + PATIENCE
        while more := slow.recv(1_000_000):
            taken += len(more)
        assert taken > TIMES * 100_000
        assert health(server) < 1
