"""What is hashed of a corpus: rows and releases as canonical JSON (RFC 8785). Pure, so that anyone can recompute it."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
import rfc8785


def sha256(value: Any) -> str:
    """Of the value as canonical JSON. Without fractions orjson writes the same bytes, and twenty times as fast."""
    plain = _is_plain(value)
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if plain else rfc8785.dumps(value)).hexdigest()


def _is_plain(value: Any) -> bool:
    """Whether no number has more than one spelling, and names sort alike as bytes and as UTF-16."""
    kind = type(value)
    if kind is str:
        return True
    if kind is dict:
        return all(name.isascii() and _is_plain(inner) for name, inner in value.items())
    if kind is list:
        return all(map(_is_plain, value))
    return value is None or kind is bool or (kind is int and abs(value) < 2**53)


def table(rows: Iterable[str]) -> dict[str, Any]:
    """Of one table: how many rows, and the SHA-256 of their hashes, one a line, in order."""
    lines = [f"{row}\n" for row in rows]
    return {"rows": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def manifest(
    slug: str, number: int, previous: str, written: Any, meta: Any, tables: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What a release's hash is the hash of; `previous` is "" for the first."""
    return {
        "v": 1,
        "corpus": slug,
        "release": number,
        "previous_sha256": previous or None,
        "corpus_sha256": sha256(written),
        "meta_sha256": sha256(meta),
        "tables": {name: dict(one) for name, one in tables.items()},
    }
