"""A further connection to SQLite's file leaves the locks of the connections before it alone."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from config.database.sqlite import PrivateConnection

WRITE: Final = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"


def test_a_second_connection_of_a_process_does_not_give_up_the_locks_of_the_first(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite3"
    with closing(sqlite3.connect(file, factory=PrivateConnection)) as first:
        assert oct(os.stat(file).st_mode & 0o777) == "0o600"
        first.execute("CREATE TABLE a (b)")
        first.execute("BEGIN IMMEDIATE")
        sqlite3.connect(file, factory=PrivateConnection).close()
        other = subprocess.run([sys.executable, "-c", WRITE, str(file)], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr
