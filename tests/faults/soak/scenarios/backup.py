"""Backups are made while processes write and readers read; each is restored elsewhere and compared, on both databases."""

import asyncio
from pathlib import Path
from typing import Final

import orjson

from tests.faults.machines import PROGRAMS, Postgres, directory_for_postgres
from tests.faults.soak.load import Load
from tests.faults.soak.outcome import Held, Run, none, true_to_the_chain
from tests.faults.soak.questions import fetch, questions
from tests.faults.soak.wires import Chain, Wire

WRITERS: Final = 3
READERS: Final = 8
PAUSE: Final = 0.3
BETWEEN: Final = 6.0  # seconds
THINK: Final = (0.02, 0.1)


async def run(run: Run) -> list[Held]:
    held = await _of("SQLite", run, {})
    if PROGRAMS is None:
        return held
    with directory_for_postgres() as directory:
        server = Postgres(directory / "primary").make().start()
        try:
            server.ask("CREATE DATABASE restored")
            return held + await _of(
                "Postgres", run, {"wire": server.url, "restored": server.url.removesuffix("postgres") + "restored"}
            )
        finally:
            server.stop()


async def _of(name: str, run: Run, databases: dict[str, str]) -> list[Held]:
    wire = Wire(run.scratch / name, {"DATABASE_URL": databases["wire"]} if databases else {})
    wire.fill(days=4, a_day=20)
    backup = run.scratch / f"{name}-backup"
    async with wire.served(WIRE_RATE_LIMIT="off") as served:
        load = Load(served.port)
        asked = await asyncio.to_thread(questions, served.port)
        writers = [wire.writer(number, PAUSE) for number in range(1, WRITERS + 1)]
        async with load.going_on(load.readers(READERS, asked, THINK)):
            await asyncio.sleep(BETWEEN)
            await asyncio.to_thread(wire.manage, "backup", backup)
            await asyncio.sleep(2)
            for writer in writers:
                await asyncio.to_thread(writer.communicate, timeout=120)
        held = await true_to_the_chain(wire, served, load)
        chain = await asyncio.to_thread(wire.chain)
        restored = Wire(run.scratch / f"{name}-restored", {"DATABASE_URL": databases["restored"]} if databases else {})
        held += await _compared(backup, restored, served.port, chain)
    return [Held(one.ok, f"{name}: {one.must}", one.measured) for one in held]


async def _compared(backup: Path, wire: Wire, port: int, chain: Chain) -> list[Held]:
    """Restore a backup into an empty installation and ask both wires the same."""
    await asyncio.to_thread(wire.manage, "restore", backup)
    verifies, words = await asyncio.to_thread(wire.verifies)
    restored = await asyncio.to_thread(wire.chain)
    manifest = orjson.loads((backup / "manifest.json").read_bytes())["manifest"]
    prefix = restored.links == chain.links[: manifest["sequence"]] and manifest["wire_sha256"] == restored.links[-1][1]
    paths = [f"/api/archive/{day}.json?revision={revision}" for day, revision in restored.days]
    async with wire.served(WIRE_RATE_LIMIT="off") as served:
        differ = [path for path in paths if await asyncio.to_thread(_differs, path, port, served.port)]
    return [
        Held(verifies, "the backup restores into an empty installation and `verifywire` passes", words),
        Held(prefix, "it has the chain up to when it was made, no more", f"{len(restored.links)} of {len(chain.links)}"),
        none("the restored wire serves the same bytes", differ, f"of {len(paths)} revisions of days differ"),
    ]


def _differs(path: str, *ports: int) -> bool:
    return len({fetch(port, path) for port in ports}) != 1
