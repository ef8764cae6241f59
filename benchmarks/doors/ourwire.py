"""Our wire as one contender: a day of 400 invented stories, loaded as any archive is, served as `manage.py serve` does it."""

import os
import secrets
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from benchmarks import archive
from benchmarks.doors.questions import MODERN, search_hit
from benchmarks.doors.servers import HOST, ROOT, Server, free_port, plain_environment, serving

STORIES: Final = 400
SITE: Final = "https://wire.example"  # the same in every answer, whatever the port
VECTORS: Final = {name: value for name, value in os.environ.items() if name == "WIRE_VECTORS"}
LIMITED: Final = "9999999/m"  # counts every request, refuses none: the highest rate that the setting takes


def fill(data: Path) -> None:
    """Raises: CalledProcessError."""
    data.mkdir()
    file = data / "archive.ndjson"
    archive.write(file, days=1, a_day=STORIES)
    for command in (["migrate", "--verbosity", "0"], ["loadwire", str(file)]):
        subprocess.run(_manage(*command), cwd=ROOT, env=_environment(data), check=True, capture_output=True)
    # The first start opens an account, which takes its time; it is not what a start costs.
    password = secrets.token_hex(24).encode()
    subprocess.run(_manage("firstaccount"), cwd=ROOT, env=_environment(data), check=True, input=password, stdout=subprocess.DEVNULL)


def serve_wire(name: str, data: Path, *, limit: str) -> AbstractContextManager[Server]:
    """`limit` as WIRE_RATE_LIMIT takes it."""
    port = free_port()
    env = _environment(data) | {"PORT": str(port), "HOST": HOST, "WIRE_RATE_LIMIT": limit, "WIRE_WORKERS": "1"}
    return serving(name, _manage("serve"), env, port, search_hit(MODERN), data / f"serve-{port}.log")


def _manage(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), *arguments]


def _environment(data: Path) -> dict[str, str]:
    return plain_environment() | {"WIRE_DATA_DIR": str(data), "WIRE_INGEST": "off", "WIRE_SITE_URL": SITE} | VECTORS
