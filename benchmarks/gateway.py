"""The gateway beside a direct server and proxies: reads a second, killed and hung upstreams, equal questions at once.

    python -m benchmarks.gateway [--seconds 3] [--rounds 3] [--questions 5] [--realtime]

Everything runs on this machine, interleaved: each round measures each candidate once; medians count. The measured server has one
core; the load (wrk where there is one, else a client of our own) and upstreams have the other. Proxies of others come from
environments of their own (benchmarks/doors/others.txt); one that cannot be installed is left out, and the table says so.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpcore2

from benchmarks import report
from benchmarks.doors.environments import NotInstalled, prepare
from benchmarks.doors.load import Load, Measured, Unanswered, find_wrk
from benchmarks.doors.questions import LEGACY, NUMBER, Question, rpc
from benchmarks.doors.servers import (
    CLIENT_CORE,
    HOST,
    ROOT,
    SERVER_CORE,
    Server,
    cpu_seconds,
    free_port,
    plain_environment,
    serving,
)

DIRECT: Final = """
import json, os, sys
from mcp.server import MCPServer
server = MCPServer("direct")
TEXT = json.dumps([{"id": f"t{n}", "topic": "A trend " * 12, "source": "s", "engagement_score": 1.0,
    "timestamp": "2026-11-24T00:00:00Z", "metadata": {"category": "technology"}} for n in range(9)])
@server.resource("market://crypto/{asset}/trending")
def trending(asset: str) -> str:
    return json.dumps([{"trend": one} for one in json.loads(TEXT)])
if sys.argv[1] == "stdio":
    os.sched_setaffinity(0, {int(sys.argv[2])})
    server.run()
else:
    import uvicorn
    uvicorn.run(server.streamable_http_app(json_response=True, stateless_http=True), port=int(sys.argv[1]), log_level="error")
"""
FASTMCP: Final = """
import sys
from fastmcp.server import create_proxy
create_proxy(sys.argv[2]).run(transport="http", port=int(sys.argv[1]), log_level="ERROR", stateless_http=True, json_response=True)
"""
MISBEHAVING: Final = ROOT / "tests" / "mcpserver" / "upstreams" / "fault_server.py"
URI: Final = "market://crypto/bitcoin/trending"
NEW: Final = f"market://crypto/c{NUMBER}/trending"
SOON_OLD: Final = "market://crypto/soon-old/trending"
AGENTS: Final = [{"agent_id": "a", "name": "n"}]
OTHERS: Final = 500  # reads a second of others beside a hung upstream
REGIONS: Final = ("US", "LATAM", "APAC", "AFRICA", "global")  # each is another question
OPENS_AT: Final = 20  # failures; more than these questions


class Candidate(NamedTuple):
    name: str
    server: Server
    question: Question
    parent_alone: bool = False
    """Its children are upstreams, so their processor time is not its own."""


def read(uri: str, path: str = "/mcp", key: str = "") -> Question:
    asked = rpc(LEGACY, "resources/read", {"uri": uri}, uri).at(path)
    return replace(asked, headers={**asked.headers, "Authorization": f"Bearer {key}"}) if key else asked


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=2, help="seconds of each measurement (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each candidate (default: 3)")
    parser.add_argument("--questions", type=int, default=len(REGIONS), help="questions to a hung upstream (default: 5)")
    parser.add_argument("--realtime", action="store_true", help="go before what else runs on the machine (needs root)")
    options = parser.parse_args()
    if options.realtime:  # servers and load inherit it
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gateway-bench-")))
        start = Start(stack, folder)
        direct, upstream = start.direct("direct", SERVER_CORE), start.direct("upstream", CLIENT_CORE)
        control, hung_port = start.misbehaving()
        ours, key = start.gateway(upstream.port, hung_port)
        proxies, notes = start.proxies(upstream.port)
        candidates = [
            Candidate("direct server of the SDK", direct, read(URI)),
            Candidate("gateway, cached", ours, read(URI, "/mcp/gateway", key)),
            Candidate("gateway, fetched", ours, read(NEW, "/mcp/gateway", key)),
            *proxies,
        ]
        load = Load(find_wrk())
        notes.insert(0, f"Load by {'wrk' if load.wrk else 'benchmarks/doors/client.py, since there is no wrk'}.")
        speeds = compare(candidates, load, options.seconds, options.rounds, notes)
        rows = asyncio.run(measure_faults(Faults(ours, key, control, upstream, load, REGIONS[: options.questions])))
    body = "\n\n".join([speeds, " ".join(notes), report.table(("promise", "measured"), rows)])
    report.publish("gateway", " ".join(["python -m benchmarks.gateway", *sys.argv[1:]]), body)


class Start:
    """Starts the servers, each for as long as `stack` is open."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder

    def direct(self, name: str, core: int) -> Server:
        return self._serve(name, [sys.executable, self._script("direct", DIRECT), "{port}"], read(URI), core=core)

    def misbehaving(self) -> tuple[Path, int]:
        """The file that tells it what to do, and its port."""
        control, port_file = self._folder / "control", self._folder / "port"
        control.write_text(json.dumps({"mode": "ok", "data": AGENTS}))
        process = subprocess.Popen([sys.executable, "-S", str(MISBEHAVING), str(control), "--http", str(port_file)])
        self._stack.callback(process.kill)
        while not port_file.exists() or not port_file.read_text():
            time.sleep(0.05)
        return control, int(port_file.read_text())

    def gateway(self, upstream: int, hung: int) -> tuple[Server, str]:
        """Served as `manage.py serve` does it, and an agent's key."""
        policy = self._folder / "policy.toml"
        policy.write_text(
            POLICY.format(upstream=upstream, hung=hung, opens_at=OPENS_AT, mode=os.environ.get("GATEWAY_MODE", "2026-07-28"))
        )
        env = {
            "WIRE_DATA_DIR": str(self._folder / "data"),
            "WIRE_GATEWAY_POLICY": str(policy),
            "WIRE_INGEST": "off",
            "WIRE_RATE_LIMIT": "off",
            "WIRE_FETCH_ALLOW": "127.0.0.0/8",
        }

        def manage(*arguments: str) -> str:
            command = [sys.executable, "manage.py", *arguments]
            done = subprocess.run(command, cwd=ROOT, env=plain_environment() | env, check=True, capture_output=True, input=b"")
            return done.stdout.decode()

        manage("migrate", "-v0")
        key = manage("gateway", "agent", "bench", "--grant", "market://", "--grant", "openclaw://").split()[-1]
        command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", "{port}", "--log-level", "error"]
        return self._serve("gateway", command, read(URI, "/mcp/gateway", key), env), key

    def proxies(self, upstream: int) -> tuple[list[Candidate], list[str]]:
        """Return the proxies of others that can be installed, and a sentence about each that cannot."""
        candidates, notes = [], []
        for package, start in (("fastmcp", self._fastmcp), ("mcp-proxy", self._mcp_proxy)):
            try:
                candidates.append(start(*prepare(package), upstream))
            except NotInstalled as error:
                notes.append(f"{package} was not measured: {error}")
        return candidates, notes

    def _fastmcp(self, version: str, python: Path, upstream: int) -> Candidate:
        command = [str(python), self._script("fast", FASTMCP), "{port}", f"http://{HOST}:{upstream}/mcp"]
        return Candidate(f"fastmcp {version} proxy, default", self._serve("fast", command, read(URI)), read(URI))

    def _mcp_proxy(self, version: str, python: Path, _upstream: int) -> Candidate:
        """Start it before a child of its own, which is on the upstreams' core."""
        of_a_child = [sys.executable, self._script("direct", DIRECT), "stdio", str(CLIENT_CORE)]
        command = [str(python.with_name("mcp-proxy")), "--port", "{port}", "--stateless", "--log-level", "ERROR", "--", *of_a_child]
        server = self._serve("mcp-proxy", command, read(URI))
        return Candidate(f"mcp-proxy {version}, HTTP to stdio", server, read(URI), parent_alone=True)

    def _serve(
        self, name: str, command: list[str], first: Question, env: dict[str, str] | None = None, core: int = SERVER_CORE
    ) -> Server:
        port = free_port()
        told = [part.replace("{port}", str(port)) for part in command]
        log = self._folder / f"{name}.log"
        return self._stack.enter_context(serving(name, told, plain_environment() | (env or {}), port, first, log, core))

    def _script(self, name: str, text: str) -> str:
        file = self._folder / f"{name}.py"
        file.write_text(text)
        return str(file)


POLICY: Final = """version = 1
[circuit]
opens_at = {opens_at}
[upstreams.mcp-server-market]
kind = "http"
address = "http://127.0.0.1:{upstream}/mcp"
mode = "{mode}"
[upstreams.mcp-server-openclaw]
kind = "http"
address = "http://127.0.0.1:{hung}/mcp"
[resources.market_crypto_trending]
limit = 5000
period = "1s"
stale = "1h"
ttl_of = {{ "asset=soon-old" = "1s" }}
chain = []
[resources.openclaw_arp_discover]
limit = 100000
attempts = 1
chain = []
"""
"""The market from the direct server, one asset of it soon old; agents from a server that hangs; limits that are in nobody's way."""


def compare(candidates: list[Candidate], load: Load, seconds: int, rounds: int, notes: list[str]) -> str:
    """Measure the reads a second of each in turn, and what each costs its own processes; add a note for each that fails."""
    found: dict[str, list[tuple[float, float, float]]] = {one.name: [] for one in candidates}
    sizes = {one.name: one.server.ask(one.question).size for one in candidates}
    for _ in range(rounds):
        for one in candidates:
            before = cpu_seconds(one.server.process.pid)
            try:
                measured = load.measure(one.server, one.question, seconds, size=sizes[one.name])
            except Unanswered as error:
                notes.append(f"A measurement of {one.name} is left out: {error}.")
                continue
            own = (cpu_seconds(one.server.process.pid) - before) / (measured.rate * seconds) * 1e6
            found[one.name].append((measured.rate, measured.p99, own if one.parent_alone else measured.cpu))
    medians = {name: [statistics.median(figures) for figures in zip(*each, strict=True)] for name, each in found.items() if each}
    first_rate, _, first_cpu = medians[candidates[0].name]
    rows = [
        [name, f"{rate:,.0f}", f"{rate / first_rate:.2f}", f"{p99:,.1f}", f"{cpu:,.0f}", f"{first_cpu / cpu:.2f}"]
        for name, (rate, p99, cpu) in medians.items()
    ]
    header = ("candidate", "answers a second", "of direct", "p99 ms", "own CPU µs an answer", "of direct, by CPU")
    return report.table(header, rows)


class Faults(NamedTuple):
    """Servers and load that the measurements of failures need."""

    ours: Server
    key: str
    control: Path
    upstream: Server
    load: Load
    regions: tuple[str, ...]


Row = tuple[str, str]
Ask = Callable[..., Coroutine[Any, Any, tuple[float, str]]]


async def measure_faults(of: Faults) -> list[Row]:
    """Ask equal questions at once, put a hung upstream beside others' reads, and kill an upstream."""
    headers = [("authorization", f"Bearer {of.key}")]
    rest = f"http://{of.ours.host}:{of.ours.port}/api/gateway/read.json"
    async with httpcore2.AsyncConnectionPool(max_connections=200) as pool:

        async def ask(uri: str, wait: float = 20) -> tuple[float, str]:
            """Return the seconds it took, and the outcome."""
            began = time.perf_counter()
            answer = await pool.request("GET", f"{rest}?uri={uri}&wait={wait:g}", headers=headers)
            return time.perf_counter() - began, json.loads(answer.content)["provenance"]["outcome"]

        steps = (ask_equal_questions, ask_hung_upstream, ask_killed_upstream)
        return [row for step in steps async for row in step(of, ask)]


async def ask_equal_questions(of: Faults, ask: Ask) -> AsyncIterator[Row]:
    log = Path(f"{of.control}.log")
    before = len(log.read_text().splitlines()) if log.exists() else 0
    of.control.write_text(json.dumps({"mode": "slow", "seconds": 0.3, "data": AGENTS}))
    outcomes = await asyncio.gather(*(ask("openclaw://arp/discover?region=EU") for _ in range(100)))
    calls = len(log.read_text().splitlines()) - before
    yield "100 identical questions at once: 1 call upstream", f"{calls} call(s), outcomes {_join(outcomes)}"


async def ask_hung_upstream(of: Faults, ask: Ask) -> AsyncIterator[Row]:
    """Measure how long a question waits and how late others at a constant rate are; quiet and hung by turns."""
    question = read(URI, "/mcp/gateway", of.key)
    size = of.ours.ask(question).size

    def others() -> Measured:
        return of.load.measure(of.ours, question, 3, rate=OTHERS, size=size)

    of.control.write_text(json.dumps({"mode": "hang", "seconds": 30}))
    quiet, beside, waits = [], [], []
    for region in of.regions:
        quiet.append(await asyncio.to_thread(others))
        waiting = asyncio.create_task(ask(f"openclaw://arp/discover?region={region}", 3))
        beside.append(await asyncio.to_thread(others))
        waits.append(await waiting)
    longest = max(seconds for seconds, _ in waits)
    yield "hung upstream, deadline of 3 s: at most 0.2 s more", f"longest {longest:.2f} s, {_join(waits)}"
    # Other work on this machine comes in bursts, so tenths of a second count and not the whole.
    before, after = (statistics.median(p99 for one in each for p99 in one.tenths) for each in (quiet, beside))
    promise = f"meanwhile the p99 of others, {OTHERS} reads a second: at most × 1.2"
    yield promise, f"{before:.2f} → {after:.2f} ms, × {after / before:.2f} (tenths of a second)"


async def ask_killed_upstream(of: Faults, ask: Ask) -> AsyncIterator[Row]:
    await ask(URI)
    await ask(SOON_OLD)
    await asyncio.sleep(1.1)  # its time to live
    of.upstream.process.kill()
    of.upstream.process.wait()
    for number in range(OPENS_AT + 1):
        await ask(f"market://crypto/open{number}/trending", 1)
    stale = [await ask(SOON_OLD) for _ in range(50)]
    nothing = [await ask(f"market://crypto/never{number}/trending") for number in range(50)]
    for name, answers in (("an old entry", stale), ("nothing stored", nothing)):
        milliseconds = sorted(seconds * 1000 for seconds, _ in answers)
        measured = f"median {statistics.median(milliseconds):.1f} ms, longest {milliseconds[-1]:.1f} ms, {_join(answers)}"
        yield f"killed upstream, circuit open, {name}: at most 50 ms", measured
    yield "killed upstream, entry still fresh", (await ask(URI))[1]


def _join(answers: list[tuple[float, str]]) -> str:
    return " and ".join(sorted({outcome for _, outcome in answers}))


if __name__ == "__main__":
    main()
