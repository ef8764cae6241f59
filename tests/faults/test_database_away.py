"""The database goes away and comes back under a served wire: what was asked goes on and says so, the rest is refused at once."""

import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.faults.conftest import further, load
from tests.faults.machines import Line, Postgres, Wire, manage, served, until
from tests.mcpserver.asgi import ERAS

STALE: Final = '110 - "Response is Stale"'
ASKED: Final = ("/api/today.json", "/", "/feeds/stories.atom")

pytestmark = [pytest.mark.slow, pytest.mark.django_db]  # the wires here are copies of its database

numbers = itertools.count(100)


def ask(wire: Wire) -> None:
    """What is to be kept."""
    for path in ASKED:
        assert wire.get(path).headers.get("warning") is None
    for era in ERAS:
        assert "_meta" not in wire.call("get_editor_take", era) or "is_stale" not in wire.call("get_editor_take", era)["_meta"]
        wire.rpc("resources/read", era, uri="wire://today")
        wire.rpc("tools/list", era)
        wire.rpc("prompts/list", era)


def goes_on(wire: Wire) -> bool:
    """Whether what was asked is answered as before and says that it is stale."""
    said = [wire.get(path) for path in ASKED]
    assert [answer.status_code for answer in said] == [200, 200, 200]
    again = [wire.get(path, **{"if-none-match": answer.headers["etag"]}) for path, answer in zip(ASKED, said, strict=True)]
    assert [answer.status_code for answer in again] == [304, 304, 304]
    results = [wire.call("get_editor_take", era) for era in ERAS]
    results += [wire.rpc("resources/read", era, uri="wire://today")["result"] for era in ERAS]
    assert not any(result.get("isError") for result in results)
    assert not any("is_stale" in str(wire.rpc("prompts/list", era)["result"].get("_meta")) for era in ERAS)
    marks = [answer.headers.get("warning") == STALE and int(answer.headers["age"]) >= 0 for answer in (*said, *again)]
    return all(marks) and all(result.get("_meta", {}).get("is_stale") is True for result in results)


def is_refused(wire: Wire) -> None:
    """What nobody asked before."""
    for era, number in zip(ERAS, numbers, strict=False):
        for path in (f"/api/search.json?query=x{number}", f"/search?query=x{number}", "/freshness", "/nowhere"):
            answer = wire.get(path)
            assert (answer.status_code, answer.headers["retry-after"], answer.headers["cache-control"]) == (503, "5", "no-store")
            if path.startswith("/api/"):
                assert answer.json()["error"] == "unavailable"
            else:
                assert "The wire’s database is not available" in answer.text
        result = wire.call("search_wire", era, query=f"x{number}")
        assert result["isError"] is True
        assert "its database does not answer. Try again in 5 seconds." in result["content"][0]["text"]
        for method, params in (
            ("resources/read", {"uri": f"wire://archive/2025-01-{number % 28 + 1:02}"}),
            ("prompts/get", {"name": "compare-coverage", "arguments": {"event": f"x{number}"}}),
        ):
            error = wire.rpc(method, era, **params)["error"]
            assert (error["data"]["error"], error["data"]["retry_after"]) == ("unavailable", 5)
    assert wire.get("/healthz").status_code == 200
    ready = wire.get("/readyz")
    assert (ready.status_code, ready.json()["what"]) == (503, "database")
    assert (wire.figure("wire_database_up"), wire.figure("wire_kept_stale")) == (0, 1)


def is_back(wire: Wire) -> None:
    """All of it is as it should be again."""

    def so() -> bool:
        answers = [wire.get("/api/today.json"), wire.get(f"/api/search.json?query=y{next(numbers)}")]
        result = wire.call("search_wire", query=f"y{next(numbers)}")
        well = not result["isError"] and wire.ready() and [answer.status_code for answer in answers] == [200, 200]
        return well and answers[0].headers.get("warning") is None and "_meta" not in wire.call("get_editor_take")

    until(so)


@pytest.fixture(scope="module")
def on_sqlite(sqlite_wire: Path) -> Iterator[Wire]:
    with served(sqlite_wire) as wire:
        yield wire


@pytest.fixture(scope="module")
def on_postgres(postgres: Postgres, to_postgres: Line, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    directory = tmp_path_factory.mktemp("wire")
    assert manage(directory, "migrate", "--verbosity", 0, DATABASE_URL=postgres.url).returncode == 0
    load(directory, DATABASE_URL=postgres.url)
    by_line = postgres.url.replace(str(postgres.port), str(to_postgres.port))
    with served(directory, DATABASE_URL=by_line) as wire:
        yield wire


@pytest.fixture
def file(sqlite_wire: Path) -> Path:
    return sqlite_wire / "wire.sqlite3"


class TestOnSQLite:
    def test_a_file_that_is_gone(self, on_sqlite: Wire, file: Path) -> None:
        ask(on_sqlite)
        away = file.rename(file.with_name("away"))
        until(lambda: goes_on(on_sqlite))
        is_refused(on_sqlite)
        assert on_sqlite.get("/admin/login/").status_code == 503
        assert not file.exists()
        away.rename(file)
        is_back(on_sqlite)

    def test_a_file_that_is_none(self, on_sqlite: Wire, file: Path) -> None:
        ask(on_sqlite)
        away = file.rename(file.with_name("away"))
        file.write_bytes(b"This is no database. " * 1_000)
        until(lambda: goes_on(on_sqlite))
        is_refused(on_sqlite)
        os.replace(away, file)
        is_back(on_sqlite)

    def test_another_file_is_read_by_every_door_as_soon_as_it_is_there(self, on_sqlite: Wire, file: Path, tmp_path: Path) -> None:
        ask(on_sqlite)
        other = tmp_path / file.name
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(other)) as target:
            source.backup(target)
        shutil.copytree(file.parent / "keys", tmp_path / "keys")
        headline = further(tmp_path, next(numbers))
        for rest in ("-wal", "-shm"):
            file.with_name(file.name + rest).unlink(missing_ok=True)
        os.replace(other, file)

        def so() -> bool:
            found = [on_sqlite.call("search_wire", query=headline, limit=limit) for limit in range(1, 9)]  # by every thread
            told = all(result.get("structuredContent", {}).get("total") for result in found)
            return told and headline in on_sqlite.get("/api/today.json").text

        until(so)


@pytest.mark.services
@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="of the services run")
class TestOnPostgres:
    @pytest.mark.parametrize("trouble", ["cut", "silent", "stopped"])
    def test_away_and_back(self, on_postgres: Wire, postgres: Postgres, to_postgres: Line, trouble: str) -> None:
        ask(on_postgres)
        begin, end = troubles(postgres, to_postgres)[trouble]
        begin()
        assert (
            on_postgres.get(f"/api/search.json?query=z{next(numbers)}").status_code == 503
        )  # before anybody knows that it is away
        until(lambda: goes_on(on_postgres))
        is_refused(on_postgres)
        end()
        is_back(on_postgres)

    def test_connections_that_were_ended_are_made_anew(self, on_postgres: Wire, postgres: Postgres) -> None:
        ask(on_postgres)
        postgres.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        is_back(on_postgres)


def troubles(postgres: Postgres, line: Line) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    return {"cut": (line.cut, line.up), "silent": (line.silent, line.up), "stopped": (postgres.stop, postgres.start)}
