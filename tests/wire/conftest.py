"""A wire that holds everything a wire can hold, made once and restored for each test that asks for it."""

from pathlib import Path

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from tests.wire.archives import dump, loadwire, rich_wire


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
