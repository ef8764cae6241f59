"""What publishes is killed again and again at any moment, while its feeds fail and readers read."""

import asyncio
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, none
from tests.faults.soak.questions import chosen, questions
from tests.faults.soak.wires import Wire
from tests.feedserver import FeedServer
from tests.wire import newsroom

READERS: Final = 40
KILLS: Final = 50
WORKERS: Final = 2
THINK: Final = (0.3, 1.5)


async def run(run: Run) -> list[Held]:
    wire = Wire(run.scratch / "wire", {"WIRE_TRUSTED_PROXIES": "127.0.0.1", "WIRE_RATE_LIMIT": "600/m"})
    news = newsroom.Newsroom(random.Random(50), honest=True)
    killed, kills = 0, run.times(KILLS, 3)
    with FeedServer() as feeds, (run.scratch / "ingest.log").open("wb") as log:
        feeds.route("/feed.xml", news.answer)
        env = wire.environment()
        newsroom.point_at(feeds, env)
        with newsroom.forks(env, log) as forking:
            began = time.monotonic()
            status = newsroom.run(forking)
            whole = time.monotonic() - began  # of a run that nobody kills
            async with wire.served(WIRE_WORKERS=str(WORKERS)) as served:
                load = Load(served.port)
                asked = await questions(served.port)
                everyone = asyncio.gather(*(_reader(load, asked, number) for number in range(READERS)))
                began, news.honest = time.monotonic(), False
                while killed < kills:
                    news.go_on()
                    after = news.chance.uniform(0.0, whole)
                    killed += await asyncio.to_thread(newsroom.run, forking, after) == -signal.SIGKILL
                news.honest = True
                status += await asyncio.to_thread(newsroom.run, forking)
                seconds = time.monotonic() - began
                load.over.set()
                await everyone
    chain, rows = wire.chain(), _rows(wire.directory)
    verifies, words = wire.verifies()
    faults = load.tally.failed
    known = f"of {len(load.witness.days)} days and {len(load.witness.stories)} stories in some revision"
    return [
        Held(verifies and chain.is_one, f"{killed} kills leave the chain whole and `verifywire` passes", words),
        none("no half-published day is seen: every body is what its hash says", load.witness.wrong, f"of {load.witness.looked:,}"),
        none("nobody is told what was never published", load.witness.against(chain), known),
        Held(not faults, "readers get no error", f"{len(faults)} among {load.tally.told(seconds)} {'; '.join(faults[:3])}"),
        Held(
            status == 0 and news.whole(rows),
            "the next whole run completes it: no story lost, doubled or left waiting",
            f"{len(rows)} revisions of {len({row[0] for row in rows})} stories",
        ),
    ]


async def _reader(load: Load, asked: list[Any], number: int) -> None:
    dice = random.Random(number)
    await load.client(chosen(asked, dice), lambda: dice.uniform(*THINK), f"10.0.0.{number}")


def _rows(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "wire.sqlite3")) as connection:
        return connection.execute(newsroom.ROWS).fetchall()
