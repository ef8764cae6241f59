"""The Redis that counts the limit is killed, started again, frozen and thawed under load."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.faults.soak.load import Connection, Load, Took
from tests.faults.soak.outcome import Held, Run
from tests.faults.soak.questions import Asked, chosen, questions
from tests.faults.soak.services import redis_server
from tests.faults.soak.wires import Served, Wire

READERS: Final = 120
WORKERS: Final = 2
AWAY: Final = 0.25  # minutes
LIMIT: Final = 600
THINK: Final = (0.5, 1.5)
SLOW: Final = 0.05  # seconds; the store's patience
ONE_WAIT: Final = 0.06
BACK: Final = 6.0  # seconds after which a store that is back has been met again
SHARES: Final = {"rest": 50, "mcp": 50}


async def run(run: Run) -> list[Held]:
    away = run.seconds(AWAY, 7)
    wire = Wire(run.scratch / "wire", {"WIRE_TRUSTED_PROXIES": "127.0.0.1", "WIRE_RATE_LIMIT": f"{LIMIT}/m"})
    wire.fill(days=3, a_day=30)
    with redis_server() as redis:
        async with wire.served(WIRE_WORKERS=str(WORKERS), REDIS_URL=redis.address) as served:
            load = Load(served.port)
            asked = await questions(served.port)
            readers = (_reader(load, asked, number) for number in range(READERS))
            everyone = asyncio.gather(*readers)
            await asyncio.sleep(4)  # what is asked has been asked before
            calm = await _slow(load, served, away)
            rows = [
                *await _fault("killed", redis.kill, redis.start, load, served, away, calm),
                await _together("after it was killed and started", load, asked, "10.2.0.1"),
                *await _fault("frozen", redis.freeze, redis.thaw, load, served, away, calm),
                await _together("after it was frozen and thawed", load, asked, "10.2.0.2"),
            ]
            load.over.set()
            await everyone
    wrong = load.witness.wrong
    return [
        *rows,
        Held(not wrong, "every body is what its hash and its ETag say", f"{len(wrong)} wrong of {load.witness.looked:,}"),
    ]


async def _reader(load: Load, asked: list[Asked], number: int) -> None:
    dice = random.Random(number)
    await load.client(chosen(asked, dice, SHARES), lambda: dice.uniform(*THINK), f"10.0.0.{number}")


async def _slow(load: Load, served: Served, seconds: float) -> tuple[float, Counter[int]]:
    """The slowest answer of the next so many seconds, and how often each worker made somebody wait longer than SLOW."""
    first, owners = len(load.tally.took), served.owners()
    await asyncio.sleep(seconds)
    owners |= served.owners()
    took = load.tally.took[first:]
    return max((one.seconds for one in took), default=0.0), _waits(took, owners)


def _waits(took: list[Took], owners: dict[int, int]) -> Counter[int]:
    """By worker: how often it waited, answers that waited at the same time counted once."""
    waits, until = Counter[int](), dict[int, float]()
    for one in sorted((one for one in took if one.seconds >= SLOW), key=lambda one: one.sent):
        worker = owners.get(one.port, 0)
        if one.sent > until.get(worker, 0.0):
            waits[worker] += 1
        until[worker] = max(until.get(worker, 0.0), one.sent + one.seconds)
    return waits


async def _fault(
    name: str,
    go: Callable[[], None],
    come_back: Callable[[], None],
    load: Load,
    served: Served,
    seconds: float,
    calm: tuple[float, Counter[int]],
) -> list[Held]:
    failed, before = len(load.tally.failed), load.tally.all
    began = time.monotonic()
    go()
    slowest, waits = await _slow(load, served, seconds)
    lasted = time.monotonic() - began
    await asyncio.to_thread(come_back)
    await asyncio.sleep(BACK)
    faults = load.tally.failed[failed:]
    often, calm_often = max(waits.values(), default=0), max(calm[1].values(), default=0)
    return [
        Held(
            not faults and not load.tally.refused,
            f"{name} for {lasted:.0f} s: no error and no 429",
            f"{len(faults)} errors, {load.tally.refused.total()} × 429 among {load.tally.all - before:,} {'; '.join(faults[:3])}",
        ),
        Held(
            slowest <= ONE_WAIT + calm[0] and often <= 1 + calm_often,
            f"{name}: costs one wait of at most 60 ms in each worker",
            f"slowest {slowest * 1e3:.0f} ms (with Redis well {calm[0] * 1e3:.0f} ms); a worker waited {often} times at most "
            f"(with Redis well {calm_often})",
        ),
    ]


async def _together(when: str, load: Load, asked: list[Asked], address: str) -> Held:
    """A client that asks more than the limit lets through, on many connections."""
    counted = Load(load.port, load.witness)
    sources = next(one for one in asked if one.about == "/api/sources.json")
    connections = [Connection(load.port) for _ in range(8)]

    async def hurry(connection: Connection) -> None:
        for _ in range((LIMIT + 120) // len(connections)):
            await counted.ask(connection, sources, address)
        connection.close()

    await asyncio.gather(*map(hurry, connections))
    passed = len(counted.tally.passed[address])
    return Held(passed == LIMIT, f"{when}: {LIMIT} a minute over all workers again", f"{passed} of {LIMIT + 120} passed")
