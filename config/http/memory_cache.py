"""Finished answers, cached in memory until what they are made of changes.

An answer is a function of the wire version, the UTC date and the question, so it is cached under exactly that. A publish empties
the cache: at once in the process that published (`clear`), in the others when they see the new version (`set_version`), which
they look for twice a second. While the version cannot be read (`mark_stale`), cached answers are served on, past midnight too,
and `is_stale` is true.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final

from django.conf import settings

Maker = Callable[[], Awaitable[tuple[Any, int | None]]]

DAY: Final = 86_400
LARGEST_SHARE: Final = 4  # an answer larger than one part in so many is not cached: it would push out too many others


class AnswerCache:
    """The most recently requested answers, bounded in bytes. For one event loop; `clear` and `mark_stale` from any thread.

    Closed until `set_version`: whoever does not watch the version must not cache answers.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self.is_stale = False
        self._version: Hashable = None
        self._version_seen_at = 0.0
        self._cleared = object()
        self._generation: tuple[Any, ...] = ()
        self._until = 0.0  # while the clock says less, nothing happened that could begin another generation
        self._stored: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[Any]] = {}

    @property
    def count(self) -> int:
        return len(self._stored)

    @property
    def age(self) -> int:
        return int(time.monotonic() - self._version_seen_at)

    @property
    def generation(self) -> tuple[Any, ...] | None:
        """Return what answers are made of now, for whoever caches something else as long; None while closed. Any thread."""
        return None if self._version is None else self._current_generation()

    def set_version(self, version: Hashable) -> None:
        """Cache answers of this wire version from now on; None closes. Part of it is the database that gave the version."""
        self._version, self._version_seen_at, self.is_stale = version, time.monotonic(), False
        self._until = 0.0

    def mark_stale(self) -> None:
        """The version cannot be read: cached answers may be old, and are better than nothing."""
        self.is_stale = True
        self._until = 0.0

    def clear(self) -> None:
        self._cleared = object()
        self._until = 0.0

    def get(self, key: Hashable) -> Any:
        self._evict_old_generation()
        found = self._stored.get(key)
        if found is None:
            return None
        self._stored.move_to_end(key)
        return found[0]

    async def get_or_make(self, key: Hashable, maker: Maker) -> Any:
        return found if (found := self.get(key)) is not None else await self.make(key, maker)

    async def make(self, key: Hashable, maker: Maker) -> Any:
        """Return what `maker` returns: an answer and its size in bytes, None if it is not to be cached.

        It runs once for all who ask the same meanwhile, whoever leaves. Raises: what `maker` raises.
        """
        self._evict_old_generation()
        if self._version is None:
            return (await maker())[0]
        job = (self._generation, key)
        task = self._making.get(job)
        if task is None:
            task = self._making[job] = asyncio.create_task(self._make_and_put(self._generation, key, maker))

            def finish(done: asyncio.Task[Any]) -> None:
                del self._making[job]
                if not done.cancelled():
                    done.exception()  # looked at, so that asyncio does not complain when every caller has left

            task.add_done_callback(finish)
        return await asyncio.shield(task)

    def put(self, key: Hashable, answer: Any, size: int) -> None:
        """Cache an answer that was just made of the present generation. `size` in bytes."""
        self._evict_old_generation()
        if size > self.max_bytes // LARGEST_SHARE or self._version is None:
            return
        self.bytes += size - self._stored.pop(key, (None, 0))[1]
        self._stored[key] = (answer, size)
        while self.bytes > self.max_bytes:
            self.bytes -= self._stored.popitem(last=False)[1][1]

    async def _make_and_put(self, generation: tuple[Any, ...], key: Hashable, maker: Maker) -> Any:
        answer, size = await maker()
        if size is not None and generation == self._current_generation():
            self.put(key, answer, size)
        return answer

    def _evict_old_generation(self) -> None:
        if time.time() < self._until:
            return
        self._until = DAY * (time.time() // DAY + 1)  # first: whatever changes from here on sets it back again
        now = self._current_generation()
        if now != self._generation:
            self._generation = now
            self._stored.clear()
            self.bytes = 0

    def _current_generation(self) -> tuple[Any, ...]:
        """Version, last clearing, day. While answers are stale no day ends: yesterday's, marked, are better than none."""
        day = self._generation[2] if self.is_stale and self._generation else int(time.time() // DAY)
        return self._version, self._cleared, day


answers: Final = AnswerCache(settings.WIRE_CACHE_BYTES)  # this process's own, of REST, the site and every MCP server
