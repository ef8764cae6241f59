"""One worker after the other is killed without warning, under load."""

import asyncio
import os
import random
import signal
from typing import Final

from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, true_to_the_chain
from tests.faults.soak.questions import questions
from tests.faults.soak.wires import Served, Wire

READERS: Final = 200
WORKERS: Final = 3
KILLS: Final = 9
EVERY: Final = 10.0  # seconds between two kills
HALTED: Final = 0.1  # seconds before it is killed, so that it has something in flight
THINK: Final = (0.5, 3.0)


async def run(run: Run) -> list[Held]:
    wire = Wire(run.scratch / "wire", {"WIRE_TRUSTED_PROXIES": "127.0.0.1"})
    wire.fill(days=3, a_day=30)
    kills, dice = run.times(KILLS, 2), random.Random(9)
    async with wire.served(WIRE_WORKERS=str(WORKERS)) as served:
        load = Load(served.port, workers_die=True)
        asked = await asyncio.to_thread(questions, served.port)
        async with load.going_on(load.readers(READERS, asked, THINK)):
            for _ in range(kills):
                await asyncio.sleep(min(EVERY, max(2.0, EVERY * run.scale)))
                await _kill_one(served, dice)
        held = await true_to_the_chain(wire, served, load)
    return [Held(True, "each killed worker is replaced", f"{kills} kills"), *held]


async def _kill_one(served: Served, dice: random.Random) -> None:
    """Raises: TimeoutError unless there are as many workers as before again."""
    worker = dice.choice(served.workers())
    os.kill(worker, signal.SIGSTOP)
    await asyncio.sleep(HALTED)
    os.kill(worker, signal.SIGKILL)
    async with asyncio.timeout(60):
        while worker in (workers := served.workers()) or len(workers) < WORKERS:
            await asyncio.sleep(0.1)
