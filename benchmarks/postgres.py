"""Databases for measuring on the Postgres that TEST_DATABASE_URL names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

VARIABLE: Final = "TEST_DATABASE_URL"


def find_server() -> str | None:
    """Return the address of a database on a server that answers, or None."""
    if not (url := os.environ.get(VARIABLE)):
        return None
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.Error:
        return None
    return url


@contextmanager
def temporary_database(server: str, name: str) -> Iterator[str]:
    """Yield the address of an empty database on that server; it is dropped at the end."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
