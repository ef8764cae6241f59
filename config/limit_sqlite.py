"""Where the workers of one machine count together: a file of its own. See `config.shared_limit.Store`."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from config.limit import Limiter
from config.shared_limit import Grant


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
        with self._locked() as connection:
            now = self._clock()
            if now >= self._sweep_at:
                connection.execute("DELETE FROM passed WHERE at <= ?", [now - self._period])
                self._sweep_at = now + self._period
            return [self._grant(connection, client, requests, now) for client, requests in asked.items()]

    def give_back(self, client: str) -> None:
        newest = "client = ?1 AND at = (SELECT max(at) FROM passed WHERE client = ?1)"
        with self._locked() as connection:
            connection.execute(f"UPDATE passed SET requests = requests - 1 WHERE {newest}", [client])  # noqa: S608  ours
            connection.execute("DELETE FROM passed WHERE client = ? AND requests < 1", [client])

    @contextlib.contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        if self._connection is None:
            self._connection = _open(self._file, self.patience)
        try:
            with self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
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
    """Nothing in it outlives the period, so nothing waits for the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False)
    _turn_to_wal(connection, time.monotonic() + patience)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS passed (client TEXT, at REAL, requests INTEGER, PRIMARY KEY (client, at)) WITHOUT ROWID"
    )
    return connection


def _turn_to_wal(connection: sqlite3.Connection, ends: float) -> None:
    """Of workers that turn a new file to WAL at once, SQLite refuses all but one, without waiting; a moment later it is done."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.01)
