"""States of the test database that are put back from memory, on SQLite: making them anew takes seconds each time."""

import sqlite3
from typing import Final

from django.core.management import call_command
from django.db import connection

EMPTY: Final = "as migrate founds it"
SAMPLE: Final = "with the sample wire"
_stored: dict[str, sqlite3.Connection] = {}


def remember(state: str) -> None:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        _stored[state] = sqlite3.connect(":memory:")
        connection.connection.backup(_stored[state])


def put_back(state: str) -> bool:
    """Whether it was remembered."""
    if state not in _stored:
        return False
    connection.ensure_connection()
    _stored[state].backup(connection.connection)
    return True


def empty() -> None:
    if not put_back(EMPTY):
        call_command("flush", interactive=False, verbosity=0)
