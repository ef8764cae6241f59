"""The limit on requests of one client: a sliding log in this process's memory. Pure: no settings, and a clock that is given."""

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from django_ratelimit.core import _split_rate  # the one reader of rates such as 60/m; its version is pinned

MAX_CLIENTS: Final = 100_000
NETWORK_CLIENTS: Final = 256  # a network may send as much as this many clients: an IPv4 /24 has no more, an IPv6 /48 has 65,536
NETWORK_PART: Final = 16  # one network has at most this part of MAX_CLIENTS


@dataclass(slots=True)
class _Network:
    """The clients of one network that have a log, the longest idle first, and how much passed in this window and the one before."""

    clients: OrderedDict[str, None] = field(default_factory=OrderedDict)
    window: int = 0
    now: int = 0
    before: int = 0

    def get_wait(self, moment: float, limit: int, period: int) -> int:
        """Seconds until the next request may pass: two counters, as if what passed in the window before had come evenly."""
        window = int(moment // period)
        if window != self.window:
            self.before = self.now if window == self.window + 1 else 0
            self.window, self.now = window, 0
        left = 1 - moment % period / period
        if self.now + self.before * left < limit:
            return 0
        # Within this window the share of the one before shrinks; if this window alone is full, the next one has to come.
        until = left - (limit - 1 - self.now) / self.before if self.before and self.now < limit else left
        return max(1, math.ceil(min(until, left) * period))


@dataclass(slots=True)
class _Log:
    """When requests of one client passed, oldest first."""

    network: str
    passed: deque[float] = field(default_factory=deque)


class Limiter:
    """At most `limit` requests of one client in any `period` seconds, whenever the period begins. Any thread may call it.

    A refused request is not counted, so a client that waits as long as it was asked to is let in. Beyond MAX_CLIENTS the client
    that was idle longest loses its log, first among those that used less than half of their limit: strangers are never refused
    for their number, and to reset a count they would have to use half a limit each. A network that has more clients than its part
    loses its own.
    """

    def __init__(self, rate: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.limit: int
        self.period: int
        self.limit, self.period = _split_rate(rate)
        self.network_limit = NETWORK_CLIENTS * self.limit
        self._clock = clock
        self._light = OrderedDict[str, _Log]()  # clients that used less than half of their limit, the longest idle first
        self._busy = OrderedDict[str, _Log]()
        self._networks: dict[str, _Network] = {}
        self._sweep_at = clock() + self.period
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._light) + len(self._busy)

    def count_request(self, client: str, network: str = "") -> int:
        """Count a request, unless it is refused. Return 0 if it may pass, else the whole seconds after which the next one may."""
        with self._lock:
            now = self._clock()
            log = self._get_log(client, network, now)
            if len(log.passed) >= self.limit:
                return max(1, math.ceil(log.passed[0] + self.period - now))
            if log.network:
                counts = self._networks[log.network]
                if wait := counts.get_wait(now, self.network_limit, self.period):
                    return wait
                counts.now += 1
            log.passed.append(now)
            if 2 * len(log.passed) >= self.limit and client in self._light:
                self._busy[client] = self._light.pop(client)
            return 0

    def uncount_request(self, client: str) -> None:
        with self._lock:
            if passed := self._get_log(client, "", self._clock()).passed:
                passed.pop()

    def list_request_ages(self, client: str) -> list[float]:
        """Return how many seconds ago each request of this client passed that still counts, oldest first. Counts nothing."""
        with self._lock:
            now, log = self._clock(), self._busy.get(client) or self._light.get(client)
            return [now - at for at in log.passed if at > now - self.period] if log else []

    def _get_log(self, client: str, network: str, now: float) -> _Log:
        if now >= self._sweep_at:  # forget clients that did not ask for a period
            for logs in (self._light, self._busy):
                for name in [name for name, log in logs.items() if self._is_idle(log, now)]:
                    self._remove_log(logs, name)
            self._sweep_at = now + self.period
        logs = self._busy if client in self._busy else self._light
        log = logs.get(client)
        if log is None:
            log = self._add_log(client, network, now)
        else:
            logs.move_to_end(client)
            if log.network:
                self._networks[log.network].clients.move_to_end(client)
        while log.passed and log.passed[0] <= now - self.period:
            log.passed.popleft()
        return log

    def _add_log(self, client: str, network: str, now: float) -> _Log:
        if network:
            clients = self._networks.setdefault(network, _Network()).clients
            if len(clients) >= max(1, MAX_CLIENTS // NETWORK_PART):
                oldest = next(iter(clients))
                self._remove_log(self._busy if oldest in self._busy else self._light, oldest, keeps_network=True)
            clients[client] = None
        if len(self) >= MAX_CLIENTS:
            idle = next(iter(self._busy.items()), None)
            logs = self._busy if not self._light or (idle and self._is_idle(idle[1], now)) else self._light
            self._remove_log(logs, next(iter(logs)))
        log = self._light[client] = _Log(network)
        return log

    def _remove_log(self, logs: OrderedDict[str, _Log], client: str, *, keeps_network: bool = False) -> None:
        log = logs.pop(client)
        if log.network:
            clients = self._networks[log.network].clients
            del clients[client]
            if not clients and not keeps_network:
                del self._networks[log.network]

    def _is_idle(self, log: _Log, now: float) -> bool:
        return not log.passed or log.passed[-1] <= now - self.period
