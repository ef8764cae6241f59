"""Cursors that are bound to the question whose answer they page through."""

import hashlib
from typing import Any

import orjson

from wire.search.cursor import build_cursor_error, decode_cursor, encode_cursor


class ListCursor:
    """The cursors of one list: `kind` names it, the question holds every filter. A position is a tuple of whole numbers."""

    def __init__(self, kind: str, *question: Any) -> None:
        self._kind = kind
        self._mark = hashlib.sha256(orjson.dumps([kind, *question])).hexdigest()[:16]

    def encode_position(self, *position: int) -> str:
        return encode_cursor(self._kind, self._mark, *position)

    def decode_position(self, cursor: str, size: int) -> list[int]:
        """Return the `size` numbers of a position. Raises: InvalidArgument for a cursor of another list or question."""
        mark, *position = decode_cursor(cursor, {self._kind: 1 + size})[1]
        if mark != self._mark or any(type(number) is not int or abs(number) >= 2**63 for number in position):
            raise build_cursor_error()
        return position
