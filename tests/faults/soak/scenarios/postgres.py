"""The database goes away under load: stopped as by a crash, cut off, and frozen; then it comes back."""

import asyncio
import itertools
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.archive import FIRST_DAY
from tests.faults.soak.load import Connection, Load
from tests.faults.soak.outcome import Held, Run, most
from tests.faults.soak.questions import Asked, never_asked, questions
from tests.faults.soak.services import Proxy, postgres
from tests.faults.soak.wires import Wire

READERS: Final = 60
PROBES: Final = 8
WORKERS: Final = 2
AWAY: Final = 0.2  # minutes
CALM: Final = 0.25
RECOVERED_WITHIN: Final = 5.0  # seconds
THINK: Final = (0.5, 1.5)
Act = Callable[[], Awaitable[None]]


async def run(run: Run) -> list[Held]:
    with postgres() as server:
        proxy = Proxy(server.port)
        await proxy.restore()
        wire = Wire(run.scratch / "wire", {"DATABASE_URL": server.create("wire"), "WIRE_TRUSTED_PROXIES": "127.0.0.1"})
        wire.fill(days=4, a_day=30)
        settings = {"DATABASE_URL": server.address("wire", proxy.port), "WIRE_WORKERS": str(WORKERS), "WIRE_RATE_LIMIT": "6000/m"}
        async with wire.served(**settings) as served:
            asked = [one for one in await questions(served.port) if one.door != "site"]
            trial = _Trial(run, wire, served.port)
            return await trial.of_all(
                asked,
                {
                    "stopped and started": (
                        lambda: asyncio.to_thread(server.stop),
                        lambda: asyncio.to_thread(server.start),
                    ),
                    "cut off": (_at_once(proxy.cut), proxy.restore),
                    "frozen": (_at_once(proxy.freeze), proxy.restore),
                },
            )


class _Trial:
    def __init__(self, run: Run, wire: Wire, port: int) -> None:
        self._away, self._calm = run.seconds(AWAY, 4), run.seconds(CALM, 8)
        self._wire = wire
        self._load = Load(port, excuse_unkept=True)
        self._probes = Load(port, self._load.witness, excuse_unkept=True)
        self._published = itertools.count(1)
        self._scratch = run.scratch

    async def of_all(self, asked: list[Asked], faults: dict[str, tuple[Act, Act]]) -> list[Held]:
        load, probes = self._load, self._probes
        searching = (probes.client(never_asked(random.Random(n)), lambda: 0.2, f"10.1.0.{n}") for n in range(PROBES))
        everyone = asyncio.gather(*(_reader(load, asked, n) for n in range(READERS)), *searching)
        await asyncio.sleep(self._calm)  # everybody has asked everything
        held = [row for name, acts in faults.items() for row in await self._of(name, *acts)]
        load.over.set()
        probes.over.set()
        await everyone
        verifies, words = await asyncio.to_thread(self._wire.verifies)
        wrong = [*load.witness.wrong, *load.witness.against(await asyncio.to_thread(self._wire.chain))]
        return [
            *held,
            Held(
                not wrong,
                "every body is what was published",
                f"{len(wrong)} wrong of {load.witness.looked:,} {'; '.join(wrong[:3])}",
            ),
            Held(verifies, "`verifywire` passes", words),
        ]

    async def _of(self, name: str, go: Act, come_back: Act) -> list[Held]:
        tally = self._load.tally
        failed, kept, first = len(tally.failed), tally.kept, len(tally.took)
        began = time.monotonic()
        await go()
        await asyncio.sleep(self._away)
        away = time.monotonic() - began
        probes_failed = dict(self._probes.tally.excused)
        faults, kept = tally.failed[failed:], tally.kept - kept
        slow = max((one.seconds for one in tally.took[first:]), default=0.0)
        await come_back()
        back = time.monotonic()
        published, sequence = await self._publish()
        await asyncio.sleep(self._calm)
        faults_at = [*self._probes.tally.excused_at, *tally.excused_at, *tally.failed_at]
        after = [at - back for at in faults_at if at > back]
        old = max((sent - published for sent, number in tally.newest if sent > published and number < sequence), default=0.0)
        return [
            Held(
                not faults,
                f"{name} for {away:.0f} s: no fault among kept answers",
                f"{len(faults)} among {kept:,}, the slowest after {slow * 1000:.0f} ms {'; '.join(faults[:2])}",
            ),
            most(
                f"{name}: the last fault is within 5 s of its return",
                max(after, default=0.0),
                RECOVERED_WITHIN,
                f"s, {len(after)} faults after it",
                _told(probes_failed),
            ),
            most(f"{name}: a publish after it is told by all within 5 s", old, RECOVERED_WITHIN, "s"),
        ]

    async def _publish(self) -> tuple[float, int]:
        """One more story of the newest day: when it is published, and its snapshot's place in the chain."""
        number = next(self._published)
        file = Path(self._scratch / f"after-{number}.ndjson")
        day = FIRST_DAY.replace(day=4)
        item = {"title": f"Maker {number} ships model {number * 7919}", "url": f"https://techcrunch.com/after/{number}"}
        file.write_text(json.dumps(item | {"publisher": "TechCrunch", "published_at": f"{day}T12:00:00Z"}))
        await self._wire.managed("loadwire", file)
        published = time.monotonic()
        return published, len((await asyncio.to_thread(self._wire.chain)).links)


async def _reader(load: Load, asked: list[Asked], number: int) -> None:
    """Has asked everything once before it goes on at random, so that whatever it asks is kept."""
    dice = random.Random(number)
    connection, address = Connection(load.port), f"10.0.0.{number}"
    order = dice.sample(asked, len(asked))
    try:
        for one in itertools.chain(order, _for_ever(asked, dice)):
            if await load.pause(0.1 if one.about not in connection.marks else dice.uniform(*THINK)):
                return
            await load.ask(connection, one, address)
    finally:
        connection.close()


def _for_ever(asked: list[Asked], dice: random.Random) -> Iterator[Asked]:
    while True:
        yield dice.choice(asked)


def _at_once(act: Callable[[], None]) -> Act:
    async def done() -> None:
        act()

    return done


def _told(excused: dict[str, int]) -> str:
    said = ", ".join(f"{number} × {what}" for what, number in sorted(excused.items()))
    return f"questions that nobody had asked before, so far: {said or 'all answered'}"
