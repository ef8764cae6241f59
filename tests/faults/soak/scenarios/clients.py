"""Hundreds of clients at both doors and the site while feeds are fetched and published."""

import asyncio
import random
from typing import Final

from tests.faults.soak.load import Load, most_in
from tests.faults.soak.outcome import Held, Run, most, none
from tests.faults.soak.questions import Asked, chosen, questions
from tests.faults.soak.wires import Wire
from tests.feedserver import FeedServer
from tests.wire.newsroom import Newsroom, point_at

CLIENTS: Final = 500
MINUTES: Final = 5.0
WORKERS: Final = 2
HASTY: Final = 10  # clients that ask more than the limit lets through
THINK: Final = (1.0, 3.0)  # seconds between two questions of one client; much longer, and its connection would be closed
HASTY_THINK: Final = (0.1, 0.3)
LIMIT: Final = 60
NEW_WITHIN: Final = 2.0  # seconds; promised is one, where clients and feeds do not share the machine with the server
ROUND: Final = 3.0  # seconds between two changes of the feeds
SHARES: Final = {"rest": 50, "mcp": 50}


async def run(run: Run) -> list[Held]:
    seconds = run.seconds(MINUTES)
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
            asked = await questions(served.port)
            everyone = asyncio.gather(*(_client(load, asked, number) for number in range(CLIENTS)), _edit(load, newsroom))
            await asyncio.sleep(seconds)
            load.over.set()
            await everyone
            troubles, workers = served.troubles(), len(served.workers())
    chain = wire.chain()
    verifies, words = wire.verifies()
    tally, witness = load.tally, load.witness
    hasty = {_address(number) for number in range(HASTY)}
    passed = max((most_in(times, 60) for address, times in tally.passed.items() if address in hasty), default=0)
    published = len(chain.links) - before
    known = f"of {len(witness.days)} days and {len(witness.stories)} stories in some revision"
    return [
        Held(
            not tally.failed, "no error but 429", f"{len(tally.failed)} among {tally.told(seconds)} {'; '.join(tally.failed[:3])}"
        ),
        none(
            "every body is what its hash and its ETag say; no worker goes back", witness.wrong, f"of {witness.looked:,} looked at"
        ),
        none("nobody is told what was never published", witness.against(chain), known),
        most("what is new is told by every worker within 2 s", max(witness.stale, 0.0), NEW_WITHIN, "s after it was first told"),
        Held(
            set(tally.refused) <= hasty and (passed <= LIMIT) and (tally.refused.total() > 0 or seconds < 30),
            "429 for the hasty ones alone, who get 60 in any minute",
            f"{tally.refused.total():,} × 429 for {len(tally.refused)} of {HASTY} hasty clients; the most in a minute {passed}",
        ),
        Held(
            published > 0,
            "publishing goes on",
            f"{published} snapshots; half the answers within {tally.slowest(0.5):.1f} ms, 99 % within {tally.slowest(0.99):.0f} ms",
        ),
        Held(verifies and chain.is_one, "the chain is one and `verifywire` passes", words),
        Held(
            not troubles and workers == WORKERS, "no fault in the log, no worker lost", f"{len(troubles)} faults, {workers} workers"
        ),
    ]


async def _client(load: Load, asked: list[Asked], number: int) -> None:
    """One of those that read at leisure everything there is, or one that asks the doors too often."""
    dice = random.Random(number)
    if await load.pause(dice.uniform(0, THINK[1])):
        return
    hasty = number < HASTY
    think = HASTY_THINK if hasty else THINK
    choose = chosen(asked, dice, SHARES) if hasty else chosen(asked, dice)
    await load.client(choose, lambda: dice.uniform(*think), _address(number))


def _address(number: int) -> str:
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


async def _edit(load: Load, newsroom: Newsroom) -> None:
    while not await load.pause(ROUND):
        newsroom.go_on()
