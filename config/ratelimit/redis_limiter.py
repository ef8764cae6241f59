"""A limit over all processes that have the same Redis: the sliding log of `limiter`, stored there."""

import asyncio
import hashlib
import logging
import math
import secrets
import time
from pathlib import Path
from typing import Any, Final

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.ratelimit.limiter import Limiter

logger = logging.getLogger(__name__)

PATIENCE: Final = 0.25  # seconds in which Redis must answer
RETRIES: Final = 1  # a timeout may be this process's own stall, after which Redis answers at once

_COUNT: Final = Path(__file__).with_name("sliding_log.lua").read_text(encoding="utf-8")


class SharedLimiter:
    """`Limiter` over any number of processes, exact as long as Redis answers; Redis stores one entry for each counted request.

    A request that Redis does not answer in time is counted by its process alone: while Redis is away, `limit` requests pass for
    each process. No failure is remembered, so the next request asks Redis again.

    `count_request` is for one event loop, the others are for any thread.
    """

    def __init__(self, local: Limiter, address: str, secret: str) -> None:
        self.local = local
        options: dict[str, Any] = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE, "protocol": 2}
        self._blocking = redis.Redis.from_url(address, **options, retry=Retry(NoBackoff(), RETRIES))
        self._async = redis.asyncio.Redis.from_url(address, **options, retry=AsyncRetry(NoBackoff(), RETRIES))
        self._secret = hashlib.sha256(secret.encode()).digest()
        self._waiting: list[tuple[Limiter, str, str, asyncio.Future[int]]] = []
        self._asking: asyncio.Task[None] | None = None
        self._complain_at = 0.0

    async def count_request(self, client: str, limiter: Limiter | None = None, network: str = "") -> int:
        """Count a request as `Limiter.count_request` does, towards another limit than `local` if one is given."""
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((limiter or self.local, client, network, answer))
        if self._asking is None:
            self._asking = asyncio.create_task(self._count_waiting())
        return await answer

    def count_request_blocking(self, client: str) -> int:
        try:
            return self._read_reply(self.local, client, self._blocking.eval(*self._build_script_call(self.local, client)))
        except redis.RedisError as error:
            self._log_outage(error)
            return self.local.count_request(client)

    def uncount_request(self, client: str) -> None:
        self.local.uncount_request(client)
        try:
            self._blocking.zpopmax(self._hash_client(self.local, client))
        except redis.RedisError as error:
            self._log_outage(error)

    def list_request_ages(self, client: str) -> list[float]:
        try:
            clock: Any = self._blocking.time()
            passed: Any = self._blocking.zrange(self._hash_client(self.local, client), 0, -1, withscores=True)
        except redis.RedisError as error:
            self._log_outage(error)
            return self.local.list_request_ages(client)
        ages = [clock[0] + (clock[1] - at) / 1_000_000 for _, at in passed]
        return [age for age in ages if age < self.local.period]

    async def close(self) -> None:
        """Let go of both connections, once nobody waits for an answer any more."""
        if self._asking is not None:
            await self._asking
        await self._async.aclose()
        self._blocking.close()

    async def _count_waiting(self) -> None:
        """Ask Redis for everybody who waits, in one trip: over a connection each, a burst would open hundreds."""
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    async with self._async.pipeline(transaction=False) as pipeline:
                        for limiter, client, network, _ in batch:
                            pipeline.eval(*self._build_script_call(limiter, client, network))
                        replies = await pipeline.execute()
                    asked = zip(batch, replies, strict=True)
                    waits = [self._read_reply(limiter, client, reply, network) for (limiter, client, network, _), reply in asked]
                except redis.RedisError as error:
                    self._log_outage(error)
                    batch, self._waiting = batch + self._waiting, []  # who came meanwhile has waited as well
                    waits = [limiter.count_request(client, network) for limiter, client, network, _ in batch]
                for (*_, answer), wait in zip(batch, waits, strict=True):
                    if not answer.done():
                        answer.set_result(wait)
        finally:
            self._asking = None

    def _build_script_call(self, limiter: Limiter, client: str, network: str = "") -> tuple[Any, ...]:
        keys = [self._hash_client(limiter, client), *([self._hash_client(limiter, f"network {network}")] if network else [])]
        return _COUNT, len(keys), *keys, limiter.limit, limiter.period, secrets.token_bytes(12), limiter.network_limit

    def _hash_client(self, limiter: Limiter, client: str) -> str:
        """No address leaves this process, and another rate begins another count."""
        name = f"{limiter.rate} {client}".encode()
        return f"wire:limit:{hashlib.blake2b(name, key=self._secret, digest_size=12).hexdigest()}"

    def _read_reply(self, limiter: Limiter, client: str, microseconds: Any, network: str = "") -> int:
        if int(microseconds) <= 0:
            limiter.count_request(client, network)  # counting alone, should it come to that, does not begin at nothing
            return 0
        return math.ceil(int(microseconds) / 1_000_000)

    def _log_outage(self, error: Exception) -> None:
        if time.monotonic() >= self._complain_at:
            self._complain_at = time.monotonic() + 60.0  # seconds between two log lines about a Redis that does not answer
            logger.warning("Redis does not answer; requests are counted by each process alone: %r", error)
