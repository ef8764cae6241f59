"""Reads of the public side: which one, how long it waits, and what it answers while the database is away.

Whoever answers the public does so inside `public_reads()`; everybody else (desk, ingest, commands) knows nothing of it, and uses
the primary for as long as it takes.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DataError, Error, InterfaceError, OperationalError, close_old_connections, connections

from config.database import postgres
from config.errors import InvalidArgument, Unavailable

T = TypeVar("T")

log = logging.getLogger(__name__)

REPLICA: Final = "replica"
PATIENCE: Final = 5.0  # seconds a door waits for one answer of the database
LOOK_PATIENCE: Final = 2.0  # seconds for the wire version, which any database at work tells at once
KEPT_OPEN: Final = 2.0  # seconds that a thread goes on with its connection to an SQLite file
AGAIN: Final = 5.0  # seconds until a replica that was away, or behind, is looked at again

# SQLite's result codes for a file that cannot be read or written as things are, whatever is asked of it (sqlite.org/rescode.html):
# perm, busy, locked, nomem, readonly, ioerr, corrupt, full, cantopen, protocol, notadb.
_FILE_TROUBLE: Final = frozenset({3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26})

_current: Final[ContextVar[str | None]] = ContextVar("reading", default=None)  # "" where none can be; None but for the public


class Source:
    """The database that this process reads. Decided by whoever watches the wire version, twice a second; read from any thread."""

    def __init__(self) -> None:
        self.alias = REPLICA if REPLICA in settings.DATABASES else DEFAULT_DB_ALIAS
        self.away = ""
        self.outages = self.fallbacks = 0
        self._version = -1
        self._replica_again = 0.0
        self._since = 0.0

    def choose_database(self, version: Callable[[], int]) -> tuple[str, int]:
        """The database that doors read from now on, and its wire version, as `version` reads it; from one thread. Raises: what that
        raises.

        The replica, unless it is away or says an older version than readers have seen: nobody is sent back in time.
        """
        if REPLICA in settings.DATABASES and time.monotonic() >= self._replica_again:
            try:
                found = _read_version(REPLICA, version)
            except Exception as error:
                self.fall_back_to_primary(f"cannot be read: {_error_text(error)}")
            else:
                if found >= self._version:
                    return self._switch_to(REPLICA, found)
                self.fall_back_to_primary(f"is at wire version {found}, but readers have seen {self._version}")
        return self._switch_to(DEFAULT_DB_ALIAS, _read_version(DEFAULT_DB_ALIAS, version))

    def _switch_to(self, alias: str, version: int) -> tuple[str, int]:
        if alias != self.alias:
            log.warning("Reading from the %s again.", alias)
            self.alias = alias
        if self.away:
            log.warning("The database can be read again, after %.0f s.", time.monotonic() - self._since)
            self.away = ""
        self._version = version
        return alias, version

    def fall_back_to_primary(self, why: str) -> None:
        self._replica_again = time.monotonic() + AGAIN
        if self.alias == REPLICA:
            self.fallbacks += 1
            log.error("Reading from the primary, because the replica %s. The replica is retried every %.0f s.", why, AGAIN)
            self.alias = DEFAULT_DB_ALIAS  # cached answers are dropped when the primary gives its version, and go on if it cannot

    def mark_unreachable(self, error: Exception) -> None:
        """The database cannot be read: requests are refused at once, and cached answers go on, marked as stale."""
        if not self.away:
            self.outages, self._since = self.outages + 1, time.monotonic()
            log.error("The database cannot be read; serving cached answers, marked as stale: %s", _error_text(error))
        self.away = _error_text(error)


source: Final = Source()  # this process's own


@contextmanager
def public_reads() -> Iterator[None]:
    """Read for the public: the database that is theirs to read, none that is known to be away, and no longer than PATIENCE."""
    away = source.away or explain_missing_file(source.alias)
    with _override(postgres.seconds, PATIENCE), _override(_current, "" if away else source.alias):
        yield


def run_query(query: Callable[[], T]) -> T:
    """Return what `query` reads for the public. Raises: Unavailable, what `query` raises."""
    with public_reads():
        try:
            return query()
        except Error as error:
            if not is_outage(error):
                raise
            close_broken_connection()
            raise Unavailable from error


def run_write(change: Callable[[], T]) -> T:
    """Run `change`, which reads from the primary. Raises: OperationalError where there is no database, what `change` raises."""
    if why := explain_missing_file():
        raise OperationalError(why)
    with _override(postgres.seconds, PATIENCE), _override(_current, None):
        return change()


def close_broken_connection() -> None:
    """Close the connection of a read that failed because the database is away, so that the next one gets a fresh one."""
    if now := _current.get():
        with suppress(Exception):
            connections[now].close()


def is_outage(error: BaseException) -> bool:
    """Tell whether an error says that the database cannot be read or written as things are, and not that a question was wrong."""
    if isinstance(error, Unavailable):
        return True
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _FILE_TROUBLE
    return isinstance(error, OperationalError | InterfaceError)


def build_nul_error(error: DataError) -> InvalidArgument:
    """Return what a caller is told whose text holds NUL, which PostgreSQL takes nowhere. Raises: the error, if it is another."""
    if "NUL" not in str(error):
        raise error
    return InvalidArgument("A text contains NUL, which is not allowed.", "Send it without NUL.")


def get_read_alias() -> str:
    """Which database to read: inside of `public_reads()` that of the public, else the primary. Raises: Unavailable."""
    now = _current.get()
    if now == "":
        raise Unavailable
    return now or DEFAULT_DB_ALIAS


def explain_missing_file(alias: str = DEFAULT_DB_ALIAS) -> str:
    """Says so when SQLite's file is not there: to open it would make an empty one."""
    database: Any = connections[alias]
    if database.vendor != "sqlite" or database.is_in_memory_db():
        return ""
    name = str(database.settings_dict["NAME"])
    if os.path.exists(name):
        return ""
    return f"there is no file {name}"


def explain_outage(version: Callable[[], int]) -> str:
    """Return why the primary cannot be read at this moment, or nothing; known within seconds. `version` reads the wire version."""
    try:
        _read_version(DEFAULT_DB_ALIAS, version)
    except Error as error:
        return _error_text(error)
    return ""


class _Connection:
    """Stands for the connection to what `get_read_alias` names at that moment."""

    def __getattr__(self, name: str) -> Any:
        return getattr(connections[get_read_alias()], name)


connection: Final[Any] = _Connection()  # to read by where no QuerySet does, as Django's own of this name


class Router:
    """Django's: what the doors read comes from the replica if there is one; nothing else does, and nothing is written there."""

    def db_for_read(self, _model: Any, **_hints: Any) -> str | None:
        return get_read_alias()

    def db_for_write(self, _model: Any, **_hints: Any) -> str | None:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *_both: Any, **_hints: Any) -> bool | None:
        return True

    def allow_migrate(self, db: str, _app_label: str, **_hints: Any) -> bool | None:
        return None if db == DEFAULT_DB_ALIAS else False


def recycle_connection() -> None:
    """Before a thread of ours reads: give Postgres's connection back to the pool. SQLite's stays open for a while, as opening takes
    longer than most queries; not for ever, since another file may be put in its place, such as a restored backup.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    opened = database.close_at or 0.0  # CONN_MAX_AGE is 0
    if database.vendor != "sqlite" or time.monotonic() - opened > KEPT_OPEN:
        close_old_connections()


def _read_version(alias: str, version: Callable[[], int]) -> int:
    if why := explain_missing_file(alias):
        raise OperationalError(why)
    recycle_connection()
    with _override(postgres.seconds, LOOK_PATIENCE), _override(_current, alias):
        try:
            return version()
        except Error:
            close_broken_connection()
            raise


def _error_text(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


@contextmanager
def _override(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
