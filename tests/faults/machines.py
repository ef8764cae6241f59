"""What fails in these tests: Postgres instances of their own, a line that can be cut or go silent, a server that asks by it."""

import glob
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.clients.server import environment, free_port, running
from tests.mcpserver.asgi import LEGACY, message, rpc_headers
from wire.management.commands import serve

MANAGE: Final = Path(__file__).resolve().parents[2] / "manage.py"
PROGRAMS: Final = max(glob.glob("/usr/lib/postgresql/*/bin"), default=os.path.dirname(shutil.which("initdb") or "")) or None
PATIENCE: Final = 60.0  # seconds until a test gives up waiting for an answer, or for something to become so
FAST: Final = "-c fsync=off -c synchronous_commit=off -c max_connections=40 -c shared_buffers=16MB -c wal_level=replica"


class Postgres:
    """An instance in a directory of its own, as a user who is not root."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.port = directory, free_port()

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> "Postgres":
        self._run(
            "initdb", "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "-D", str(self.directory)
        )
        return self

    def follow(self, primary: "Postgres") -> "Postgres":
        """Become a streaming replica."""
        source = f"host=127.0.0.1 port={primary.port} user=postgres"
        self._run("pg_basebackup", "-d", source, "-D", str(self.directory), "-R", "--checkpoint=fast", "--no-sync", "-X", "stream")
        return self

    def start(self) -> "Postgres":
        options = f"{FAST} -c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.directory}"
        self._run("pg_ctl", "start", "-w", "-s", "-D", str(self.directory), "-l", str(self.directory / "log"), "-o", options)
        return self

    def stop(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "stop", "-m", "immediate", "-s", "-D", str(self.directory))

    def ask(self, sql: str) -> str:
        return self._run("psql", "-qAt", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-c", sql).strip()

    def _run(self, program: str, *arguments: str) -> str:
        command = [f"{PROGRAMS}/{program}", *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(command, cwd="/", check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        return done.stdout


@contextmanager
def directory_for_postgres() -> Iterator[Path]:
    """Where its user may write."""
    directory = Path(tempfile.mkdtemp(prefix="wire-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(directory, "postgres")
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


Pair = tuple[socket.socket, socket.socket | None]
"""A connection and its continuation; none for one that was made while nothing came through."""


class Line:
    """A TCP line to a port: `up`, `cut` (connections end, new ones are refused) or `silent` (nothing comes through any more)."""

    def __init__(self, to: int) -> None:
        self.port, self._to = free_port(), to
        self._state, self._pairs, self._ended = "up", list[Pair](), False
        self._changing = threading.Lock()  # of the pairs and the state, which the test changes while the thread carries
        self._listener: socket.socket | None = None
        self.up()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def up(self) -> None:
        if self._state != "up":
            self._turn("up")  # what was swallowed is lost: such a connection never works again
        self._listen()

    def cut(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._turn("cut")

    def silent(self) -> None:
        with self._changing:
            self._state = "silent"

    def close(self) -> None:
        self._ended = True
        self._thread.join()
        self.cut()

    def _listen(self) -> None:
        if self._listener is None:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            listener.listen(50)
            self._listener = listener

    def _turn(self, state: str) -> None:
        """Into this state, without the connections of before."""
        with self._changing:
            pairs, self._pairs, self._state = self._pairs, [], state
        for pair in pairs:
            self._end(pair)

    def _end(self, pair: Pair) -> None:
        for end in filter(None, pair):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _carry(self) -> None:
        while not self._ended:
            of = {end: pair for pair in self._pairs for end in pair if end is not None}
            try:
                ready = select.select([*filter(None, [self._listener]), *of], [], [], 0.02)[0]
            except (OSError, ValueError):
                continue  # an end was closed meanwhile
            for end in ready:
                try:
                    if end in of:
                        self._pass_on(end, of[end])
                    elif end is self._listener:  # else it was cut meanwhile
                        self._accept()
                except OSError:
                    if end in of:
                        self._drop(of[end])

    def _pass_on(self, end: socket.socket, pair: Pair) -> None:
        data = end.recv(65_536)
        other = pair[1] if end is pair[0] else pair[0]
        if not data or (self._state == "up" and other is None):
            self._drop(pair)
        elif self._state == "up" and other is not None:
            other.sendall(data)

    def _drop(self, pair: Pair) -> None:
        with self._changing:
            self._pairs = [one for one in self._pairs if one is not pair]
        self._end(pair)

    def _accept(self) -> None:
        assert self._listener is not None
        state, near = self._state, self._listener.accept()[0]
        try:
            far = socket.create_connection(("127.0.0.1", self._to)) if state == "up" else None
        except OSError:  # the other end is stopped
            near.close()
            return
        with self._changing:
            if state == self._state:
                self._pairs = [*self._pairs, (near, far)]
                return
        self._end((near, far))  # it was made for a line that has changed meanwhile


class Wire:
    """A served wire and its clients."""

    def __init__(self, site: str, log: Path) -> None:
        self.site, self.log = site, log
        self.client = httpx2.Client(base_url=site, timeout=PATIENCE, trust_env=False)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.client.get(path, headers=headers)

    def rpc(self, method: str, era: str = LEGACY, **params: Any) -> dict[str, Any]:
        asked = message(method, params, era)
        answer = self.client.post("/mcp", json=asked, headers=rpc_headers(asked, era))
        found: dict[str, Any] = answer.json()
        assert found["id"] == asked["id"]
        return found

    def call(self, tool: str, era: str = LEGACY, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.rpc("tools/call", era, name=tool, arguments=arguments)["result"]
        return found

    def ready(self) -> bool:
        return self.get("/readyz").status_code == 200

    def figure(self, name: str) -> float:
        lines = self.get("/metrics", authorization=f"Bearer {TOKEN}").text.splitlines()
        return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} "))


TOKEN: Final = "quince-marmalade-and-orange-peel"


@contextmanager
def served(data_dir: Path, **env: str) -> Iterator[Wire]:
    """As `manage.py serve` starts it."""
    port = free_port()
    arguments = ["-m", "uvicorn", *serve.UVICORN, "--port", str(port)]
    with ExitStack() as stack:
        log = data_dir / f"server-{port}.log"
        around = environment(data_dir, port) | {"WIRE_METRICS_TOKEN": TOKEN} | env
        wire = Wire(stack.enter_context(running(arguments, around, log, ready="/healthz")), log)
        stack.callback(wire.client.close)
        yield wire


def manage(data_dir: Path, *arguments: object, **env: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(MANAGE), *map(str, arguments)]
    around = environment(data_dir, 8000) | env
    return subprocess.run(command, env=around, capture_output=True, text=True, check=False, timeout=120)


def until(so: Callable[[], bool]) -> None:
    """Wait until it is so. Raises: TimeoutError after a time that no machine needs."""
    ends = time.monotonic() + PATIENCE
    while not so():
        if time.monotonic() > ends:
            raise TimeoutError(f"it is not so after {PATIENCE} s")
        time.sleep(0.05)
