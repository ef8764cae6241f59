"""Recorded feeds are replayed day by day while whatever writes is killed at any moment; two clients follow, and keep copies."""

import asyncio
import datetime as dt
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks import archive
from tests.clients.server import ROOT
from tests.faults.soak.outcome import Held, Run, none
from tests.faults.soak.wires import HOST, Wire, troubles
from tests.wire import newsroom
from tests.wire.changes.copies import Copy, Following, Seen, in_the_database
from tests.wire.recorded import record

SECONDS: Final = 300.0
A_DAY: Final = 3.0  # seconds for each day of invented items
ITEMS: Final = 30  # of such a day
BACK: Final = dt.timedelta(days=2)  # replayed again with each day: what was killed is made up for
EDITS: Final = 0.25  # share of the work that is an editor's
PATIENCE: Final = 120.0  # seconds until who follows must be at the end
ARCHIVE: Final = "WIRE_SOAK_ARCHIVE"
"""Names a file of items as `loadwire` takes them, which are replayed in the place of invented ones."""


async def run(run: Run) -> list[Held]:
    wire = Wire(run.scratch / "wire", {"WIRE_RATE_LIMIT": "off"})
    await asyncio.to_thread(wire.manage, "migrate", "--verbosity", "0")
    recorded, log = run.scratch / "recorded", run.scratch / "replay.log"
    days = await asyncio.to_thread(_record, run, recorded)
    with log.open("wb") as said, newsroom.forks(wire.environment(), said) as forking:
        work = _Work(forking, recorded)
        status = work.whole(days[0], days[0])
        async with wire.served(WIRE_WORKERS="2") as served:
            with Following(f"http://{HOST}:{served.port}") as following:
                await asyncio.to_thread(work.go_through, days, SECONDS * run.scale)
                status += await asyncio.to_thread(work.whole, days[0], days[-1])
                written, stories = await asyncio.to_thread(in_the_database, wire.environment())
                await asyncio.to_thread(following.wait_for, len(written), PATIENCE)
            faults = served.troubles()
    verifies, words = await asyncio.to_thread(wire.verifies)
    kinds = Counter(kind.replace("_", " ") for _, kind, _ in written)
    done = f"{work.killed:,} of {work.begun:,} runs and edits were killed, over {len(days)} days"
    return [
        Held(status == 0, "complete runs before and after the kills succeed", done),
        Held([number for number, _, _ in written] == [*range(1, len(written) + 1)], "the log has no gap", _counted(kinds)),
        *_agrees("polls", following.polled, written, stories),
        *_agrees("listens to the stream", following.streamed, written, stories),
        Held(verifies, "the chain verifies", words),
        none("no fault in any log", [*faults, *troubles(log)]),
    ]


@dataclass(slots=True)
class _Work:
    """What is done to the wire. `takes`: seconds of the longest replay of a day that came to its end."""

    forking: "subprocess.Popen[str]"
    recorded: Path
    takes: float = 1.0
    begun: int = 0
    killed: int = 0

    def whole(self, first: dt.date, last: dt.date) -> int:
        return newsroom.run(self.forking, work=f"replay {self.recorded} {first} {last}")

    def go_through(self, days: list[dt.date], seconds: float) -> None:
        """Each day for its share of the time: again and again, killed at any moment of a run, or not at all."""
        chance, began = random.Random(27), time.monotonic()
        for number, day in enumerate(days, start=1):
            while time.monotonic() - began < seconds * number / len(days):
                work = f"replay {self.recorded} {day - BACK} {day}"
                if chance.random() < EDITS:
                    work = f"edit {chance.getrandbits(30)}"
                started, patience = time.monotonic(), chance.uniform(0.0, 1.5 * self.takes)
                status = newsroom.run(self.forking, patience, work=work)
                self.begun += 1
                self.killed += status == -signal.SIGKILL
                if status == 0 and work.startswith("replay"):
                    self.takes = max(self.takes, time.monotonic() - started)


def _record(run: Run, directory: Path) -> list[dt.date]:
    slugs = {one["name"]: one["slug"] for one in orjson.loads((ROOT / "fixtures" / "roster.json").read_bytes())}
    given = os.environ.get(ARCHIVE)
    file = Path(given) if given else run.scratch / "invented.ndjson"
    if not given:
        archive.write(file, max(5, round(SECONDS * run.scale / A_DAY)), ITEMS)
    return record(file, directory, slugs, random.Random(27))


def _agrees(who: str, copy: Copy, written: list[Seen], stories: dict[str, Any]) -> list[Held]:
    unlike = [f"change {place}: {got or 'nothing'}" for place, (got, told) in _unlike(copy.changes, written)]
    differing = [
        f"{story}: {[name for name in told if copy.stories.get(story, {}).get(name) != told[name]]}"
        for story, told in stories.items()
        if copy.stories.get(story) != told
    ]
    strange = sorted(copy.stories.keys() - stories.keys())
    return [
        none(f"a client that {who} sees each change once, in order", unlike, f"of {len(written):,} wrong"),
        none("at the end its copy equals the database", [*differing, *strange], f"of {len(stories):,} differ"),
    ]


def _unlike(copied: Sequence[Any], written: Sequence[Any]) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """Where two lists are not the same, from 1."""
    return ((place, pair) for place, pair in enumerate(zip_longest(copied, written), start=1) if pair[0] != pair[1])


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{kind} {number:,}" for kind, number in kinds.most_common())
