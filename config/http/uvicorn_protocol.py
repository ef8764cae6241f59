"""HTTP/1.1 as uvicorn speaks it, with timeouts and a size limit on the head. For uvicorn's `--http`.

uvicorn itself waits for ever for a request to begin, for its head and for its body, and for the client to take the answer: a
closed transport keeps what it has to write until it is written. And it answers bytes that it cannot parse at once, even while
earlier requests of the connection wait for their answers, so that the client takes the 400 for one of theirs. This class leans on
names of uvicorn that are not documented, so pyproject.toml pins its minor version.
"""

import asyncio
import fcntl
import socket
import struct
import termios
from array import array
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

HEAD_WITHIN: Final = 5.0  # seconds for a complete head, from the connection or, on a kept-alive one, from its first byte
BODY_WITHIN: Final = 10.0  # seconds for the body of a public request
DESK_BODY_WITHIN: Final = 60.0  # seconds; editors bring files
WRITE_WITHIN: Final = 10.0  # seconds in which a client has to take WRITE_LEAST of an answer, or all that is left of it
WRITE_LEAST: Final = 16_384  # bytes; 1.6 KB/s is slower than any network that still works
MAX_HEAD: Final = 16_384  # bytes
INVALID: Final = b'{"error":"bad_request","message":"The request is not valid HTTP/1.1.","hint":"Send it as RFC 9112 has it."}'
TOO_LARGE: Final = (
    b'{"error":"head_too_large","message":"The request\'s head is larger than 16,384 bytes.","hint":"Send less of it."}'
)
TOO_SLOW: Final = b'{"error":"body_too_slow","message":"The body was not complete within 10 seconds.","hint":"Send it at once."}'


class WireProtocol(HttpToolsProtocol):
    """Between requests, on a kept-alive connection, uvicorn's own timeout of five seconds applies."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self._in_head = self._in_body = False
        self._head_size = 0  # bytes of an unfinished head, or of what follows a body, that arrived before
        self._saw_body = False
        self._finished = 0  # requests
        self._may_be_too_large = self._too_large = False
        self._answering: RequestResponseCycle | None = None  # self.cycle is the newest request, which may be waiting for its turn
        self._last_answer = b""  # of this class, for when all earlier requests have theirs; nothing is read any more
        self._writing: asyncio.TimerHandle | None = None
        self._moved = False  # the client took enough for another answer, or for more of this one, since the last check

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn's annotation is the narrower one
        self._set_deadline(HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        if self._writing is not None:
            self._writing.cancel()
        super().connection_lost(exc)
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def data_received(self, data: bytes) -> None:
        if self._last_answer:
            return
        finished = self._finished
        self._saw_body = False
        self._may_be_too_large = self._head_size + len(data) > MAX_HEAD
        super().data_received(data)
        if self.transport.is_closing() or self._last_answer:
            return
        if self._saw_body:
            self._head_size = 0
        elif self._finished == finished:  # else the data held the end of an earlier request as well
            self._head_size += len(data)
            if self._head_size > MAX_HEAD:
                self._refuse_and_close(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, TOO_LARGE)
                return
        if self._in_body and self.url.startswith(b"/admin/"):
            self._set_deadline(DESK_BODY_WITHIN)
        elif self._in_body:
            self._set_deadline(BODY_WITHIN, lambda: self._refuse_and_close(HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW))
        elif (self._in_head or self._finished == finished) and (self.cycle is None or self.cycle.response_complete):
            self._set_deadline(HEAD_WITHIN)

    def on_message_begin(self) -> None:
        self._in_head = True
        self._head_size = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if self._deadline is not None:
            self._cancel_deadline()
        self._in_head, self._head_size = False, 0
        if self._may_be_too_large and len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD:
            self._too_large = True
            raise ValueError("The headers are too large.")  # the parser stops, and uvicorn turns to send_400_response
        if not self.url.startswith(b"/"):
            self._check_target()
        super().on_headers_complete()
        self._in_body = True
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False  # nobody here speaks what it wants to go over to, and the parser reads no further

    def _check_target(self) -> None:
        """Refuse an absolute-form target whose host is not the one that the request guard checks (RFC 9112, 3.2.2)."""
        hosts = [value.lower() for name, value in self.headers if name == b"host"]
        scheme, separator, rest = self.url.partition(b"://")
        if not separator or scheme.lower() not in (b"http", b"https") or hosts != [rest.partition(b"/")[0].lower()]:
            raise ValueError("The target is not a path, or names another host.")

    def on_body(self, body: bytes) -> None:
        self._saw_body = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._deadline is not None:
            self._cancel_deadline()
        self._in_body, self._head_size = False, 0
        self._finished += 1
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_slow_client()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._moved = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._moved = True
        if self._last_answer and not self._is_answering():
            self._close_gracefully()
        self._watch_slow_client()

    def _watch_slow_client(self) -> None:
        """Check later that the client takes what is written for it, unless it has taken all of it already."""
        if self._writing is None and self.transport.get_write_buffer_size():
            self._moved = False
            self._writing = self.loop.call_later(WRITE_WITHIN, self._drop_slow_client, self._count_unsent_bytes())

    def _drop_slow_client(self, before: int) -> None:
        self._writing = None
        if not self._moved and self._count_unsent_bytes() > max(0, before - WRITE_LEAST):
            at_once = struct.pack("ii", 1, 0)  # with a reset, or the kernel would go on offering what it holds
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            self.transport.abort()
        else:
            self._watch_slow_client()

    def _count_unsent_bytes(self) -> int:
        """Bytes here and in the kernel, which asks for more only when much of what it has is gone."""
        queued = array("i", [0])
        with suppress(OSError):  # not every system can say
            fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, queued)
        return self.transport.get_write_buffer_size() + queued[0]

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's words for a log
        if self._too_large:
            self._refuse_and_close(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, TOO_LARGE)
        else:
            self._refuse_and_close(HTTPStatus.BAD_REQUEST, INVALID)

    def _refuse_and_close(self, status: int, body: bytes) -> None:
        """End the connection with this answer to what came last, once all earlier requests have theirs."""
        self._cancel_deadline()
        if self._in_body and self.cycle.response_started:  # it is answered, and only its body is wrong
            self.transport.close()
            return
        if self._in_body and self.pipeline:
            self.pipeline.popleft()
        head = (
            f"content-type: application/json\r\ncache-control: no-store\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self._last_answer = STATUS_LINE[status] + head.encode() + body
        if not self._is_answering():
            self._close_gracefully()

    def _is_answering(self) -> bool:
        """Tell whether a request is being answered, other than one whose body is still to come and which is refused."""
        begun = self._answering is not None and not self._answering.response_complete
        return begun and not (self._in_body and self._answering is self.cycle)

    def _close_gracefully(self) -> None:
        """Send no more, and read on before closing: else the kernel resets the connection and cuts answers short."""
        self.transport.write(self._last_answer)
        self.transport.write_eof()
        self.flow.resume_reading()
        self._set_deadline(HEAD_WITHIN)

    def _set_deadline(self, seconds: float, otherwise: Callable[[], None] | None = None) -> None:
        """Do `otherwise`, or close the connection, unless what is awaited comes in time, which further bytes do not prolong."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(seconds, otherwise or self.transport.close)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
