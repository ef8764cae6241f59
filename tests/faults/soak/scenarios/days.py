"""Many processes publish the same days at once, on both databases."""

import asyncio
import time
from typing import Final

from benchmarks import archive
from tests.faults.soak.outcome import Held, Run
from tests.faults.soak.services import postgres
from tests.faults.soak.wires import Wire

PUBLISHERS: Final = 8
DAYS: Final = 200
A_DAY: Final = 4
PATIENCE: Final = 600.0  # seconds


async def run(run: Run) -> list[Held]:
    days = run.times(DAYS, 12)
    file = run.scratch / "days.ndjson"
    archive.write(file, days, A_DAY)
    with postgres() as server:
        wires = {
            "SQLite": Wire(run.scratch / "sqlite"),
            "Postgres": Wire(run.scratch / "postgres", {"DATABASE_URL": server.create("wire")}),
        }
        return [row for name, wire in wires.items() for row in await asyncio.to_thread(_of, name, wire, str(file), days)]


def _of(name: str, wire: Wire, file: str, days: int) -> list[Held]:
    wire.manage("migrate", "--verbosity", "0")
    taking = wire.started("publisher", "take", file)
    taking.communicate(timeout=PATIENCE)
    publishers = [wire.started("publisher", "publish", seed) for seed in range(PUBLISHERS)]
    for publisher in publishers:
        assert publisher.stdout is not None
        publisher.stdout.readline()
    began = time.monotonic()
    for publisher in publishers:
        assert publisher.stdin is not None
        publisher.stdin.write("go\n")
        publisher.stdin.flush()
    made = [int(publisher.communicate(timeout=PATIENCE)[0] or -1) for publisher in publishers]
    seconds = time.monotonic() - began
    chain = wire.chain()
    verifies, words = wire.verifies()
    statuses = {process.returncode for process in (taking, *publishers)}
    by_each = ", ".join(map(str, sorted(made, reverse=True)))
    return [
        Held(
            sum(made) == len(chain.links) == len(chain.days) == days and statuses == {0},
            f"{name}: {PUBLISHERS} processes publish {days} days: {days} snapshots",
            f"{len(chain.links)} in {seconds:.1f} s ({by_each} by each)",
        ),
        Held(verifies and chain.is_one, f"{name}: the chain does not fork and `verifywire` passes", words),
    ]
