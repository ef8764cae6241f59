"""The programs of the hosts, started as the files in deploy/ say."""

import os
import pwd
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import psycopg

from tests.clients.server import ROOT, environment
from tests.cluster import network
from tests.faults.machines import PROGRAMS
from tests.faults.soak.wires import Chain

DEPLOY: Final = ROOT / "deploy"
EVERY: Final = "3s"  # in the place of deploy's half hour
START: Final = 240.0  # seconds; a busy machine is no defect
PRIMARY: Final = "host=db-1,db-2 dbname=wire user=wire target_session_attrs=read-write connect_timeout=2 tcp_user_timeout=2000"
FAKETIME: Final = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


@dataclass(slots=True)
class Host:
    """A host and the program that runs there."""

    name: str
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def log(self) -> Path:
        return network.SCRATCH / f"{self.name}.log"

    def start(self, command: list[str], env: dict[str, str], user: str = "root", cwd: Path = Path("/")) -> None:
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", self.name, *_as(user), *command],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def kill(self) -> None:
        """End everything that runs there at once, as when the machine loses its power."""
        for pid in network.list_processes(self.name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def stop(self) -> None:
        """End it as systemd does."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(20)


@dataclass(slots=True)
class Cluster:
    """All hosts. `settings`: what tests need beside deploy's own."""

    settings: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=dict)
    release: Path = ROOT

    def __post_init__(self) -> None:
        self.hosts = {name: Host(name) for name in network.ADDRESSES}

    def directory(self, host: str) -> Path:
        return network.SCRATCH / host

    def environment(self, host: str, *drop_ins: str) -> dict[str, str]:
        """Return what systemd gives a process of this host, by the unit, its drop-in and /etc/wire.env."""
        given = dict(word.split("=", 1) for line in _read_unit("Environment", *drop_ins) for word in shlex.split(line))
        text = (DEPLOY / "hosts" / "wire.env").read_text(encoding="utf-8").replace("wire.example", network.PUBLIC)
        given |= dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
        # Where byte-code is not kept, each of many processes would spend more time compiling than working.
        ours = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONUNBUFFERED": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
        ours["WIRE_DATA_DIR"] = str(self.directory(host))
        around = environment(self.directory(host), 8000)
        del around["WIRE_RATE_LIMIT"], around["WIRE_INGEST"]
        return around | given | ours | self.settings

    def start_wire(self, host: str, **env: str) -> None:
        drop_in = f"{host.partition('-')[0]}.conf"
        around = self.environment(host, drop_in)
        command = _read_unit("ExecStart", drop_in)[-1]
        command = re.sub(r"\$\{(\w+)\}", lambda found: around[found[1]], command).replace("30m", EVERY)
        self.hosts[host].start([sys.executable, *shlex.split(command)[1:]], around | env, cwd=self.release)

    def restart_wire(self, host: str, env: Mapping[str, str] = MappingProxyType({})) -> None:
        """End it as systemd does, start it, and wait until it serves. Raises: TimeoutError."""
        self.hosts[host].stop()
        self.start_wire(host, **env)
        if host != "ingest":
            until(lambda: self.is_served(host))

    def is_served(self, host: str) -> bool:
        """Ask as Caddy does whether a web host is up."""
        asked = urllib.request.Request(f"http://{host}:8000/healthz", headers={"Host": "localhost"})
        try:
            with urllib.request.urlopen(asked, timeout=2):  # noqa: S310  a host of ours
                return True
        except OSError:
            return False

    def start_caddy(self) -> None:
        home = network.SCRATCH / "caddy"
        home.mkdir(exist_ok=True)
        os.chown(home, *_ids("caddy"))
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "WIRE_HOST": network.PUBLIC}
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
        self.hosts["edge"].start(command, env, "caddy")

    def start_redis(self) -> None:
        options = ["--save", "", "--appendonly", "no", "--protected-mode", "no", "--maxmemory", "64mb"]
        self.hosts["redis"].start(["redis-server", *options], dict(os.environ), "redis")

    def start_postgres(self, host: str) -> None:
        options = ["-c", "listen_addresses=*", "-c", "unix_socket_directories=", "-c", "fsync=off"]
        command = [f"{PROGRAMS}/postgres", "-D", str(self.directory(host)), *options]
        self.hosts[host].start(command, dict(os.environ), "postgres")
        until(lambda: self.answers(host))

    def make_primary(self, host: str) -> None:
        directory = self.directory(host)
        directory.mkdir(mode=0o700)
        os.chown(directory, *_ids("postgres"))
        options = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        network.inside(host, *_as("postgres"), f"{PROGRAMS}/initdb", *options, "-D", str(directory))
        with (directory / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all,replication all {network.NETWORK}.0/24 trust\n")
        self.start_postgres(host)
        self.ask(host, "CREATE ROLE wire LOGIN REPLICATION", "CREATE DATABASE wire OWNER wire")

    def make_replica(self, host: str, primary: str) -> None:
        """Copy the primary and follow it; it commits nothing from then on that the replica has not."""
        directory = self.directory(host)
        directory.mkdir(mode=0o700)
        os.chown(directory, *_ids("postgres"))
        until(lambda: self._reaches(host, primary))  # its network may be a moment old
        source = f"host={primary} user=wire application_name={host}"
        options = ["-D", str(directory), "-R", "--checkpoint=fast", "--no-sync", "-X", "stream"]
        network.inside(host, *_as("postgres"), f"{PROGRAMS}/pg_basebackup", "-d", source, *options)
        self.start_postgres(host)
        self.ask(primary, f"ALTER SYSTEM SET synchronous_standby_names = '\"{host}\"'", "SELECT pg_reload_conf()")

    def _reaches(self, host: str, database: str) -> bool:
        try:
            network.inside(host, f"{PROGRAMS}/pg_isready", "--quiet", "--host", database)
        except subprocess.CalledProcessError:
            return False
        return True

    def ask(self, host: str, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Return the last statement's rows. Raises: psycopg.Error."""
        rows: list[tuple[object, ...]] = []
        with psycopg.connect(f"host={host} dbname={database} user=postgres connect_timeout=3", autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return rows

    def answers(self, host: str) -> bool:
        try:
            self.ask(host, "SELECT 1")
        except psycopg.Error:
            return False
        return True

    def manage(self, *arguments: object, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run a command on the host of ingest. Raises: RuntimeError with what it said, unless told not to check."""
        command = ["ip", "netns", "exec", "ingest", sys.executable, "manage.py", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.release, env=self.environment("ingest"), capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def find_primary(self) -> str:
        """Return the host that takes writes. Raises: StopIteration."""
        databases = [host for host in self.hosts if host.startswith("db-") and self.answers(host)]
        return next(host for host in databases if self.ask(host, "SELECT pg_is_in_recovery()") == [(False,)])

    def quote_logs(self) -> str:
        """Return the end of each host's log."""
        logs = {host.name: host.log.read_text(errors="replace") for host in self.hosts.values() if host.log.exists()}
        return "\n".join(f"{name}: …{log[-1_000:]}" for name, log in logs.items())

    def chain(self) -> Chain:
        """Return everything that was ever published."""
        file = network.SCRATCH / "chain.ndjson"
        self.manage("dumpwire", file)
        return Chain.read(file)


def until(so: Callable[[], bool], patience: float = START) -> float:
    """Wait until it is so; return the seconds that took. Raises: TimeoutError."""
    began = time.monotonic()
    while not so():
        if time.monotonic() > began + patience:
            raise TimeoutError(f"it is not so after {patience} s")
        time.sleep(0.1)
    return time.monotonic() - began


def _as(user: str) -> list[str]:
    return [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]


def _ids(user: str) -> tuple[int, int]:
    found = pwd.getpwnam(user)
    return found.pw_uid, found.pw_gid


def _read_unit(name: str, *drop_ins: str) -> list[str]:
    """Return the values of a setting of wire.service and its drop-ins, as systemd adds them up: an empty one drops those before."""
    values: list[str] = []
    for file in (DEPLOY / "systemd" / "wire.service", *(DEPLOY / "hosts" / one for one in drop_ins)):
        text = file.read_text(encoding="utf-8").replace("\\\n", " ")
        for value in re.findall(rf"^{name}=(.*)$", text, re.M):
            values = [*values, value] if value else []
    return values
