"""SQLite's file, which holds password hashes and hashes of keys: its owner's alone."""

import os
import sqlite3
from contextlib import suppress
from typing import Any


class PrivateConnection(sqlite3.Connection):
    """Makes a file that is not there yet with mode 0600; the WAL and its index get the mode of their file."""

    def __init__(self, database: str | bytes | os.PathLike[str], *arguments: Any, **options: Any) -> None:
        name = os.fsdecode(database)
        if name != ":memory:" and not name.startswith("file:"):
            # Before SQLite makes it: a mode that is changed afterwards comes too late for who opened the file meanwhile. A file
            # that is there is not opened: to close it would drop every lock that this process holds on it (POSIX), and another
            # process would then take away the WAL of its open connections: sqlite.org/howtocorrupt.html, 2.2.
            with suppress(OSError):  # SQLite says then what is wrong with it
                os.close(os.open(name, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o600))
        super().__init__(database, *arguments, **options)
