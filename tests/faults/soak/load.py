"""Clients: keep-alive connections over real sockets that ask, think, and ask again, and what they were answered."""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from benchmarks.doors.questions import FIRST_NUMBER, fill
from tests.faults.soak.checker import Checker, Mark, Wrong
from tests.faults.soak.questions import SHARES, Asked, chosen, rest
from tests.faults.soak.wires import HOST, Chain

PATIENCE: Final = 30.0  # seconds until a client calls it no answer
SWEEPERS: Final = 8
Reply = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


class Lost(Exception):
    """The connection ended before the answer was whole; `begun` if some of it had come."""

    def __init__(self, why: str, *, begun: bool) -> None:
        super().__init__(why)
        self.begun = begun


class Connection:
    """One client's way to the wire, opened when it is needed; what was seen on it came from one worker."""

    def __init__(self, host: str, port: int, **how: Any) -> None:
        """`how`: what else `asyncio.open_connection` takes."""
        self.marks: dict[str, Mark] = {}
        self.asked_at = 0.0
        self._host, self._port, self._how = host, port, how
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def is_open(self) -> bool:
        return self._reader is not None and not self._reader.at_eof() and self._reader.exception() is None

    async def open(self) -> None:
        """Raises: OSError."""
        self.close()
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=1 << 20, **self._how)
        self.marks = {}

    async def ask(self, raw: bytes) -> Reply:
        """Raises: Lost."""
        assert self._reader is not None
        assert self._writer is not None
        head = b""
        try:
            self._writer.write(raw)
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await self._reader.readexactly(int(headers["content-length"]))
        except (OSError, asyncio.IncompleteReadError, KeyError) as error:
            begun = bool(head or (isinstance(error, asyncio.IncompleteReadError) and error.partial))
            raise Lost(repr(error), begun=begun) from error
        if headers.get("connection") == "close":
            self.close()
        return int(first.split(" ", 2)[1]), headers, body

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None


class Load:
    """Clients of one served wire. With `workers_die` an answer that breaks off is asked for again, as one is that never began."""

    def __init__(self, port: int, *, workers_die: bool = False) -> None:
        self.port, self.site = port, f"{HOST}:{port}"
        self.checker = Checker()
        self.answers: Counter[str] = Counter()
        self.failed: list[str] = []
        """Everything that is neither an answer nor a 429; those are counted in `refused` by client address."""
        self.refused: Counter[str] = Counter()
        self.again = 0
        self.over = asyncio.Event()
        self._workers_die = workers_die
        self._number = FIRST_NUMBER

    def connection(self, _address: str) -> Connection:
        """The way of a client with this address, not open yet."""
        return Connection(HOST, self.port)

    def told(self) -> str:
        """So many answers by door."""
        return f"{self.answers.total():,} answers ({', '.join(f'{door} {n:,}' for door, n in sorted(self.answers.items()))})"

    @asynccontextmanager
    async def going_on(self, *clients: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Clients ask while the block runs."""
        everyone = asyncio.gather(*clients)
        try:
            yield
        finally:
            self.over.set()
            await everyone

    async def readers(self, many: int, asked: list[Asked], think: tuple[float, float], shares: dict[str, int] = SHARES) -> None:
        """So many clients, each of an address of its own, that ask at random and pause between `think` seconds."""
        choices = [chosen(asked, random.Random(number), shares) for number in range(many)]
        await asyncio.gather(*(self.reader(f"10.0.{n >> 8}.{n & 255}", choose, think) for n, choose in enumerate(choices)))

    async def reader(self, address: str, choose: Callable[[], Asked], think: tuple[float, float]) -> None:
        """`address` is what the proxy in front says that the client is."""
        connection, dice = self.connection(address), random.Random(address)
        try:
            while not await self.pause(dice.uniform(*think)):
                await self.ask(connection, choose(), address)
        finally:
            connection.close()

    async def pause(self, seconds: float) -> bool:
        """Whether it is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)
        return self.over.is_set()

    async def sweep(self, chain: Chain) -> None:
        """Ask for every story and every day that was ever published, so that the checker has seen all of them as they stand."""
        waiting = [rest(f"/api/archive/{day}.json") for day in sorted({day for day, _ in chain.days})]
        waiting += [rest(f"/api/stories/{story}.json") for story in chain.shown]
        addresses = itertools.count()

        async def some() -> None:
            while waiting:  # an address for each: the limit is not what is tried here
                n = next(addresses)
                address = f"11.{n >> 16}.{n >> 8 & 255}.{n & 255}"
                connection = self.connection(address)
                await self.ask(connection, waiting.pop(), address)
                connection.close()

        await asyncio.gather(*(some() for _ in range(SWEEPERS)))

    async def ask(self, connection: Connection, asked: Asked, address: str) -> None:
        """One question. A connection that had ended before anybody answered on it is opened again once, as clients do."""
        self._number += 1
        number = self._number
        forwarded = f"\r\nX-Forwarded-For: {address}\r\n".encode()
        connection.asked_at = time.monotonic()
        raw = fill(asked.question.raw(self.site), number).replace(b"\r\n", forwarded, 1)
        try:
            async with asyncio.timeout(PATIENCE):
                status, headers, body = await self._reply(connection, raw)
        except (OSError, TimeoutError, Lost) as error:
            self._fail(connection, asked, repr(error))
            connection.close()
            return
        self.answers[asked.door] += 1
        self._judge(connection, asked, number, address, (status, headers, body))

    def _judge(self, connection: Connection, asked: Asked, number: int, address: str, reply: Reply) -> None:
        status, headers, body = reply
        if status == 429 and asked.door != "site" and headers.get("retry-after", "").isdigit():
            self.refused[address] += 1
        elif status != 200 or (asked.door == "mcp" and b'"error":' in body[:40]):  # the old eras say it with a 200
            self._fail(connection, asked, f"{status} {body[:120]!r}")
        else:
            self._look(connection, asked, number, headers, body)

    def _fail(self, _connection: Connection, asked: Asked, why: str) -> None:
        self.failed.append(f"{asked.about}: {why}")

    async def _reply(self, connection: Connection, raw: bytes) -> Reply:
        if connection.is_open:
            try:
                return await connection.ask(raw)
            except Lost as lost:
                if lost.begun and not self._workers_die:
                    raise
            self.again += 1
        await connection.open()
        return await connection.ask(raw)

    def _look(self, connection: Connection, asked: Asked, number: int, headers: dict[str, str], body: bytes) -> None:
        try:
            mark = self.checker.look(asked, number, headers, body)
        except Wrong as wrong:
            self.checker.note(str(wrong))
            return
        before = connection.marks.get(asked.about)
        if before is not None and mark is not None and mark < before:
            self.checker.note(f"{asked.about}: {mark} after {before} from one worker")
        if mark is not None:
            connection.marks[asked.about] = mark
