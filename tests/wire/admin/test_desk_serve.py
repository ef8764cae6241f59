"""`manage.py serve` opens the desk: the first account, its password on the terminal once, and an address to click."""

import contextlib
import io
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from tests.clients.server import free_port
from tests.wire.archives import MANAGE, own_environment
from tests.wire.installation import install_sqlite, manage
from wire import permissions, sample_switch
from wire.management.commands import serve
from wire.models import WireState


@pytest.mark.django_db
def test_the_first_account_is_an_editor_and_publisher_but_no_superuser() -> None:
    assert permissions.open_first_account("a long password")
    editor = authenticate(username="editor", password="a long password")
    assert isinstance(editor, User)
    assert (editor.is_staff, editor.is_superuser) == (True, False)
    assert set(editor.groups.values_list("name", flat=True)) == {"editor", "publisher"}


@pytest.mark.django_db
def test_a_wire_with_any_user_gets_no_account() -> None:
    User.objects.create_superuser("root")
    assert not permissions.open_first_account("a long password")
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_command_reads_the_password_and_says_whether_it_was_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for said in (
        "The account `editor` is ready.\n",
        "Nothing was changed: there is an account already. manage.py changepassword NAME sets a password.\n",
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO("a long password"))
        call_command("firstaccount")
        assert capsys.readouterr().out == said
    assert authenticate(username="editor", password="a long password")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "why"), [("", "too short"), ("\n", "too short"), ("short\n", "too short"), ("1234567890123\n", "numeric")]
)
def test_an_empty_or_short_password_makes_no_account(monkeypatch: pytest.MonkeyPatch, said: str, why: str) -> None:
    for command in (("firstaccount",), ("createeditor", "ada")):
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        with pytest.raises(CommandError, match=f"{why}.*No account was made"):
            call_command(*command)
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_password_from_a_pipe_has_no_end_of_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a long password\r\n"))
    call_command("firstaccount")
    assert authenticate(username="editor", password="a long password")


@pytest.mark.django_db
def test_an_editors_account_is_asked_for_its_password_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answers, options, groups in (
        (("a long password", "another password"), (), None),
        (("a long password", "a long password"), (), ["editor"]),
        (("a long password", "a long password"), ("--publisher",), ["editor", "publisher"]),
    ):
        given = iter(answers)
        monkeypatch.setattr("getpass.getpass", lambda *_, given=given: next(given))
        name = f"ada{len(options)}"
        if groups is None:
            with pytest.raises(CommandError, match=r"The passwords differ\. No account was made\."):
                call_command("createeditor", name)
            assert not User.objects.exists()
            continue
        call_command("createeditor", f" {name} ", *options)
        assert capsys.readouterr().out.startswith(f"In the live wire: {name} may log in at /admin/")
        assert sorted(User.objects.get(username=name).groups.values_list("name", flat=True)) == groups
        assert authenticate(username=name, password="a long password")
    for taken, says in (
        ("ada0", "The account ada0 already exists."),
        ("ａｄａ0", "The account ada0 already exists."),
        ("a b", "Enter a valid username"),
    ):
        with pytest.raises(CommandError, match=says):
            call_command("createeditor", taken)


@pytest.mark.slow
@pytest.mark.usefixtures("django_db_setup")
def test_an_editors_account_opens_the_sample_wire_too(tmp_path: Path) -> None:
    files = [install_sqlite(tmp_path), install_sqlite(tmp_path / "sample")]
    command = [sys.executable, str(MANAGE), "createeditor", "ada"]
    ran = subprocess.run(
        command, env=own_environment(tmp_path), input="a long password", capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [
        "In the live wire: ada may log in at /admin/, in the group editor.",
        "In the sample wire: the same account.",
    ]
    for file in files:
        with contextlib.closing(sqlite3.connect(file)) as rows:
            assert rows.execute("SELECT username FROM auth_user").fetchall() == [("ada",)]


class Served:
    """`manage.py serve` in a directory of its own; what it says until it serves."""

    def __init__(self, data: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "WIRE_SITE_URL"}}
        env |= {"WIRE_DATA_DIR": str(data / "wire"), "WIRE_INGEST": "off", "PORT": str(self.port), "PYTHONUNBUFFERED": "1"}
        env["DJANGO_SETTINGS_MODULE"] = "config.settings"
        self.process = subprocess.Popen(
            [sys.executable, str(MANAGE), "serve"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # also where the tests run under nohup
        )
        assert self.process.stdout is not None
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if line.startswith("Ready: "):
                break

    def read_until(self, beginning: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if line.startswith(beginning):
                return
        raise AssertionError(self.said)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self.process.stdout is not None
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                break
            time.sleep(0.1)
        self.process.send_signal(how)
        with self.process, self.process.stdout as rest:  # what was read ahead is in here, and not in what `communicate` reads
            self.said += rest.read()


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Served]:
    """A directory in which `serve` ran once, and that process."""
    directory = tmp_path_factory.mktemp("first")
    served = Served(directory)
    served.end()
    return directory, served


@pytest.mark.slow
def test_serve_says_the_password_once_and_which_wire_it_serves_where(first_start: tuple[Path, Served], tmp_path: Path) -> None:
    directory, first = first_start
    told = re.search(r"^\| Password: (\S{20}) +\|$", first.said, re.M)
    assert told is not None, first.said
    what = "the SAMPLE wire (invented stories, until there is something real)"
    said = [line for line in first.said.splitlines() if not re.match(r"\d{4}-\d\d-\d\dT", line)]  # without the log
    assert said[:2] == ["Preparing…", f"Ready: serving {what} at http://localhost:{first.port}"]
    assert f"| Editors' desk of the live and sample wire: http://localhost:{first.port}/admin/ |" in said
    assert {len(line) for line in said if line.startswith(("|", "+"))} == {len(said[2])}
    copy = Path(shutil.copytree(directory, tmp_path / "again"))
    again = Served(copy)
    assert "Password" not in again.said
    assert "Ready: serving the SAMPLE wire" in again.said
    try:
        second = manage(tmp_path / "other", "serve", PORT=str(again.port))
        assert second.returncode == 1
        assert f"Port {again.port} is taken by another program" in second.stderr
        assert not (tmp_path / "other" / "wire.sqlite3").exists(), "nothing is prepared"
    finally:
        again.end()
    for file in copy.rglob("*"):
        assert not file.is_file() or told[1].encode() not in file.read_bytes(), file


@pytest.mark.slow
def test_a_start_that_fails_opens_no_account_whose_password_nobody_saw(first_start: tuple[Path, Served], tmp_path: Path) -> None:
    wire = tmp_path / "wire"
    wire.mkdir()
    (wire / "sample").write_text("where the sample wire would lie")
    failed = manage(wire, "serve", PORT=str(free_port()), WIRE_INGEST="off")
    assert (failed.returncode, "Nothing is served" in failed.stderr) == (1, True), failed.stderr
    (wire / "sample").unlink()
    shutil.copytree(first_start[0] / "wire" / "sample", wire / "sample")
    served = Served(tmp_path)
    served.end()
    assert "| Editors' desk of the live wire: " in served.said  # the copied sample has its account already


@pytest.mark.slow
def test_all_that_serve_keeps_is_in_the_directory_that_was_named(first_start: tuple[Path, Served]) -> None:
    """A service may write nowhere else. The sample wire there has stories, and an almanac's articles."""
    directory, _ = first_start
    assert [entry.name for entry in directory.iterdir()] == ["wire"]
    with contextlib.closing(sqlite3.connect(directory / "wire" / "sample" / "wire.sqlite3")) as rows:
        assert rows.execute("SELECT count(*) > 100 FROM wire_story").fetchone() == (1,)
        almanacs = "SELECT count(*) FROM articles_article WHERE url LIKE 'https://almanac.example/%' AND state = 'live'"
        assert rows.execute(almanacs).fetchone() == (40,)


@pytest.mark.slow
@pytest.mark.usefixtures("django_db_setup")
def test_a_wire_that_has_a_publisher_is_served_though_no_day_was_published(tmp_path: Path) -> None:
    wire = tmp_path / "wire"
    install_sqlite(wire)
    chef = ("--homepage", "https://yoursite.com/", "--domain", "yoursite.com", "--feed", "https://yoursite.com/feed")
    consent = ("--consent-note", "Written for tests.", "--consented-on", "2026-03-01")
    added = manage(wire, "publishers", "add", "chef", "The Chef", *chef, *consent)
    assert added.returncode == 0, added.stderr
    served = Served(tmp_path)
    served.end()
    assert "Ready: serving the live wire" in served.said


@pytest.mark.slow
@pytest.mark.usefixtures("django_db_setup")
def test_the_operator_chooses_which_wire_is_served_while_it_is_served(tmp_path: Path) -> None:
    wire = tmp_path / "wire"
    install_sqlite(wire)
    assert "because the live wire is still empty" in manage(wire, "sample").stdout
    chef = ("--homepage", "https://yoursite.com/", "--domain", "yoursite.com", "--feed", "https://yoursite.com/feed")
    consent = ("--consent-note", "Written for tests.", "--consented-on", "2026-03-01")
    assert manage(wire, "publishers", "add", "chef", "The Chef", *chef, *consent).returncode == 0
    assert "manage.py sample off" in manage(wire, "sample", "on").stdout
    served = Served(tmp_path)
    try:
        assert "Ready: serving the SAMPLE wire" in served.said
        assert manage(wire, "sample", "off").stdout.startswith("The live wire is served.")
        served.read_until("Ready: serving the live wire")
        assert manage(wire, "sample", "on").stdout.startswith("The SAMPLE wire is served")
        served.read_until("Ready: serving the SAMPLE wire")
    finally:
        served.end()
    assert "This is the sample wire itself" in manage(wire / "sample", "sample", "on").stderr


@pytest.mark.django_db
def test_the_live_wire_is_chosen_even_while_it_is_empty(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.WIRE_DATA_DIR = tmp_path
    call_command("sample")
    assert (
        "because the live wire is still empty. The first news ends this, or at once: manage.py sample off"
        in capsys.readouterr().out
    )
    assert serve._is_sample_wanted(is_served=True)
    call_command("sample", "off")
    assert capsys.readouterr().out.startswith("The live wire is served.")
    assert not serve._is_sample_wanted(is_served=True)
    sample_switch.get_choice_file().write_text("")  # as earlier releases chose the sample
    assert serve._is_sample_wanted(is_served=False)


@pytest.mark.django_db
def test_the_login_says_that_the_desk_is_the_sample_wires(client: Client) -> None:
    assert "sample wire" not in client.get("/admin/login/").content.decode()
    WireState.objects.update(is_sample=True)
    assert "This is the desk of the sample wire" in client.get("/admin/login/").content.decode()


@pytest.mark.slow
def test_a_terminal_that_closes_takes_the_server_along(first_start: tuple[Path, Served], tmp_path: Path) -> None:
    served = Served(Path(shutil.copytree(first_start[0], tmp_path / "copy")))
    served.end(signal.SIGHUP)
    assert served.process.returncode == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", served.port), timeout=1)


@pytest.mark.slow
def test_a_key_without_its_database_begins_no_second_chain(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "ed25519.pem").write_bytes(b"whatever it is")
    for command, expected in (
        ("serve", "but the key that signed its days is still there. Nothing was changed."),
        ("rotatekey", "The database is gone"),
        (f"backup {tmp_path / 'backup'}", "The database is gone"),
    ):
        done = manage(tmp_path, *command.split(), WIRE_INGEST="off")
        assert done.returncode == 1
        assert expected in done.stderr
        assert not (tmp_path / "wire.sqlite3").exists()
