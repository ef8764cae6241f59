"""Waiting for the next publish, whichever process makes it, and how much of it all processes show. For one event loop."""

import asyncio
from typing import Final

MOST: Final = 200  # who may wait in one process at the same time; whoever comes then is not kept waiting

_waiting: set[asyncio.Event] = set()


class Settled:
    """The number of the last change that every process shows; None where nobody looks, as in a shell. For any thread."""

    # Notify subscribers only after every process has seen the version: others answer from their cache for up to half a second.
    number: int | None = None


settled: Final = Settled()


def wake_waiters() -> None:
    for event in _waiting:
        event.set()


class Watch:
    """From `with` on, no publish is missed, also between two waits."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __enter__(self) -> "Watch":
        self.is_watching = len(_waiting) < MOST
        if self.is_watching:
            _waiting.add(self._event)
        return self

    def __exit__(self, *_error: object) -> None:
        _waiting.discard(self._event)

    async def wait(self, seconds: float) -> bool:
        """Tell whether there was a publish since the last wait, or within these seconds."""
        if not self.is_watching or seconds <= 0:
            return False
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False
        self._event.clear()
        return True
