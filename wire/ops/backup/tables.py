"""Tables of Postgres as files, by COPY, which takes every column as it is."""

import gzip
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from config.errors import InvalidArgument
from wire.ops.backup.contents import Migration, applied_migrations, list_tables
from wire.ops.backup.manifest import TABLE_ENDING, Damaged

BLOCK: Final = 1_000_000  # bytes
# Of the manifest: `columns`, `rows`, and `sequences`, the last number given by each column that numbers its rows.
Table = dict[str, Any]


def write_tables(folder: Path) -> dict[str, Table]:
    """Write every table to `folder`, as of the moment of the caller's transaction; return their contents by name."""
    folder.mkdir()
    return {table: _write(table, folder / f"{table}{TABLE_ENDING}") for table in list_tables()}


def _write(table: str, file: Path) -> Table:
    database: Any = connection
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT attname, pg_get_serial_sequence(quote_ident(%s), attname) FROM pg_attribute "
            "WHERE attrelid = quote_ident(%s)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            [table, table],
        )
        columns = dict(cursor.fetchall())
        with file.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
            with cursor.copy(f"COPY {_write_columns(table, columns)} TO STDOUT") as blocks:
                for block in blocks:
                    out.write(block)
            rows = cursor.rowcount
        sequences = {}
        for column, sequence in columns.items():
            if sequence:
                # After the rows: a sequence is of no moment, so that this number is never below one of theirs.
                cursor.execute(f"SELECT last_value FROM {sequence} WHERE is_called")  # noqa: S608  as the database quotes it
                if last := cursor.fetchone():
                    sequences[column] = last[0]
    return {"columns": list(columns), "rows": rows, "sequences": sequences}


def refuse_other_migrations(wanted: set[Migration]) -> None:
    """Raises: InvalidArgument when this database is ahead of the backup."""
    if ahead := sorted(applied_migrations() - wanted):
        raise InvalidArgument(
            f"The database was migrated further than the backup: {'.'.join(ahead[0])} is not in it. Nothing was changed.",
            "Restore into a new database (createdb), which this command migrates itself.",
        )


def read_tables(folder: Path, tables: Mapping[str, Table], migrations: set[Migration]) -> None:
    """Make the tables as they were, fill them in one transaction, then migrate them. Raises: Damaged, DatabaseError."""
    executor = MigrationExecutor(connection)
    # The last of each app: the executor takes a target that is applied already for a wish to go back to it.
    children = executor.loader.graph.node_map
    executor.migrate(
        [
            node
            for node in sorted(migrations)
            if not any(child.key[0] == node[0] and child.key in migrations for child in children[node].children)
        ]
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(map(_quote, tables))}")
        for table, saved in tables.items():
            _read(folder / f"{table}{TABLE_ENDING}", table, saved, cursor)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what refers to a row that is missing is named here
    call_command("migrate", verbosity=0)


def _read(file: Path, table: str, saved: Table, cursor: Any) -> None:
    with gzip.open(file) as stored, cursor.copy(f"COPY {_write_columns(table, saved['columns'])} FROM STDIN") as blocks:
        shutil.copyfileobj(stored, blocks, BLOCK)
    if cursor.rowcount != saved["rows"]:
        raise Damaged(f"{table} came back with {cursor.rowcount:,} rows, the manifest says {saved['rows']:,}.")
    for column, last in saved["sequences"].items():
        cursor.execute("SELECT setval(pg_get_serial_sequence(quote_ident(%s), %s), %s)", [table, column, last])


def _write_columns(table: str, columns: Iterable[str]) -> str:
    return f"{_quote(table)} ({', '.join(map(_quote, columns))})"


def _quote(name: str) -> str:
    return connection.ops.quote_name(name)
