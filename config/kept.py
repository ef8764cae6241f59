"""Finished answers, kept in memory until what they are made of changes.

An answer is a function of the wire version, the UTC date and what was asked, so it is kept under exactly that. A publish drops
them all: at once in the process that made it (`forget`), in the others when they see the new version (`renew`), for which
they look twice a second. While nobody can tell the version (`lose`), what is kept goes on, past midnight too, and `is_stale`.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final

from django.conf import settings

Maker = Callable[[], Awaitable[tuple[Any, int | None]]]

DAY: Final = 86_400
LARGEST_SHARE: Final = 4  # an answer larger than one part in so many is not kept: it would push out too many others
ROOM_FOR_NEW: Final = 4  # one part in so many that answers asked for again never take


class Kept:
    """Answers by what was asked, bounded in bytes. For one event loop; `forget` from any thread.

    The least recently asked go first, those that nobody asked for again before the others (a segmented LRU): a flood of questions
    that are asked once leaves what many ask for, which goes on when the database is away.

    Closed until `renew` has told the wire version: whoever does not watch the version must not keep answers.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.is_stale = False
        self._version: Hashable = None
        self._told_at = 0.0
        self._mark = object()
        self._edition: tuple[Any, ...] = ()
        self._once: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._again: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._again_bytes = 0
        self._making: dict[Hashable, asyncio.Task[Any]] = {}

    @property
    def count(self) -> int:
        return len(self._once) + len(self._again)

    @property
    def age(self) -> int:
        """Seconds since what is kept was last known to be what the wire says."""
        return int(time.monotonic() - self._told_at)

    def renew(self, version: Hashable) -> None:
        """Keep answers of this wire version from now on; None closes. A version is told with the database that says it."""
        self._version, self._told_at, self.is_stale = version, time.monotonic(), False

    def lose(self) -> None:
        """The version cannot be told: what is kept may be old, and is better than nothing. From any thread."""
        self.is_stale = True

    def forget(self) -> None:
        """Content changed in this process: whatever was begun or kept before is old."""
        self._mark = object()

    @property
    def edition(self) -> tuple[Any, ...] | None:
        """What answers are made of at this moment, for whoever keeps something else as long; None while closed. From any thread."""
        day = self._edition[2] if self.is_stale and self._edition else int(time.time() // DAY)
        return None if self._version is None else (self._version, self._mark, day)

    def __contains__(self, key: Hashable) -> bool:
        """Whether it is kept; unlike `find` this does not count as being asked for."""
        return self._now()[0] is not None and (key in self._again or key in self._once)

    def find(self, key: Hashable) -> Any:
        """The answer, or None."""
        if self._now()[0] is None:
            return None
        found = self._again.get(key)
        if found is not None:
            self._again.move_to_end(key)
            return found[0]
        found = self._once.pop(key, None)
        if found is None:
            return None
        self._again[key] = found
        self._again_bytes += found[1]
        while self._again_bytes > self.most_bytes - self.most_bytes // ROOM_FOR_NEW:
            oldest, (answer, size) = self._again.popitem(last=False)
            self._again_bytes -= size
            self._once[oldest] = answer, size
        return found[0]

    async def make(self, key: Hashable, maker: Maker) -> Any:
        """What `maker` gives: an answer and its size in bytes, None if it is not to be kept.

        It runs once for all who ask the same meanwhile; one that leaves takes nothing from the others. Raises: what `maker` raises.
        """
        edition = self._now()
        if edition[0] is None:
            return (await maker())[0]
        asked = (edition, key)
        task = self._making.get(asked)
        if task is None:
            task = self._making[asked] = asyncio.create_task(self._made(edition, key, maker))
            task.add_done_callback(lambda done: self._finished(asked, done))
        return await asyncio.shield(task)

    async def _made(self, edition: tuple[Any, ...], key: Hashable, maker: Maker) -> Any:
        answer, size = await maker()
        if size is not None and edition == self._now():
            self.put(key, answer, size)
        return answer

    def put(self, key: Hashable, answer: Any, size: int) -> None:
        """Keep what is true whatever the wire says, or was just made of what it says now."""
        if size > self.most_bytes // LARGEST_SHARE or self._version is None:
            return
        self._drop(key)
        self._once[key] = (answer, size)
        self.bytes += size
        while self.bytes > self.most_bytes:
            self._drop(next(iter(self._once)))  # never empty here: the others leave room

    def _drop(self, key: Hashable) -> None:
        if key in self._again:
            size = self._again.pop(key)[1]
            self._again_bytes -= size
        else:
            size = self._once.pop(key, (None, 0))[1]
        self.bytes -= size

    def _finished(self, asked: Hashable, task: asyncio.Task[Any]) -> None:
        del self._making[asked]
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain when everybody left meanwhile

    def _now(self) -> tuple[Any, ...]:
        """What answers are made of at this moment; whatever was made of something else goes. While they are stale no day ends."""
        edition = (self._version, self._mark, self._edition[2] if self.is_stale and self._edition else int(time.time() // DAY))
        if edition != self._edition:
            self._edition = edition
            self._once.clear()
            self._again.clear()
            self.bytes = self._again_bytes = 0
        return edition


answers: Final = Kept(settings.WIRE_CACHE_BYTES)
"""This process's own, of both doors."""
