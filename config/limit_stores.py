"""Where workers count together: Redis, or a SQLite file of its own on one machine. See `config.shared_limit.Store`."""

import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.limit import Limiter
from config.shared_limit import Grant

_TAKE: Final = """
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local limit, period, grain = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local grants = {}
for i, key in ipairs(KEYS) do
    local packed, log, total = redis.call('GET', key), {}, 0
    for _, entry in ipairs(packed and cmsgpack.unpack(packed) or {}) do
        if entry[1] > now - period then
            log[#log + 1] = entry
            total = total + entry[2]
        end
    end
    local granted = math.max(0, math.min(tonumber(ARGV[3 + i]), limit - total))
    if granted > 0 then
        if #log > 0 and log[#log][1] >= now then
            log[#log][2] = log[#log][2] + granted
        else
            log[#log + 1] = {now + grain, granted}
        end
        redis.call('SET', key, cmsgpack.pack(log), 'PX', math.ceil((period + grain) * 1000))
    end
    local wait = -1
    if total + granted >= limit then wait = math.max(0, log[1][1] + period - now) end
    grants[i] = {granted, tostring(wait)}
end
return grants
"""
"""The sliding log of `config.limit` for all clients that ask, in one trip and by the one clock of the server."""


class RedisStore:
    """Raises redis.RedisError at the latest after its patience."""

    name: Final = "Redis"
    patience: Final = 0.05  # seconds

    def __init__(self, limiter: Limiter, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._rule = [limiter.limit, limiter.period, limiter.grain]
        self._clock = clock
        self._redis = redis.Redis.from_url(
            address,
            protocol=2,  # no greeting, which would be one more trip
            socket_timeout=self.patience,
            socket_connect_timeout=self.patience,
            retry=Retry(NoBackoff(), 0),
        )
        self._script = self._redis.register_script(_TAKE)

    def take(self, asked: Mapping[str, int]) -> list[Grant]:
        now = self._clock()
        said: Any = self._script(keys=[f"wire:limit:{client}" for client in asked], args=[*self._rule, *asked.values()])
        return [Grant(granted, now + float(wait) if float(wait) >= 0 else 0.0) for granted, wait in said]

    def close(self) -> None:
        self._redis.close()


class SQLiteStore:
    """For the workers of one machine, whose monotonic clock is one. Raises sqlite3.Error."""

    name: Final = "SQLite"
    patience: Final = 1.0  # seconds; a lock is held for less than a millisecond, by whoever is given the processor

    def __init__(self, limiter: Limiter, file: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._period, self._grain = limiter.limit, limiter.period, limiter.grain
        self._file = file
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._sweep_at = clock() + self._period

    def take(self, asked: Mapping[str, int]) -> list[Grant]:
        if self._connection is None:
            self._connection = _open(self._file, self.patience)
        try:
            with self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                now = self._clock()
                if now >= self._sweep_at:
                    connection.execute("DELETE FROM passed WHERE at <= ?", [now - self._period])
                    self._sweep_at = now + self._period
                return [self._grant(connection, client, requests, now) for client, requests in asked.items()]
        except sqlite3.Error:
            self.close()
            raise

    def _grant(self, connection: sqlite3.Connection, client: str, requests: int, now: float) -> Grant:
        # What lies in the future was written before the machine was started anew.
        of_now = [client, now - self._period, now + self._grain]
        connection.execute("DELETE FROM passed WHERE client = ? AND NOT (at > ? AND at <= ?)", of_now)
        total, first, last = connection.execute(
            "SELECT coalesce(sum(requests), 0), min(at), max(at) FROM passed WHERE client = ?", [client]
        ).fetchone()
        granted = max(0, min(requests, self._limit - total))
        if granted:
            at = last if last is not None and last >= now else now + self._grain
            connection.execute(
                "INSERT INTO passed VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET requests = requests + excluded.requests",
                [client, at, granted],
            )
            first = first if first is not None else at
        return Grant(granted, first + self._period if total + granted >= self._limit else 0.0)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _open(file: Path, patience: float) -> sqlite3.Connection:
    """Nothing in it outlives a minute, so nothing waits for the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS passed (client TEXT, at REAL, requests INTEGER, PRIMARY KEY (client, at)) WITHOUT ROWID"
    )
    return connection
