"""How often one client may ask: a sliding log in this process's memory. Pure: no settings, and a clock that is given."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from django_ratelimit.core import _split_rate  # the one reader of rates such as 60/m; its version is pinned

MAX_CLIENTS: Final = 100_000


class Limiter:
    """At most `limit` requests of one client in any `period` seconds, whenever the period begins. Any thread may call it.

    A refused request is not counted, so a client that waits as long as it was asked to is let in. Beyond MAX_CLIENTS, new
    clients share one log: strangers never push a known client out.
    """

    def __init__(self, rate: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.limit: int
        self.period: int
        self.limit, self.period = _split_rate(rate)
        self._clock = clock
        self._logs: dict[str, deque[float]] = {}
        """When requests of each client passed, oldest first."""
        self._sweep_at = clock() + self.period
        self._lock = threading.Lock()

    def wait(self, client: str) -> int:
        """Count a request. Returns 0 if it may pass, else the whole seconds after which the next one may."""
        with self._lock:
            now = self._clock()
            log = self._log(client, now)
            if len(log) >= self.limit:
                return max(1, math.ceil(log[0] + self.period - now))
            log.append(now)
            return 0

    def give_back(self, client: str) -> None:
        """Uncount the newest request of this client that passed."""
        with self._lock:
            if log := self._log(client, self._clock()):
                log.pop()

    def _log(self, client: str, now: float) -> deque[float]:
        """The client's log without what is older than the period."""
        if now >= self._sweep_at:  # forget clients that did not ask for a period
            self._logs = {name: log for name, log in self._logs.items() if log and log[-1] > now - self.period}
            self._sweep_at = now + self.period
        log = self._logs.get(client)
        if log is None:
            log = self._logs.setdefault(client if len(self._logs) < MAX_CLIENTS else "", deque())
        while log and log[0] <= now - self.period:
            log.popleft()
        return log
