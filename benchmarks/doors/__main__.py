"""Measure the wire and other servers in turn: `python -m benchmarks.doors [--rounds N] [--seconds N]`. Linux only."""

import argparse
import os
import random
import shlex
import sys
import tempfile
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks import report
from benchmarks.doors import tables
from benchmarks.doors.contest import Contest, Row
from benchmarks.doors.environments import serving_packages
from benchmarks.doors.load import CONNECTIONS, Load, find_wrk

CALM: Final = 0.7  # of the saturated rate


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.doors", description="Compare the MCP server and the API with other servers."
    )
    parser.add_argument("--rounds", type=int, default=3, help="visits to each server (default: 3)")
    parser.add_argument("--seconds", type=int, default=1, help="seconds per visit (default: 1)")
    parser.add_argument("--calm", type=int, default=3, help="visits at a constant rate in each round (default: 3)")
    parser.add_argument("--only", action="append", help="only questions whose title contains this text (repeatable)")
    parser.add_argument("--realtime", action="store_true", help="run before everything else on the machine (needs root)")
    asked = parser.parse_args()
    if asked.realtime:  # servers and load generators inherit it
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    load = Load(find_wrk())
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        contest = Contest(Path(scratch), stack)
        rows = [row for row in contest.rows if not asked.only or any(text in row.section.title for text in asked.only)]
        _measure(load, rows, rounds=asked.rounds, seconds=asked.seconds, calm=asked.calm)
        how = " ".join([_how(load, contest, asked.realtime), tables.describe_disturbance(rows)])
        parts = (how, tables.speeds(rows, contest.servers), tables.promises(rows))
    report.publish("doors", shlex.join(["python", "-m", "benchmarks.doors", *sys.argv[1:]]), "\n\n".join(parts))


def _measure(load: Load, rows: list[Row], *, rounds: int, seconds: int, calm: int) -> None:
    """Visit all rows in each round, in random order, so that no row always follows the same one and visits to one row are
    spread out: what slows a shared machine for ten seconds spoils one visit, not five. All other servers are paused.
    """
    order = random.Random(1)
    paced = [row for row in rows if row.paced]
    for row in rows:
        with row.server.going():
            load.measure(row.server, row.question, 1, size=row.size)  # warms up
    for number in range(1, rounds + 1):
        visits = [(row, _saturate) for row in rows] + [(row, _pace) for row in paced] * calm
        for row, visit in order.sample(visits, len(visits)):
            print(f"round {number} of {rounds}: {row.section.title}: {row.who}", file=sys.stderr)
            with row.server.going():
                visit(load, row, seconds)


def _saturate(load: Load, row: Row, seconds: int) -> None:
    if not row.section.miss:
        row.server.ask(row.question)  # put back into the cache what misses evicted
    row.measured.append(load.measure(row.server, row.question, seconds, size=row.size))


def _pace(load: Load, row: Row, seconds: int) -> None:
    """Measure the saturated rate again first: on a shared machine it may change within a minute."""
    row.server.ask(row.question)
    found = load.measure(row.server, row.question, seconds, size=row.size)
    calm = load.measure(row.server, row.question, seconds, size=row.size, rate=CALM * found.rate)
    row.calm.append((calm.cpu / found.cpu, calm))


def _how(load: Load, contest: Contest, realtime: bool) -> str:
    program = "wrk" if load.wrk else "benchmarks/doors/client.py (wrk was not found; the client's own cost limits fast rows)"
    packages = [serving_packages(), f"mcp {version('mcp')}", *(f"{who} {contest.versions[who]}" for who in contest.versions)]
    said = [f"Load by {program} over {CONNECTIONS} connections; {', '.join(packages)}."]
    said += [f"{who} was not measured: {why}" for who, why in contest.missing.items()]
    return " ".join([*said, *(["Everything ran as SCHED_FIFO."] if realtime else [])])


if __name__ == "__main__":
    main()
