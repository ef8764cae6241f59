"""Writers and readers of one SQLite file, for as long as it takes to lock it if it can be locked."""

import asyncio
from typing import Final

from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, none, true_to_the_chain
from tests.faults.soak.questions import questions
from tests.faults.soak.wires import Wire

WRITERS: Final = 4
READERS: Final = 50
SECONDS: Final = 600.0
PAUSE: Final = 0.5  # seconds of a writer between two rounds
THINK: Final = (0.5, 2.0)
SHARES: Final = {"rest": 20, "mcp": 20, "site": 30, "new": 30}  # pages and new searches read the file each time


async def run(run: Run) -> list[Held]:
    wire = Wire(run.scratch / "wire", {"WIRE_TRUSTED_PROXIES": "127.0.0.1", "WIRE_RATE_LIMIT": "600/m"})
    wire.fill(days=4, a_day=50)
    async with wire.served(WIRE_WORKERS="2") as served:
        load = Load(served.port)
        asked = await asyncio.to_thread(questions, served.port)
        writers = [wire.writer(number, PAUSE) for number in range(1, WRITERS + 1)]
        async with load.going_on(load.readers(READERS, asked, THINK, SHARES)):
            await asyncio.sleep(SECONDS * run.scale)
            lines = [
                line for writer in writers for line in (await asyncio.to_thread(writer.communicate, timeout=120))[0].split("\n")
            ]
        rounds = lines.count("wrote")
        faults = [line for line in lines if line not in ("wrote", "")]
        return [
            none(f"{WRITERS} writers, {READERS} readers: no `database is locked`", faults, f"in {rounds:,} rounds of publishing"),
            Held(rounds > 0 and not any(writer.returncode for writer in writers), "no writer stops early or fails", f"{rounds:,}"),
            *await true_to_the_chain(wire, served, load),
        ]
