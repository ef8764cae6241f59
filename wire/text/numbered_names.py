"""Names with numbers, as a headline has them: GPT-5.3 is not GPT-5.4, and a Series B is no Series C."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_UNIT: Final = r"(?:percent|per cent|[mbt](?:illio)?n|trillion|[kmbt]|[gtmk]w|years?|months?|weeks?|days?|hours?|minutes?)\b"
# A word with a capital, or one letter as in o3, and a number that is neither a year, nor a share, nor one of units.
_NUMBERED: Final = re.compile(
    rf"\b([^\W\d_]*[^\W\d_a-z][^\W\d_]*|[a-z])[-‐‑– ]?(\d{{1,3}}(?:\.\d+)*)(?![\d%]|,\d| ?%|[- ]?(?i:{_UNIT}))"
)
_LETTERED: Final = re.compile(r"\b(Series) ([A-K])\b")
_NO_NAME: Final = re.compile(r"about|after|all|at|by|first|for|from|in|last|next|of|on|only|over|the|these|top", re.I)


@lru_cache(maxsize=16_384)
def find_versions(headline: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pattern in (_NUMBERED, _LETTERED):
        for name, number in pattern.findall(headline):
            if not _NO_NAME.fullmatch(name):
                found.setdefault(name.casefold(), set()).add(number.removesuffix(".0"))
    return {name: frozenset(numbers) for name, numbers in found.items()}


def have_other_versions(one: str, other: str) -> bool:
    """Return whether two headlines give a name that both have no number in common."""
    mine, theirs = find_versions(one), find_versions(other)
    return any(mine[name].isdisjoint(theirs[name]) for name in mine.keys() & theirs.keys())
