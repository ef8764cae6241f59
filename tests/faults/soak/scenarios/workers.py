"""One worker after the other is killed without warning, under load."""

import asyncio
import os
import random
import signal
import time
from dataclasses import dataclass
from typing import Final

from benchmarks.doors.questions import get
from tests.faults.soak.load import Connection, Load
from tests.faults.soak.outcome import Held, Run, most, none
from tests.faults.soak.questions import Asked, chosen, questions
from tests.faults.soak.wires import Served, Wire, kill

READERS: Final = 200
WORKERS: Final = 3
KILLS: Final = 9
EVERY: Final = 10.0  # seconds between two kills
HALTED: Final = 0.1  # seconds before it is killed
BACK_WITHIN: Final = 15.0  # seconds until another worker answers in its place
THINK: Final = (0.5, 3.0)
HEALTH: Final = Asked("site", "/healthz", get("/healthz"))


@dataclass(slots=True)
class _Killed:
    """`in_flight`: ports of the requests that the worker had not answered; `back`: seconds until its successor answers."""

    in_flight: set[int]
    lost: list[int]
    back: float


async def run(run: Run) -> list[Held]:
    wire = Wire(run.scratch / "wire", {"WIRE_TRUSTED_PROXIES": "127.0.0.1"})
    wire.fill(days=3, a_day=30)
    async with wire.served(WIRE_WORKERS=str(WORKERS)) as served:
        load = Load(served.port)
        asked = await questions(served.port)
        everyone = asyncio.gather(*(_reader(load, asked, number) for number in range(READERS)))
        dice = random.Random(9)
        kills = []
        began = time.monotonic()
        for _ in range(run.times(KILLS, 2)):
            await asyncio.sleep(EVERY if run.scale >= 1 else 2)
            kills.append(await _kill_one(load, served, dice))
        seconds = time.monotonic() - began
        load.over.set()
        await everyone
        alive = len(served.workers())
    tally = load.tally
    strangers = [str(port) for one in kills for port in one.lost if port not in one.in_flight]
    counts = ", ".join(f"{len(one.lost)} of {len(one.in_flight)}" for one in kills)
    other = len(tally.failed) - len(tally.lost)
    return [
        none(f"{len(kills)} kills: only what the killed worker had in flight fails", strangers, f"(by kill: {counts})"),
        Held(
            other == 0, "nothing else fails", f"{other} among {tally.told(seconds)}; {tally.again} asked again on a new connection"
        ),
        most("another worker answers in its place", max(one.back for one in kills), BACK_WITHIN, "s at the latest"),
        Held(alive == WORKERS, f"{WORKERS} workers in the end", str(alive)),
        none("every body is what its hash and its ETag say", load.witness.wrong, f"of {load.witness.looked:,} looked at"),
    ]


async def _reader(load: Load, asked: list[Asked], number: int) -> None:
    dice = random.Random(number)
    await load.client(chosen(asked, dice), lambda: dice.uniform(*THINK), f"10.0.0.{number}")


async def _kill_one(load: Load, served: Served, dice: random.Random) -> _Killed:
    """Halted first, so that it has something in flight; between our looking and its death nothing of ours runs."""
    workers = served.workers()
    worker = dice.choice(workers)
    os.kill(worker, signal.SIGSTOP)
    await asyncio.sleep(HALTED)
    owners = served.owners()
    in_flight = {port for port in load.in_flight if owners.get(port) == worker}
    load.doomed = in_flight
    before = len(load.tally.lost)
    kill(worker)
    began = time.monotonic()
    back = await _another(served, {*workers}, load.port) - began
    return _Killed(in_flight, load.tally.lost[before:], back)


async def _another(served: Served, known: set[int], port: int) -> float:
    """When a worker that was not there before holds a connection and has answered on it."""
    checks = Load(port)
    deadline = time.monotonic() + 3 * BACK_WITHIN
    while time.monotonic() < deadline:
        connections = [Connection(port) for _ in range(6)]
        try:
            await asyncio.gather(*(checks.ask(connection, HEALTH) for connection in connections))
            owners = served.owners()
            if any(owners.get(connection.local, 0) not in {*known, 0} for connection in connections):
                return time.monotonic()
        finally:
            for connection in connections:
                connection.close()
        await asyncio.sleep(0.1)
    return time.monotonic()
