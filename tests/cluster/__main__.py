"""`python -m tests.cluster [--short] [--write]`, as root on Linux: exit 1 if something did not hold, 77 where it cannot run."""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from typing import Final

from benchmarks import report
from tests.clients.server import ROOT
from tests.cluster import network
from tests.cluster.rates import HEADER as RATES
from tests.cluster.rates import measure_rates
from tests.cluster.scenarios import SHORT, WHOLE
from tests.cluster.trial import HEADER, Trial
from tests.faults.soak.outcome import Held

PAGE: Final = ROOT / "docs" / "scaling.md"
INSIDE: Final = "WIRE_CLUSTER_INSIDE"
CANNOT_RUN: Final = 77  # as test drivers say "skipped"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description="Break seven hosts while readers read.")
    parser.add_argument("--short", action="store_true", help="a web host, the primary and the network alone")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/scaling.md")
    options = parser.parse_args()
    if options.write and options.short:
        parser.error("the tables are those of the whole form")
    if INSIDE not in os.environ:
        return _run_inside()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the first process of a PID namespace gets only what it handles
    trial = Trial(options.short)
    held, rates = asyncio.run(run(trial))
    table = report.table(HEADER, map(trial.describe, trial.periods))
    sys.stdout.write(f"{table}\n")
    sys.stdout.writelines(f"  {'holds' if one.ok else 'FAILS'}  {one.must}: {one.measured}\n" for one in held)
    if rates:
        sys.stdout.write(f"{report.table(RATES, rates)}\n")
    if options.write:
        rows = [("holds" if one.ok else "**FAILS**", one.must, one.measured.replace("|", "\\|")) for one in held]
        tables = f"{table}\n\n{report.table(('', 'must hold', 'measured'), rows)}"
        report.write("rates", "python -m tests.cluster", report.table(RATES, rates), PAGE, show=False)
        report.write("cluster", "python -m tests.cluster", tables, PAGE, show=False)
    return int(not all(one.ok for one in held))


async def run(trial: Trial) -> tuple[list[Held], list[tuple[str, ...]]]:
    """Return what must hold, and in the whole form what requests cost."""
    async with trial.at_work():
        for scenario in SHORT if trial.is_short else WHOLE:
            await scenario(trial)
    return await asyncio.to_thread(trial.judge), [] if trial.is_short else await measure_rates(trial)


def _run_inside() -> int:
    """Run this program again where its network, mounts and processes end with it."""
    if missing := network.list_missing():
        sys.stderr.writelines(f"{sentence}\n" for sentence in missing)
        return CANNOT_RUN
    command = [*network.OWN_NAMESPACES, sys.executable, "-m", "tests.cluster", *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {INSIDE: "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
