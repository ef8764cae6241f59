"""One limit over all workers. What passes is granted by a store that they share; what is refused is refused from memory.

A client's requests that pass are few by definition, so asking for each costs little; those that ask at the same time ask together.
Whoever floods is refused without asking anybody. While the store is away, each worker counts for itself.
"""

import asyncio
import hashlib
import itertools
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, Protocol

from config import limit
from config.limit import Limiter

logger = logging.getLogger(__name__)

RETRY: Final = 5.0  # seconds between two looks whether a store that was away is back; nobody waits for them
MARGIN: Final = 0.1  # seconds added to what a client is told, since a grant's `closed_until` may be early
MOST_AT_ONCE: Final = 1_000  # clients in one exchange, so that it stays a matter of milliseconds

faults: Final = Counter[str]()
"""How often a store did not answer, by the store's name."""


class Grant(NamedTuple):
    """How many of the requests may pass. `closed_until` is the limiter's clock from which one more may, 0.0 if one may now.

    It may be early by as much as the store's patience, never late: whoever asks too soon is told again, and nobody is kept waiting.
    """

    requests: int
    closed_until: float


class Store(Protocol):
    """Counts for all workers: of one client never more than the limit in any stretch of the period. One thread at a time."""

    @property
    def name(self) -> str: ...

    @property
    def patience(self) -> float:
        """Seconds after which it counts as away."""

    def take(self, asked: Mapping[str, int]) -> Sequence[Grant]:
        """A grant for each client, in their order. Raises whatever its library raises."""

    def give_back(self, client: str) -> None:
        """Uncount the newest request of this client that passed. Raises whatever its library raises."""

    def close(self) -> None: ...


class SharedLimiter:
    """`Limiter.wait` over all workers that have the same store, while `run` runs; `local` counts alone while the store is away."""

    def __init__(self, local: Limiter, store: Store, secret: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.away = True  # until it was met
        self.tried = asyncio.Event()
        self._local = local
        self._store = store
        self._secret = hashlib.sha256(secret.encode()).digest()
        self._clock = clock
        self._asked = asyncio.Event()
        self._asking: dict[str, list[asyncio.Future[int]]] = {}
        self._closed_until: dict[str, float] = {}
        self._thread = ThreadPoolExecutor(1, "shared-limit")

    async def wait(self, client: str) -> int:
        """Count a request of this client. 0 when it may pass, else the whole seconds after which the next one may."""
        if self.away:
            return self._local.wait(client)
        now = self._clock()
        client = self._local.counted_as(client)
        closed_until = self._closed_until.get(client, 0.0)
        if now < closed_until:
            return _told(self._local, closed_until - now)
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._asking.setdefault(client, []).append(answer)
        self._asked.set()
        return await answer

    async def run(self) -> None:
        """Meet the store, then ask it as long as anybody asks us; ends by being cancelled."""
        faulty = False
        try:
            while True:
                try:
                    await self._take({})
                    if faulty:
                        logger.warning("%s is back: the limit is counted together again", self._store.name)
                    self.away = faulty = False
                    self.tried.set()
                    while True:
                        await self._asked.wait()
                        await self._exchange()
                except Exception as error:
                    faults[self._store.name] += 1
                    if not faulty:
                        logger.warning("each worker counts the limit alone, since %s is away: %r", self._store.name, error)
                    faulty = True
                    self.tried.set()
                    await asyncio.sleep(RETRY)
        finally:
            self.away = True
            self._decide_alone(self._asking)
            self._thread.submit(self._store.close)
            self._thread.shutdown(wait=False)

    async def _exchange(self) -> None:
        batch = {client: self._asking.pop(client) for client in [*itertools.islice(self._asking, MOST_AT_ONCE)]}
        try:
            names = {_name(self._local.rate, self._secret, client): len(answers) for client, answers in batch.items()}
            grants = await self._take(names)
            for (client, answers), grant in zip(batch.items(), grants, strict=True):
                self._settle(client, answers, grant)
        except BaseException:  # cancelled as well: nobody is left waiting
            self.away = True
            self._decide_alone(batch)
            self._decide_alone(self._asking)
            raise
        finally:
            if not self._asking:
                self._asked.clear()

    async def _take(self, asked: Mapping[str, int]) -> Sequence[Grant]:
        """In the thread; a store that hangs in spite of its own time limit is left behind."""
        async with asyncio.timeout(self._store.patience * 1.2):  # 3.11's `wait_for` may lose a cancellation
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._store.take, asked)

    def _settle(self, client: str, answers: list[asyncio.Future[int]], grant: Grant) -> None:
        if grant.closed_until:
            if len(self._closed_until) >= limit.MOST_CLIENTS:
                self._closed_until.clear()  # it only spares questions
            self._closed_until[client] = grant.closed_until
        for number, answer in enumerate(answers):
            passes = number < grant.requests
            if passes:
                self._local.wait(client)  # so that counting alone, should it come to that, does not begin at nothing
            _say(answer, 0 if passes else _told(self._local, grant.closed_until - self._clock()))

    def _decide_alone(self, asking: dict[str, list[asyncio.Future[int]]]) -> None:
        for client, answers in asking.items():
            for answer in answers:
                _say(answer, self._local.wait(client))
        asking.clear()


class SharedTries:
    """Tries of what is rare, such as a login, counted over all processes that have the same store. Any thread may ask, and waits.

    A try is counted before it is made, so that many at once find no more room than one after another; one that did no harm is given
    back. While the store is away each process counts alone, and gives nothing back.
    """

    def __init__(self, local: Limiter, store: Store, secret: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._local = local
        self._store = store
        self._secret = hashlib.sha256(secret.encode()).digest()
        self._clock = clock
        self._away = False
        self._one_at_a_time = threading.Lock()

    def wait(self, client: str) -> int:
        """Count a try of this client. 0 when it may be made, else the whole seconds after which the next one may."""
        with self._one_at_a_time:
            try:
                [grant] = self._store.take({self._name(client): 1})
            except Exception as error:
                self._fault(error)
                return self._local.wait(client)
            self._away = False
        return 0 if grant.requests else _told(self._local, grant.closed_until - self._clock())

    def give_back(self, client: str) -> None:
        with self._one_at_a_time:
            try:
                self._store.give_back(self._name(client))
            except Exception as error:
                self._fault(error)

    def _name(self, client: str) -> str:
        return _name(self._local.rate, self._secret, client)

    def _fault(self, error: Exception) -> None:
        faults[self._store.name] += 1
        if not self._away:
            logger.warning("each process counts tries alone, since %s is away: %r", self._store.name, error)
        self._away = True


def _told(limiter: Limiter, seconds: float) -> int:
    """Never more than the period, after which whatever passed before is forgotten."""
    return min(math.ceil(limiter.period + limiter.grain), max(1, math.ceil(seconds + MARGIN)))


def _name(rate: str, secret: bytes, client: str) -> str:
    """What the store knows a client by: no address leaves this process, and another rate begins another count."""
    return hashlib.blake2b(f"{rate} {client}".encode(), key=secret, digest_size=12).hexdigest()


def _say(answer: asyncio.Future[int], wait: int) -> None:
    if not answer.done():
        answer.set_result(wait)
