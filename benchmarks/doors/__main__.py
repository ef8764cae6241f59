"""`python -m benchmarks.doors [--rounds N] [--seconds N]`: measures everyone in turn and writes docs/benchmarks.md. Linux only."""

import argparse
import os
import random
import sys
import tempfile
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks import report
from benchmarks.doors import tables
from benchmarks.doors.contest import FAST, MCPZ, Contest, Row
from benchmarks.doors.environments import serving_packages
from benchmarks.doors.load import CONNECTIONS, Load, find_wrk

CALM: Final = 0.7  # of the saturated rate
CALM_VISITS: Final = 5  # at that rate in each round: a machine that stands still for a moment decides the p99 of one


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.doors", description="Measure both doors beside bare ASGI and others."
    )
    parser.add_argument("--rounds", type=int, default=3, help="visits to every contender (default: 3)")
    parser.add_argument("--seconds", type=int, default=1, help="seconds of each visit (default: 1)")
    parser.add_argument("--only", default="", help="only sections whose title holds this text; docs/benchmarks.md stays as it is")
    parser.add_argument("--realtime", action="store_true", help="go before what else runs on the machine (needs root)")
    asked = parser.parse_args()
    if asked.realtime:  # servers and load generators inherit it
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    load = Load(find_wrk())
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        contest = Contest(Path(scratch), stack)
        rows = [row for row in contest.rows if asked.only in row.section.title]
        _measure(load, rows, rounds=asked.rounds, seconds=asked.seconds)
        how = _how(load, contest, asked.rounds, asked.seconds, asked.realtime)
        parts = (how, tables.disturbance(rows), tables.speeds(rows), tables.costs(contest.servers), tables.promises(rows))
    body = "\n\n".join(parts)
    if asked.only:
        print(body)
    else:
        report.write("doors", " ".join(["python -m benchmarks.doors", *sys.argv[1:]]), body)


def _measure(load: Load, rows: list[Row], *, rounds: int, seconds: int) -> None:
    """Every round makes all its visits in another order, so that nobody always follows the same one, and those to one row lie
    apart: what slows a shared machine for ten seconds spoils one of them, not five. Whoever is not asked stands still.
    """
    order = random.Random(1)
    paced = [row for row in rows if row.paced]
    for row in rows:
        with row.server.going():
            load.measure(row.server, row.question, 1, size=row.size)  # warms up
    for number in range(1, rounds + 1):
        visits = [(row, _saturate) for row in rows] + [(row, _pace) for row in paced] * CALM_VISITS
        for row, visit in order.sample(visits, len(visits)):
            print(f"round {number} of {rounds}: {row.section.title}: {row.who}", file=sys.stderr)
            with row.server.going():
                visit(load, row, seconds)


def _saturate(load: Load, row: Row, seconds: int) -> None:
    if not row.section.miss:
        row.server.ask(row.question)  # what misses have pushed out of a cache is back in it
    row.measured.append(load.measure(row.server, row.question, seconds, size=row.size))


def _pace(load: Load, row: Row, seconds: int) -> None:
    """The saturated rate is found again just before: on a shared machine the next minute may be another machine."""
    row.server.ask(row.question)
    found = load.measure(row.server, row.question, seconds, size=row.size)
    calm = load.measure(row.server, row.question, seconds, size=row.size, rate=CALM * found.rate)
    row.calm.append((calm.cpu / found.cpu, calm))


def _how(load: Load, contest: Contest, rounds: int, seconds: int, realtime: bool) -> str:
    program = (
        "Wrk with one thread" if load.wrk else "**benchmarks/doors/client.py (there was no wrk; its own cost bounds fast rows)**"
    )
    told = (
        f"{program} and {CONNECTIONS} connections on one core, one worker of uvicorn on the other ({serving_packages()}; "
        f"mcp {version('mcp')}, {MCPZ} {contest.versions[MCPZ]}, {FAST} {contest.versions[FAST]}). {rounds} × {seconds} s; "
        "each round visits every row, in an order of its own, while the servers of the others stand still (SIGSTOP);"
        " medians, and medians of ratios. CPU: user and system time of the worker a request. Besides,"
        f" {CALM_VISITS} times a round and among all other visits, the rate found again in {seconds} s, then {seconds} s at"
        f" {CALM:.0%} of it, which"
        " benchmarks/doors/client.py holds whatever comes back. p99 there, from when a request was due: the median of all visits;"
        " of the half in which a request cost least beside what it cost when the rate was found (in others the machine grew slower,"
        " and the load was higher); and of the tenths of a second of the half."
    )
    return told + (" Everything ran as SCHED_FIFO." if realtime else "")


if __name__ == "__main__":
    main()
