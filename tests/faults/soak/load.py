"""Clients: keep-alive connections over real sockets that ask, think, and ask again, and the tally of what they were answered."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from benchmarks.doors.questions import FIRST_NUMBER, fill
from tests.faults.soak.questions import Asked
from tests.faults.soak.wires import HOST
from tests.faults.soak.witness import Mark, Witness, Wrong

PATIENCE: Final = 30.0  # seconds until a client calls it no answer
WELL: Final = (200, 304)


class Lost(Exception):
    """The connection ended before the answer was whole; `begun` if some of it had come."""

    def __init__(self, why: str, *, begun: bool) -> None:
        super().__init__(why)
        self.begun = begun


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Took(NamedTuple):
    """One answer's client port, when it was asked for, and how long it took; seconds."""

    port: int
    sent: float
    seconds: float


@dataclass(slots=True)
class Tally:
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    failed_at: list[float] = field(default_factory=list)
    """Everything that is neither an answer nor a 429; `lost` those of a connection that ended, by client port."""
    lost: list[int] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)
    excused_at: list[float] = field(default_factory=list)
    again: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    passed: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """By client address: 429s of REST and MCP, and when what passed was asked and was answered."""
    took: list[Took] = field(default_factory=list)
    kept: int = 0
    """Answers to what the same connection had been answered before."""
    newest: list[tuple[float, int]] = field(default_factory=list)
    """When today was asked for, and which snapshot came."""

    @property
    def all(self) -> int:
        return self.answers.total()

    def told(self, seconds: float) -> str:
        """So many answers by door, and the rate."""
        doors = Counter[str]()
        for (door, _), number in self.answers.items():
            doors[door] += number
        by_door = ", ".join(f"{door} {number:,}" for door, number in sorted(doors.items()))
        return f"{self.all:,} answers ({by_door}), {self.all / seconds:,.0f}/s"

    def slowest(self, share: float) -> float:
        """Milliseconds within which this share of the answers came."""
        took = sorted(one.seconds for one in self.took) or [0.0]
        return took[min(len(took) - 1, int(len(took) * share))] * 1_000


class Connection:
    """One client's way to the wire, opened when it is needed; what was seen on it came from one worker."""

    def __init__(self, port: int, source: str = HOST) -> None:
        self.local = 0
        self.marks: dict[str, Mark] = {}
        self._port, self._source = port, source
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def is_open(self) -> bool:
        return self._reader is not None and not self._reader.at_eof() and self._reader.exception() is None

    async def open(self) -> None:
        """Raises: OSError."""
        self.close()
        self._reader, self._writer = await asyncio.open_connection(HOST, self._port, local_addr=(self._source, 0), limit=1 << 20)
        self.local = self._writer.get_extra_info("sockname")[1]
        self.marks = {}

    async def ask(self, raw: bytes) -> Reply:
        """Raises: Lost."""
        assert self._reader is not None
        assert self._writer is not None
        try:
            self._writer.write(raw)
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError) as error:
            begun = bool(isinstance(error, asyncio.IncompleteReadError) and error.partial)
            raise Lost(f"no answer: {error!r}", begun=begun) from error
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ", 2)[1])
        try:
            body = await self._reader.readexactly(int(headers.get("content-length", "0"))) if status not in (204, 304) else b""
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Lost(f"half an answer: {error!r}", begun=True) from error
        if headers.get("connection") == "close":
            self.close()
        return Reply(status, headers, body)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None


class Load:
    """Clients of one served wire. `in_flight`: client ports that wait for an answer; `doomed`: those whose worker was killed."""

    def __init__(self, port: int, witness: Witness | None = None, *, excuse_unkept: bool = False) -> None:
        self.port = port
        self.witness = witness or Witness()
        self.tally = Tally()
        self.over = asyncio.Event()
        self.in_flight: set[int] = set()
        self.doomed: set[int] = set()
        self._excuse_unkept = excuse_unkept
        self._number = FIRST_NUMBER

    async def client(self, choose: Callable[[], Asked], think: Callable[[], float], address: str = "", source: str = HOST) -> None:
        """Ask, think so many seconds, ask again, until it is over. `address` is what the proxy in front says that the client is."""
        connection = Connection(self.port, source)
        tags: dict[tuple[str, str], str] = {}
        dice = random.Random(address or source)
        try:
            while not await self.pause(think()):
                await self.ask(connection, choose(), address, tags if dice.random() < 0.5 else {})
        finally:
            connection.close()

    async def pause(self, seconds: float) -> bool:
        """Whether it is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)
        return self.over.is_set()

    async def ask(
        self,
        connection: Connection,
        asked: Asked,
        address: str = "",
        tags: dict[tuple[str, str], str] | None = None,
        client: str = "",
    ) -> Reply | None:
        """One question, tallied for `client` (default: its address). A connection that had ended before anybody answered on it is
        opened again once, as clients do.
        """
        variant = (asked.about, asked.question.headers.get("accept-encoding", ""))
        tag = (tags or {}).get(variant, "") if asked.door == "rest" else ""
        self._number += 1
        number = self._number
        raw = _with(fill(asked.question.raw(f"{HOST}:{self.port}"), number), **{"X-Forwarded-For": address, "If-None-Match": tag})
        kept = asked.door != "site" and connection.is_open and asked.about in connection.marks
        sent = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                reply = await self._reply(connection, raw)
        except (OSError, TimeoutError, Lost) as error:  # a TimeoutError is an OSError, too
            self._fail(asked, kept, repr(error))
            if isinstance(error, Lost):
                self.tally.lost.append(connection.local)
            connection.close()
            return None
        heard = time.monotonic()
        self.tally.took.append(Took(connection.local, sent, heard - sent))
        self.tally.answers[asked.door, reply.status] += 1
        self.tally.kept += kept
        if reply.status == 429:
            self._refuse(asked, reply, client or address)
        elif reply.status not in WELL or (asked.door == "mcp" and b'"error":' in reply.body[:40]):  # the old eras say it with a 200
            self._fail(asked, kept, f"{reply.status} {reply.body[:120]!r}")
        else:
            if asked.door != "site":
                self.tally.passed[client or address].append((sent, heard))
            self._look(connection, asked, number, reply, (sent, heard), tag)
            if tags is not None and asked.door == "rest":
                tags[variant] = reply.headers.get("etag", "")
        return reply

    async def _reply(self, connection: Connection, raw: bytes) -> Reply:
        if connection.is_open:
            try:
                return await self._waited(connection, raw)
            except Lost as lost:
                if lost.begun or connection.local in self.doomed:
                    raise
            self.tally.again += 1
        await connection.open()
        return await self._waited(connection, raw)

    async def _waited(self, connection: Connection, raw: bytes) -> Reply:
        self.in_flight.add(connection.local)
        try:
            return await connection.ask(raw)
        finally:
            self.in_flight.discard(connection.local)

    def _look(self, connection: Connection, asked: Asked, number: int, reply: Reply, times: tuple[float, float], tag: str) -> None:
        if reply.status == 304:
            if not tag or reply.headers.get("etag") != tag or reply.body:
                self.witness.note(f"{asked.about}: a 304 with {reply.headers.get('etag')} for {tag}")
            return
        try:
            mark = self.witness.look(asked, number, reply.headers, reply.body, *times)
        except Wrong as wrong:
            self.witness.note(str(wrong))
            return
        if mark is not None and asked.about == "/api/today.json":
            self.tally.newest.append((times[0], mark.number))
        before = connection.marks.get(asked.about)
        if before is not None and mark is not None and mark.number < before.number:
            self.witness.note(f"{asked.about}: {mark.number} after {before.number} from one worker")
        connection.marks[asked.about] = mark or Mark(0)

    def _refuse(self, asked: Asked, reply: Reply, client: str) -> None:
        self.tally.refused[client] += 1
        if not reply.headers.get("retry-after", "").isdigit() or asked.door == "site":
            self.witness.note(f"{asked.about}: a 429 that says {reply.headers.get('retry-after')}")

    def _fail(self, asked: Asked, kept: bool, why: str) -> None:
        if self._excuse_unkept and not kept:
            self.tally.excused[why[:3] if why[:1].isdigit() else "no answer"] += 1
            self.tally.excused_at.append(time.monotonic())
        else:
            self.tally.failed.append(f"{asked.about}: {why}")
            self.tally.failed_at.append(time.monotonic())


def most_in(exchanges: list[tuple[float, float]], seconds: float) -> int:
    """The most exchanges that certainly lie in one stretch of so many seconds: asked after it began, answered before it ended.

    When in between the server counted a request, nobody here knows.
    """
    return max((sum(asked > end - seconds and answered <= end for asked, answered in exchanges) for _, end in exchanges), default=0)


def _with(raw: bytes, **headers: str) -> bytes:
    told = "".join(f"\r\n{name}: {value}" for name, value in headers.items() if value)
    return raw.replace(b"\r\n", told.encode("latin-1") + b"\r\n", 1)
