"""A backup holds every table and every key: restored elsewhere, all rows are the same, and so are 200 and more public answers."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.wire.archives import MANAGE, own_environment
from tests.wire.installation import install
from tests.wire.ops.backup import systems
from wire.ops.backup.contents import COUNTED, KEYS_LEFT_OUT, MANIFEST, check_backup, describe_file, pack_manifest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,  # or pytest-django makes no database for a run of these tests alone
    pytest.mark.timeout(900),
]

SECRET: Final = "a secret of at least fifty characters, the same in both places"


@dataclass(frozen=True)
class Installation:
    """A data directory and, on Postgres, a database."""

    data: Path
    database_url: str

    def __post_init__(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)

    def run(self, *command: object) -> "subprocess.CompletedProcess[str]":
        settings = {"WIRE_VECTORS": "0", "WIRE_INGEST": "off", "WIRE_RATE_LIMIT": "off", "SECRET_KEY": SECRET}
        env = own_environment(self.data) | settings | {"DATABASE_URL": self.database_url, "WIRE_SITE_URL": "http://localhost:8000"}
        arguments = [sys.executable, *map(str, command)]
        return subprocess.run(arguments, cwd=MANAGE.parent, env=env, capture_output=True, text=True, check=False, timeout=600)

    def manage(self, *command: object) -> str:
        ran = self.run(MANAGE, *command)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def set_up(self) -> None:
        if connection.vendor == "sqlite":
            install(self.data)
        else:
            self.manage("migrate", "--verbosity", "0")

    def systems(self, what: str, *files: Path) -> Any:
        """Do it there; what the last file holds then."""
        ran = self.run("-m", systems.__name__, what, *files)
        assert ran.returncode == 0, ran.stderr
        return json.loads(files[-1].read_text()) if files else None

    def list_keys(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in (self.data / "keys").iterdir() if file.name not in KEYS_LEFT_OUT}


@pytest.fixture(scope="module")
def databases(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[list[str]]:  # noqa: ARG001
    """Addresses of empty databases of Postgres; of none on SQLite, where each data directory has its own."""
    names = [f"{connection.settings_dict['NAME']}_{number}" for number in range(6)]
    if connection.vendor == "sqlite":
        yield [""] * len(names)
        return
    from psycopg import connect

    base = os.environ["TEST_DATABASE_URL"].rsplit("/", 1)[0]
    with connect(os.environ["TEST_DATABASE_URL"], autocommit=True) as server:
        for name in names:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
            server.execute(f'CREATE DATABASE "{name}"'.encode())
        with django_db_blocker.block():
            yield [f"{base}/{name}" for name in names]
        for name in names:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@pytest.fixture(scope="module")
def wire(databases: list[str], tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """One in which every table holds rows."""
    found = Installation(tmp_path_factory.mktemp("wire"), databases[0])
    found.set_up()
    found.systems("fill")
    return found


@pytest.fixture(scope="module")
def backup(wire: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("backups") / "night"
    assert "gateway agents" in wire.manage("backup", target)
    return target


def test_a_restored_installation_has_the_same_rows_and_keys_and_answers_the_same(
    wire: Installation, databases: list[str], tmp_path: Path
) -> None:
    questions = wire.systems("questions", tmp_path / "questions")
    answers = wire.systems("ask", tmp_path / "questions", tmp_path / "answers-before")
    wire.manage("backup", tmp_path / "backup")
    rows = wire.systems("rows", tmp_path / "rows-before")
    restored = Installation(tmp_path / "restored", databases[1])
    said = restored.manage("restore", tmp_path / "backup")
    manifest = check_backup(tmp_path / "backup")
    assert set(manifest["counts"]) == set(COUNTED)
    for name, number in manifest["counts"].items():
        assert number > 0
        assert f"{number:,} {name}" in said
    assert restored.list_keys() == wire.list_keys()
    assert {"ed25519.pem", "timeline_names"} <= set(restored.list_keys())

    found = restored.systems("rows", tmp_path / "rows-after")
    assert [table for table in rows if not rows[table]] == []
    assert {table: (rows[table], found[table]) for table in rows if rows[table] != found[table]} == {}

    again = restored.systems("ask", tmp_path / "questions", tmp_path / "answers-after")
    assert len({answer for answer in answers.values() if answer.startswith("200 ")}) >= 200
    assert {path.split("/")[2] for path, method, _ in questions if method == "tools/call" and path != "/mcp"} == {
        *("articles", "factchecks", "timeline", "gateway")
    }
    assert [question for question in answers if answers[question] != again[question]] == []
    assert "left-out-name" in again[name_question(questions)]

    restored.run("-c", "import django; django.setup()\nfrom tests.factories import *\npublish(entry())")
    assert "verify" in restored.manage("verifywire")


def name_question(questions: list[systems.Question]) -> str:
    return next(json.dumps(one) for one in questions if one[2].get("name") == "timeline_check_wording")


@pytest.mark.parametrize("name", ["timeline_names", "ed25519.pem"])
def test_another_key_in_its_place_is_not_replaced(backup: Path, databases: list[str], tmp_path: Path, name: str) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / name).write_bytes(b"another key")
    ran = Installation(tmp_path, databases[2]).run(MANAGE, "restore", backup)
    assert (ran.returncode, f"{name} is a different key from the one in the backup. Nothing was" in ran.stderr) == (1, True)
    assert (tmp_path / "keys" / name).read_bytes() == b"another key"


def test_an_installation_that_holds_something_is_left_alone_and_a_backup_of_the_other_database_is_refused(
    backup: Path, databases: list[str], tmp_path: Path
) -> None:
    """Claims alone are something, and so is an agent of the gateway."""
    there = Installation(tmp_path / "there", databases[2])
    there.set_up()
    there.manage("gateway", "agent", "beta", "--grant", "twitter://")
    ran = there.run(MANAGE, "restore", backup)
    assert (ran.returncode, "rows in gateway_agent. A backup can only be restored into an" in ran.stderr) == (1, True), ran.stderr
    assert "beta" in there.manage("gateway", "agent")
    if connection.vendor == "postgresql":
        ran = Installation(tmp_path / "other", "").run(MANAGE, "restore", backup)
        assert (ran.returncode, "The backup is from Postgres, but this installation uses SQLite. " in ran.stderr) == (1, True)


BACK: Final = (
    "import django; django.setup()\nfrom django.db import connection\nfrom tests.factories import *\npublish(entry())\n"
    "from django.db.migrations.executor import MigrationExecutor as E\nE(connection).migrate([('articles', '0001_articles')])"
)


def test_a_backup_from_before_an_upgrade_comes_back_migrated_and_only_where_nothing_is_ahead_of_it(
    databases: list[str], wire: Installation, tmp_path: Path
) -> None:
    old = Installation(tmp_path / "old", databases[3])
    old.set_up()
    ran = old.run("-c", BACK)
    assert ran.returncode == 0, ran.stderr
    old.manage("backup", tmp_path / "backup")
    assert ["articles", "0002_price_and_limit"] not in check_backup(tmp_path / "backup")["migrations"]
    if connection.vendor == "postgresql":  # SQLite's file is replaced as a whole
        ran = Installation(tmp_path / "new", wire.database_url).run(MANAGE, "restore", tmp_path / "backup")
        assert (ran.returncode, "was migrated further than the backup: articles.0002" in ran.stderr) == (1, True), ran.stderr
    new = Installation(tmp_path / "new", databases[4])
    assert "Verified: 1 snapshots, 1 stories;" in new.manage("restore", tmp_path / "backup")
    assert "migrations: All are applied." in new.run(MANAGE, "doctor").stdout


def test_a_table_that_came_back_with_other_rows_than_the_manifest_says_is_not_taken(
    backup: Path, databases: list[str], tmp_path: Path
) -> None:
    """Somebody took a row out, and made the manifest fit but for the number of rows."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's file is replaced as a whole")
    damaged = Path(shutil.copytree(backup, tmp_path / "backup"))
    table = damaged / "tables" / "articles_articlecount.copy.gz"
    table.write_bytes(gzip.compress(b""))
    manifest = check_backup(backup)
    manifest["files"]["tables/articles_articlecount.copy.gz"] = describe_file(table)
    (damaged / MANIFEST).write_bytes(pack_manifest(manifest))
    new = Installation(tmp_path / "new", databases[5])
    ran = new.run(MANAGE, "restore", damaged)
    assert (ran.returncode, "articles_articlecount was restored with 0 rows, but the manifest says 1" in ran.stderr) == (1, True)
    assert "snapshots, " in new.manage("restore", backup)  # nothing of the other one is in the way
