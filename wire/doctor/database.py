"""The database: does it answer, is it set up as the wire needs it, are its tables and its search index whole."""

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor

from config import reading
from wire.doctor.finding import Finding, fail, ok, warn
from wire.doctor.machine import database_files
from wire.models import SearchDocument, Story

OLDEST_POSTGRES: Final = 140_000
TRIGGERS: Final = ("wire_searchindex_delete", "wire_searchindex_insert", "wire_searchindex_update")
REBUILD: Final = "docs/operations.md, “Search finds too little”, says how to build it again."


def away() -> Finding | None:
    """What keeps the database from answering, or None."""
    files = database_files()
    if files and not files[0].exists():  # looked at first, since to open it would make it
        return fail("database", f"There is none at {files[0]}.", "Run manage.py migrate for an empty one, or restore a backup.")
    database: Any = connection
    try:
        if not files:  # without the pool, which would only say that it waited
            database.Database.connect(**database.get_connection_params()).close()
        _one("SELECT 1")
    except (DatabaseError, database.Database.Error) as error:
        closed = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        mend = "Look whose it is, and whether its disk can be written." if closed else "Restore a backup."
        advice = mend if files else "Start Postgres, or set DATABASE_URL right. Kept answers go on meanwhile."
        return fail("database", f"It does not answer: {str(error).strip()}.", advice)
    return None


def mode(_now: dt.datetime) -> Iterator[Finding]:
    yield from _sqlite_mode() if connection.vendor == "sqlite" else _postgres_mode()


def _sqlite_mode() -> Iterator[Finding]:
    wrong = False
    if (journal := _one("PRAGMA journal_mode")) != "wal":
        wrong = True
        yield fail(
            "database", f"SQLite's journal is {journal}, not wal: readers and writers stop each other.", "Put it on a local disk."
        )
    if not _one("PRAGMA foreign_keys"):
        wrong = True
        yield fail("database", "SQLite does not hold foreign keys.", "Use an SQLite that was built with them.")
    if (check := _one("PRAGMA quick_check(1)")) != "ok":
        wrong = True
        yield fail("database", f"The file is damaged: {check}.", "Stop the server and restore the latest backup.")
    if not wrong:
        yield ok("database", f"SQLite {sqlite3.sqlite_version} in WAL mode; foreign keys hold, quick_check finds nothing.")


def _postgres_mode() -> Iterator[Finding]:
    version = int(_one("SHOW server_version_num"))
    if version < OLDEST_POSTGRES:
        yield fail("database", f"Postgres {version // 10_000} is too old.", "Use version 14 or newer.")
    if _one("SELECT pg_is_in_recovery()"):
        yield warn("database", "This Postgres is a replica: it serves, and nothing can be published.", "Ingest on the primary.")
    elif version >= OLDEST_POSTGRES:
        yield ok("database", f"Postgres {_one('SHOW server_version')}, no replica.")


def replica(_now: dt.datetime) -> Iterator[Finding]:
    """DATABASE_REPLICA_URL: does it answer, is it one, and how many wire versions is it behind."""
    if reading.REPLICA not in settings.DATABASES:
        return
    database: Any = connections[reading.REPLICA]
    try:
        with closing(database.Database.connect(**database.get_connection_params())) as asked:
            follows, version = asked.execute("SELECT pg_is_in_recovery(), (SELECT version FROM wire_wirestate)").fetchone()
    except database.Database.Error as error:
        words = str(error).strip()
        yield warn(
            "replica", f"It does not answer: {words}.", "Start it, or set DATABASE_REPLICA_URL right. The doors read the primary."
        )
        return
    behind = int(_one("SELECT version FROM wire_wirestate")) - version
    if not follows:
        yield warn("replica", "It is no replica, but takes writes.", "Set DATABASE_REPLICA_URL to a streaming replica.")
    elif behind > 0:
        versions = "1 wire version" if behind == 1 else f"{behind:,} wire versions"
        yield warn("replica", f"It is {versions} behind.", "It may follow in a moment; if not, look at its replication.")
    else:
        yield ok("replica", "It answers, and is at the primary's wire version.")


def migrations(_now: dt.datetime) -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    known = executor.loader.disk_migrations
    missing = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    newer = [f"{app}.{name}" for app, name in executor.loader.applied_migrations if (app, name) not in known]
    if missing:
        named = ", ".join(map(str, missing[:3]))
        yield fail("migrations", f"{len(missing)} are not applied ({named} …).", "Run manage.py migrate.")
    elif newer:
        yield warn(
            "migrations", f"A newer program was here: it applied {', '.join(newer[:3])}.", "Run that program, or restore a backup."
        )
    else:
        yield ok("migrations", "All are applied.")


def search(_now: dt.datetime) -> Iterator[Finding]:
    """Is the index there, and does it hold every story that is live and no other."""
    broken = list(_sqlite_index() if connection.vendor == "sqlite" else _postgres_index())
    documents, live = SearchDocument.objects.count(), Story.objects.live().count()
    if documents != live and not broken:
        broken = [fail("search", f"{live:,} stories are live, {documents:,} can be found.", REBUILD)]
    yield from broken or [ok("search", f"The index holds all {live:,} live stories.")]


def _sqlite_index() -> Iterator[Finding]:
    there = {row[0] for row in _all("SELECT name FROM sqlite_master WHERE name LIKE 'wire_searchindex%'")}
    missing = [name for name in ("wire_searchindex", *TRIGGERS) if name not in there]
    if missing:
        yield fail("search", f"{', '.join(missing)} is missing: what is published from now on is not found.", REBUILD)
        return
    # By FTS5's own list of what it indexed; its integrity-check is an INSERT and would hold publishers up.
    unlike = _one(
        "SELECT (SELECT count(*) FROM wire_searchdocument WHERE -place NOT IN (SELECT id FROM wire_searchindex_docsize)) + "
        "(SELECT count(*) FROM wire_searchindex_docsize WHERE id NOT IN (SELECT -place FROM wire_searchdocument))"
    )
    if unlike:
        yield fail("search", f"The index is not in step with {unlike:,} documents.", REBUILD)


def _postgres_index() -> Iterator[Finding]:
    if not _one("SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('wire_searchindex') AND indisvalid"):
        yield fail("search", "The index wire_searchindex is missing or not valid: searches read the whole table.", REBUILD)


def _one(sql: str) -> Any:
    return _all(sql)[0][0]


def _all(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows: list[Any] = cursor.fetchall()
        return rows


CHECKS: Final[Mapping[str, Callable[[dt.datetime], Iterator[Finding]]]] = {
    "database": mode,
    "replica": replica,
    "migrations": migrations,
    "search": search,
}
