"""Commands that the desk starts: each runs in a process of its own, so that no request waits for it, and writes into a file.

The process holds a lock on that file, which ends with it, however it ends: the lock says whether the command still runs.
"""

import datetime as dt
import fcntl
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone

from config.errors import Busy
from wire.admin.base import Form, ModelAdmin, log_change, utc_time
from wire.models import WireState

CONFIRMABLE: Final = 900.0  # seconds after a command has said what it would do
SHOWN_ONLY: Final = "Nothing was changed."  # begins the last line of a dry run that found something to do
REFUSED: Final = "CommandError: "  # stands before the error of a command of Django
ENDS: Final = ("Done", "Nothing")  # begin the last line of a command that came to its end


@dataclass(frozen=True, slots=True)
class CommandLog:
    """The last run of a command (`token`), its output so far, and whether it still runs. `started_at`: seconds since 1970."""

    arguments: Sequence[str] = ()
    user: str = ""
    started: str = ""
    started_at: float = 0.0
    token: str = ""
    text: str = ""
    last_line: str = ""
    is_running: bool = False

    @property
    def may_confirm(self) -> bool:
        """Return whether it said what it would do, and lately, so that the plan is still the one that was shown."""
        is_whole = "--dry-run" in self.arguments and not self.is_running and self.last_line.startswith(SHOWN_ONLY)
        return is_whole and time.time() - self.started_at < CONFIRMABLE

    @property
    def since(self) -> dt.date | None:
        """Return the first day of a rebuild; None for other commands."""
        days = (after for name, after in pairwise(self.arguments) if name == "--since")
        return next(map(dt.date.fromisoformat, days), None)

    @property
    def days(self) -> str:
        """Return the first day of a rebuild, and whether it includes final days; nothing for other commands."""
        if (since := self.since) is None:
            return ""
        return f"{since:%-d %b %Y}, {'final days included' if '--final-days' in self.arguments else 'without final days'}"

    @property
    def output(self) -> str:
        return self.text.removesuffix(self.last_line).rstrip() if self.refusal else self.text

    @property
    def refusal(self) -> str:
        return self.last_line.removeprefix(REFUSED) if self.last_line.startswith(REFUSED) else ""

    @property
    def is_broken_off(self) -> bool:
        return not self.is_running and bool(self.started) and not self.refusal and not self.last_line.startswith(ENDS)


def start_command(name: str, command: str, *arguments: str, user: str) -> None:
    """Run a command; `name` is that of its file, and only one of a name runs at a time. Raises: Busy."""
    file = _log_file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy("This command is still running.", "Wait until it ends; its page shows its output.") from error
        log.truncate(0)
        head: dict[str, Any] = {"arguments": arguments, "user": user, "started": utc_time(timezone.now())}
        head |= {"started_at": time.time(), "token": secrets.token_hex(8)}
        log.write(json.dumps(head).encode() + b"\n")
        log.flush()
        # The child inherits the open file, and with it the lock.
        run_process([sys.executable, str(settings.BASE_DIR / "manage.py"), command, *arguments], log)


_children: Final[list["subprocess.Popen[bytes]"]] = []


def run_process(arguments: Sequence[str], log: Any) -> None:
    _children[:] = [child for child in _children if child.poll() is None]  # which lets those that ended go
    output = {"stdout": log, "stderr": subprocess.STDOUT, "env": os.environ | {"PYTHONUNBUFFERED": "1"}}  # seen as it is written
    _children.append(subprocess.Popen(arguments, stdin=subprocess.DEVNULL, start_new_session=True, **output))  # noqa: S603


def read_command_log(name: str) -> CommandLog:
    try:
        with _log_file(name).open("rb") as log:
            try:
                fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
                is_running = False
            except BlockingIOError:
                is_running = True
            # Read after that: what a command that has ended wrote last is there.
            head, _, text = log.read().decode(errors="replace").partition("\n")
            text = text.strip()
            last_line = text.rpartition("\n")[2]
            return CommandLog(**json.loads(head), text=text[:100_000], last_line=last_line, is_running=is_running)
    except (FileNotFoundError, ValueError):  # never started, or killed before it began
        return CommandLog()


def _log_file(name: str) -> Path:
    return Path(settings.WIRE_DATA_DIR) / "desk" / f"{name}.log"


def show_command(
    desk: ModelAdmin[Any], request: HttpRequest, command: str, title: str, points: Sequence[str], form: Form | None = None
) -> HttpResponse:
    """Show a command that first says what it would do (`--dry-run`), then does that (`--yes`); `form.arguments()`: of the first."""
    log = read_command_log(command)
    if request.method == "POST" and (form is None or "confirmed" in request.POST or form.is_valid()):
        is_confirmed = request.POST.get("confirmed") == log.token and log.may_confirm
        if "confirmed" in request.POST and not is_confirmed:
            what = f"The last preview (days since {log.days})" if log.days else "The last preview"
            why = f"{what} was of something else, or is too old."
            messages.error(request, f"{why} Nothing was changed: preview again, then confirm.")
            return HttpResponseRedirect(request.path)
        if is_confirmed:
            arguments = [*(one for one in log.arguments if one != "--dry-run"), "--yes"]
        else:
            arguments = [*(form.arguments() if form else ()), "--dry-run"]  # type: ignore[attr-defined]
        try:
            start_command(command, command, *arguments, user=request.user.get_username())
        except Busy as error:
            messages.error(request, f"{error} {error.hint} Nothing was started.")
        else:
            if is_confirmed:
                log_change(request, WireState.objects.all(), f"Started manage.py {command} {' '.join(arguments)}")
        return HttpResponseRedirect(request.path)
    context = {
        **desk.admin_site.each_context(request),
        **{"title": title, "opts": desk.opts, "points": points, "form": form, "log": log},
        "is_done": "--yes" in log.arguments,
    }
    return render(request, "admin/command.html", context)
