"""Cursors of lists, keysets that only this wire reads, so that new stories never shift a page; and capped, cached totals."""

import base64
import binascii
import datetime as dt
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson
from django.db.models import QuerySet

from config.errors import InvalidArgument
from config.http import memory_cache
from wire.text.identity import is_story_id

Position = tuple[dt.datetime, str]  # a story's in list order: published_at, chatbotnews_id

COUNTED: Final = 1000  # up to so many are counted; of more it is only said that there are more


def encode_cursor(kind: str, *values: Any) -> str:
    """Return URL-safe text; `kind` keeps the cursor of one list, filters included, from being read by another."""
    return base64.urlsafe_b64encode(orjson.dumps([kind, *values])).decode().rstrip("=")


def decode_cursor(cursor: str, kinds: Mapping[str, int]) -> tuple[str, list[Any]]:
    """Return kind and values of a cursor; `kinds` says how many values each has. Raises: InvalidArgument for anything else."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        found = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise build_cursor_error() from None
    match found:
        case [str(kind), *values] if kinds.get(kind) == len(values):
            return kind, values
    raise build_cursor_error()


def encode_position(position: Position) -> list[Any]:
    return [int(position[0].timestamp()), position[1]]


def encode_story_position(story: bytes) -> list[Any]:
    """Return the encoded position of a story, given as JSON."""
    fields = orjson.loads(story)
    return encode_position((dt.datetime.fromisoformat(fields["published_at"]), fields["chatbotnews_id"]))


def decode_position(value: Any) -> Position:
    """Raises: InvalidArgument."""
    match value:
        case [int(seconds), str(story_id)] if not isinstance(seconds, bool) and is_story_id(story_id):
            try:
                return dt.datetime.fromtimestamp(seconds, dt.UTC), story_id
            except (ValueError, OverflowError, OSError):
                pass
    raise build_cursor_error()


def build_cursor_error() -> InvalidArgument:
    return InvalidArgument(
        "cursor does not belong to this list.", "Leave it out for the first page, then pass next_cursor on with the same filters."
    )


def count_rows(select: Callable[..., QuerySet[Any, Any]], *arguments: Any) -> tuple[int, bool]:
    """Return how many rows `select` has, at most COUNTED, and whether that is all."""
    generation = memory_cache.answers.generation
    found = (_count_rows_cached.__wrapped__ if generation is None else _count_rows_cached)(generation, select, *arguments)
    return min(found, COUNTED), found <= COUNTED


@lru_cache(maxsize=1000)
def _count_rows_cached(_generation: tuple[Any, ...] | None, select: Callable[..., QuerySet[Any, Any]], *arguments: Any) -> int:
    return select(*arguments)[: COUNTED + 1].count()
