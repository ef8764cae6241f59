"""How the public doors read the database: which one, how long they wait for it, and what they say while it is away.

Whoever answers the public does so inside `reading()`; everybody else (desk, ingest, commands) knows nothing of it, and uses the
primary for as long as it takes.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, close_old_connections, connections

from config import kept, postgres
from config.errors import Unavailable

T = TypeVar("T")

log = logging.getLogger(__name__)

REPLICA: Final = "replica"
PATIENCE: Final = 5.0  # seconds a door waits for one answer of the database
LOOK_PATIENCE: Final = 2.0  # seconds for the wire version, which any database at work tells at once
AGAIN: Final = 5.0  # seconds until a replica that was away, or behind, is looked at again

# SQLite's result codes for a file that cannot be read or written as things are, whatever is asked of it (sqlite.org/rescode.html):
# perm, busy, locked, nomem, readonly, ioerr, corrupt, full, cantopen, protocol, notadb.
_FILE_TROUBLE: Final = frozenset({3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26})


@dataclass(slots=True)
class Reading:
    """One try at an answer: which database it reads, or why none; whether the connection broke meanwhile."""

    alias: str
    away: str = ""
    broke: bool = False


_current: Final[ContextVar[Reading | None]] = ContextVar("reading", default=None)


class Source:
    """What the doors of this process read. Decided by whoever watches the wire version, twice a second; read from any thread."""

    def __init__(self) -> None:
        self.alias = REPLICA if REPLICA in settings.DATABASES else DEFAULT_DB_ALIAS
        self.away = ""
        self.outages = self.fallbacks = 0
        self._version = -1
        self._replica_again = 0.0
        self._since = 0.0

    def look(self, version: Callable[[], int]) -> tuple[str, int]:
        """The database that doors read from now on, and its wire version, as `version` reads it; from one thread. Raises: what that
        raises.

        The replica, unless it is away or says an older version than readers have seen: nobody is sent back in time.
        """
        if REPLICA in settings.DATABASES and time.monotonic() >= self._replica_again:
            try:
                found = _asked(REPLICA, version)
            except Exception as error:
                self.fall_back(f"it cannot be read: {_words(error)}")
            else:
                if found >= self._version:
                    return self._turn(REPLICA, found)
                self.fall_back(f"it is at wire version {found}, readers have seen {self._version}")
        return self._turn(DEFAULT_DB_ALIAS, _asked(DEFAULT_DB_ALIAS, version, keeps=True))

    def _turn(self, alias: str, version: int) -> tuple[str, int]:
        if alias != self.alias:
            log.warning("The doors read the %s again.", alias)
            self.alias = alias
            kept.answers.forget()  # what is being made of the one database must not be kept as the other's
        if self.away:
            log.warning("The database can be read again, after %.0f s.", time.monotonic() - self._since)
            self.away = ""
        self._version = version
        return alias, version

    def fall_back(self, why: str) -> None:
        """Read the primary, and look at the replica again in a while."""
        self._replica_again = time.monotonic() + AGAIN
        if self.alias == REPLICA:
            self.fallbacks += 1
            log.error("The doors read the primary instead of the replica: %s. It is looked at every %.0f s.", why, AGAIN)
            self.alias = DEFAULT_DB_ALIAS  # what is kept goes when the primary has said its version, and on if it cannot

    def lose(self, error: Exception) -> None:
        """The database cannot be read: whoever asks is told so at once, and answers that are kept go on, marked as stale."""
        if not self.away:
            self.outages, self._since = self.outages + 1, time.monotonic()
            log.error("The database cannot be read; kept answers go on, marked as stale: %s", _words(error))
        self.away = _words(error)
        kept.answers.lose()


_own: Final = threading.local()
source: Final = Source()
"""This process's own."""


@contextmanager
def reading() -> Iterator[Reading]:
    """Read for a door: the database that is theirs to read, none that is known to be away, and no longer than PATIENCE."""
    now = Reading(source.alias, source.away or missing(source.alias))
    with _bounded(PATIENCE), _as(now):
        yield now


def read(query: Callable[[], T]) -> T:
    """What `query` reads for a door; once more if the connection broke. Raises: Unavailable, what `query` raises."""
    again = False
    while True:
        with reading() as now:
            try:
                return query()
            except Error as error:
                if not is_away(error):
                    raise
                note(error)
                if not now.broke or source.away or again:
                    raise Unavailable from error
                again = True


def write(change: Callable[[], T]) -> T:
    """What `change` does, for which nobody waits. Raises: OperationalError where there is no database, what `change` raises."""
    if why := missing():
        raise OperationalError(why)
    with _bounded(PATIENCE):
        return change()


def note(error: Exception) -> None:
    """A read failed because the database is away: let go of the connection, so that another try gets a fresh one."""
    now = _current.get()
    if now is None or isinstance(error, Unavailable):
        return
    broken = connections[now.alias]
    with suppress(Exception):
        broken.close()
    if _was_slow(now.alias, error):
        return
    now.broke = True
    _let_go(broken)
    if now.alias == REPLICA == source.alias:
        source.fall_back(_words(error))


def is_away(error: BaseException) -> bool:
    """Whether an error says that the database cannot be read or written as things are, and not that a question was wrong."""
    if isinstance(error, Unavailable):
        return True
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _FILE_TROUBLE
    return isinstance(error, OperationalError | InterfaceError)


def alias() -> str:
    """Which database to read: inside of `reading()` that of the doors, else the primary. Raises: Unavailable."""
    now = _current.get()
    if now is None:
        return DEFAULT_DB_ALIAS
    if now.away:
        raise Unavailable
    return now.alias


def missing(alias: str = DEFAULT_DB_ALIAS) -> str:
    """Says so when SQLite's file is not there: to open it would make an empty one."""
    database: Any = connections[alias]
    if database.vendor != "sqlite" or database.is_in_memory_db():
        return ""
    name = str(database.settings_dict["NAME"])
    if os.path.exists(name):
        return ""
    return f"there is no file {name}"


def away() -> str:
    """Why the primary cannot be read at this moment, or nothing; told within seconds."""

    def one() -> int:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT version FROM wire_wirestate")
            return int(cursor.fetchone()[0])

    try:
        _asked(DEFAULT_DB_ALIAS, one)
    except Error as error:
        return _words(error)
    return ""


class _Connection:
    """Stands for the connection to what `alias` names at that moment."""

    def __getattr__(self, name: str) -> Any:
        return getattr(connections[alias()], name)


connection: Final[Any] = _Connection()
"""To read by where no QuerySet does, as Django's own of this name."""


class Router:
    """Django's: what the doors read comes from the replica if there is one; nothing else does, and nothing is written there."""

    def db_for_read(self, _model: Any, **_hints: Any) -> str | None:
        return alias()

    def db_for_write(self, _model: Any, **_hints: Any) -> str | None:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *_both: Any, **_hints: Any) -> bool | None:
        return True

    def allow_migrate(self, db: str, _app_label: str, **_hints: Any) -> bool | None:
        return None if db == DEFAULT_DB_ALIAS else False


def look_after_connection() -> None:
    """Before a thread of ours reads: close a connection that broke. SQLite's stays open as long as its thread and its file: to open
    one takes longer than most queries; on Postgres it goes back to the pool.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    if database.vendor != "sqlite":
        close_old_connections()
        return
    file = _file(database.settings_dict["NAME"])
    if getattr(_own, "file", file) != file:
        database.close()  # another was put in its place: a backup that was restored
    _own.file = file
    database.close_at = None
    database.close_if_unusable_or_obsolete()


def _file(name: str) -> tuple[int, int] | None:
    """Which file the database is."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _asked(alias: str, version: Callable[[], int], *, keeps: bool = False) -> int:
    """What `version` reads there; once more if the connection was one that broke meanwhile. A thread that `keeps` its connection
    to the primary asks again and again. Raises: what `version` raises.
    """
    if why := missing(alias):
        raise OperationalError(why)
    again = False
    while True:
        if keeps:
            look_after_connection()
        stays = False
        try:
            with _bounded(LOOK_PATIENCE), _as(Reading(alias)):
                found = version()
            stays = keeps and connections[alias].vendor == "sqlite"
            return found
        except Error as error:
            if again or not is_away(error) or _was_slow(alias, error):
                raise
            again = True
        finally:
            if not stays:
                with suppress(Error):
                    connections[alias].close()  # a server that was put in the place of another is seen at the next look
            if again:
                _let_go(connections[alias])


def _was_slow(alias: str, error: Exception) -> bool:
    """Whether another try would only wait as long again."""
    return connections[alias].vendor == "postgresql" and postgres.was_slow(error)


def _let_go(broken: Any) -> None:
    """Of the connections that lie in the pool: if one broke, the others are as old."""
    if getattr(broken, "pool", None) is not None:
        broken.pool.drain()


def _words(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


@contextmanager
def _as(now: Reading) -> Iterator[None]:
    token = _current.set(now)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def _bounded(most: float) -> Iterator[None]:
    token = postgres.seconds.set(most)
    try:
        yield
    finally:
        postgres.seconds.reset(token)
