"""`python -m tests.faults.soak [SCENARIO…] [--minutes-scale X] [--write]`: exit 1 if something did not hold. Loopback only."""

import argparse
import asyncio
import importlib
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Final

from benchmarks import report
from tests.clients.server import ROOT
from tests.faults.soak.outcome import Held, Missing, Run, table

SCENARIOS: Final = ("clients", "postgres", "redis", "workers", "publisher", "sqlite", "days", "backup", "limit")
LONGEST: Final = 40 * 60.0  # seconds, of everything at full length
PAGE: Final = ROOT / "docs" / "reliability.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description="Load the whole system while things go wrong.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"{', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--minutes-scale", type=float, default=1.0, metavar="X", help="lengths times X; 1 is 35 minutes in all")
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    told = parser.parse_args()
    if unknown := set(told.scenarios) - {*SCENARIOS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    broken, ends = 0, time.monotonic() + LONGEST * max(1.0, told.minutes_scale)
    for name in told.scenarios or SCENARIOS:
        began = time.monotonic()
        held = _run(name, told.minutes_scale, ends - time.monotonic())
        seconds = time.monotonic() - began
        if held is None:
            continue
        fails = [one for one in held if not one.ok]
        broken += bool(fails)
        _say(f"{'FAIL' if fails else 'pass'}  {name}, {seconds:.0f} s: {len(held) - len(fails)} of {len(held)} hold")
        for one in held:
            _say(f"      {'   ' if one.ok else '!! '}{one.must}: {one.measured.strip()}")
        if told.write:
            scale = "" if told.minutes_scale == 1 else f" --minutes-scale {told.minutes_scale:g}"
            report.write(name, f"python -m tests.faults.soak {name}{scale}", table(held), PAGE, show=False)
    return 1 if broken else 0


def _run(name: str, scale: float, within: float) -> list[Held] | None:
    """What held; None where the machine lacks what is needed. One that breaks off, or is not done within so many seconds, fails."""
    scenario = importlib.import_module(f"tests.faults.soak.scenarios.{name}")
    with tempfile.TemporaryDirectory(prefix=f"wire-soak-{name}-") as scratch:
        try:
            held: list[Held] = asyncio.run(asyncio.wait_for(scenario.run(Run(scale, Path(scratch))), within))
        except Missing as missing:
            _say(f"----  {name}: not run. {missing}")
            return None
        except Exception as error:
            traceback.print_exc()
            return [Held(False, "the scenario runs to its end", repr(error)[:500])]
    return held


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
