"""How often one client may ask. Pure: no settings, no storage but memory, and a clock that is given."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from django_ratelimit.core import _split_rate  # the one reader of rates such as 60/m

MOST_CLIENTS: Final = 100_000
GRAINS: Final = 600
"""Times kept for one client at most: with a higher limit, requests close to each other are kept as one time."""


class Limiter:
    """At most so many requests of one client in any stretch of the period: a sliding log, not a window that is reset.

    What is refused is not counted, so whoever waits as long as told is let in. Beyond MOST_CLIENTS newcomers share one count, so
    strangers never push a client out.
    """

    def __init__(self, rate: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.limit: int
        self.period: int
        self.limit, self.period = _split_rate(rate)
        self.grain = self.period / GRAINS if self.limit > GRAINS else 0.0
        self._clock = clock
        self._clients: dict[str, _Log] = {}
        self._sweep_at = clock() + self.period

    def wait(self, client: str) -> int:
        """Count a request of this client. 0 when it may pass, else the whole seconds after which the next one may."""
        now = self._clock()
        if now >= self._sweep_at:
            self._sweep(now)
        log = self._clients.get(client)
        if log is None:
            log = self._clients.setdefault(self.counted_as(client), _Log())
        times = log.times
        oldest_that_counts = now - self.period
        while times and times[0][0] <= oldest_that_counts:
            log.total -= times.popleft()[1]
        if log.total >= self.limit:
            return max(1, math.ceil(times[0][0] - oldest_that_counts))
        if times and now <= times[-1][0]:
            times[-1][1] += 1
        else:  # a time is when the last request that it stands for may come, so that none is forgotten too early
            times.append([now + self.grain, 1])
        log.total += 1
        return 0

    def counted_as(self, client: str) -> str:
        """The name under which a client is counted: its own, or one that all newcomers share."""
        return client if client in self._clients or len(self._clients) < MOST_CLIENTS else ""

    def _sweep(self, now: float) -> None:
        """Forget who did not ask for a period."""
        self._clients = {client: log for client, log in self._clients.items() if log.times and log.times[-1][0] > now - self.period}
        self._sweep_at = now + self.period


class _Log:
    __slots__ = ("times", "total")

    def __init__(self) -> None:
        self.times: deque[list[float]] = deque()
        self.total = 0.0
