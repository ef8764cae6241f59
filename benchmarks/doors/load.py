"""Speed of a server: wrk finds how fast it answers a question, our client asks at a constant rate, each on the core that
no server uses.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.doors.questions import FIRST_NUMBER, MOMENT, NUMBER, Question
from benchmarks.doors.servers import CLIENT_CORE, ROOT, SERVER_CORE, Server, busy_seconds, on_core

CONNECTIONS: Final = 16
PATIENCE: Final = 30  # seconds that 16 answers may take
SCRIPT: Final = """
local number = %d
local path, body = [==[%s]==], [==[%s]==]
wrk.method = "%s"
%s
local function fill(text)
  text = text:gsub("%s", string.format("%%d", number))
  return (text:gsub("%s", os.date("!%%Y-%%m-%%dT%%H:%%M:%%SZ", number)))
end
local path_varies, body_varies = path:find("@") ~= nil, body:find("@") ~= nil
local same = nil
function request()
  number = number + 1
  if path_varies or body_varies then
    return wrk.format(nil, path_varies and fill(path) or path, nil, #body > 0 and fill(body) or nil)
  end
  same = same or wrk.format(nil, path)
  return same
end
function done(summary, latency, requests)
  local wrong = summary.errors
  io.write(string.format('DONE {"requests": %%d, "seconds": %%f, "p99": %%f, "failed": %%d, "bytes": %%d, "sent": %%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(99) / 1000,
    wrong.status + wrong.connect + wrong.read + wrong.write + wrong.timeout, summary.bytes, summary.requests))
end
"""


class Unanswered(Exception):
    """A measurement in which something else came back than was to be measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Requests a second, p99 in ms, CPU µs of the server for one request; shares (0-1) of the server's core that the server had and
    that others had; at a constant rate also the p99 of each tenth of a second.
    """

    rate: float
    p99: float
    cpu: float
    served: float
    others: float
    tenths: list[float]


def find_wrk() -> str | None:
    """wrk's program; installed if it is missing and this is root on a Debian."""
    if shutil.which("wrk") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", "wrk"], check=False, stdout=subprocess.DEVNULL)
    return shutil.which("wrk")


class Load:
    """Numbers every request of all measurements, so that what is to be new each time is."""

    def __init__(self, wrk: str | None) -> None:
        self.wrk = wrk
        self.number = FIRST_NUMBER

    def measure(self, server: Server, question: Question, seconds: int, *, rate: float | None = None, size: int) -> Measured:
        """Raises: Unanswered if a status was not 2xx or 3xx, or an answer was not about `size` bytes, head and body."""
        spent, busy, started = server.cpu_seconds(), busy_seconds(SERVER_CORE), time.monotonic()
        if self.wrk is None or rate is not None:  # wrk knows no rates, and its pauses end together at each millisecond
            done = self._with_ours(server, question, seconds, rate)
        else:
            done = self._with_wrk(server, question, seconds)
        spent, busy, lasted = server.cpu_seconds() - spent, busy_seconds(SERVER_CORE) - busy, time.monotonic() - started
        self.number += done["sent"] + 1000
        if not done["failed"] and not done["requests"] and seconds < PATIENCE:  # slower than the time that it was given
            return self.measure(server, question, 2 * seconds, rate=rate, size=size)
        if done["failed"] or not done["requests"]:
            raise Unanswered(f"{server.name}: {question.method} {question.path}: {done}")
        whole, begun = done["requests"] * size, CONNECTIONS * size  # wrk counts what came of answers that it did not wait for
        if not 0.98 * whole <= done["bytes"] <= 1.02 * whole + begun:
            raise Unanswered(f"{server.name}: {question.method} {question.path}: not {size} bytes an answer: {done}")
        cpu = spent / done["requests"] * 1e6
        served, others = spent / lasted, max(0.0, busy - spent) / lasted
        return Measured(done["requests"] / done["seconds"], done["p99"], cpu, served, others, done.get("tenths", []))

    def _with_wrk(self, server: Server, question: Question, seconds: int) -> dict[str, Any]:
        headers = "\n".join(f'wrk.headers["{name}"] = [==[{value}]==]' for name, value in question.headers.items())
        script = SCRIPT % (self.number, question.path, question.body, question.method, headers, NUMBER, MOMENT)
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "ask.lua"
            file.write_text(script, encoding="utf-8")
            command = [str(self.wrk), "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s", "-s", str(file)]
            said = subprocess.run(
                [*command, f"http://{server.host}:{server.port}"],
                check=True,
                capture_output=True,
                text=True,
                preexec_fn=on_core(CLIENT_CORE),
            ).stdout
        done: dict[str, Any] = json.loads(next(line for line in said.splitlines() if line.startswith("DONE "))[5:])
        return done

    def _with_ours(self, server: Server, question: Question, seconds: int, rate: float | None) -> dict[str, Any]:
        raw = base64.b64encode(question.raw(f"{server.host}:{server.port}")).decode()
        told = {"host": server.host, "port": server.port, "raw": raw, "first": self.number, "seconds": seconds}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.doors.client"],
            cwd=ROOT,
            check=True,
            input=json.dumps({**told, "connections": CONNECTIONS, "rate": rate}),
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=on_core(CLIENT_CORE),
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found
