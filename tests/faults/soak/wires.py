"""Installations of their own, commands that run there, and the processes that serve them."""

import asyncio
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson

from benchmarks import archive
from tests.clients.server import ROOT, START, STOP, environment, free_port

HOST: Final = "127.0.0.1"
SITE: Final = "https://wire.example"  # the same in every answer, whatever the port
TROUBLE: Final = ("Traceback (most recent call last)", "database is locked", " ERROR ")


@dataclass(slots=True)
class Served:
    """A wire that is served by `manage.py serve`."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    def workers(self) -> list[int]:
        """The processes that answer, without the one that watches over them and the one that ingests."""
        children = [pid for pid in _descendants(self.process.pid) if b"spawn_main" in _command(pid)]
        return children or [pid for pid in _descendants(self.process.pid) if b"uvicorn" in _command(pid)]

    def troubles(self) -> list[str]:
        """Lines of the log that tell of a fault."""
        return troubles(self.log)


@dataclass(slots=True)
class Wire:
    """A data directory and the settings of whatever runs there."""

    directory: Path
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self, **more: str) -> dict[str, str]:
        ours = {
            "WIRE_SITE_URL": SITE,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONUNBUFFERED": "1",
            "WIRE_RATE_LIMIT": "60/m",
        }
        # Where byte-code is not kept, each of many processes would spend more time compiling than working.
        ours |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(self.directory.parent / "bytecode")}
        return environment(self.directory, free_port()) | ours | self.settings | more

    def manage(self, *arguments: object, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Raises: RuntimeError with what the command said, unless told not to check."""
        command = [sys.executable, "manage.py", *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env=self.environment(), capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command[1:])} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def fill(self, days: int, a_day: int) -> None:
        """Migrate, load and publish so many days of invented items, long sealed, and open the desk."""
        file = self.directory.with_suffix(".ndjson")
        archive.write(file, days, a_day)
        self.manage("migrate", "--verbosity", "0")
        self.manage("loadwire", file)

    @asynccontextmanager
    async def served(self, **settings: str) -> AsyncIterator[Served]:
        """As an operator serves it, from when it is ready. Raises: RuntimeError with its log."""
        env = self.environment(**settings)
        log = self.directory.parent / f"served-{env['PORT']}.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "serve"], cwd=ROOT, env=env, stdout=said, stderr=subprocess.STDOUT
            )
        server = Served(process, int(env["PORT"]), log)
        try:
            if not await asyncio.to_thread(_ready, server, int(env.get("WIRE_WORKERS", "1"))):
                raise RuntimeError(f"The wire is not served:\n{log.read_text(errors='replace')[-3000:]}")
            yield server
        finally:
            await asyncio.to_thread(end, process)

    def writer(self, number: int, pause: float) -> "subprocess.Popen[str]":
        """`writer.py` as a process of this wire, which ends when its standard input does; its faults are among what it says."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.soak.writer", str(number), str(pause)],
            cwd=ROOT,
            env=self.environment(),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def chain(self) -> "Chain":
        """Everything that was ever published here."""
        file = self.directory.parent / f"{self.directory.name}-chain.ndjson"
        self.manage("dumpwire", file)
        return Chain.read(file)

    def verifies(self) -> tuple[bool, str]:
        """Whether `manage.py verifywire` passes, and its words without the hash of the chain's end, which differs in each run."""
        done = self.manage("verifywire", check=False)
        words = (done.stdout + done.stderr).strip().replace("database: ", "")
        return done.returncode == 0, re.sub(r"; the chain ends in (None|[0-9a-f]{64})\.$", "", words)


@dataclass(slots=True)
class Chain:
    """Hashes of days and stories by their revision, each story's published revision, and each snapshot's place, hash and link."""

    days: dict[tuple[str, int], str] = field(default_factory=dict)
    stories: dict[tuple[str, int], str] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    links: list[tuple[int, str, str | None]] = field(default_factory=list)

    @classmethod
    def read(cls, dump: Path) -> "Chain":
        chain = cls()
        with dump.open("rb") as lines:
            for record in map(orjson.loads, lines):
                if record["kind"] == "snapshot":
                    chain.days[record["wire_date"], record["revision"]] = record["wire_sha256"]
                    chain.links.append((record["sequence"], record["wire_sha256"], record["previous_sha256"]))
                elif record["kind"] == "story":
                    if record["current"] is not None:
                        chain.shown[record["chatbotnews_id"]] = record["current"]
                    for revision in record["revisions"]:
                        chain.stories[record["chatbotnews_id"], revision["revision"]] = revision["story_sha256"]
        return chain

    @property
    def is_one(self) -> bool:
        """Whether places are 1, 2, 3 … and each names the one before."""
        before: list[str | None] = [None, *(sha256 for _, sha256, _ in self.links)]
        return all(link[0] == n and link[2] == before[n - 1] for n, link in enumerate(self.links, start=1))


def troubles(log: Path) -> list[str]:
    """Lines that tell of a fault."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if any(word in line for word in TROUBLE)]


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to stop, wait, and kill it if it does not."""
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ready(server: Served, workers: int) -> bool:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and server.process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"http://{HOST}:{server.port}/readyz", timeout=5):
            if len(server.workers()) >= workers:
                return True
        time.sleep(0.1)
    return False


def _descendants(pid: int) -> list[int]:
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [found for child in children for found in (child, *_descendants(child))]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
