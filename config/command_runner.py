"""Commands end with a sentence: what happened and what to do, where Python would show a traceback."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final, NoReturn

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

INTERRUPTED: Final = 130  # as shells count it: 128 and the number of SIGINT


def run_command(arguments: Sequence[str]) -> None:
    """Run a management command. Faults of ours keep their traceback, and `--traceback` shows it for all."""
    sys.unraisablehook = _repeat_interrupt
    try:
        from django.core.management import execute_from_command_line

        if _needs_matching_tables(arguments[1:2]):
            from config.database.migration_state import refuse_other_release

            refuse_other_release(is_migrating=arguments[1] in ("serve", "run") or "--prepare" in arguments)
        execute_from_command_line(list(arguments))
    except KeyboardInterrupt:
        _exit_interrupted()
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # while a class was made, Python 3.11 wraps it (__set_name__)
            _exit_interrupted()
        if "--traceback" in arguments or not (words := describe_failure(error)):
            raise
        sys.stderr.write(f"{words}\n")
        sys.exit(1)


def _needs_matching_tables(command: Sequence[str]) -> bool:
    """Return whether it is a command of ours, but for those that say themselves what is wrong with the tables."""
    import django
    from django.core.management import get_commands

    django.setup()
    app = next((str(get_commands().get(name, "django")) for name in command), "django")
    return not app.startswith(("django", "unfold")) and command[0] not in ("doctor", "backup", "restore")


def _repeat_interrupt(fault: "sys.UnraisableHookArgs") -> None:
    """Repeat a Ctrl-C that came during a callback of Python's own, where its exception is dropped."""
    if isinstance(fault.exc_value, KeyboardInterrupt):
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(fault)


def _exit_interrupted() -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the process at once, and without a word
    sys.stderr.write(
        "\nStopped before the end. Committed work is kept, and unfinished work is rolled back. Run the command again: "
        "it continues where it stopped or starts over.\n"
    )
    sys.exit(INTERRUPTED)


def lower_priority() -> None:
    """Let other processes of the machine go first from now on, such as those that serve; for commands that compute for minutes."""
    os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0), 10))  # of 19, as `nice` counts


def describe_failure(error: Exception) -> str:
    """Return what went wrong outside of this program and what to do, in one line; empty for a fault of ours."""
    if isinstance(error, ImproperlyConfigured):
        return f"{' '.join(str(error).split())} Nothing was changed. docs/settings.md lists the settings."
    if settings.configured:  # else it is the settings themselves that could not be read, and faults needs them
        from config.database.fault_explanations import explain_fault

        if words := explain_fault(error):
            return words
    if not isinstance(error, OSError):
        return ""
    if error.errno == errno.EPIPE:
        return "The output was closed. What was committed is kept."
    reason = error.strerror or " ".join(str(error).split())
    if error.filename is None:
        return f"The system reported: {reason}. What was committed is kept. Fix the cause, then run this again."
    return (
        f"{error.filename} cannot be read or written: {reason}. What was committed is kept. "
        "Check that the file exists, who owns it and how its disk is mounted (WIRE_DATA_DIR), then run this again."
    )
