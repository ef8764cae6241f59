"""Requests whose head came before, byte for byte: answered as they are when every head is read, whatever comes between."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.config import Config
from uvicorn.server import ServerState

from config import protocol
from config.edge import PASSED, Finished, Receive, Scope, Send
from config.protocol import HEAD_END, WireProtocol

PEER: Final = ("192.0.2.1", 40_000)
WHILE: Final = 10  # turns of the loop
SLOW: Final = b"?"  # in a body: nobody keeps the answer to it, which takes longer than the next request


class App:
    """Says what it was asked; of most requests at once. `counted` has each once that passed."""

    def __init__(self) -> None:
        self.counted = 0

    def _count(self, scope: Scope) -> None:
        if PASSED not in scope:
            self.counted += 1
            scope[PASSED] = True

    def _told(self, scope: Scope, body: bytes) -> Finished:
        asked = [scope[name] for name in ("method", "path", "raw_path", "query_string", "headers", "client", "server")]
        said = repr((asked, body)).encode()
        return 200, [(b"content-length", b"%d" % len(said))], said

    def at_once(self, scope: Scope, body: bytes) -> Finished | None:
        self._count(scope)
        return None if SLOW in body or scope["method"] not in ("GET", "POST") else self._told(scope, body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._count(scope)
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if SLOW in body:
            for _ in range(2 * WHILE):  # until more has come
                await asyncio.sleep(0)
        status, headers, said = self._told(scope, body)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": said})


class Wire(asyncio.Transport):
    """A connection's other end, which takes everything."""

    def __init__(self, peer: tuple[str, int]) -> None:
        super().__init__({"peername": peer, "sockname": ("192.0.2.9", 8_000)})
        self.said = bytearray()
        self.closed = False

    def write(self, data: Any) -> None:
        self.said += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Reading(WireProtocol):
    """Knows no head."""

    def _answer_again(self, _data: bytes) -> bool:
        return False


def connected(kind: type[WireProtocol], app: App, peer: tuple[str, int] = PEER) -> tuple[WireProtocol, Wire]:
    config = Config(app, log_level="critical", access_log=False, proxy_headers=False, timeout_keep_alive=1)
    config.load()
    served, wire = kind(config, ServerState(), {}), Wire(peer)
    served.connection_made(wire)
    return served, wire


async def asked(kind: type[WireProtocol], app: App, chunks: Sequence[bytes], peer: tuple[str, int] = PEER) -> Wire:
    """A connection on which these came, each a while after the one before."""
    served, wire = connected(kind, app, peer)
    for chunk in chunks:
        if wire.closed:
            break
        served.data_received(chunk)
        for _ in range(WHILE):
            await asyncio.sleep(0)
    for _ in range(WHILE * len(chunks) * 3):
        await asyncio.sleep(0)
    served.connection_lost(None)
    return wire


ALONE: Final = (
    b"GET /a%2Fb?c=d HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
)
BODIES: Final = (b"abcde", b"ab?de", b"\r\n\r\nx", ALONE[0], b"GET / HTTP/1.0\r\n\r\n", b"")
ODD: Final = (
    b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /p HTTP/1.1\nHost: x\nContent-Length: 5\n\nabcde",
    b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nabcde",
    b"\r\n",
    b"\r",
    b"GET / HTTP/1.1\r\nHost: x\r\na:",  # goes on in what follows
    b"nonsense\r\n\r\n",
)
POSTS: Final = st.builds(
    lambda length, body: b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (length, body),
    st.sampled_from((5, 5, len(ALONE[0]))),
    st.sampled_from(BODIES),
)


@given(st.data())
def test_what_comes_in_whatever_pieces_is_answered_as_if_every_head_were_read(data: st.DataObject) -> None:
    protocol._heads.clear()
    requests = data.draw(st.lists(st.one_of(st.sampled_from(ALONE), POSTS, POSTS, st.sampled_from(ODD)), max_size=5))
    for request in [ALONE[0], *requests]:  # known from now on, if it is one that is
        asyncio.run(asked(WireProtocol, App(), [request]))
    pieces = list[bytes]()
    for request in requests:
        head_ends = request.find(HEAD_END) + len(HEAD_END)
        cuts = data.draw(st.lists(st.one_of(st.just(head_ends), st.integers(0, len(request))), max_size=1))
        pieces += [request[start:end] for start, end in zip([0, *cuts], [*cuts, len(request)], strict=True) if start < end]
    while len(pieces) > 1 and data.draw(st.integers(0, 3)) == 0:  # now and then two come together
        at = data.draw(st.integers(0, len(pieces) - 2))
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    ours, theirs = App(), App()
    found = asyncio.run(asked(WireProtocol, ours, pieces))
    wanted = asyncio.run(asked(Reading, theirs, pieces))
    assert bytes(found.said) == bytes(wanted.said)
    assert found.closed == wanted.closed
    assert ours.counted == theirs.counted


POST: Final = b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"


def test_a_known_head_is_not_read_again_and_says_whose_request_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol._heads.clear()
    asyncio.run(asked(WireProtocol, App(), [POST + b"abcde"]))
    monkeypatch.setattr(WireProtocol, "on_headers_complete", lambda _self: pytest.fail("It was read again."))
    for peer in (PEER, ("192.0.2.2", 50_000)):
        said = asyncio.run(asked(WireProtocol, App(), [POST + b"fghij"], peer)).said
        assert b"fghij" in said
        assert repr(peer).encode() in said


def test_a_request_that_is_not_kept_is_counted_once_when_its_head_is_known() -> None:
    protocol._heads.clear()
    app = App()
    said = asyncio.run(asked(WireProtocol, app, [POST + b"abcde", POST + b"ab?de", POST + b"ab?de", POST + b"fghij"])).said
    assert app.counted == 4
    assert said.count(b"HTTP/1.1 200 OK") == 4


def test_few_heads_are_known_and_no_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol._heads.clear()
    monkeypatch.setattr(protocol, "MOST_HEADS", 3)
    heads = [b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(5)]
    long = b"GET / HTTP/1.1\r\nHost: x\r\na: " + b"b" * protocol.LONGEST_HEAD + b"\r\n\r\n"
    many = b"GET / HTTP/1.1\r\n" + b"a:\r\n" * (protocol.MOST_FIELDS + 1) + b"\r\n"
    said = asyncio.run(asked(WireProtocol, App(), [*heads, long, many])).said
    assert said.count(b"HTTP/1.1 200 OK") == 7
    assert list(protocol._heads) == heads[-3:]


def test_after_a_known_head_patience_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_WITHIN", 0.1)

    async def until_closed() -> float:
        await asked(WireProtocol, App(), [POST + b"abcde"])
        served, wire = connected(WireProtocol, App())
        served.data_received(POST + b"abcde")
        began = time.perf_counter()
        while not wire.closed and time.perf_counter() - began < 5:
            await asyncio.sleep(0.02)
        return time.perf_counter() - began

    assert 0.9 < asyncio.run(until_closed()) < 4


def test_what_began_together_with_a_request_that_was_answered_at_once_has_its_own_time() -> None:
    async def told() -> Wire:
        served, wire = connected(WireProtocol, App())
        served.timeout_keep_alive = 0.05  # type: ignore[assignment]
        served.data_received(ALONE[0] + POST)
        await asyncio.sleep(0.2)
        assert not wire.closed
        served.data_received(b"abcde")
        for _ in range(WHILE):
            await asyncio.sleep(0)
        served.connection_lost(None)
        return wire

    assert asyncio.run(told()).said.count(b"HTTP/1.1 200 OK") == 2
