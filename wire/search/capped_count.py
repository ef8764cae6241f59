"""Counts up to a limit, cached until something is published."""

from functools import lru_cache
from typing import Any, Final

from config.http import memory_cache
from wire.models.compiled_sql import Compiled

COUNTED: Final = 1000  # up to so many are counted; of more it is only said that there are more


def count_capped(rows: Compiled, *arguments: Any) -> tuple[int, bool]:
    """Return how many rows there are, at most COUNTED, and whether that is all. The last argument of `rows` is its limit."""
    generation = memory_cache.answers.generation
    found = rows.count(*arguments, COUNTED + 1) if generation is None else _count_cached(generation, rows, *arguments)
    return min(found, COUNTED), found <= COUNTED


@lru_cache(maxsize=1000)
def _count_cached(_generation: tuple[Any, ...], rows: Compiled, *arguments: Any) -> int:
    return rows.count(*arguments, COUNTED + 1)
