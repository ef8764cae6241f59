"""Hundreds of clients at both doors and the site while feeds are fetched and published."""

import asyncio
import random
from typing import Final

from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, true_to_the_chain
from tests.faults.soak.questions import chosen, questions
from tests.faults.soak.wires import Wire
from tests.feedserver import FeedServer
from tests.wire.newsroom import Newsroom, point_at

CLIENTS: Final = 500
SECONDS: Final = 300.0
WORKERS: Final = 2
HASTY: Final = tuple(f"10.9.0.{number}" for number in range(10))  # clients that ask more than the limit lets through
THINK: Final = (1.0, 3.0)  # seconds between two questions of one client; much longer, and its connection would be closed
HASTY_THINK: Final = (0.1, 0.3)
ROUND: Final = 3.0  # seconds between two changes of the feeds


async def run(run: Run) -> list[Held]:
    seconds = SECONDS * run.scale
    newsroom = Newsroom(random.Random(500), honest=True)
    wire = Wire(run.scratch / "wire", {"WIRE_FETCH_ALLOW": "127.0.0.0/8", "WIRE_TRUSTED_PROXIES": "127.0.0.1"})
    with FeedServer() as feeds:
        feeds.route("/feed.xml", newsroom.answer)
        wire.fill(days=4, a_day=60)
        point_at(feeds, wire.environment())
        wire.manage("ingest")
        before = len(wire.chain().links)
        async with wire.served(WIRE_WORKERS=str(WORKERS), WIRE_INGEST="4s") as served:
            load = Load(served.port)
            asked = await asyncio.to_thread(questions, served.port)
            programs = chosen(asked, random.Random(1), {"rest": 50, "mcp": 50})
            hasty = (load.reader(address, programs, HASTY_THINK) for address in HASTY)
            async with load.going_on(load.readers(CLIENTS, asked, THINK), *hasty):
                for _ in range(int(seconds / ROUND)):
                    await asyncio.sleep(ROUND)
                    newsroom.go_on()
            await asyncio.sleep(2 * ROUND)  # until the last change is published
            held = await true_to_the_chain(wire, served, load)
            workers, published = len(served.workers()), len(wire.chain().links) - before
    refused = f"{load.refused.total():,} × 429 for {len(load.refused)} of {len(HASTY)} hasty clients"
    return [
        Held(load.refused.keys() <= {*HASTY} and (seconds < 60 or bool(load.refused)), "429 for the hasty ones alone", refused),
        Held(published > 0, "publishing goes on", f"{published} snapshots"),
        Held(workers == WORKERS, "no worker is lost", f"{workers} of {WORKERS}"),
        *held,
    ]
