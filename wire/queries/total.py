"""How many there are, without counting them all."""

from typing import Any, Final

from wire.models.compiled import Compiled

COUNTED: Final = 1000  # up to so many are counted; of more it is only said that there are more


def counted(rows: Compiled, *arguments: Any) -> tuple[int, bool]:
    """How many rows there are, at most COUNTED; and whether that is all. The last argument of `rows` is the most it counts."""
    found = rows.count(*arguments, COUNTED + 1)
    return min(found, COUNTED), found <= COUNTED
