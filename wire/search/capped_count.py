"""Counts up to a limit, cached until something is published."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from django.db.models import QuerySet

from config.http import memory_cache

COUNTED: Final = 1000  # up to so many are counted; of more it is only said that there are more


def count_capped(select: Callable[..., QuerySet[Any, Any]], *arguments: Any) -> tuple[int, bool]:
    """Return how many rows `select` has, at most COUNTED, and whether that is all."""
    generation = memory_cache.answers.generation
    found = _count(select, *arguments) if generation is None else _count_cached(generation, select, *arguments)
    return min(found, COUNTED), found <= COUNTED


@lru_cache(maxsize=1000)
def _count_cached(_generation: tuple[Any, ...], select: Callable[..., QuerySet[Any, Any]], *arguments: Any) -> int:
    return _count(select, *arguments)


def _count(select: Callable[..., QuerySet[Any, Any]], *arguments: Any) -> int:
    return select(*arguments)[: COUNTED + 1].count()
