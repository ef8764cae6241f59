"""Counts in memory that are written in batches, so that no answer waits for a database."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from mcpserver.http.threads import run_write

logger = logging.getLogger(__name__)

K = TypeVar("K")
_tallies: Final[list["Tally[Any]"]] = []


class Tally(Counter[K]):
    """Counts that are not written yet. `write` adds counts to what is stored."""

    def __init__(self, write: Callable[[Mapping[K, int]], None]) -> None:
        super().__init__()
        self._write = write
        _tallies.append(self)

    async def flush(self) -> None:
        """Write what was counted; what cannot be written now waits for the next time. Raises: what `write` raises."""
        counted = dict(self)
        self.clear()
        try:
            await run_write(partial(self._write, counted))
        except Exception:
            self.update(counted)
            raise


async def flush_all() -> None:
    """Write every tally of this process; one that cannot be written holds up no other."""
    for tally in _tallies:
        try:
            await tally.flush()
        except Exception:
            logger.exception("counts cannot be written; they are kept for the next try")
