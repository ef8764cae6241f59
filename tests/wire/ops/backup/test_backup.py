"""A backup is the wire of one moment, whole or not there; a restored one is the same wire, and a damaged one changes nothing."""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import orjson
import pytest
from pytest_django import DjangoDbBlocker

from config.errors import InvalidArgument
from tests.wire.archives import MANAGE, own_environment
from tests.wire.installation import install, manage, python, running
from wire.ops.backup.contents import MANIFEST, Damaged, check_backup, describe_file, pack_manifest
from wire.ops.backup.create import create_backup
from wire.ops.backup.restore import restore_backup

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,  # or pytest-django makes no database for a run of these tests alone
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="about SQLite files; Postgres is in another file"),
]

PUBLISH = "from tests.factories import entry, publish\nfrom django.contrib.auth.models import User\n"
FOR_EVER = (
    f"import os\n{PUBLISH}n = 0\nwhile n := n + 1:\n"
    "    publish(entry(url=f'https://techcrunch.com/{os.getpid()}/{n}'))\n    print(n, flush=True)"
)
ROOT = MANAGE.parent


@pytest.fixture(scope="session")
def made(
    django_db_setup: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Path]:
    """The data directory of a wire with news and an account, and a backup of it."""
    folder = tmp_path_factory.mktemp("backup")
    with django_db_blocker.unblock():
        install(folder / "wire")
    python(folder / "wire", f"{PUBLISH}publish(entry(), entry()); publish(entry()); User.objects.create_user('ada')")
    ran = manage(folder / "wire", "backup", folder / "backup")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "up to snapshot 2." in ran.stdout
    return folder / "wire", folder / "backup"


@pytest.fixture
def backup(made: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the backup, to be damaged."""
    return Path(shutil.copytree(made[1], tmp_path / "backup"))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def rows(file: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(sql).fetchall()


def rewrite(backup: Path, **changes: object) -> None:
    """Let the manifest say something else, and that it is as it was written."""
    manifest = orjson.loads((backup / MANIFEST).read_bytes())["manifest"] | changes
    files = [file for file in backup.rglob("*") if file.is_file() and file.name != MANIFEST]
    manifest["files"] = {file.relative_to(backup).as_posix(): describe_file(file) for file in files}
    (backup / MANIFEST).write_bytes(pack_manifest(manifest))


def test_a_restored_wire_is_the_same_wire_with_its_accounts_and_its_key(made: tuple[Path, Path], tmp_path: Path) -> None:
    wire, backup = made
    ran = manage(tmp_path, "restore", backup)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "2 snapshots, 3 stories; the chain ends in " in ran.stdout
    assert (tmp_path / "keys" / "ed25519.pem").read_bytes() == (wire / "keys" / "ed25519.pem").read_bytes()
    assert rows(tmp_path / "wire.sqlite3", "SELECT username FROM auth_user") == [("ada",)]
    for table in (
        "wire_story",
        "wire_storyrevision",
        "wire_snapshot",
        "wire_signingkey",
        "sources_publication",
        "wire_lexiconterm",
    ):
        assert len({str(rows(folder / "wire.sqlite3", f"SELECT * FROM {table}")) for folder in (wire, tmp_path)}) == 1  # noqa: S608
    python(tmp_path, f"{PUBLISH}publish(entry(title='The chain goes on', url='https://techcrunch.com/on'))")
    before, after = rows(tmp_path / "wire.sqlite3", "SELECT wire_sha256, previous_sha256 FROM wire_snapshot ORDER BY sequence")[1:]
    assert after[1] == before[0]


def test_only_its_owner_can_read_it(made: tuple[Path, Path]) -> None:
    backup = made[1]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    assert stat.S_IMODE((backup / "keys").stat().st_mode) == 0o700
    assert {stat.S_IMODE((backup / name).stat().st_mode) for name in tree(backup)} == {0o600}
    assert set(tree(backup)) == {"manifest.json", "wire.sqlite3", "keys/ed25519.pem", "wire-keys.json"}


def test_backups_taken_while_other_processes_publish_restore_and_verify(made: tuple[Path, Path], tmp_path: Path) -> None:
    wire = Path(shutil.copytree(made[0], tmp_path / "wire"))
    with ExitStack() as stack:
        publishers = [
            stack.enter_context(
                subprocess.Popen(running(FOR_EVER), cwd=ROOT, env=own_environment(wire), stdout=subprocess.PIPE, bufsize=0)
            )
            for _ in range(2)
        ]
        said = [publisher.stdout for publisher in publishers if publisher.stdout]
        for number in range(2):
            assert all(terminal.readline() for terminal in said)
            assert manage(wire, "backup", tmp_path / f"backup-{number}").returncode == 0
        for terminal in said:  # nobody held them up for good
            assert all(terminal.readline() for _ in range(2))
        for publisher in publishers:
            publisher.kill()
    taken = [check_backup(tmp_path / f"backup-{number}")["sequence"] for number in range(2)]
    assert taken[0] < taken[1]
    for number in range(2):
        ran = manage(tmp_path / f"restored-{number}", "restore", tmp_path / f"backup-{number}")
        assert f"{taken[number]} snapshots" in ran.stdout, ran.stderr
    assert "verify" in manage(wire, "verifywire").stdout


def test_a_killed_backup_leaves_nothing_that_looks_whole(made: tuple[Path, Path], tmp_path: Path) -> None:
    wire = Path(shutil.copytree(made[0], tmp_path / "wire"))
    with closing(sqlite3.connect(wire / "wire.sqlite3")) as database, database:
        database.execute("CREATE TABLE filler AS SELECT randomblob(40000000) AS bytes")  # so that there is a middle to be killed in
    target = tmp_path / "backups" / "night"
    target.parent.mkdir()
    command = [sys.executable, str(MANAGE), "backup", str(target)]
    taking = subprocess.Popen(command, env=own_environment(wire), stderr=subprocess.PIPE)
    while taking.poll() is None and not any(target.parent.iterdir()):
        time.sleep(0.001)
    taking.send_signal(signal.SIGKILL)
    taking.communicate()
    assert taking.returncode == -signal.SIGKILL
    assert not target.exists()
    [left] = target.parent.iterdir()
    assert (left.name.startswith(".night."), left.suffix) == (True, ".part")
    refused = manage(tmp_path / "elsewhere", "restore", left)
    assert (refused.returncode, "is not a backup: it has no manifest.json" in refused.stderr) == (1, True)
    assert manage(wire, "backup", target).returncode == 0
    assert check_backup(target)["sequence"] == 2


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a byte changed": lambda content: (
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
    ),
    "cut off": lambda content: content[:-1],
    "empty": lambda _content: b"",
}


@pytest.mark.parametrize("name", ["manifest.json", "wire.sqlite3", "keys/ed25519.pem", "wire-keys.json"])
def test_damage_to_any_file_is_found(backup: Path, name: str) -> None:
    file = backup / name
    whole = file.read_bytes()
    for damage in DAMAGES.values():
        file.write_bytes(damage(whole))
        with pytest.raises(Damaged, match=r"(damaged|cannot be read|changed after it was written).*Nothing was changed"):
            check_backup(backup)


def test_a_file_that_is_missing_is_found_and_another_version_not_guessed_at(backup: Path) -> None:
    key = (backup / "keys" / "ed25519.pem").read_bytes()
    (backup / "keys" / "ed25519.pem").unlink()
    with pytest.raises(Damaged, match=r"ed25519.pem of the backup cannot be read"):
        check_backup(backup)
    (backup / "keys" / "ed25519.pem").write_bytes(key)
    rewrite(backup, v=3)
    with pytest.raises(InvalidArgument, match="has format version 3; this program reads 1 and 2"):
        check_backup(backup)


def test_a_damaged_backup_changes_nothing(made: tuple[Path, Path], backup: Path, tmp_path: Path) -> None:
    wire = Path(shutil.copytree(made[0], tmp_path / "wire"))
    before = tree(wire)
    content = bytearray((backup / "wire.sqlite3").read_bytes())
    content[-100] ^= 1
    (backup / "wire.sqlite3").write_bytes(content)
    ran = manage(wire, "restore", backup)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "wire.sqlite3 of the backup is damaged" in ran.stderr
    assert tree(wire) == before


def test_a_backup_of_a_newer_program_changes_nothing(backup: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(backup / "wire.sqlite3")) as database, database:
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('wire', '0999_future', '2026-01-01')")
    rewrite(backup)
    ran = manage(tmp_path / "new", "restore", backup)
    assert (ran.returncode, "by a newer release, which applied wire.0999_future" in ran.stderr) == (1, True)
    assert not (tmp_path / "new" / "wire.sqlite3").exists()


def test_a_wire_that_was_broken_when_it_was_backed_up_comes_back_and_is_called_so(backup: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(backup / "wire.sqlite3")) as database, database:
        public = "SELECT min(current_id) FROM wire_story WHERE current_id IS NOT NULL"
        done = database.execute(f"UPDATE wire_storyrevision SET headline = 'Quince ships nothing' WHERE id = ({public})")  # noqa: S608  ours
        assert done.rowcount == 1
    rewrite(backup)
    ran = manage(tmp_path / "new", "restore", backup)
    assert ran.returncode == 1
    assert "is restored, but verification FAILED: story cbn-" in ran.stderr


def test_what_is_there_is_never_replaced(backup: Path, made: tuple[Path, Path], tmp_path: Path) -> None:
    wire = tmp_path / "wire"
    assert manage(wire, "restore", backup).returncode == 0
    python(wire, f"{PUBLISH}publish(entry(title='Only here', url='https://techcrunch.com/only-here'))")

    def refused(folder: Path, why: str) -> None:
        ran = manage(folder, "restore", backup)
        assert (ran.returncode, why in ran.stderr, "Nothing was changed." in ran.stderr) == (1, True, True), ran.stderr

    refused(wire, "already holds a wire")
    assert rows(wire / "wire.sqlite3", "SELECT count(*) FROM wire_snapshot") == [(3,)]
    (wire / "wire.sqlite3").write_bytes(b"no database " * 1000)
    refused(wire, "cannot be read")
    assert (wire / "wire.sqlite3").read_bytes()[:11] == b"no database"
    (wire / "wire.sqlite3").rename(tmp_path / "damaged")
    (wire / "wire.sqlite3-wal").write_bytes(b"of another")
    refused(wire, "There is a WAL")
    assert not (wire / "wire.sqlite3").exists()
    (wire / "wire.sqlite3-wal").unlink()
    assert "Verified: 2 snapshots, 3 stories;" in manage(wire, "restore", backup).stdout
    in_use = Path(shutil.copytree(made[0], tmp_path / "in-use"))
    with closing(sqlite3.connect(in_use / "wire.sqlite3")) as reader:
        reader.execute("SELECT count(*) FROM wire_story").fetchone()
        ran = manage(in_use, "restore", backup)
    assert (ran.returncode, "is in use. Nothing was changed. Stop the server" in ran.stderr) == (1, True)


def test_only_an_empty_installation_of_the_same_database_takes_a_backup_unasked(
    made: tuple[Path, Path],
    tmp_path: Path,
    db: None,  # noqa: ARG001
) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "ed25519.pem").write_bytes(b"another key")
    ran = manage(tmp_path, "restore", made[1])
    assert (ran.returncode, "is a different key from the one in the backup. Nothing was changed." in ran.stderr) == (1, True)
    assert not (tmp_path / "wire.sqlite3").exists()
    ran = manage(tmp_path / "new", "restore", made[1], DATABASE_URL="postgres://ada@127.0.0.1:1/wire")
    assert (ran.returncode, "this installation uses Postgres. Nothing was changed." in ran.stderr) == (1, True)
    install(tmp_path / "wire")
    assert "2 snapshots" in manage(tmp_path / "wire", "restore", made[1]).stdout


def test_a_backup_of_the_first_version_is_restored_into_an_empty_database_only(
    made: tuple[Path, Path], backup: Path, tmp_path: Path
) -> None:
    (backup / "wire.sqlite3").unlink()
    (backup / "keys" / "ed25519.pem").rename(backup / "ed25519.pem")
    (backup / "keys").rmdir()
    assert manage(made[0], "dumpwire", backup / "wire.ndjson.gz").returncode == 0
    manifest = {"format": "chatbotnews-wire-backup", "v": 1, "taken_at": "2026-01-16T12:00:00Z"}
    manifest |= {"wire_sha256": rows(made[0] / "wire.sqlite3", "SELECT wire_sha256 FROM wire_snapshot WHERE sequence = 2")[0][0]}
    files = {file.name: describe_file(file) for file in backup.iterdir() if file.name != MANIFEST}
    (backup / MANIFEST).write_bytes(pack_manifest(manifest | {"files": files}))
    said = manage(tmp_path / "new", "restore", backup).stdout
    assert "Verified: 2 snapshots, 3 stories;" in said
    assert "by an earlier release, which on Postgres saved only the wire: fact-checks, publishers" in said
    assert (tmp_path / "new" / "keys" / "ed25519.pem").read_bytes() == (backup / "ed25519.pem").read_bytes()
    refused = manage(tmp_path / "new", "restore", backup)
    assert (refused.returncode, "only be restored into an empty installation. Nothing was changed." in refused.stderr) == (1, True)


def test_wrong_places_are_named_and_a_second_backup_leaves_the_first(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "away")
    before = tree(backup)
    for target, said in {
        "nowhere/night": "There is no directory",
        **dict.fromkeys(("file", "link", "backup"), "already exists"),
    }.items():
        with pytest.raises(InvalidArgument, match=said):
            create_backup(tmp_path / target)
    assert tree(backup) == before
    for source in (tmp_path / "nowhere", tmp_path / "file", tmp_path):
        with pytest.raises(InvalidArgument, match=f"{source} is not a backup"):
            restore_backup(source)
    assert not (tmp_path / "nowhere").exists()
