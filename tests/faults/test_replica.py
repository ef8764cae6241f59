"""The doors read a streaming replica, and the primary while it is away or behind; nobody is sent back in time."""

import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import further, load
from tests.faults.machines import Line, Postgres, Wire, manage, served, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.services,
    pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="of the services run"),
]


numbers = itertools.count(500)


@pytest.fixture(scope="module")
def replica(postgres: Postgres) -> Iterator[Postgres]:
    instance = Postgres(postgres.directory.parent / "replica").follow(postgres).start()
    yield instance
    instance.stop()


@pytest.fixture(scope="module")
def to_replica(replica: Postgres) -> Iterator[Line]:
    line = Line(replica.port)
    yield line
    line.close()


@pytest.fixture(scope="module")
def to_primary(postgres: Postgres) -> Iterator[Line]:
    line = Line(postgres.port)
    yield line
    line.close()


@pytest.fixture(scope="module")
def directory(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the primary's wire."""
    directory = tmp_path_factory.mktemp("wire")
    postgres.ask("ALTER SYSTEM SET log_statement = 'all'")  # for whoever connects from here on, and for the replica made of it
    postgres.ask("SELECT pg_reload_conf()")
    assert manage(directory, "migrate", "--verbosity", 0, DATABASE_URL=postgres.url).returncode == 0
    load(directory, DATABASE_URL=postgres.url)
    return directory


@pytest.fixture(scope="module")
def urls(
    directory: Path,  # noqa: ARG001  in this order
    postgres: Postgres,
    to_primary: Line,
    replica: Postgres,
    to_replica: Line,
) -> dict[str, str]:
    return {
        "DATABASE_URL": postgres.url.replace(str(postgres.port), str(to_primary.port)),
        "DATABASE_REPLICA_URL": replica.url.replace(str(replica.port), str(to_replica.port)),
    }


@pytest.fixture(scope="module")
def wire(directory: Path, urls: dict[str, str]) -> Iterator[Wire]:
    with served(directory, **urls) as wire:
        until(wire.ready)
        yield wire


def reads(postgres: Postgres) -> int:
    """Statements about stories that it was asked so far, by its log: its statistics may be ten seconds late."""
    return (postgres.directory / "log").read_text(errors="replace").count('FROM "wire_story')


def of_replica(wire: Wire) -> bool:
    return wire.figure("wire_replica_read") == 1


def answers(wire: Wire) -> bool:
    """Whether questions that nobody asked are answered by every door."""
    number = next(numbers)
    told = [wire.get(f"/api/search.json?query=x{number}").status_code, wire.get(f"/search?query=x{number}").status_code]
    return told == [200, 200] and not wire.call("search_wire", query=f"x{number}")["isError"]


def test_the_doors_read_the_replica_and_a_publish_shows_when_it_is_there(
    wire: Wire, directory: Path, postgres: Postgres, replica: Postgres, urls: dict[str, str]
) -> None:
    until(lambda: of_replica(wire))
    primary, followed = reads(postgres), reads(replica)
    for path in ("/", "/api/archive/2026-01-14.json", "/topic/openai", f"/search?query=quince{next(numbers)}"):
        assert wire.get(path).status_code == 200
    wire.rpc("resources/read", uri="wire://archive/2026-01-14")
    assert reads(replica) >= followed + 5
    assert reads(postgres) == primary
    headline = further(directory, next(numbers), **urls)
    until(lambda: headline in wire.get("/api/today.json").text)


@pytest.mark.parametrize("trouble", ["cut", "silent"])
def test_the_primary_is_read_while_the_replica_is_away(wire: Wire, to_replica: Line, trouble: str) -> None:
    until(lambda: of_replica(wire))
    before = wire.figure("wire_replica_fallbacks")
    getattr(to_replica, trouble)()
    assert wire.get(f"/api/search.json?query=x{next(numbers)}").status_code in (200, 503)  # the one that finds out
    until(lambda: not of_replica(wire) and answers(wire))
    assert wire.ready()
    assert wire.get("/api/today.json").headers.get("warning") is None
    assert wire.figure("wire_replica_fallbacks") == before + 1
    to_replica.up()
    until(lambda: of_replica(wire))
    assert answers(wire)


def test_what_is_kept_goes_on_while_both_are_away(wire: Wire, to_primary: Line, to_replica: Line) -> None:
    until(lambda: of_replica(wire))
    assert wire.get("/api/today.json").status_code == 200
    to_primary.cut()  # first: a look at the primary between the two would drop what is kept of the replica
    to_replica.cut()

    def is_stale() -> bool:
        answer = wire.get("/api/today.json")
        assert answer.status_code == 200
        return "warning" in answer.headers

    try:
        until(is_stale)
    finally:
        to_primary.up()
        to_replica.up()
    until(lambda: of_replica(wire) and answers(wire))
    assert "warning" not in wire.get("/api/today.json").headers


def test_nobody_is_sent_back_in_time(
    wire: Wire, directory: Path, replica: Postgres, to_replica: Line, urls: dict[str, str]
) -> None:
    until(lambda: of_replica(wire))
    replica.ask("SELECT pg_wal_replay_pause()")
    to_replica.cut()
    until(lambda: not of_replica(wire) and answers(wire))
    headline = further(directory, next(numbers), **urls)
    until(lambda: headline in wire.get("/api/today.json").text)
    to_replica.up()
    ends = time.monotonic() + 7  # longer than it takes to look for the replica again, which answers and is behind
    while time.monotonic() < ends:
        assert headline in wire.get("/api/today.json").text
        assert headline in str(wire.rpc("resources/read", uri="wire://today"))
        assert not of_replica(wire)
        time.sleep(0.2)
    done = manage(directory, "doctor", **urls)
    assert re.search(r"warn replica: It is \d+ wire versions? behind", done.stdout), done.stdout
    replica.ask("SELECT pg_wal_replay_resume()")
    until(lambda: of_replica(wire))
    assert headline in wire.get("/api/today.json").text


def test_doctor_says_how_it_is(directory: Path, to_replica: Line, urls: dict[str, str]) -> None:
    assert "ok replica: " in manage(directory, "doctor", **urls).stdout
    to_replica.cut()
    try:
        assert "warn replica: It does not answer" in manage(directory, "doctor", **urls).stdout
    finally:
        to_replica.up()
    not_one = manage(directory, "doctor", **{**urls, "DATABASE_REPLICA_URL": urls["DATABASE_URL"]}).stdout
    assert "warn replica: It is not a replica" in not_one
