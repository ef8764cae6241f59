"""States of the test database that are put back from memory, on SQLite: making them anew takes seconds each time."""

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from django.core.management import call_command
from django.db import connection, transaction

EMPTY: Final = "as migrate founds it"
SAMPLE: Final = "with the sample wire"
_stored: dict[str, sqlite3.Connection] = {}
_added: dict[str, dict[str, list[tuple[Any, ...]]]] = {}
"""By state: the rows of each table that an empty database has not, or has otherwise."""


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


def add(state: str, make: Callable[[], None]) -> None:
    """Also within a test's transaction: make the state once, and insert its rows afterwards. Triggers fill what they fill."""
    if connection.vendor != "sqlite":
        make()
    elif state in _added:
        with transaction.atomic():
            for table, rows in _added[state].items():
                _insert(table, rows)
    else:
        before = {table: set(rows) for table, rows in _rows().items()}
        make()
        added = {table: [row for row in rows if row not in before[table]] for table, rows in _rows().items()}
        _added[state] = {table: rows for table, rows in added.items() if rows}


def _rows() -> dict[str, list[tuple[Any, ...]]]:
    """Of every table but those that full text search keeps for itself."""
    with connection.cursor() as cursor:
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        return {table: cursor.connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables}  # noqa: S608


def _insert(table: str, rows: list[tuple[Any, ...]]) -> None:
    """A row that is there already takes these values: it is not replaced, for others may refer to it."""
    with connection.cursor() as cursor:
        columns = [f'"{column.name}"' for column in connection.introspection.get_table_description(cursor, table)]
        values = ", ".join("?" * len(columns))
        new = ", ".join(f"{column} = excluded.{column}" for column in columns)
        cursor.connection.executemany(f'INSERT INTO "{table}" VALUES ({values}) ON CONFLICT DO UPDATE SET {new}', rows)  # noqa: S608


def empty() -> None:
    if not put_back(EMPTY):
        call_command("flush", interactive=False, verbosity=0)
