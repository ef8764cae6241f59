"""Canonical JSON (RFC 8785) and its hash. Pure."""

import hashlib
from typing import Any, Final

import orjson
import rfc8785

EXACT: Final = 2**53 - 1  # the largest whole number that a double holds exactly


def hash_json(data: Any) -> str:
    """Return the SHA-256 hex of the RFC 8785 JSON. Raises: rfc8785.CanonicalizationError."""
    return hashlib.sha256(encode_canonical_json(data)).hexdigest()


def encode_canonical_json(data: Any) -> bytes:
    """Return the RFC 8785 JSON. Raises: rfc8785.CanonicalizationError."""
    # orjson is ten times as fast, and writes the same where names are ASCII, whole numbers are exact, and no other number is
    # written with an exponent by either.
    try:
        return orjson.dumps(_to_plain(data), option=orjson.OPT_SORT_KEYS)
    except ValueError:
        return bytes(rfc8785.dumps(data))


def _to_plain(value: Any) -> Any:
    """Return the value with whole floats as whole numbers. Raises: ValueError for what orjson writes otherwise."""
    kind = type(value)
    if kind is str:
        if value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value):
            return value
    elif kind is dict:
        if all(type(name) is str and name.isascii() for name in value):
            return {name: _to_plain(item) for name, item in value.items()}
    elif kind is list:
        return [_to_plain(item) for item in value]
    elif kind is float:
        if value.is_integer() and abs(value) <= EXACT:
            return int(value)
        if 1e-4 <= abs(value) < 1e15:
            return value
    elif kind is bool or value is None or (kind is int and abs(value) <= EXACT):
        return value
    raise ValueError
