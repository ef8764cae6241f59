"""A fault of ours: the caller is told that there is one and nothing of what it is, the log has the rest, and it passes."""

import logging
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.db import connection

from tests.factories import entry, publish
from tests.mcpserver.asgi import ERAS, rpc
from wire.models import Snapshot

pytestmark = pytest.mark.django_db(transaction=True)

TABLE: Final = Snapshot._meta.db_table
ASKED: Final[list[tuple[str, dict[str, Any]]]] = [
    ("tools/call", {"name": "get_editor_take", "arguments": {}}),
    ("resources/read", {"uri": "wire://today"}),
    ("resources/list", {}),
    ("prompts/get", {"name": "daily-briefing", "arguments": {}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "wire://archive/{date}"}, "argument": {"name": "date", "value": ""}},
    ),
]


def rename(old: str, new: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")


@pytest.fixture
def damaged() -> Iterator[None]:
    """A database in which a table is missing."""
    publish(entry())
    rename(TABLE, "away")
    yield
    rename("away", TABLE)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.usefixtures("damaged")
def test_it_is_an_internal_error_that_tells_nothing_and_is_logged(era: str, caplog: pytest.LogCaptureFixture) -> None:
    for method, params in ASKED:
        caplog.clear()
        answer = rpc(method, params, era)
        assert answer.error == {"code": -32603, "message": "Internal server error"}
        assert TABLE in caplog.text
        assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_it_is_gone_as_soon_as_its_cause_is(era: str) -> None:
    publish(entry())
    rename(TABLE, "away")
    try:
        assert "error" in rpc("tools/call", {"name": "get_editor_take"}, era).json()
    finally:
        rename("away", TABLE)
    for method, params in ASKED:
        assert "result" in rpc(method, params, era).json()
