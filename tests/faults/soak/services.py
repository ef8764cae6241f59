"""A Postgres and a Redis of our own on free ports, which may be stopped and frozen, and a proxy that can be cut."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
import redis

from tests.clients.server import free_port
from tests.faults.soak.outcome import Missing
from tests.faults.soak.wires import HOST

START: Final = 20.0  # seconds


class Postgres:
    """A cluster of its own in a temporary directory. Postgres refuses to run as root, which runs it as the user postgres."""

    def __init__(self, programs: Path, directory: Path) -> None:
        self.port = free_port()
        self._programs, self._data = programs, directory / "data"
        self._as: dict[str, Any] = {"cwd": directory, "check": True, "stdout": subprocess.DEVNULL}
        if os.geteuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
            self._as |= {"user": "postgres", "group": "postgres", "extra_groups": []}
        self._run("initdb", "-A", "trust", "-U", "wire", "-E", "UTF8", "--no-locale", "-D", str(self._data))
        self.start()

    def start(self) -> None:
        """From when it answers."""
        options = f"-p {self.port} -c listen_addresses={HOST} -c unix_socket_directories="
        log = str(self._data.with_name("log"))
        self._run("pg_ctl", "-D", str(self._data), "-l", log, "-o", options, "-w", "start")

    def stop(self) -> None:
        """As if it had crashed: no connection is closed politely, nothing is written that was not."""
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "stop")

    def create(self, name: str) -> str:
        """The address of a new database."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)

    def address(self, name: str, port: int | None = None) -> str:
        return f"postgres://wire@{HOST}:{port or self.port}/{name}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([str(self._programs / program), *arguments], **self._as)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Raises: Missing."""
    found = shutil.which("pg_ctl") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), reverse=True)), None)
    if found is None:
        raise Missing("There is no Postgres server here (pg_ctl).")
    directory = Path(tempfile.mkdtemp(prefix="wire-postgres-"))
    server = Postgres(Path(found).parent, directory)
    try:
        yield server
    finally:
        with suppress(subprocess.CalledProcessError):
            server.stop()
        shutil.rmtree(directory, ignore_errors=True)


class Redis:
    """A server that keeps nothing on disk."""

    def __init__(self, program: str) -> None:
        self.port = free_port()
        self.address = f"redis://{HOST}:{self.port}/0"
        self._program = program
        self.start()

    def start(self) -> None:
        """From when it answers. Raises: RuntimeError."""
        options = ["--port", str(self.port), "--bind", HOST, "--save", "", "--appendonly", "no", "--dir", tempfile.gettempdir()]
        self._process = subprocess.Popen([self._program, *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START
        while time.monotonic() < deadline:
            with suppress(redis.RedisError), redis.Redis.from_url(self.address, socket_timeout=1) as client:
                client.ping()
                return
            time.sleep(0.02)
        raise RuntimeError("Redis does not answer.")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def redis_server() -> Iterator[Redis]:
    """Raises: Missing."""
    program = shutil.which("redis-server")
    if program is None:
        raise Missing("There is no Redis server here (redis-server).")
    server = Redis(program)
    try:
        yield server
    finally:
        server.kill()


class Proxy:
    """Passes connections on to a port of this machine until it is cut (they end, none is accepted) or frozen (nothing moves)."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._moves = asyncio.Event()
        self._moves.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def restore(self) -> None:
        self._moves.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._pass_on, HOST, self.port)

    def cut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()

    def freeze(self) -> None:
        self._moves.clear()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._moves.wait()
        try:
            further_reader, further_writer = await asyncio.open_connection(HOST, self._target)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, further_writer}
        self._writers |= both
        try:
            await asyncio.gather(self._pump(reader, further_writer), self._pump(further_reader, writer))
        finally:
            self._writers -= both

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._moves.wait()
                writer.write(data)
                await writer.drain()
        writer.close()
