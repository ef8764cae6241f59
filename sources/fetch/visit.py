"""What one ask may use up of time on the network."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sources.fetch.outcome import NotFetched


class Visit:
    """`deadline` is in seconds, for all its requests together; waiting for a turn costs none of it."""

    def __init__(self, deadline: float) -> None:
        self._left = deadline

    @asynccontextmanager
    async def clocked(self, host: str) -> AsyncIterator[None]:
        """Time runs inside. Raises: NotFetched too_slow when it is up."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._left
        limit = asyncio.timeout_at(ends)
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise NotFetched("too_slow", f"{host} was too slow to send the feed in the time given; try again later.") from error
        finally:
            self._left = ends - loop.time()
