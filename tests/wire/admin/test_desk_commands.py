"""Commands that the desk starts: in a process of their own, one of a name at a time, and with what they wrote on a page."""

import fcntl
import time
from collections.abc import Callable
from pathlib import Path

import django
import pytest
from django.test import Client
from pytest_django import Settings

from config.errors import Busy
from tests.wire.desk import at_desk, run_at_once, words
from wire.admin import commands
from wire.models import WireState

pytestmark = pytest.mark.django_db
REBUILD = "/admin/wire/lexiconterm/rebuild/"


@pytest.fixture(autouse=True)
def own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until, "it did not come in time"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_command_runs_beside_the_server_once_at_a_time_and_its_end_is_seen() -> None:
    commands.start_command("shell", "shell", "-c", "input()", user="ada")  # without a terminal it ends at once
    with pytest.raises(Busy):
        commands.start_command("shell", "shell", "-c", "print(1)", user="ben")
    log = commands.read_command_log("shell")
    assert (log.is_running, log.user, log.arguments) == (True, "ada", ["-c", "input()"])
    wait_for(lambda: not commands.read_command_log("shell").is_running)
    assert "EOFError" in commands.read_command_log("shell").text
    commands.start_command("shell", "version", user="ben")
    wait_for(lambda: not commands.read_command_log("shell").is_running)
    assert commands.read_command_log("shell").text == django.__version__, "what the run before wrote is gone"


def test_a_file_that_is_missing_or_damaged_is_a_command_that_never_ran(settings: Settings) -> None:
    assert commands.read_command_log("rebuild") == commands.CommandLog()
    file = settings.WIRE_DATA_DIR / "desk" / "rebuild.log"
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"argum')
    assert commands.read_command_log("rebuild") == commands.CommandLog()


@pytest.mark.parametrize(
    ("arguments", "text", "may_confirm", "is_broken_off"),
    [
        (["--dry-run"], "1 would change:\n  'The Error that OpenAI made'\nNothing was changed.", True, False),
        (["--dry-run"], "Nothing would change.", False, False),
        (["--dry-run"], "1 would change:\n  'Quince ships'", False, True),
        (["--dry-run"], "CommandError: The database is away.", False, False),
        (["--yes"], "1 would change:\nDone: 1 changed.", False, False),
        (["--yes"], "1 would change:", False, True),
        (["--yes"], "", False, True),
    ],
)
def test_only_what_was_shown_whole_may_be_confirmed(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], text: str, may_confirm: bool, is_broken_off: bool
) -> None:
    monkeypatch.setattr(commands, "run_process", lambda _, log: log.write(f"{text}\n".encode()))
    commands.start_command("rebuild", "rebuild", *arguments, user="ada")
    log = commands.read_command_log("rebuild")
    assert (log.may_confirm, log.is_broken_off) == (may_confirm, is_broken_off)
    assert log.refusal == ("The database is away." if "CommandError" in text else "")


@pytest.mark.slow
def test_a_rebuild_refuses_a_day_without_fetches_at_its_field_and_those_who_may_not() -> None:
    desk = at_desk("editor")
    for since, says in (("", "This field is required"), ("2020-01-01", "older fetches are gone"), ("x", "Enter a valid date")):
        assert says in words(desk.post(REBUILD, {"since": since})), since
    assert commands.read_command_log("rebuild") == commands.CommandLog()
    assert at_desk().get(REBUILD).status_code == 403


def test_a_result_names_its_days_and_is_not_shown_below_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "run_process", lambda _, log: log.write(b"Nothing would change.\n"))
    desk = at_desk("editor")
    commands.start_command("rebuild", "rebuild", "--since", "2026-01-15", "--final-days", "--dry-run", user="ada")
    shown = words(desk.get(REBUILD))
    assert "What would change Days since 15 Jan 2026, final days included. Started by ada" in shown
    refused = words(desk.post(REBUILD, {"since": "2020-01-01"}))
    assert ("older fetches are gone" in refused, "Nothing would change" in refused) == (True, False)
    unconfirmed = words(desk.post(REBUILD, {"confirmed": "stale"}, follow=True))
    assert "The last preview (days since 15 Jan 2026, final days included) was of something else" in unconfirmed


@pytest.mark.slow
def test_while_a_command_runs_its_page_looks_again_and_nothing_else_is_started(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk: Client = at_desk("editor")
    monkeypatch.setattr(commands, "run_process", run_at_once)
    page = desk.get(REBUILD)
    since = page.context["form"].initial.get("since") or page.context["form"]["since"].initial
    assert "Nothing would change" in words(desk.post(REBUILD, {"since": str(since)}, follow=True))
    with (settings.WIRE_DATA_DIR / "desk" / "rebuild.log").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        shown = desk.get(REBUILD).content.decode()
        assert 'hx-trigger="every 2s"' in shown
        assert "Apply and publish" not in shown
        assert "Nothing was started." in words(desk.post(REBUILD, {"since": str(since)}, follow=True))
    assert 'hx-trigger="every' not in desk.get(REBUILD).content.decode()


def test_on_the_sample_wire_a_rebuild_says_at_once_that_there_is_nothing_to_rebuild() -> None:
    WireState.objects.update(is_sample=True)
    shown = words(at_desk("editor").get(REBUILD))
    assert "This is the sample wire, which fetches nothing: there is nothing to rebuild." in shown
    assert "Show what would change" not in shown
