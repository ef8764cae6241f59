"""What publishes is killed again and again at any moment, while its feeds fail and readers read."""

import asyncio
import random
import signal
import sqlite3
import time
from contextlib import closing
from typing import Final

from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, true_to_the_chain
from tests.faults.soak.questions import questions
from tests.faults.soak.wires import Wire
from tests.feedserver import FeedServer
from tests.wire import newsroom

READERS: Final = 40
KILLS: Final = 50
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
            async with wire.served(WIRE_WORKERS="2") as served:
                load = Load(served.port)
                asked = await asyncio.to_thread(questions, served.port)
                async with load.going_on(load.readers(READERS, asked, THINK)):
                    news.honest = False
                    while killed < kills:
                        news.go_on()
                        after = news.chance.uniform(0.0, whole)
                        killed += await asyncio.to_thread(newsroom.run, forking, after) == -signal.SIGKILL
                    news.honest = True
                    status += await asyncio.to_thread(newsroom.run, forking)
                held = await true_to_the_chain(wire, served, load)
    with closing(sqlite3.connect(wire.directory / "wire.sqlite3")) as connection:
        rows = connection.execute(newsroom.ROWS).fetchall()
    completed = f"after {killed} kills the next complete run leaves no story lost, duplicated or waiting"
    stories = len({row[0] for row in rows})
    return [Held(status == 0 and news.whole(rows), completed, f"{len(rows)} revisions of {stories} stories"), *held]
