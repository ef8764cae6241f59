"""What is broken and mended while readers read. Each leaves the cluster whole, but for `primary_dies` in its short form."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from tests.clients.server import ROOT
from tests.cluster import network
from tests.cluster.hosts import FAKETIME
from tests.cluster.trial import DATABASES, WEBS, Trial

OF_A_RELEASE: Final = ("config", "wire", "sources", "citations", "mcpserver", "templates", "fixtures", "examples", "docs")
FILES: Final = ("manage.py", "pyproject.toml", "CHANGELOG.md", "SKILL.md", "server.json", "CONTRIBUTING.md", "SECURITY.md")
MIGRATION: Final = """from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("wire", "{last}")]
    operations = [migrations.AddField("story", "of_the_next_release", models.TextField(default="", db_default=""))]
"""


async def nothing_fails(trial: Trial) -> None:
    async with trial.period("nothing fails"):
        await asyncio.sleep(trial.choose(20, 5))


async def web_dies(trial: Trial) -> None:
    seconds = trial.choose(10, 6)
    async with trial.period(f"the processes of web-1 are killed, and started {seconds:.0f} s later") as mended:
        await trial.do(trial.cluster.hosts["web-1"].kill)
        await asyncio.sleep(seconds)
        trial.cluster.start_wire("web-1")
        mended()


async def web_loses_network(trial: Trial) -> None:
    async with trial.period("web-2 loses the network for 15 s") as mended:
        network.unplug("web-2")
        await asyncio.sleep(15)
        network.plug_in("web-2")
        mended()


async def primary_dies(trial: Trial) -> None:
    """As the how-to says: promote, and later copy the new primary to the old one's machine."""
    cluster = trial.cluster
    async with trial.period("the primary's machine dies; the replica is promoted 5 s later") as mended:
        network.unplug("db-1")
        await trial.do(cluster.hosts["db-1"].kill)
        await asyncio.sleep(5)
        await trial.do(cluster.ask, "db-2", "SELECT pg_promote()")
        mended()
    if not trial.is_short:
        async with trial.period("the old primary's machine comes back as a replica"):
            shutil.rmtree(cluster.directory("db-1"))
            network.plug_in("db-1")
            await trial.do(cluster.make_replica, "db-1", "db-2")


async def network_is_cut(trial: Trial) -> None:
    seconds = trial.choose(30, 5)
    async with trial.period(f"the network between web hosts and databases is cut for {seconds:.0f} s") as mended:
        for host in WEBS:
            network.cut(host, *DATABASES)
        await asyncio.sleep(seconds)
        for host in WEBS:
            network.join(host)
        mended()


async def redis_dies(trial: Trial) -> None:
    async with trial.period("Redis is killed, then off the network, 10 s each") as mended:
        await trial.do(trial.cluster.hosts["redis"].kill)
        await asyncio.sleep(10)
        network.unplug("redis")
        await asyncio.sleep(10)
        network.plug_in("redis")
        trial.cluster.start_redis()
        mended()


async def clocks_differ(trial: Trial) -> None:
    cluster = trial.cluster
    for host, words, offset in (
        ("web-2", "ahead", "+180s"),
        ("web-1", "behind", "-180s"),
        ("ingest", "behind", "-180s"),
        ("ingest", "ahead", "+180s"),
    ):
        async with trial.period(f"the clock of {host} is 3 minutes {words} for 12 s") as mended:
            # The clock of the kernel is one for all namespaces.
            wrong = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
            await trial.do(cluster.restart_wire, host, wrong)
            await asyncio.sleep(12)
            await trial.do(cluster.restart_wire, host)
            mended()


async def release_is_rolled_out(trial: Trial) -> None:
    """As the how-to says: migrate, then one host after the other; old processes read and publish on the new tables until then."""
    cluster = trial.cluster
    release = await trial.do(make_release, network.SCRATCH / "release")
    async with trial.period("a release with a migration is rolled out") as mended:
        cluster.release = release
        await trial.do(cluster.manage, "migrate", "--verbosity", "0")
        await asyncio.sleep(8)
        for host in (*WEBS, "ingest"):
            await trial.do(cluster.restart_wire, host)
            await asyncio.sleep(5)
        mended()


Scenario = Callable[[Trial], Awaitable[None]]
SHORT: Final[tuple[Scenario, ...]] = (nothing_fails, web_dies, primary_dies, network_is_cut)
WHOLE: Final[tuple[Scenario, ...]] = (
    nothing_fails,
    web_dies,
    web_loses_network,
    primary_dies,
    network_is_cut,
    redis_dies,
    clocks_differ,
    release_is_rolled_out,
)


def make_release(directory: Path) -> Path:
    """Copy the program, with one migration more, as the next release may have."""
    for name in OF_A_RELEASE:
        shutil.copytree(ROOT / name, directory / name, ignore=shutil.ignore_patterns("__pycache__", "eval"))
    for name in FILES:
        shutil.copy(ROOT / name, directory / name)
    migrations = directory / "wire" / "migrations"
    last = max(file.stem for file in migrations.glob("0*.py"))
    (migrations / f"{int(last[:4]) + 1:04}_of_the_next_release.py").write_text(MIGRATION.format(last=last))
    return directory
