"""What one ask may use up: time on the network, and a share of memory until its body is handed over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from sources.fetch.outcome import NotFetched


class Visit:
    """`deadline` is in seconds, for all its requests together; waiting for a turn or for memory costs none of it.

    As a context it gives the permit for a heavy body back at its end. `permits` are shared by the visits of a run.
    """

    def __init__(self, deadline: float, permits: asyncio.Semaphore | None = None) -> None:
        self._left = deadline
        self._permits = permits
        self._limit: asyncio.Timeout | None = None
        self._heavy = False

    @asynccontextmanager
    async def clocked(self, host: str) -> AsyncIterator[None]:
        """Time runs inside. Raises: NotFetched too_slow when it is up."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._left
        self._limit = asyncio.timeout_at(ends)
        try:
            async with self._limit:
                yield
        except TimeoutError as error:
            if not self._limit.expired():
                raise
            raise NotFetched("too_slow", f"{host} was too slow to send the feed in the time given; try again later.") from error
        finally:
            self._left = (self._limit.when() or ends) - loop.time()

    async def heavy(self) -> None:
        """Waits until a body beyond `HEAVY` may grow on, with the clock stopped."""
        if self._permits is None or self._heavy or self._limit is None:
            return
        loop = asyncio.get_running_loop()
        left = (self._limit.when() or loop.time()) - loop.time()
        self._limit.reschedule(None)
        await self._permits.acquire()
        self._heavy = True
        self._limit.reschedule(loop.time() + left)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._heavy and self._permits:
            self._permits.release()
