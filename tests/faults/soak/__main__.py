"""`python -m tests.faults.soak [SCENARIO…] [--minutes-scale X] [--write]`: exit 1 if something did not hold. Loopback only."""

import argparse
import asyncio
import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks import report
from tests.clients.server import ROOT
from tests.faults.soak.outcome import Held, Run

SCENARIOS: Final = ("clients", "workers", "publisher", "followers", "sqlite", "backup")
PAGE: Final = ROOT / "docs" / "reliability.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description="Load the whole system while things go wrong.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"{', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--minutes-scale", type=float, default=1.0, metavar="X", help="lengths times X; 1 is half an hour in all")
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    options = parser.parse_args()
    if unknown := set(options.scenarios) - {*SCENARIOS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    broken = False
    for name in options.scenarios or SCENARIOS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"wire-soak-{name}-") as scratch:
            held = run(name, Run(options.minutes_scale, Path(scratch)))
        broken |= not all(one.ok for one in held)
        sys.stdout.write(f"{name}, {time.monotonic() - began:.0f} s\n")
        sys.stdout.writelines(f"  {'holds' if one.ok else 'FAILS'}  {one.must}: {one.measured}\n" for one in held)
        sys.stdout.flush()
        if options.write:
            rows = [(one.must if one.ok else f"**FAILS**: {one.must}", one.measured.replace("|", "\\|")) for one in held]
            scale = "" if options.minutes_scale == 1 else f" --minutes-scale {options.minutes_scale:g}"
            table = report.table(("must hold", "measured"), rows)
            report.write(name, f"python -m tests.faults.soak {name}{scale}", table, PAGE, show=False)
    return int(broken)


def run(name: str, how: Run) -> list[Held]:
    held: list[Held] = asyncio.run(importlib.import_module(f"tests.faults.soak.scenarios.{name}").run(how))
    return held


if __name__ == "__main__":
    sys.exit(main())
