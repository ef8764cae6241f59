"""How many there are, without counting them all, nor again before something is published."""

from functools import lru_cache
from typing import Any, Final

from config.http import answer_cache
from wire.models.compiled import Compiled

COUNTED: Final = 1000  # up to so many are counted; of more it is only said that there are more


def counted(rows: Compiled, *arguments: Any) -> tuple[int, bool]:
    """How many rows there are, at most COUNTED; and whether that is all. The last argument of `rows` is the most it counts."""
    generation = answer_cache.answers.generation
    found = rows.count(*arguments, COUNTED + 1) if generation is None else _known(generation, rows, *arguments)
    return min(found, COUNTED), found <= COUNTED


@lru_cache(maxsize=1000)
def _known(_generation: tuple[Any, ...], rows: Compiled, *arguments: Any) -> int:
    return rows.count(*arguments, COUNTED + 1)
