"""How quickly the real server refuses and lets go, in figures: `python -m tests.fuzz.edge`.

tests/config/test_protocol.py asserts the order of magnitude.
"""

import contextlib
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from tests.clients.server import environment, free_port, running  # noqa: E402  settings must be ready first
from tests.config.test_protocol import SILENT, Address, connect, health, post, status  # noqa: E402
from wire.management.commands import serve  # noqa: E402

TIMES: Final = 100


def refusals(server: Address) -> list[float]:
    """Seconds from a head with a foreign Origin to its 403; the body that it announces never comes."""
    times = []
    for _ in range(TIMES):
        with connect(server) as connection:
            began = time.perf_counter()
            connection.sendall(post("/mcp", "Origin: https://evil.example"))
            assert status(connection) == 403
            times.append(time.perf_counter() - began)
    return times


def silence(server: Address) -> tuple[list[float], list[float]]:
    """Seconds until each of many silent connections was closed, counted from its opening, and those of /healthz meanwhile."""
    with contextlib.ExitStack() as stack:
        silent = [(stack.enter_context(connect(server)), time.perf_counter()) for _ in range(SILENT)]
        well = [health(server) for _ in range(20)]
        closed = []
        for connection, began in silent:
            assert connection.recv(1) == b""
            closed.append(time.perf_counter() - began)
    return closed, well


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="wire-edge-") as name:
        directory, port = Path(name), free_port()
        arguments = ["-m", "uvicorn", *serve.UVICORN, "--port", str(port)]
        with running(arguments, environment(directory, port), directory / "server.log", ready="/healthz"):
            server = ("127.0.0.1", port)
            refused = refusals(server)
            closed, well = silence(server)
    print(f"A foreign Origin, its body withheld: 403 after {_ms(refused)}, {TIMES} times.")  # noqa: T201
    print(f"{SILENT} silent connections: the last one closed {max(closed):.2f} s after it opened; /healthz {_ms(well)}.")  # noqa: T201


def _ms(times: list[float]) -> str:
    return f"{statistics.median(times) * 1000:.0f} ms (at most {max(times) * 1000:.0f} ms)"


if __name__ == "__main__":
    main()
