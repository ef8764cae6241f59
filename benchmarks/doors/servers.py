"""Servers as processes of their own on one core, and what they cost."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.doors.client import Connection, connect
from benchmarks.doors.questions import FIRST_NUMBER, Question, fill

ROOT: Final = Path(__file__).resolve().parents[2]
HOST: Final = "127.0.0.1"
SERVER_CORE: Final = 1
CLIENT_CORE: Final = 0  # and what else the machine does, most of which is done on its first core
START: Final = 180.0  # seconds that a server may take until it answers; on a busy machine FastMCP takes 30
STOP: Final = 15.0
WAKE: Final = 0.3  # seconds for what a server put off while it stood still
TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")

UVICORN: Final = ("--no-server-header", "--log-level", "warning", "--no-proxy-headers")
"""The options of `manage.py serve`; HTTP parser and event loop are what uvicorn finds, the same for everyone."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`size` counts head and body; header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes
    size: int


@dataclass(slots=True)
class Server:
    """A running server. `cold` is the time from its start to its first answer, in seconds."""

    name: str
    process: "subprocess.Popen[bytes]"
    port: int
    cold: float = 0.0
    host: str = HOST

    def ask(self, question: Question, number: int = FIRST_NUMBER) -> Reply:
        """Raises: OSError."""
        with closing(connect(self.host, self.port)) as found:
            connection = Connection(found)
            found.sendall(fill(question.raw(f"{self.host}:{self.port}"), number))
            while not connection.read():
                pass
        head, _, body = connection.answer.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return Reply(int(first.split()[1]), headers, body, len(connection.answer))

    def workers(self) -> list[int]:
        """The processes that serve: the one that was started, or, where it only watches over others, those."""
        return _descendants(self.process.pid) or [self.process.pid]

    def stand_still(self) -> None:
        """For whoever is not asked: else it looks at its clock and its database, on the core of the one that is."""
        self._signal(signal.SIGSTOP)

    @contextmanager
    def going(self) -> Iterator[None]:
        self._signal(signal.SIGCONT)
        time.sleep(WAKE)
        try:
            yield
        finally:
            self.stand_still()

    def end(self) -> None:
        """Wakes the workers first: one that stands still hears nothing, and would outlive the process that watches over it."""
        if self.process.poll() is None:
            self._signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(STOP)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        for pid in {self.process.pid, *self.workers()}:
            os.kill(pid, number)

    def cpu_seconds(self) -> float:
        """User and system time of all workers up to now."""
        return sum(cpu_seconds(pid) for pid in self.workers())

    def resident(self) -> float:
        """MB of the largest worker."""
        return max(int(_stat(pid)[21]) * PAGE for pid in self.workers()) / 1e6


def cpu_seconds(pid: int) -> float:
    """User and system time of one process up to now."""
    return sum(int(field) for field in _stat(pid)[11:13]) / TICKS


def busy_seconds(core: int) -> float:
    """Return the seconds that a core has been busy since the machine started."""
    line = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith(f"cpu{core} "))
    user, nice, system, _idle, _waiting, interrupts, soft, stolen = (int(field) for field in line.split()[1:9])
    return (user + nice + system + interrupts + soft + stolen) / TICKS


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the program's name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def _descendants(pid: int) -> list[int]:
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [found for child in children for found in (child, *_descendants(child))]


def on_core(core: int) -> Callable[[], None]:
    """For a new process: stay on that core, if there is one."""
    return lambda: os.sched_setaffinity(0, {core % (os.cpu_count() or 1)})


@contextmanager
def serving(
    name: str, command: list[str], env: Mapping[str, str], port: int, first: Question, log: Path, core: int = SERVER_CORE
) -> Iterator[Server]:
    """A server from its answer to the first question on."""
    with log.open("wb") as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=dict(env), stdout=said, stderr=subprocess.STDOUT, preexec_fn=on_core(core)
        )
        server = Server(name, process, port)
        try:
            if not _answers(server, first, started + START):
                raise RuntimeError(f"{name} did not start:\n{log.read_text(errors='replace')[-3000:]}")
            server.cold = time.perf_counter() - started
            yield server
        finally:
            server.end()


def contender(name: str, module: str, first: Question, answers: Path, python: Path | None = None) -> AbstractContextManager[Server]:
    """A module of contenders/ under uvicorn, with the Python of another environment if need be."""
    port = free_port()
    arguments = ["-m", "uvicorn", f"benchmarks.doors.contenders.{module}:application", "--host", HOST, "--port", str(port)]
    env = plain_environment() | {"DOORS_ANSWERS": str(answers)}
    log = answers.with_name(f"{module}.log")
    return serving(name, [str(python or sys.executable), *arguments, "--workers", "1", *UVICORN], env, port, first, log)


def plain_environment() -> dict[str, str]:
    """This process's own, without settings: what a machine has set must not decide what is measured."""
    theirs = ("WIRE_", "DATABASE_", "REDIS_", "DJANGO_", "SECRET_KEY", "DEBUG", "HOST", "PORT", "PYTHONPATH", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(theirs)}


def _answers(server: Server, first: Question, ends: float) -> bool:
    while time.perf_counter() < ends and server.process.poll() is None:
        try:
            return server.ask(first).status == 200
        except OSError:
            time.sleep(0.01)
    return False


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
