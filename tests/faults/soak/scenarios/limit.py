"""One client asks six hundred times in a minute, by whatever way it may seem to be many."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

from tests.faults.soak.load import Connection, Load, most_in
from tests.faults.soak.outcome import Held, Run
from tests.faults.soak.questions import Asked, questions
from tests.faults.soak.wires import HOST, Served, Wire

ASKED: Final = 600
LIMIT: Final = 60
OF_FOUR: Final = 66  # the most that may pass over four workers
IN_A_SECOND: Final = 61
SPAN: Final = 58 / 60  # minutes from the first to the last request, so that none is of another minute
WORKERS: Final = 4
CONNECTIONS: Final = 12


@dataclass(frozen=True, slots=True)
class _Client:
    """Where it connects from, what X-Forwarded-For it sends with each request, and whether it asks all at once."""

    name: str
    source: str = HOST
    claims: Callable[[random.Random], str] = lambda _dice: ""
    at_once: bool = False


PLAIN: Final = (
    _Client("plain", "127.0.0.11"),
    _Client("all at once", "127.0.0.12", at_once=True),
    _Client("forging X-Forwarded-For", "127.0.0.13", lambda dice: f"192.0.2.{dice.randint(1, 254)}"),
    _Client("forging it all at once", "127.0.0.14", lambda dice: f"198.51.100.{dice.randint(1, 254)}", at_once=True),
)
PROXIED: Final = (
    _Client("behind a trusted proxy", claims=lambda _dice: "192.0.2.7"),
    _Client("walking through its /64", claims=lambda dice: f"2001:db8:1:2:{dice.getrandbits(16):x}::{dice.getrandbits(16):x}"),
    _Client(
        "walking through it all at once",
        claims=lambda dice: f"2001:db8:1:3:{dice.getrandbits(16):x}::{dice.getrandbits(16):x}",
        at_once=True,
    ),
    _Client("behind a proxy, forging what is further away", claims=lambda dice: f"203.0.113.{dice.randint(1, 254)}, 192.0.2.9"),
)


async def run(run: Run) -> list[Held]:
    wire = Wire(run.scratch / "wire")
    wire.fill(days=2, a_day=20)
    proxied = {"WIRE_TRUSTED_PROXIES": "127.0.0.1"}
    rows = []
    for workers in (1, WORKERS):
        async with wire.served(WIRE_WORKERS=str(workers)) as direct, wire.served(WIRE_WORKERS=str(workers), **proxied) as behind:
            asked = [one for one in await questions(direct.port) if one.door != "site"]
            both = [(direct, client) for client in PLAIN] + [(behind, client) for client in PROXIED]
            spans = (_told(run, served, client, asked, workers) for served, client in both)
            rows += await asyncio.gather(*spans)
    return rows


async def _told(run: Run, served: Served, client: _Client, asked: list[Asked], workers: int) -> Held:
    load = Load(served.port)
    span = 0.0 if client.at_once else run.seconds(SPAN, 6)
    dice, numbers = random.Random(client.name), count()
    connections, met = await _spread(served, client.source, min(3, workers))
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def hurry(connection: Connection) -> None:
        while (number := next(numbers)) < ASKED:
            await asyncio.sleep(began + span * number / ASKED - loop.time())
            await load.ask(connection, dice.choice(asked), client.claims(dice), client=client.name)
        connection.close()

    await asyncio.gather(*map(hurry, connections))
    times, refused = load.tally.passed[client.name], load.tally.refused[client.name]
    faults = [*load.tally.failed, *load.witness.wrong]
    in_second, bound = most_in(times, 1.0), LIMIT if workers == 1 else OF_FOUR
    may = str(bound) if workers == 1 else f"at most {bound}"
    return Held(
        LIMIT <= len(times) <= bound and in_second <= IN_A_SECOND and len(times) + refused == ASKED and not faults,
        f"{workers} worker{'s' if workers > 1 else ''}, {client.name}: {may} of {ASKED} pass",
        f"{len(times)}, at most {in_second} in a second, {refused} × 429, by {met} workers {'; '.join(faults[:2])}",
    )


async def _spread(served: Served, source: str, wanted: int) -> tuple[list[Connection], int]:
    """Open connections, and how many workers hold them: at least so many as wanted, since that they differ is what is tried."""
    while True:
        connections = [Connection(served.port, source) for _ in range(CONNECTIONS)]
        for connection in connections:
            await connection.open()
        await asyncio.sleep(0.1)  # until they are accepted
        owners = served.owners()
        met = {owners[connection.local] for connection in connections if connection.local in owners}
        if len(met) >= wanted:
            return connections, len(met)
        for connection in connections:
            connection.close()
