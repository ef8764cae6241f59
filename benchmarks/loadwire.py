"""Time, memory and disk that loading an archive takes: `python -m benchmarks.loadwire [DAYS] [ITEMS_A_DAY]`."""

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import archive, report

ROOT = Path(__file__).resolve().parent.parent


def main(days: int = 250, a_day: int = 200) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        file, data = Path(scratch) / "archive.ndjson", Path(scratch) / "wire"
        archive.write(file, days, a_day)
        env = os.environ | {"WIRE_DATA_DIR": str(data), "DATABASE_URL": "", "WIRE_VECTORS": "0"}  # see benchmarks.publish
        data.mkdir()
        _manage(env, "migrate", "--verbosity", "0")
        started = time.monotonic()
        peak = _manage(env, "loadwire", str(file))
        seconds = time.monotonic() - started
        started = time.monotonic()
        again = _manage(env, "loadwire", str(file))
        seconds_again = time.monotonic() - started
        _manage(env, "verifywire")
        size = sum(f.stat().st_size for f in data.glob("wire.sqlite3*"))
        snapshots = _query(data, "SELECT sum(length(packed)) FROM wire_snapshot")
        items = days * a_day
        rows = [
            ("items, without vectors", f"{items:,} over {days:,} days, {file.stat().st_size / 1e6:.0f} MB"),
            ("load and publish", f"{seconds:.0f} s, {items / seconds:,.0f} items/s"),
            ("load again, nothing new", f"{seconds_again:.0f} s, {items / seconds_again:,.0f} items/s"),
            ("peak resident memory", f"{peak:.0f} MB loading, {again:.0f} MB loading again"),
            ("database on disk", f"{size / 1e6:.0f} MB, {size / items:,.0f} bytes an item"),
            ("of which snapshots, compressed", f"{snapshots / 1e6:.1f} MB, {snapshots / items:.0f} bytes a story"),
        ]
    report.publish("loadwire", f"python -m benchmarks.loadwire {days} {a_day}", report.table(("what", "measured"), rows))


def _manage(env: dict[str, str], *arguments: str) -> float:
    """Run a command and return its peak resident memory in MB."""
    script = (
        "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
        "unit = 2**20 if sys.platform == 'darwin' else 2**10; "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit); sys.exit(code)"
    )
    command = [sys.executable, "-c", script, sys.executable, str(ROOT / "manage.py"), *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.splitlines()[-1])


def _query(data: Path, sql: str) -> int:
    import sqlite3

    with sqlite3.connect(data / "wire.sqlite3") as connection:
        return int(connection.execute(sql).fetchone()[0])


if __name__ == "__main__":
    print(platform.platform(), file=sys.stderr)
    main(*(int(argument) for argument in sys.argv[1:]))
