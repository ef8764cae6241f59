"""States of the test database that are put back, on SQLite from memory, on Postgres from a schema: making them takes seconds."""

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from django.db import connection, transaction

EMPTY: Final = "as migrate founds it"
SAMPLE: Final = "with the sample wire"
_stored: dict[str, sqlite3.Connection | None] = {}
_added: dict[str, dict[str, list[tuple[Any, ...]]]] = {}
"""By state: the rows of each table that an empty database has not, or has otherwise."""


_COPY: Final = """DO $$ DECLARE name text; BEGIN
    CREATE SCHEMA "{state}";
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('CREATE TABLE "{state}".%1$I AS TABLE public.%1$I', name);
    END LOOP;
END $$"""
_PUT_BACK: Final = """DO $$ DECLARE name text; same boolean; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '{state}' LOOP
        EXECUTE format('SELECT (SELECT count(*) FROM public.%1$I) = (SELECT count(*) FROM "{state}".%1$I)
            AND NOT EXISTS (TABLE public.%1$I EXCEPT TABLE "{state}".%1$I)', name) INTO same;
        CONTINUE WHEN same;
        EXECUTE format('DELETE FROM public.%1$I', name);
        EXECUTE format('INSERT INTO public.%1$I TABLE "{state}".%1$I', name);
    END LOOP;
END $$"""
"""Foreign keys are checked at the end. Only what differs is replaced: a flush takes seconds, most of them for the lexicon."""


def remember(state: str) -> None:
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        _stored[state] = sqlite3.connect(":memory:")
        connection.connection.backup(_stored[state])
    else:
        connection.connection.execute(_COPY.format(state=state))
        _stored[state] = None


def put_back(state: str) -> bool:
    """Whether it was remembered."""
    if state not in _stored:
        return False
    connection.ensure_connection()
    if stored := _stored[state]:
        stored.backup(connection.connection)
    else:
        connection.connection.execute(_PUT_BACK.format(state=state))
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
    put_back(EMPTY)
