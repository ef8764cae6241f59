"""Commands that the desk starts: each runs in a process of its own, so that no request waits for it, and writes into a file.

The process holds a lock on that file, which ends with it, however it ends: the lock says whether the command still runs.
"""

import fcntl
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone

from config.errors import Busy
from wire.admin.base import Form, ModelAdmin, moment, remember
from wire.models import WireState

MOST_SHOWN: Final = 100_000  # characters of what a command wrote


@dataclass(frozen=True, slots=True)
class CommandLog:
    """The last run of a command: its arguments, who started it and when, what it wrote so far, and whether it still runs."""

    arguments: Sequence[str] = ()
    user: str = ""
    started: str = ""
    text: str = ""
    is_running: bool = False


def start(name: str, command: str, *arguments: str, user: str) -> None:
    """Run a command; `name` is that of its file, and only one of a name runs at a time. Raises: Busy."""
    file = _log_file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy("This command still runs.", "Wait for its end; its page shows it.") from error
        log.truncate(0)
        head = {"arguments": arguments, "user": user, "started": moment(timezone.now())}
        log.write(json.dumps(head).encode() + b"\n")
        log.flush()
        # The child inherits the open file, and with it the lock.
        run_process([sys.executable, str(settings.BASE_DIR / "manage.py"), command, *arguments], log)


_children: Final[list["subprocess.Popen[bytes]"]] = []


def run_process(arguments: Sequence[str], log: Any) -> None:
    _children[:] = [child for child in _children if child.poll() is None]  # which lets those that ended go
    _children.append(
        subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)  # noqa: S603
    )


def read_log(name: str) -> CommandLog:
    try:
        with _log_file(name).open("rb") as log:
            head, _, text = log.read(MOST_SHOWN).decode(errors="replace").partition("\n")
            try:
                fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
                is_running = False
            except BlockingIOError:
                is_running = True
            return CommandLog(**json.loads(head), text=text.strip(), is_running=is_running)
    except (FileNotFoundError, ValueError):  # never started, or killed before it began
        return CommandLog()


def _log_file(name: str) -> Path:
    return Path(settings.WIRE_DATA_DIR) / "desk" / f"{name}.log"


def show_command(
    desk: ModelAdmin[Any], request: HttpRequest, command: str, title: str, points: Sequence[str], form: Form | None = None
) -> HttpResponse:
    """Show a command that first says what it would do (`--dry-run`) and then does exactly that (`--yes`).

    `form.arguments()` gives its arguments. The second step takes them from the first, so that nothing else is done than was shown.
    """
    log = read_log(command)
    was_shown = "--dry-run" in log.arguments and not log.is_running
    if request.method == "POST" and (form is None or "confirmed" in request.POST or form.is_valid()):
        is_confirmed = request.POST.get("confirmed") == log.started and was_shown
        if "confirmed" in request.POST and not is_confirmed:
            messages.error(request, "Something else was shown last. Nothing was changed: look at it again, then confirm.")
            return HttpResponseRedirect(request.path)
        if is_confirmed:
            arguments = [*(one for one in log.arguments if one != "--dry-run"), "--yes"]
        else:
            arguments = [*(form.arguments() if form else ()), "--dry-run"]  # type: ignore[attr-defined]
        try:
            start(command, command, *arguments, user=request.user.get_username())
        except Busy as error:
            messages.error(request, f"{error} {error.hint} Nothing was started.")
        else:
            if is_confirmed:
                remember(request, WireState.objects.all(), f"Started manage.py {command} {' '.join(arguments)}")
        return HttpResponseRedirect(request.path)
    context = {
        **desk.admin_site.each_context(request),
        **{"title": title, "opts": desk.opts, "points": points, "form": form, "log": log},
        "may_confirm": was_shown and "Nothing would" not in log.text and "Error" not in log.text,
        "is_done": "--yes" in log.arguments,
    }
    return render(request, "admin/command.html", context)
