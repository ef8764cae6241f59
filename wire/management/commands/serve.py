"""Serve the wire: migrate, start uvicorn, and show the sample wire until there is real news."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from wire.models import Snapshot

LOOK_AGAIN: Final = 2.0  # seconds between two looks for the first real snapshot
GRACE: Final = 10  # seconds that a stopping server may take


class Command(BaseCommand):
    help = "Migrate and serve. Without any published day, the sample wire is served until one is loaded."

    def handle(self, **_options: Any) -> None:
        signal.signal(signal.SIGTERM, _stop)
        call_command("migrate", verbosity=0)
        sample = not Snapshot.objects.exists()
        if sample:
            sample_env = _sample_environment()
            for command in ("migrate", "loadsample"):
                _manage(command, env=sample_env)
        server = self._start(sample_env if sample else os.environ, sample=sample)
        try:
            while server.poll() is None:
                time.sleep(LOOK_AGAIN)
                if sample and Snapshot.objects.exists():
                    self.stdout.write("The first real day is published: going over from the sample wire to the live one.")
                    _end(server)
                    sample, server = False, self._start(os.environ, sample=False)
        except KeyboardInterrupt:
            pass
        finally:
            _end(server)
        if server.returncode not in (0, -signal.SIGTERM, -signal.SIGINT):
            raise SystemExit(server.returncode)

    def _start(self, env: Mapping[str, str], *, sample: bool) -> "subprocess.Popen[bytes]":
        what = "the SAMPLE wire (fictional stories; load real ones with manage.py loadwire)" if sample else "the live wire"
        self.stdout.write(f"Serving {what} at {settings.WIRE_SITE_URL}")
        self.stdout.flush()
        arguments = ["config.asgi:application", "--host", settings.HOST, "--port", str(settings.PORT), "--no-server-header"]
        arguments += ["--workers", str(settings.WIRE_WORKERS), "--log-level", "warning", "--no-proxy-headers"]
        return subprocess.Popen([sys.executable, "-m", "uvicorn", *arguments], env=dict(env))  # noqa: S603


def _sample_environment() -> dict[str, str]:
    """A data directory, and so a database and a chain, of its own; never the one that DATABASE_URL names."""
    env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "DATABASE_URL_FILE"}}
    return env | {"WIRE_DATA_DIR": str(Path(settings.WIRE_DATA_DIR).parent / "sample")}


def _manage(command: str, env: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, str(settings.BASE_DIR / "manage.py"), command, "--verbosity", "0"], env=dict(env), check=True)  # noqa: S603


def _end(server: "subprocess.Popen[bytes]") -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(GRACE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _stop(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt
