"""Readers of a cluster, and what each got: a fresh or stale answer, a refusal that says when to come back, or a fault."""

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from tests.cluster import network
from tests.cluster.hosts import PRIMARY
from tests.faults.soak.checker import Wrong
from tests.faults.soak.load import Connection, Load, Reply
from tests.faults.soak.questions import Asked

SHARES: Final = {"rest": 40, "mcp": 40, "site": 10, "new": 10}
ALLOWED: Final = 10.0  # seconds that an answer may be older than it says
_OF_A_DAY: Final = ("/api/today.json", "/api/archive/", "wire://today", "wire://archive/")


@dataclass(frozen=True, slots=True)
class Seen:
    """One reply, asked for at `time.monotonic()`: `mark` is its day's place in the chain, `age` its Age in seconds."""

    at: float
    seconds: float
    result: str  # fresh, stale, refused, failed
    about: str
    mark: int | None = None
    age: int | None = None

    @property
    def told(self) -> float:
        return self.at + self.seconds


@dataclass(frozen=True, slots=True)
class Published:
    """A snapshot, and when it was first seen in the database."""

    sequence: int
    wire_date: str
    sha256: str
    at: float


class Readers(Load):
    """Clients that reach the wire through Caddy, each from an address of its own."""

    def __init__(self) -> None:
        super().__init__(443)
        self.site = network.PUBLIC
        self.seen: list[Seen] = []
        self.published: dict[int, Published] = {}
        self.tls = ssl._create_unverified_context()  # noqa: S323  Caddy's own authority, a minute old

    def connection(self, address: str) -> Connection:
        return Connection(network.PUBLIC, self.port, ssl=self.tls, local_addr=(address, 0))

    async def watch_publishing(self) -> None:
        """Note every snapshot of the primary, until it is over."""
        while not self.over.is_set():
            try:
                async with await psycopg.AsyncConnection.connect(PRIMARY, autocommit=True) as connection:
                    while not await self.pause(0.2):
                        async with asyncio.timeout(3.0):  # its machine may be gone
                            await self._note_snapshots(connection)
            except (psycopg.Error, TimeoutError):
                await self.pause(0.2)

    async def _note_snapshots(self, connection: "psycopg.AsyncConnection[tuple[int, object, str]]") -> None:
        query = "SELECT sequence, wire_date, wire_sha256 FROM wire_snapshot WHERE sequence > %s ORDER BY 1"
        cursor = await connection.execute(query, (max(self.published, default=0),))
        for sequence, wire_date, sha256 in await cursor.fetchall():
            self.published[sequence] = Published(sequence, str(wire_date), sha256, time.monotonic())

    def find_too_old(self, seen: Sequence[Seen]) -> tuple[float, list[str]]:
        """Return by how many seconds the worst answer was older than it said, and those beyond what is allowed."""
        worst, found = 0.0, []
        for one in seen:
            if one.mark not in self.published or (one.result == "stale" and one.age is None):  # MCP says stale, and not since when
                continue
            mine = self.published[one.mark]
            later = (p.at for p in self.published.values() if p.sequence > mine.sequence and p.wire_date == mine.wire_date)
            excess = one.at - min(later, default=one.at) - (one.age or 0)
            worst = max(worst, excess)
            if excess > ALLOWED:
                found.append(f"{one.about} was {excess:.1f} s older than it said")
        return worst, found

    def _judge(self, connection: Connection, asked: Asked, number: int, address: str, reply: Reply) -> None:
        status, headers, body = reply
        if is_refusal(asked, reply):
            self._see(connection, asked, "refused")
        elif status == 200:
            is_stale = "warning" in headers or (asked.door == "mcp" and b'"is_stale":true' in body[-200:])
            age = int(headers["age"]) if "age" in headers else None
            before = len(self.failed)
            super()._judge(connection, asked, number, address, reply)
            if len(self.failed) == before:
                self._see(connection, asked, "stale" if is_stale else "fresh", self._mark, age)
        else:
            super()._judge(connection, asked, number, address, reply)

    _mark: int | None = None

    def _look(self, _connection: Connection, asked: Asked, number: int, headers: dict[str, str], body: bytes) -> None:
        self._mark = None
        try:
            mark = self.checker.look(asked, number, headers, body)
        except Wrong as wrong:
            self.checker.note(str(wrong))
        else:
            is_of_a_day = any(address in asked.about for address in _OF_A_DAY) and "revision" not in asked.about
            self._mark = mark if is_of_a_day else None

    def _fail(self, connection: Connection, asked: Asked, why: str) -> None:
        super()._fail(connection, asked, why)
        self._see(connection, asked, "failed")

    def _see(self, connection: Connection, asked: Asked, result: str, mark: int | None = None, age: int | None = None) -> None:
        now = time.monotonic()
        self.seen.append(Seen(connection.asked_at, now - connection.asked_at, result, asked.about, mark, age))


def is_refusal(asked: Asked, reply: Reply) -> bool:
    """Return whether it says that the wire cannot answer now, and when to ask again."""
    status, headers, body = reply
    if status == 503:
        return headers.get("retry-after", "").isdigit() and bool(body)
    if asked.door != "mcp" or status != 200:
        return False
    is_error = b'"isError":true' in body and b"its database does not answer. Try again in" in body
    return is_error or (b'"error":"unavailable"' in body and b'"retry_after":' in body)
