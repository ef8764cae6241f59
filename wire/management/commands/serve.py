import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from config.command_base import WireCommand
from config.database.routing import explain_missing_file
from wire import permissions, sample_switch
from wire.publishing.signing import key_file

LOOK_AGAIN: Final = 2.0  # seconds between two looks for the first real snapshot
ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)
GRACE: Final = 8  # seconds that children may take to stop; container engines kill after ten
UVICORN: Final = (
    *("config.asgi:application", "--http", "config.http.uvicorn_protocol:WireProtocol", "--ws", "none"),
    *("--timeout-graceful-shutdown", str(GRACE - 3), "--log-level", "warning"),
    *("--no-server-header", "--no-access-log", "--no-proxy-headers"),
)
# glibc keeps what is freed for each of the threads apart; that is a tenth of a worker's memory, and only one runs at a time.
MEMORY: Final = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "1048576"}


class Command(WireCommand):
    help = (
        "Migrate, serve, and ingest at the interval in WIRE_INGEST (30m unless set; off means never). The sample wire is served "
        "until there is a published day, a publisher or other content of your own. `sample on` and `sample off` choose otherwise."
    )

    def handle(self, **_options: Any) -> None:
        for number in ENDINGS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves the one of a terminal that closes
                signal.signal(number, signal.default_int_handler)
        self._say("Preparing…")
        _expect_free_port()
        _expect_database_for_key()
        call_command("migrate", verbosity=0)
        password, sample_env, is_opened = secrets.token_urlsafe(15), None, False
        if _is_sample_wanted(is_served=True):
            sample_env, is_opened = _prepare_sample(password)
        opened = ["live"] if permissions.open_first_account(password) else []  # last: what fails before would lose its password
        opened += ["sample"] if is_opened else []
        server = self._start_server(sample_env)
        feeding = _IngestProcess()
        try:
            self._announce_url(server, sample_env, _describe_account(opened, password))
            while server.poll() is None:
                feeding.restart_if_due()
                time.sleep(LOOK_AGAIN)
                if (wanted := _is_sample_wanted(is_served=sample_env is not None)) is not (sample_env is not None):
                    self._say("Switching to the sample wire." if wanted else "Switching from the sample wire to the live one.")
                    password, is_opened = secrets.token_urlsafe(15), False
                    try:
                        sample_env, is_opened = _prepare_sample(password) if wanted else (None, False)
                    except CommandError as error:
                        sample_switch.choose_wire(sample=False)
                        self._say(f"The live wire is still served, because the sample cannot be: {error}")
                        continue
                    _stop_processes(server)
                    server = self._start_server(sample_env)
                    self._announce_url(server, sample_env, _describe_account(["sample"] if is_opened else [], password))
            self.stderr.write(f"The server ended by itself, with status {server.returncode} (below 0: the signal that ended it).")
        except KeyboardInterrupt:
            pass
        finally:
            for number in (*ENDINGS, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)  # a second one would leave a child behind
            _stop_processes(server, feeding.process)
        if server.returncode not in (0, -signal.SIGTERM, -signal.SIGINT):
            raise SystemExit(server.returncode)

    def _start_server(self, sample_env: Mapping[str, str] | None) -> "subprocess.Popen[bytes]":
        where = ["--host", settings.HOST, "--port", str(settings.PORT), "--workers", str(settings.WIRE_WORKERS)]
        return subprocess.Popen([sys.executable, "-m", "uvicorn", *UVICORN, *where], env={**MEMORY, **(sample_env or os.environ)})  # noqa: S603

    def _announce_url(self, server: "subprocess.Popen[bytes]", sample_env: Mapping[str, str] | None, account: list[str]) -> None:
        """Say what is served where as soon as the port listens, then show a new account last, where nobody overlooks it."""
        lines = _draw_frame(account)
        try:
            while not _is_port_listening():
                if server.poll() is not None:
                    return
                time.sleep(0.1)
            what = "the SAMPLE wire (invented stories, until there is something real)" if sample_env else "the live wire"
            lines = [f"Ready: serving {what} at {settings.WIRE_SITE_URL}", *lines]
        finally:  # all at once: the password is stored nowhere, so that a signal must not come between
            if lines:
                self._say("\n".join(lines))

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()  # a journal or a file would else hear of it when the process ends


def _describe_account(opened: list[str], password: str) -> list[str]:
    """Return what to show once of the account that was opened in these wires; the password is stored nowhere."""
    if not opened:
        return []
    return [
        f"Editors' desk of the {' and '.join(opened)} wire: {settings.WIRE_SITE_URL}/admin/",
        f"User:     {permissions.FIRST_ACCOUNT}",
        f"Password: {password}",
        "The password is shown only now: write it down, or change it there.",
    ]


def _draw_frame(lines: list[str]) -> list[str]:
    width = max(map(len, lines), default=0)
    edge = f"+-{'-' * width}-+"
    return [edge, *(f"| {line:{width}} |" for line in lines), edge] if lines else []


def _is_sample_wanted(*, is_served: bool) -> bool:
    """Return if the sample is to be served. Only the operator's choice brings it back once the live wire is served."""
    return sample_switch.is_sample_wanted() if is_served else sample_switch.read_choice() == "on"


def _prepare_sample(password: str) -> tuple[dict[str, str], bool]:
    """Bring the sample wire up to date; return the environment that serves it, and if its first account was opened."""
    sample_env = sample_switch.build_sample_environment()
    arguments = [sys.executable, str(settings.BASE_DIR / "manage.py"), "loadsample", "--prepare", "-v0"]
    # The password goes over standard input, which no process list shows.
    ran = subprocess.run(arguments, env=sample_env, check=False, input=password, stdout=subprocess.PIPE, text=True)  # noqa: S603
    if ran.returncode:
        raise CommandError("manage.py loadsample failed, for the reason above. Nothing is served: fix that, then run this again.")
    return sample_env, permissions.FIRST_ACCOUNT_READY in ran.stdout.splitlines()


def _expect_free_port() -> None:
    """Raise CommandError if another program listens already; its answers would be taken for the wire's."""
    if _is_port_listening():
        raise CommandError(f"Port {settings.PORT} is taken by another program. For another port: export PORT=8001")


def _is_port_listening() -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.HOST, settings.HOST)  # noqa: S104  the address of all is asked here
    try:
        with socket.create_connection((host, settings.PORT), timeout=1):
            return True
    except OSError:
        return False


def _expect_database_for_key() -> None:
    """Raise CommandError for a key without the database whose days it signed: its chain would begin a second time."""
    if (why := explain_missing_file()) and key_file().exists():
        raise CommandError(
            f"The database is gone: {why}, but the key that signed its days is still there. Nothing was changed. Restore a backup; "
            "for a new wire that continues with this key, run manage.py migrate first."
        )


class _IngestProcess:
    """`manage.py ingest --every …` beside the server: restarted when it dies, later each time, never twice at once."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._next_start = 0.0
        self._wait = LOOK_AGAIN

    def restart_if_due(self) -> None:
        alive = self.process is not None and self.process.poll() is None
        if settings.WIRE_INGEST is None or alive or time.monotonic() < self._next_start:
            return
        self._wait = min(self._wait * 2, 600)
        self._next_start = time.monotonic() + self._wait
        period = f"{int(settings.WIRE_INGEST.total_seconds())}s"
        arguments = ["ingest", "--every", period, "--end-with", str(os.getpid())]
        self.process = subprocess.Popen([sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments])  # noqa: S603


def _stop_processes(*processes: "subprocess.Popen[bytes] | None") -> None:
    """Ask all of them to stop, then wait for each; kill what takes too long, which loses nothing."""
    alive = [process for process in processes if process is not None and process.poll() is None]
    for process in alive:
        process.terminate()
    deadline = time.monotonic() + GRACE
    for process in alive:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
