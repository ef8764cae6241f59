"""Backups are taken while processes write and readers read; each is restored elsewhere and compared, on both databases."""

import asyncio
import random
from pathlib import Path
from typing import Any, Final

import orjson

from tests.faults.soak.load import Connection, Load
from tests.faults.soak.outcome import Held, Run
from tests.faults.soak.questions import days_now, fetch, never_asked
from tests.faults.soak.services import Postgres, postgres
from tests.faults.soak.wires import Chain, Wire, end

WRITERS: Final = 3
READERS: Final = 8
BACKUPS: Final = 3
PAUSE: Final = 0.3
BETWEEN: Final = 0.1  # minutes
COMPARED: Final = 60  # past revisions of days at most, by each backup


async def run(run: Run) -> list[Held]:
    with postgres() as server:
        held = await _of("SQLite", Wire(run.scratch / "sqlite"), None, run)
        return held + await _of("Postgres", Wire(run.scratch / "postgres", {"DATABASE_URL": server.create("wire")}), server, run)


async def _of(name: str, wire: Wire, server: Postgres | None, run: Run) -> list[Held]:
    wire.fill(days=4, a_day=20)
    async with wire.served(WIRE_RATE_LIMIT="off") as served:
        load = Load(served.port)
        writers = [wire.started("writer", number, PAUSE) for number in range(1, WRITERS + 1)]
        readers = asyncio.gather(*(_reader(load, number) for number in range(READERS)))
        backups = []
        for number in range(run.times(BACKUPS)):
            await asyncio.sleep(run.seconds(BETWEEN, 3))
            backups.append(wire.directory.parent / f"{name}-backup-{number}")
            await wire.managed("backup", backups[-1])
        await asyncio.sleep(2)
        await asyncio.to_thread(end, *writers)
        load.over.set()
        await readers
        chain = await asyncio.to_thread(wire.chain)
        found = [await _restored(backup, server, served.port, chain, load) for backup in backups]
    at = ", ".join(str(one["snapshots"]) for one in found)
    verified = all(one["verifies"] for one in found)
    differ = [day for one in found for day in one["differ"]]
    then = sum(one["then"] for one in found)
    failed = [*load.tally.failed, *load.witness.wrong]
    return [
        Held(
            verified,
            f"{name}: {len(found)} backups under {WRITERS} writers restore into an empty installation and `verifywire` passes",
            f"at snapshot {at} of {len(chain.links)}",
        ),
        Held(all(one["prefix"] for one in found), f"{name}: each holds the chain up to its moment and nothing else", f"to {at}"),
        Held(
            not differ and then > 0,
            f"{name}: the restored wire answers the same bytes as the wire did at that moment",
            f"{len(differ)} differ of {sum(one['compared'] for one in found)} days' JSON, {then} of them as read then",
        ),
        Held(
            not failed, f"{name}: readers get no error meanwhile", f"{len(failed)} among {load.tally.all:,} {'; '.join(failed[:2])}"
        ),
    ]


async def _reader(load: Load, number: int) -> None:
    """Every day there is, over and over, so that each revision is read while it is the newest."""
    connection, dice = Connection(load.port), random.Random(number)
    new = never_asked(dice)
    while not load.over.is_set():
        for asked in [*await days_now(load.port), new()]:
            if await load.pause(0.02):
                break
            await load.ask(connection, asked)
    connection.close()


async def _restored(backup: Path, server: Postgres | None, port: int, chain: Chain, load: Load) -> dict[str, Any]:
    """Restore a backup elsewhere and ask both wires the same."""
    settings = {"DATABASE_URL": server.create(backup.name)} if server else {}
    wire = Wire(backup.with_name(f"{backup.name}-restored"), settings)
    await wire.managed("restore", backup)
    verifies, _ = await asyncio.to_thread(wire.verifies)
    restored = await asyncio.to_thread(wire.chain)
    told = orjson.loads((backup / "manifest.json").read_bytes())["manifest"]
    days = [*restored.days]
    past = random.Random(1).sample(days, min(COMPARED, len(days)))
    async with wire.served(WIRE_RATE_LIMIT="off") as served:
        differ, then = [], 0
        for day, revision in past:
            path = f"/api/archive/{day}.json?revision={revision}"
            if await asyncio.to_thread(fetch, port, path) != await asyncio.to_thread(fetch, served.port, path):
                differ.append(path)
        again = Load(served.port)
        connection = Connection(served.port)
        now = await days_now(served.port)
        for asked in now:
            await again.ask(connection, asked)
        connection.close()
        for key, body in again.witness.bodies.items():
            before = load.witness.bodies.get(key)
            then += before is not None
            if before not in (None, body):
                differ.append(f"{key[0]} at snapshot {key[1]}")
    faults = [*again.tally.failed, *again.witness.wrong]
    return {
        "verifies": verifies,
        "snapshots": len(restored.links),
        "prefix": restored.links == chain.links[: told["sequence"]] and told["wire_sha256"] == restored.links[-1][1],
        "compared": len(past) + len(now),
        "then": then,
        "differ": differ + faults,
    }
