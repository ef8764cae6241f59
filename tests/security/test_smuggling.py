"""Requests that two readers could read differently, sent to the real server: nothing behind them is ever taken for another one."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Final

import pytest

from config.http import request_guard
from tests.clients.server import environment, free_port, running, services
from tests.wire.installation import set_up
from wire.management.commands import serve

PATIENCE: Final = 8.0  # seconds that a test waits for the server
PING: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
HEALTH: Final = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"
CHUNK: Final = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PING), PING)
Address = tuple[str, int]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Address]:  # noqa: ARG001
    directory, port = tmp_path_factory.mktemp("wire"), free_port()
    arguments = ["-m", "uvicorn", *serve.UVICORN, "--port", str(port)]
    set_up(directory)
    with running(arguments, environment(directory, port) | services(directory), directory / "server.log", ready="/healthz"):
        yield ("127.0.0.1", port)


def answers(server: Address, sent: bytes) -> list[int]:
    """The statuses of all that is answered on one connection until it is closed."""
    heard = b""
    with socket.create_connection(server, timeout=PATIENCE) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(sent)
        while more := connection.recv(65_536):
            heard += more
    return [int(part[:3]) for part in heard.split(b"HTTP/1.1 ")[1:]]


def post(headers: bytes, body: bytes, path: bytes = b"/mcp") -> bytes:
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n%s" % (path, headers, body)


LENGTHS: Final = {
    "length, then chunked": (b"Content-Length: 5\r\n" + CHUNKED, CHUNK),
    "chunked, then length": (CHUNKED + b"Content-Length: 40\r\n", CHUNK),
    "the same length twice": (b"Content-Length: 40\r\n" * 2, PING),
    "two lengths": (b"Content-Length: 40\r\nContent-Length: 0\r\n", PING),
    "a list of lengths": (b"Content-Length: 40, 40\r\n", PING),
    "signed": (b"Content-Length: +40\r\n", PING),
    "negative": (b"Content-Length: -1\r\n", PING),
    "hexadecimal": (b"Content-Length: 0x28\r\n", PING),
    "beyond any number": (b"Content-Length: " + b"9" * 30 + b"\r\n", PING),
    "a blank inside": (b"Content-Length: 4 0\r\n", PING),
    "a blank before the colon": (b"Content-Length : 40\r\n", PING),
    "a vertical tab": (b"Content-Length:\x0b40\r\n", PING),
    "nothing": (b"Content-Length:\r\n", PING),
    "a leading zero": (b"Content-Length: 040\r\n", PING),
    "many of them": (b"Content-Length: 00000000000040\r\n", PING),
    "nothing but zeros": (b"Content-Length: 00\r\n", b""),
}
CODINGS: Final = {
    "identity": b"Transfer-Encoding: identity\r\n",
    "almost chunked": b"Transfer-Encoding: xchunked\r\n",
    "chunked, but not last": b"Transfer-Encoding: chunked, identity\r\n",
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n",
    "two headers": CHUNKED + b"Transfer-Encoding: identity\r\n",
    "the same header twice": CHUNKED * 2,
    "compressed as well": b"Transfer-Encoding: gzip, chunked\r\n",
    "compressed in another header": b"Transfer-Encoding: gzip\r\n" + CHUNKED,
    "a vertical tab": b"Transfer-Encoding: \x0bchunked\r\n",
    "folded": b"Transfer-Encoding:\r\n chunked\r\n",
    "a parameter": b"Transfer-Encoding: chunked;q=1\r\n",
}
CHUNKS: Final = {
    "negative": b"-1\r\n" + PING,
    "with 0x": b"0x28\r\n" + PING + b"\r\n0\r\n\r\n",
    "beyond any number": b"f" * 17 + b"\r\n" + PING,
    "a blank behind": b"28 \r\n" + PING + b"\r\n0\r\n\r\n",
    "none": b"\r\n" + PING + b"\r\n0\r\n\r\n",
    "too short": b"5\r\n" + PING + b"\r\n0\r\n\r\n",
    "a line break in an extension": b"28;a\nb\r\n" + PING + b"\r\n0\r\n\r\n",
    "line feeds alone": b"28\n" + PING + b"\n0\n\n",
    "a length as trailer": b"28\r\n" + PING + b"\r\n0\r\nContent-Length: 99\r\n\r\n",
}
HEADS: Final = {
    "line feeds alone": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "a carriage return alone": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: b\rTransfer-Encoding: chunked\r\n\r\n",
    "NUL": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: b\0c\r\n\r\n",
    "a blank in a name": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n",
    "a folded first header": b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n",
    "no such version": b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "a tunnel": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
TARGETS: Final = {
    "another host": b"GET http://other.example/healthz HTTP/1.1",
    "another port": b"GET http://localhost:81/healthz HTTP/1.1",
    "a user": b"GET http://evil@localhost/healthz HTTP/1.1",
    "another scheme": b"GET ftp://localhost/healthz HTTP/1.1",
    "no host": b"GET http:///healthz HTTP/1.1",
    "no path": b"GET http://localhost HTTP/1.1",
    "a query alone": b"GET http://localhost?a=b HTTP/1.1",
    "an authority": b"GET localhost:80 HTTP/1.1",
    "an asterisk": b"GET * HTTP/1.1",
    "options of all": b"OPTIONS * HTTP/1.1",
    "no slash": b"GET healthz HTTP/1.1",
    "no target": b"GET  HTTP/1.1",
    "bytes that are no ASCII": b"GET /\xff\xfe HTTP/1.1",
}
ODD: Final = (
    *(b"//", b"//other.example/healthz", b"/..", b"/%", b"/%zz", b"/%00", b"/%0d%0aA:%20b", b"/%ff%fe", b"/#", b"/?", b"/??"),
    *(b"/" + b"a" * 8_000, b"/" + b"%2e%2e%2f" * 500, b"/?" + b"a=b&" * 2_000, b"/api/%00.json", b"/api//today.json", b"/mcp?a"),
)


def test_both_readings_are_served_where_there_is_but_one(server: Address) -> None:
    assert answers(server, post(b"Content-Length: 40\r\n", PING) + HEALTH) == [200, 200]
    assert answers(server, post(CHUNKED, CHUNK) + HEALTH) == [200, 200]


@pytest.mark.parametrize(("headers", "body"), LENGTHS.values(), ids=LENGTHS)
def test_a_length_that_could_be_read_twice_ends_the_connection(server: Address, headers: bytes, body: bytes) -> None:
    assert answers(server, post(headers, body) + HEALTH) == [400]


@pytest.mark.slow
@pytest.mark.parametrize("header", CODINGS.values(), ids=CODINGS)
def test_a_transfer_coding_that_could_be_read_twice_ends_the_connection(server: Address, header: bytes) -> None:
    assert answers(server, post(header, CHUNK) + HEALTH) == [400]


@pytest.mark.parametrize("body", CHUNKS.values(), ids=CHUNKS)
def test_a_chunk_of_a_bad_size_ends_the_connection(server: Address, body: bytes) -> None:
    assert answers(server, post(CHUNKED, body) + HEALTH) == [400]


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_that_could_be_read_twice_ends_the_connection(server: Address, head: bytes) -> None:
    assert answers(server, head + HEALTH) == [400]


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_target_that_is_no_path_of_the_host_ends_the_connection(server: Address, target: bytes) -> None:
    assert answers(server, target + b"\r\nHost: localhost\r\n\r\n" + HEALTH) == [400]


@pytest.mark.parametrize("target", [b"http://localhost/healthz", b"HTTP://LOCALHOST/healthz?a=b", b"https://localhost/healthz"])
def test_a_target_with_the_same_host_is_served(server: Address, target: bytes) -> None:
    assert answers(server, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEALTH) == [200, 200]


@pytest.mark.slow
@pytest.mark.django_db
def test_no_target_is_a_fault(server: Address) -> None:
    for target in ODD:
        for method in (b"GET", b"POST", b"OPTIONS"):
            first, *others = answers(server, method + b" " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEALTH)
            assert 200 <= first < 500, (method, target, first)
            assert others == [200] or first == 400, (method, target)


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket"])
def test_what_follows_an_upgrade_that_nobody_makes_is_not_served(server: Address, protocol: bytes) -> None:
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: " + protocol + b"\r\n\r\n"
    assert answers(server, upgrade + HEALTH) == [200]


@pytest.mark.parametrize("path", [b"/mcp", b"/api/today.json", b"/healthz"])
def test_host_origin_and_length_may_come_once(server: Address, path: bytes) -> None:
    for twice in (
        b"Host: evil.example\r\nHost: localhost\r\n",
        b"Host: localhost\r\nHost: evil.example\r\n",
        b"Host: localhost\r\nHost: localhost\r\n",
        b"Host: localhost\r\nOrigin: https://evil.example\r\nOrigin: https://claude.ai\r\n",
        b"Host: localhost\r\nOrigin: https://claude.ai\r\nOrigin: https://claude.ai\r\n",
    ):
        assert answers(server, b"GET %s HTTP/1.1\r\n%s\r\n" % (path, twice) + HEALTH) == [400]


@pytest.mark.slow
def test_no_address_takes_a_body_without_end(server: Address) -> None:
    """Django would write it to the disk, whoever asks for whatever."""
    for line in (b"POST / HTTP/1.1", b"GET /healthz HTTP/1.1", b"PUT /static/x HTTP/1.1", b"POST /admin/login/ HTTP/1.1"):
        most = request_guard.MAX_DESK_BODY if b"/admin/" in line else request_guard.MAX_BODY
        said = b"%s\r\nHost: localhost\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (line, most + 1)
        assert answers(server, said) == [413], line
        with socket.create_connection(server, timeout=PATIENCE) as connection:
            connection.sendall(line + b"\r\nHost: localhost\r\n" + CHUNKED + b"\r\n")
            heard = b""
            with contextlib.suppress(ConnectionError):
                for _ in range(most // 32_768 + 4):
                    connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
            with contextlib.suppress(ConnectionError):
                heard = connection.recv(65_536)
            assert heard.startswith(b"HTTP/1.1 413 "), (line, heard)


def test_a_form_of_the_desk_is_still_taken(server: Address) -> None:
    form = b"username=" + b"x" * (2 * request_guard.MAX_BODY)
    asked = b"POST /admin/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    assert answers(server, asked + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(form) + form) == [403]  # no CSRF token
