"""HTTP/1.1 as uvicorn speaks it, with an end to patience: a connection that says nothing, or never finishes, is closed.

uvicorn itself waits for ever for a request to begin, for its head and for its body. For uvicorn's `--http`.
"""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from config.edge import BODY_ARRIVED

HEAD_WITHIN: Final = 5.0  # seconds for a complete head, from the connection or, on one that is kept, from its first byte
BODY_WITHIN: Final = 60.0  # seconds for a body, whoever reads it; the doors (config.edge) are stricter
MAX_HEAD: Final = 16_384  # bytes
WHOLE_BODY: Final[dict[str, dict[Any, Any]]] = {BODY_ARRIVED: {}}  # seen by the application if it has not yet begun
TOO_LARGE: Final = (
    b'{"error":"head_too_large","message":"The request\'s head is larger than 16,384 bytes.","hint":"Send less of it."}'
)


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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn's promise is the narrower one
        self._expect(HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        finished = self._finished
        self._saw_body = False
        self._may_be_too_large = self._head_size + len(data) > MAX_HEAD
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._saw_body:
            self._head_size = 0
        elif self._finished == finished:  # else the data held the end of an earlier request as well
            self._head_size += len(data)
            if self._head_size > MAX_HEAD:
                self._refuse_head()
                return
        if self._in_body:
            self._expect(BODY_WITHIN)
        elif self.cycle is None or self.cycle.response_complete:
            self._expect(HEAD_WITHIN)

    def on_message_begin(self) -> None:
        self._in_head = True
        self._head_size = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._relax()
        self._in_head, self._in_body, self._head_size = False, True, 0
        if self._may_be_too_large and len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD:
            self._too_large = True
            raise ValueError("The head is too large.")  # the parser stops, and uvicorn turns to send_400_response
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._saw_body = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._relax()
        self._in_body, self._head_size = False, 0
        self.scope["extensions"] = WHOLE_BODY
        self._finished += 1
        super().on_message_complete()

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
