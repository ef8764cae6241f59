"""Canonical JSON (RFC 8785) and its hash. Pure."""

import hashlib
from typing import Any, Final

import orjson
import rfc8785

EXACT: Final = 2**53 - 1


def digest(data: Any) -> str:
    """SHA-256 hex of the RFC 8785 JSON. Raises: rfc8785.CanonicalizationError."""
    return hashlib.sha256(canonical(data)).hexdigest()


def canonical(data: Any) -> bytes:
    """The RFC 8785 JSON. Where orjson's is the same, it is made ten times as fast: that is where names are ASCII, whole numbers are
    exact, and no other number is written with an exponent by either.
    """
    try:
        return orjson.dumps(_plain(data), option=orjson.OPT_SORT_KEYS)
    except _Otherwise:
        return bytes(rfc8785.dumps(data))


class _Otherwise(Exception):
    """Something that orjson writes otherwise than RFC 8785."""


def _plain(value: Any) -> Any:
    """With whole floats as whole numbers. Raises: _Otherwise."""
    kind = type(value)
    if kind is str:
        if not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value):
            raise _Otherwise
        return value
    if kind is dict:
        if not all(type(name) is str and name.isascii() for name in value):
            raise _Otherwise
        return {name: _plain(one) for name, one in value.items()}
    if kind is list:
        return [_plain(one) for one in value]
    if kind is float:
        if value.is_integer() and abs(value) <= EXACT:
            return int(value)
        if 1e-4 <= abs(value) < 1e15:
            return value
        raise _Otherwise
    if kind is int and abs(value) > EXACT:
        raise _Otherwise
    if kind in (int, bool) or value is None:
        return value
    raise _Otherwise
