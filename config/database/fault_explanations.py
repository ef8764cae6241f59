"""Explain faults of the machine to its operator: what happened, what is safe, what to do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.core.management import CommandError
from django.db import Error

from config.database.routing import explain_missing_file, is_outage
from config.errors import Busy, WireError

_KEPT: Final = "Committed data is safe and still served; the current change was rolled back."
_AGAIN: Final = "then run this again: it continues where it stopped."
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_ON_SQLITE: Final = {  # by SQLite's primary result codes
    5: ("The database is locked by another writer", f"Let that writer finish, {_AGAIN}"),
    8: ("The database file cannot be written", f"Check who owns the file and how its disk is mounted, {_AGAIN}"),
    10: ("The disk cannot be read or written", f"Check whether it is full or failing, {_AGAIN}"),
    11: ("The database file is damaged", "Stop the server, keep the file, and restore the latest backup (docs/operations.md)."),
    13: ("The disk is full", f"Make room, {_AGAIN}"),
    14: ("The database file cannot be opened", "Check that the file exists and who owns it; if it is gone, restore a backup."),
    26: ("The database file is not SQLite", "Stop the server, keep the file, and restore the latest backup (docs/operations.md)."),
}


def explain_fault(error: BaseException) -> str:
    """Return the explanation in one line, or "" for other errors."""
    words = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, WireError):
        return f"{error.message} {error.hint}".strip()
    if isinstance(error, OSError):
        return f"The disk is full: {words}. {_KEPT} Make room, {_AGAIN}" if error.errno in _FULL else ""
    if not isinstance(error, Error):
        return ""
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        what, to_do = _ON_SQLITE.get(code & 0xFF, ("", ""))
        return f"{what}: {words}. {_KEPT} {to_do}" if what else ""
    if getattr(error.__cause__, "sqlstate", None) == "53100":
        return f"The database's disk is full: {words}. {_KEPT} Make room there, {_AGAIN}"
    to_do = f"Start the database, or correct DATABASE_URL, {_AGAIN}"
    return f"The database does not answer: {words}. {_KEPT} {to_do}" if is_outage(error) else ""


@contextmanager
def explain_errors() -> Iterator[None]:
    """Raise CommandError, with the explanation, in place of faults that can be explained. Exit status 75: try again later."""
    if why := explain_missing_file():
        raise CommandError(f"The database is gone: {why}. Restore a backup, or run manage.py migrate to start empty.")
    try:
        yield
    except (WireError, Error, OSError) as error:
        if words := explain_fault(error):
            raise CommandError(words, returncode=os.EX_TEMPFAIL if isinstance(error, Busy) else 1) from error
        raise
