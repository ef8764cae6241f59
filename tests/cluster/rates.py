"""What a request costs a web host of the cluster, in CPU time: independent of what else the machine does meanwhile."""

import asyncio
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.doors.questions import FIRST_NUMBER, MODERN, NUMBER, Question, fill, get, tool
from tests.cluster import network
from tests.cluster.trial import Trial
from tests.faults.soak.load import Connection

SECONDS: Final = 5.0
CONNECTIONS: Final = 32
CACHED: Final = tool(MODERN, "search_wire", query="model", limit=3)
SEARCH: Final = get(f"/search?query=model{NUMBER}")
HEADER: Final = ("a worker, Redis counting", "CPU µs a request", "requests a CPU second")


async def measure_rates(trial: Trial) -> list[tuple[str, ...]]:
    """Return rows below HEADER. Leaves web-1 with another limit."""
    cluster = trial.cluster
    await trial.do(cluster.restart_wire, "web-1", {"WIRE_RATE_LIMIT": "1000000/s"})
    cached, search = itertools.repeat(CACHED), itertools.repeat(SEARCH)
    await _ask(itertools.islice(cached, 100))
    stories = cluster.ask(cluster.find_primary(), "SELECT chatbotnews_id FROM wire_story ORDER BY 1 LIMIT 500", database="wire")
    rows: list[tuple[str, ...]] = []
    for name, questions in (
        ("MCP `tools/call`, three stories, cached", cached),
        ("page of a search, not cached", search),
        ("page of a story, not cached", iter([get(f"/story/{story}") for (story,) in stories])),
    ):
        number, used = await _ask(questions)
        rows.append((name, f"{1e6 * used / number:,.0f}", f"{number / used:,.0f}"))
    return rows


async def _ask(questions: Iterator[Question]) -> tuple[int, float]:
    """Return how many were answered, and the CPU time that took the host's processes. Raises: RuntimeError."""
    ends, numbers, before = time.monotonic() + SECONDS, itertools.count(FIRST_NUMBER), _read_cpu_time("web-1")
    answered = 0

    async def ask() -> None:
        nonlocal answered
        connection = Connection("web-1", 8000)
        await connection.open()
        while time.monotonic() < ends and (question := next(questions, None)):
            status, _, body = await connection.ask(fill(question.raw(network.PUBLIC), next(numbers)))
            if status != 200 or b'"isError":true' in body:
                raise RuntimeError(f"{status}: {body[:200]!r}")
            answered += 1
        connection.close()

    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return answered, _read_cpu_time("web-1") - before


def _read_cpu_time(host: str) -> float:
    """Return the seconds of CPU time that the host's processes used so far."""
    ticks = 0
    for pid in network.list_processes(host):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
