"""Writers and readers of one SQLite file, for as long as it takes to lock it if it can be locked."""

import asyncio
import random
import re
import subprocess
from typing import Final

from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, none
from tests.faults.soak.questions import Asked, chosen, never_asked, questions
from tests.faults.soak.wires import Wire

WRITERS: Final = 4
READERS: Final = 50
MINUTES: Final = 10.0
WORKERS: Final = 2
PAUSE: Final = 0.5  # seconds of a writer between two rounds
THINK: Final = (0.5, 2.0)
SHARES: Final = {"rest": 30, "mcp": 30, "site": 40}  # pages ask the file each time
NEW: Final = 0.3  # of the questions are searches that nobody asked before


async def run(run: Run) -> list[Held]:
    seconds = run.seconds(MINUTES)
    wire = Wire(run.scratch / "wire", {"WIRE_TRUSTED_PROXIES": "127.0.0.1", "WIRE_RATE_LIMIT": "600/m"})
    wire.fill(days=4, a_day=50)
    async with wire.served(WIRE_WORKERS=str(WORKERS)) as served:
        load = Load(served.port)
        asked = await questions(served.port)
        writers = [wire.started("writer", number, PAUSE) for number in range(1, WRITERS + 1)]
        everyone = asyncio.gather(*(_reader(load, asked, number) for number in range(READERS)))
        said = asyncio.gather(*(asyncio.to_thread(_said, writer, seconds) for writer in writers))
        lines = [line for of_one in await said for line in of_one.splitlines()]
        load.over.set()
        await everyone
        troubles = served.troubles()
    writers_log = (run.scratch / "writer.log").read_text(encoding="utf-8").splitlines()
    rounds = [float(found[1]) for line in lines if (found := re.fullmatch(r"wrote ([\d.]+)", line))]
    faults = [line for line in [*lines, *writers_log, *troubles] if not line.startswith("wrote ")]
    locked = [line for line in faults if "locked" in line]
    verifies, words = await asyncio.to_thread(wire.verifies)
    wrong = [*load.witness.wrong, *load.witness.against(wire.chain())]
    failed = load.tally.failed
    return [
        none(
            f"{WRITERS} writers, {READERS} readers, {seconds:.0f} s: no `database is locked`",
            locked,
            f"in {len(rounds):,} rounds of writing and publishing, the longest {max(rounds, default=0):.1f} s",
        ),
        Held(
            not faults and bool(rounds) and all(writer.returncode == 0 for writer in writers),
            "no other fault of a writer or the server",
            f"{len(faults)} {'; '.join(faults[:3])}",
        ),
        Held(
            not failed,
            "readers get no error",
            f"{len(failed)} among {load.tally.told(seconds)}, 99 % in {load.tally.slowest(0.99):.0f} ms {'; '.join(failed[:3])}",
        ),
        none("every body is what was published", wrong, f"of {load.witness.looked:,} looked at"),
        Held(verifies, "`verifywire` passes", words),
    ]


def _said(writer: "subprocess.Popen[str]", seconds: float) -> str:
    """All that a writer says; it ends when its standard input does."""
    assert writer.stdin is not None
    assert writer.stdout is not None
    lines = []
    try:
        writer.wait(seconds)
    except subprocess.TimeoutExpired:
        lines.append(writer.communicate(timeout=120)[0])
    return "".join(lines) or writer.stdout.read()


async def _reader(load: Load, asked: list[Asked], number: int) -> None:
    dice = random.Random(number)
    known, new = chosen(asked, dice, SHARES), never_asked(dice)
    await load.client(lambda: new() if dice.random() < NEW else known(), lambda: dice.uniform(*THINK), f"10.0.0.{number}")
