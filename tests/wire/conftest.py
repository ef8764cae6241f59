"""A wire that holds everything a wire can hold, made once and restored for each test that asks for it."""

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from sources.fetch import Policy
from tests.feedserver import FeedServer
from tests.threads import close_query_threads
from tests.wire.archives import dump, loadwire, rich_wire
from wire.ingest import feed_entries
from wire.ingest.feed_entries import get_fetch_policy


@pytest.fixture(scope="session", autouse=True)
def close_connections(django_db_setup: None) -> Iterator[None]:  # noqa: ARG001
    """Lets go of other threads' connections at the end, so that the test database can be dropped."""
    yield
    close_query_threads()


@pytest.fixture(scope="session")
def rich_dump(
    django_db_setup: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> bytes:
    """The dump of a rich wire; the database is as before."""
    with django_db_blocker.unblock(), transaction.atomic():
        rich_wire()
        content = dump(tmp_path_factory.mktemp("rich") / "dump.ndjson")
        transaction.set_rollback(True)
    return content


@pytest.fixture
def rich(db: None, rich_dump: bytes, tmp_path: Path) -> None:  # noqa: ARG001
    """A database that holds the rich wire."""
    file = tmp_path / "rich.ndjson"
    file.write_bytes(rich_dump)
    loadwire(file)
    file.unlink()


@pytest.fixture(scope="session")
def listening() -> Iterator[FeedServer]:
    with FeedServer() as started:
        yield started


@pytest.fixture
def server(listening: FeedServer, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FeedServer:
    """A server on loopback without routes, which ingest may ask without a pause; raw bytes go to a directory of the test's own."""
    listening.forget()
    settings.WIRE_FETCH_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)
    settings.WIRE_DATA_DIR = tmp_path / "wire"
    polite = get_fetch_policy()
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: Policy(polite.user_agent, polite.allow, gap=0.0, deadline=5.0))
    return listening
