"""Commands end with one sentence where settings are wrong, the data directory cannot be written, or somebody stops them."""

import ctypes
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from django.db import connection

from config.command_runner import INTERRUPTED, describe_failure
from tests.wire.archives import MANAGE, line, ndjson, own_environment
from tests.wire.installation import install

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="each installation here has an SQLite file of its own"),
]

DROP_FROM_BOUNDS: Final = 24  # PR_CAPBSET_DROP
IGNORE_MODES: Final = 1  # CAP_DAC_OVERRIDE
SENTENCE: Final = "run this again"


def as_a_user_at_a_terminal() -> None:
    """Heed modes of files, and Ctrl-C, which shells have commands in the background ignore."""
    ctypes.CDLL(None).prctl(DROP_FROM_BOUNDS, IGNORE_MODES, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(data: Path, *command: object, **env: str) -> "subprocess.Popen[str]":
    """A command for which modes of files hold, also where tests run as root."""
    return subprocess.Popen(
        [sys.executable, str(MANAGE), *map(str, command)],
        env=own_environment(data) | env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_a_user_at_a_terminal,
    )


def ends(data: Path, *command: object, **env: str) -> tuple[int, str]:
    """Its status, and what it says to the terminal, which is never a traceback."""
    started = start(data, *command, **env)
    _, said = started.communicate(timeout=120)
    assert "Traceback" not in said
    return started.returncode, said


@pytest.mark.parametrize("name", ["WIRE_RATE_LIMIT", "PORT", "DATABASE_URL", "SECRET_KEY_FILE"])
def test_a_setting_that_cannot_be_read_is_named_in_one_sentence(tmp_path: Path, name: str) -> None:
    status, said = ends(tmp_path, "verifywire", **{name: "nonsense"})
    assert (status, said.count("\n"), said.startswith(name)) == (1, 1, True), said
    assert "Nothing was changed. docs/settings.md lists the settings." in said


@pytest.mark.parametrize("place", ["/proc/nowhere", f"{__file__}/below"])
def test_a_data_directory_that_cannot_be_made_is_named_in_one_sentence(place: str) -> None:
    status, said = ends(Path(place), "migrate")
    assert (status, said.count("\n"), said.startswith(place)) == (1, 1, True), said
    assert SENTENCE in said


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    data = tmp_path / "wire"
    install(data).chmod(0o400)
    (data / "keys").mkdir()
    (data / "keys" / "secret_key").write_text("a secret of at least fifty characters, for these tests alone")
    for directory in (data, data / "keys"):
        directory.chmod(0o500)
    yield data
    for directory in (data, data / "keys"):
        directory.chmod(0o700)


COMMANDS: Final = ["migrate", "verifywire", "firstaccount", "loadsample", "serve", "gateway agent beta --grant twitter://"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_data_directory_that_cannot_be_written_ends_a_command_with_one_sentence(read_only: Path, command: str) -> None:
    status, said = ends(read_only, *command.split())
    assert (status, said.count("\n")) == (1, 1), said
    assert "The database file cannot be written" in said
    assert SENTENCE in said


def wait_until_at_work(started: "subprocess.Popen[str]") -> None:
    """Until it has opened the door to its database; before, it has not begun."""
    maps = Path(f"/proc/{started.pid}/maps")
    if not maps.exists():
        pytest.skip("needs Linux's /proc")
    while started.poll() is None and "_sqlite3" not in maps.read_text():
        time.sleep(0.01)


@pytest.mark.parametrize("command", ["migrate", "loadwire", "verifywire", "backup", "doctor"])
def test_ctrl_c_ends_a_command_with_one_sentence_wherever_it_is(tmp_path: Path, command: str) -> None:
    install(tmp_path / "wire")
    archive = ndjson(tmp_path / "much.ndjson", (line(number) for number in range(10_000)))
    where = {"loadwire": [archive], "backup": [tmp_path / "backup"]}.get(command, [])
    for pause in (0.0, 0.2, 1.0):
        started = start(tmp_path / "wire", command, *where)
        wait_until_at_work(started)
        time.sleep(pause)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
        assert "Traceback" not in said
        if started.returncode == INTERRUPTED:
            assert "Stopped before the end. Committed work is kept" in said
    assert not list(tmp_path.glob(".backup*"))


def test_ctrl_c_during_a_callback_of_python_is_not_lost() -> None:
    code = (
        "import signal, time, weakref\n"
        "from unittest.mock import patch\n"
        "from config.command_runner import run_command\n"
        "class Thing: pass\n"
        "def work(arguments):\n"
        "    thing = Thing()\n"
        "    callback = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))\n"
        "    del thing\n"
        "    time.sleep(30)\n"
        "with patch('django.core.management.execute_from_command_line', work): run_command(['manage.py', 'check'])\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code], cwd=MANAGE.parent, stderr=subprocess.PIPE, text=True, preexec_fn=as_a_user_at_a_terminal
    )
    _, said = started.communicate(timeout=60)
    assert (started.returncode, said.count("\n")) == (INTERRUPTED, 2), said


def test_ctrl_c_ends_the_server_of_standard_input_though_its_client_stays(tmp_path: Path) -> None:
    install(tmp_path)
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    with start(tmp_path, "runmcp") as started:
        assert started.stdin
        assert started.stdout
        assert started.stderr
        started.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}) + "\n")
        started.stdin.flush()
        assert "serverInfo" in started.stdout.readline()
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == INTERRUPTED
        assert started.stderr.read() == "Stopped by Ctrl-C: the client is no longer answered.\n"


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    assert describe_failure(ValueError("a bug")) == ""


def test_the_database_file_and_what_stands_beside_it_are_their_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        assert ends(tmp_path, "migrate", "--verbosity", "0")[0] == 0
        code = "import django; django.setup()\nfrom tests.factories import *\npublish(entry())\nimport os; os._exit(0)"
        subprocess.run([sys.executable, "-c", code], cwd=MANAGE.parent, env=own_environment(tmp_path), check=True)
    finally:
        os.umask(old)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.name for file in files} >= {"wire.sqlite3", "wire.sqlite3-wal", "wire.sqlite3-shm", "ed25519.pem", "secret_key"}
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in files} == {file.name: 0o600 for file in files}


@pytest.mark.parametrize("command", [("serve",), ("ingest",), ("publishers", "list"), ("gateway", "check")])
def test_a_database_of_a_newer_release_is_refused_before_anything_is_read(tmp_path: Path, command: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(install(tmp_path))) as database, database:
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('wire', '0999_future', '2030-01-01')")
    status, said = ends(tmp_path, *command)
    assert status == 1
    assert said.startswith("A newer release has used this database: it applied wire.0999_future. Nothing was read or changed.")


@pytest.mark.parametrize(
    "command",
    [("ingest",), ("loadwire", "nothing.ndjson"), ("dumpwire", "nothing.ndjson"), ("verifywire",), ("publishers", "list")],
)
def test_a_database_that_is_not_migrated_is_refused_in_one_sentence(tmp_path: Path, command: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(install(tmp_path))) as database, database:
        database.execute("DELETE FROM django_migrations WHERE app = 'wire' AND name >= '0021'")
    status, said = ends(tmp_path, *command)
    assert (status, said.count("\n")) == (1, 1), said
    assert re.match(r"The database is not migrated: \d+ migrations are not applied, wire\.0021_storylines is the first\.", said)
    assert said.endswith("Nothing was read or changed. Run manage.py migrate.\n")


def test_before_a_database_is_migrated_doctor_says_only_that_and_a_backup_can_be_made(tmp_path: Path) -> None:
    with closing(sqlite3.connect(install(tmp_path / "wire"))) as database, database:
        database.execute("DELETE FROM django_migrations WHERE app = 'wire' AND name >= '0021'")
    findings, said = (doctor := start(tmp_path / "wire", "doctor")).communicate(timeout=120)
    assert (doctor.returncode, said) == (1, "")
    assert re.search(r"FAIL migrations: \d+ are not applied", findings), findings
    assert len(re.findall(r"\bFAIL\b", findings)) == 1, findings
    assert ends(tmp_path / "wire", "backup", tmp_path / "backup") == (0, "")
