"""Hashes of rows and releases as canonical JSON (RFC 8785). Pure, so that anyone can recompute them."""

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson
import rfc8785


def sha256(value: Any) -> str:
    """Hash a value as canonical JSON. Without fractions orjson writes the same bytes, and twenty times as fast."""
    body = orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if _is_plain(value) else rfc8785.dumps(value)
    return hashlib.sha256(body).hexdigest()


def _is_plain(value: Any) -> bool:
    """Return whether no number has more than one spelling, and names sort alike as bytes and as UTF-16."""
    kind = type(value)
    if kind is str:
        return True
    if kind is dict:
        return all(name.isascii() and _is_plain(inner) for name, inner in value.items())
    if kind is list:
        return all(map(_is_plain, value))
    return value is None or kind is bool or (kind is int and abs(value) < 2**53)


def table(rows: Iterable[str]) -> dict[str, Any]:
    """Return the number of a table's rows, and the SHA-256 of their hashes, one a line, in order."""
    lines = [f"{row}\n" for row in rows]
    return {"rows": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}
