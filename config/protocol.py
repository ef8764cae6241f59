"""HTTP/1.1 as uvicorn speaks it, with an end to patience: a connection that says nothing, or never finishes, is closed; and with no
task for an answer that is kept (`Edge.at_once`), nor a second reading of a head that came before.

uvicorn itself waits for ever for a request to begin, for its head and for its body, and for the client to take the answer: a closed
transport keeps what it has to write until it is written. For uvicorn's `--http`.
"""

import asyncio
import fcntl
import logging
import socket
import struct
import termios
from array import array
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from config.edge import BODY_ARRIVED, PASSED, Finished, Scope

logger = logging.getLogger(__name__)

HEAD_WITHIN: Final = 5.0  # seconds for a complete head, from the connection or, on one that is kept, from its first byte
BODY_WITHIN: Final = 60.0  # seconds for a body, whoever reads it; the doors (config.edge) are stricter
WRITE_WITHIN: Final = 10.0  # seconds in which a client has to take WRITE_LEAST of an answer, or all that is left of it
WRITE_LEAST: Final = 16_384  # bytes; 1.6 KB/s is slower than any network that still works
MAX_HEAD: Final = 16_384  # bytes
HEAD_END: Final = b"\r\n\r\n"
MOST_HEADS: Final = 500  # heads that are known by their bytes, each of
LONGEST_HEAD: Final = 2_048  # bytes at most and
MOST_FIELDS: Final = 40  # header fields, which take far more memory than their bytes
WHOLE_BODY: Final[dict[str, dict[Any, Any]]] = {BODY_ARRIVED: {}}  # seen by the application if it has not yet begun
TOO_LARGE: Final = (
    b'{"error":"head_too_large","message":"The request\'s head is larger than 16,384 bytes.","hint":"Send less of it."}'
)

_heads: Final[dict[bytes, tuple[Scope, int]]] = {}
"""Of requests that were answered at once: what their heads said, and how long a body followed. The same bytes say the same."""


class WireProtocol(HttpToolsProtocol):
    """Between requests, on a connection that is kept, uvicorn's own timeout of five seconds applies."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self._in_head = self._in_body = False
        self._head_size = 0  # bytes of an unfinished head, or of what follows a body, as far as they came before
        self._saw_body = False
        self._finished = 0  # requests
        self._may_be_too_large = self._too_large = False
        self._in_headers_complete = False
        self._held: tuple[RequestResponseCycle, Any] | None = None  # a request that begins when its body is here, or is not yet
        self._alone: bytes | None = None  # what came is either a whole request or the beginning of one
        self._passed = False  # the request that is about to be read was counted already
        self._at_once: Callable[[Any, bytes], Finished | None] = getattr(self.app, "at_once", lambda _scope, _body: None)
        self._writing: asyncio.TimerHandle | None = None
        self._moved = False  # the client took enough for another answer, or for more of this one, since it was looked at

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn's promise is the narrower one
        self._expect(HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        if self._writing is not None:
            self._writing.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        is_alone = self._is_between_requests()
        if is_alone and self._answer_again(data):
            return
        self._alone = data if is_alone else None
        finished = self._finished
        self._saw_body = False
        self._may_be_too_large = self._head_size + len(data) > MAX_HEAD
        super().data_received(data)
        self._alone = None
        if self.transport.is_closing():
            return
        if self._held is not None:
            self._begin(*self._held, body=None)
        if self._saw_body:
            self._head_size = 0
        elif self._finished == finished:  # else the data held the end of an earlier request as well
            self._head_size += len(data)
            if self._head_size > MAX_HEAD:
                self._refuse_head()
                return
        if self._in_body:
            self._expect(BODY_WITHIN)
        elif (self._in_head or self._finished == finished) and (self.cycle is None or self.cycle.response_complete):
            self._expect(HEAD_WITHIN)

    def on_message_begin(self) -> None:
        self._in_head = True
        self._head_size = 0
        self._unset_keepalive_if_required()  # set by an answer at once to a request that came together with this one
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._relax()
        self._in_head, self._in_body, self._head_size = False, True, 0
        if self._may_be_too_large and len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD:
            self._too_large = True
            raise ValueError("The head is too large.")  # the parser stops, and uvicorn turns to send_400_response
        self._in_headers_complete = True
        super().on_headers_complete()
        self._in_headers_complete = False

    def on_body(self, body: bytes) -> None:
        self._saw_body = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._relax()
        self._in_body, self._head_size = False, 0
        self.scope["extensions"] = WHOLE_BODY
        self._finished += 1
        super().on_message_complete()
        if self._held is not None:
            self._begin(*self._held, body=bytes(self._held[0].body))

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if self._in_headers_complete:
            self._held = cycle, app
        else:  # it waited for the answer to an earlier one
            super()._start_asgi_task(cycle, app)

    def _begin(self, cycle: RequestResponseCycle, app: Any, body: bytes | None) -> None:
        """Answer a request at once if its whole body came with its head and nobody has to be asked; else start its task."""
        self._held = None
        if self._passed:
            cycle.scope[PASSED] = True  # type: ignore[typeddict-unknown-key]
            self._passed = False
        is_plain = cycle.keep_alive and not self.access_log and not self.flow.write_paused
        answer = self._look_up(cycle.scope, body) if is_plain and body is not None else None
        if answer is None or body is None:
            super()._start_asgi_task(cycle, app)
            return
        cycle.response_started = cycle.response_complete = True
        self._remember(cycle.scope, body)
        self._write(answer)

    def _is_between_requests(self) -> bool:
        if self._in_head or self._in_body or self._head_size or self.access_log or self.flow.write_paused:
            return False
        return self.cycle is None or self.cycle.response_complete

    def _remember(self, scope: Any, body: bytes) -> None:
        """Know this head by its bytes from now on, if the request came alone and its body as it is."""
        data = self._alone
        if data is None or len(scope["headers"]) > MOST_FIELDS:
            return
        head = data[: data.find(HEAD_END, 0, LONGEST_HEAD) + len(HEAD_END)]
        if head + body == data:
            if len(_heads) >= MOST_HEADS:
                del _heads[next(iter(_heads))]
            _heads[head] = {name: value for name, value in scope.items() if name != PASSED}, len(body)

    def _answer_again(self, data: bytes) -> bool:
        """Answer a request whose head came before, if its answer is kept. The parser never sees it, and stays between requests."""
        body_at = data.find(HEAD_END, 0, LONGEST_HEAD) + len(HEAD_END)
        known = _heads.get(data[:body_at])
        if known is None or len(data) - body_at != known[1]:
            return False
        scope = {**known[0], "client": self.client, "server": self.server}
        answer = self._look_up(scope, data[body_at:])
        if answer is None:
            self._passed = PASSED in scope
            return False
        self._relax()
        self._write(answer)
        return True

    def _write(self, answer: Finished) -> None:
        status, headers, body = answer
        lines = [STATUS_LINE[status]]
        for name, value in (*self.server_state.default_headers, *headers):
            lines += (name, b": ", value, b"\r\n")
        lines.append(b"\r\n")
        self.transport.writelines((b"".join(lines), body))
        self.on_response_complete()

    def _look_up(self, scope: Any, body: bytes) -> Finished | None:
        try:
            return self._at_once(scope, body)
        except Exception:  # the parser around this would call it an invalid request, and say nothing of it
            logger.exception("What is kept could not be looked up; the request takes the long way.")
            return None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._moved = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._moved = True
        self._watch_writing()

    def _watch_writing(self) -> None:
        """See that the client takes what is written for it, unless it did so at once."""
        if self._writing is None and self.transport.get_write_buffer_size():
            self._moved = False
            self._writing = self.loop.call_later(WRITE_WITHIN, self._look_at_writing, self._not_taken())

    def _look_at_writing(self, before: int) -> None:
        self._writing = None
        if not self._moved and self._not_taken() > max(0, before - WRITE_LEAST):
            at_once = struct.pack("ii", 1, 0)  # with a reset, or the kernel would go on offering what it holds
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            self.transport.abort()
        else:
            self._watch_writing()

    def _not_taken(self) -> int:
        """Bytes here and in the kernel, which asks for more only when much of what it has is gone."""
        queued = array("i", [0])
        with suppress(OSError):  # of sockets only some systems tell it
            fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, queued)
        return self.transport.get_write_buffer_size() + queued[0]

    def send_400_response(self, msg: str) -> None:
        if self._too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _refuse_head(self) -> None:
        lines = (
            STATUS_LINE[HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE],
            b"content-type: application/json\r\n",
            b"content-length: %d\r\n" % len(TOO_LARGE),
            b"connection: close\r\n\r\n",
            TOO_LARGE,
        )
        self.transport.write(b"".join(lines))
        self.transport.close()

    def _expect(self, seconds: float) -> None:
        """What is being waited for must come within this time, which further bytes do not prolong."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
