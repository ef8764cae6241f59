"""Wires of their own that are served, with two published days and nothing that was asked yet."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.faults.machines import PROGRAMS, Line, Postgres, directory_for_postgres, manage
from tests.wire.archives import item, line, ndjson
from tests.wire.installation import install

NEWS = [line(number, published_at=f"2026-01-1{4 + number % 2}T10:00:00Z") for number in range(6)]


@pytest.fixture(scope="module")
def sqlite_wire(
    django_db_setup: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The data directory of a wire on SQLite."""
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite")
    directory = tmp_path_factory.mktemp("wire")
    with django_db_blocker.unblock():
        install(directory)
    load(directory)
    return directory


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """An instance of its own, which may be stopped."""
    if PROGRAMS is None:
        pytest.skip("the programs of a Postgres server are not installed")
    with directory_for_postgres() as directory:
        instance = Postgres(directory / "primary").make().start()
        try:
            yield instance
        finally:
            instance.stop()


@pytest.fixture(scope="module")
def to_postgres(postgres: Postgres) -> Iterator[Line]:
    """The line by which the wire reaches it."""
    line = Line(postgres.port)
    yield line
    line.close()


def load(directory: Path, **env: str) -> None:
    done = manage(directory, "loadwire", ndjson(directory / "news.ndjson", NEWS), **env)
    assert done.returncode == 0, done.stderr


def further(directory: Path, number: int, **env: str) -> str:
    """Publish one story more, and tell its headline."""
    made = item(number, published_at="2026-01-15T11:00:00Z")
    done = manage(
        directory, "loadwire", ndjson(directory / f"{number}.ndjson", [line(number, published_at=made["published_at"])]), **env
    )
    assert done.returncode == 0, done.stderr
    return str(made["title"])
