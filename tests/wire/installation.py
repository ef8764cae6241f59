"""Installations of their own for tests: a data directory with an SQLite file, and commands that run there as processes."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from django.db import connection

from tests.clients.server import environment, services
from tests.wire.archives import MANAGE, own_environment


def install(data_dir: Path) -> Path:
    """The file of an installation whose database is migrated and holds no news: a copy of the tests' own."""
    data_dir.mkdir(parents=True, exist_ok=True)
    file = data_dir / "wire.sqlite3"
    with closing(sqlite3.connect(str(connection.settings_dict["NAME"]))) as source, closing(sqlite3.connect(file)) as target:
        source.backup(target)
    file.chmod(0o600)
    return file


def install_sqlite(data_dir: Path) -> Path:
    """The same on SQLite even where the tests themselves run on Postgres. Needs the fixture `django_db_setup`."""
    if connection.vendor == "sqlite":
        return install(data_dir)
    assert manage(data_dir, "migrate", "--verbosity", "0", DATABASE_URL="").returncode == 0
    return data_dir / "wire.sqlite3"


def set_up(data_dir: Path) -> None:
    """An installation whose database is migrated and holds no news, where a server of these tests looks for it."""
    if connection.vendor == "sqlite":
        install(data_dir)
        return
    command = [sys.executable, str(MANAGE), "migrate", "--verbosity", "0"]
    subprocess.run(command, env=environment(data_dir, 8000) | services(data_dir), check=True)


def manage(data_dir: Path, *arguments: object, **env: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(MANAGE), *map(str, arguments)]
    return subprocess.run(command, env=own_environment(data_dir) | env, capture_output=True, text=True, check=False, timeout=120)


def python(data_dir: Path, code: str) -> "subprocess.CompletedProcess[str]":
    """Runs `code` in the installation, once Django is set up."""
    return subprocess.run(
        running(code), cwd=MANAGE.parent, env=own_environment(data_dir), capture_output=True, text=True, check=True
    )


def running(code: str) -> list[str]:
    return [sys.executable, "-c", f"import django; django.setup()\n{code}"]
