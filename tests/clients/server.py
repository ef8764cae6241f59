"""A server of its own for the clients to ask: the sample wire, on a free port, stopped afterwards.

In the services run it is two workers on a Postgres database of their own and on Redis.
"""

import atexit
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

ROOT: Final = Path(__file__).resolve().parents[2]
START: Final = 180.0  # seconds that a server may take until it answers
STOP: Final = 15.0


def fill(data_dir: Path) -> None:
    """Put the sample wire into an empty data directory, with all that other servers can have without a network."""
    env = environment(data_dir, 8000) | services(data_dir)
    file = data_dir / "claims_de.json"  # of its own, for loading locks it, and another worker of the tests may be loading, too
    data_dir.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "fixtures" / "factchecks" / file.name, file)
    claims = ("loadfactchecks", str(file), "--language", "de", "--no-vectors")
    run_commands(env, ("migrate",), ("loadsample",), claims)


def run_commands(env: dict[str, str], *commands: tuple[str, ...]) -> None:
    """Run management commands in one process, for each start takes two seconds."""
    code = "import django\ndjango.setup()\nfrom django.core.management import call_command\n"
    run = [sys.executable, "-c", f"{code}for command in {commands}: call_command(*command)"]
    subprocess.run(run, cwd=ROOT, env=env | {"DJANGO_SETTINGS_MODULE": "config.settings"}, stdout=subprocess.DEVNULL, check=True)


@contextmanager
def serving(data_dir: Path, *, fixtures: bool = False) -> Iterator[str]:
    """The site's address while it is served; with the conformance suite's fixtures if asked for."""
    port = free_port()
    env = environment(data_dir, port) | services(data_dir)
    with_fixtures = [
        "-m",
        "uvicorn",
        "tests.clients.fixtures_app:application",
        "--http",
        "config.http.uvicorn_protocol:WireProtocol",
    ]
    command = [*with_fixtures, "--port", str(port)] if fixtures else ["manage.py", "serve"]
    with running(command, env, data_dir / f"server-{port}.log") as site:
        yield site


@contextmanager
def running(arguments: list[str], env: dict[str, str], log: Path, ready: str = "/readyz") -> Iterator[str]:
    """The site's address while a Python of ours serves it, from when it answers at `ready`."""
    with log.open("w+", encoding="utf-8") as said:
        server = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=env, stdout=said, stderr=subprocess.STDOUT)
        try:
            site = f"http://localhost:{env['PORT']}"
            if not _answers(site + ready, server):
                said.seek(0)
                raise RuntimeError(f"The server did not start:\n{said.read()}")
            yield site
        finally:
            server.terminate()
            try:
                server.wait(STOP)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def environment(data_dir: Path, port: int) -> dict[str, str]:
    """This process's own, without its settings: what a machine or a test has set must not decide what is served."""
    theirs = ("WIRE_", "DATABASE_", "REDIS_", "DJANGO_", "SECRET_KEY", "DEBUG", "HOST")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    return kept | {"WIRE_DATA_DIR": str(data_dir), "PORT": str(port), "WIRE_RATE_LIMIT": "off", "WIRE_INGEST": "off"}


@cache
def services(data_dir: Path) -> dict[str, str]:
    """For the services run, else nothing: two workers, Redis, and a database of this directory's own."""
    base, redis = (os.environ.get(name, "") for name in ("TEST_DATABASE_URL", "TEST_REDIS_URL"))
    if not base:
        return {}
    name = f"test_{hashlib.sha256(str(data_dir).encode()).hexdigest()[:16]}"
    _execute(base, "CREATE DATABASE {}", name)
    atexit.register(_execute, base, "DROP DATABASE {} WITH (FORCE)", name)
    return {"DATABASE_URL": urlunsplit(urlsplit(base)._replace(path=f"/{name}")), "REDIS_URL": redis, "WIRE_WORKERS": "2"}


def _execute(server: str, statement: str, database: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(database)))


def _answers(address: str, server: "subprocess.Popen[bytes]") -> bool:
    ends = time.monotonic() + START
    while time.monotonic() < ends and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310  an http address of ours
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
