"""Record every served answer of a wire, and compare two recordings byte for byte: a net under changes that are to change no answer.

    python -m tests.served record FOLDER [--data DIR]    # the answers of this checkout, a file for each
    python -m tests.served compare FOLDER_A FOLDER_B     # each difference; exit 1 if there is any

Two checkouts are compared by recording the same data with both. DIR is a data directory with an SQLite wire. It is copied and never
changed; migrations are applied to the copy. Without it each checkout makes the sample wire anew. A directory of an archive:

    export WIRE_DATA_DIR=DIR WIRE_INGEST=off WIRE_VECTORS=0
    python manage.py migrate
    python manage.py loadwire ARCHIVE.ndjson.gz    # with --map FILE where publishers have other names than on the roster
    python manage.py timeline sync

So that a wire gives the same bytes again, its clock stands still (when its database was last written, or at --now), random bytes
and new keys come in one order, and nothing is asked of the network. What differs all the same is masked: MASKS of `recorder`. What
is asked follows from earlier answers, so that one difference may bring others: look at `rest` first.
"""

import argparse
import asyncio
import datetime as dt
import difflib
import logging
import os
import random
import re
import secrets
import shutil
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, Final, NoReturn

from tests.served.recorder import Recorder

ROOT: Final = Path(__file__).resolve().parents[2]
SAMPLE_NOW: Final = "2026-10-16T12:00:00+00:00"
SAMPLE: Final = (
    *("loadsample", "publishers sample", "timeline sync --sample"),
    *(f"loadfactchecks {ROOT}/fixtures/factchecks/claims_de.json --no-vectors", "embedfactchecks"),
)
SETTINGS: Final = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "a key for recordings alone, which signs nothing that anybody trusts",
    "WIRE_SITE_URL": "http://localhost:8000",
    "WIRE_INGEST": "off",
    "WIRE_VECTORS": "0",
    "WIRE_RATE_LIMIT": "off",
    "WIRE_METRICS_TOKEN": "a-token-for-recordings-alone-0123456789",
    "FACTCHECKS_EMBEDDING": "hashed",
    "FACTCHECKS_VECTOR_MS": "10000",
    "COLUMNS": "100",
}
OTHERS_SETTINGS: Final = re.compile(r"WIRE_|FACTCHECKS_|CHECKBOT_|DATABASE_|REDIS_|SECRET_KEY|DEBUG$|HOST$|PORT$")
"""Settings of whoever runs this, none of which may show in a recording."""
SHOWN_LINES: Final = 24
SHOWN_WIDTH: Final = 220


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.served", description="Record every served answer; compare recordings.")
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="the answers of this checkout, a file for each")
    recording.add_argument("folder", type=Path, metavar="FOLDER", help="not there yet, or empty")
    recording.add_argument(
        "--data", type=Path, metavar="DIR", help="a data directory with an SQLite wire; default: the sample wire"
    )
    recording.add_argument("--now", metavar="TIME", help="when the clock stands still; default: when the database was last written")
    comparing = actions.add_parser("compare", help="each difference of two recordings")
    comparing.add_argument("folders", type=Path, nargs=2, metavar="FOLDER")
    options = parser.parse_args()
    if options.action == "compare":
        return compare(*options.folders)
    if options.folder.exists() and any(options.folder.iterdir()):
        parser.error(f"{options.folder} is not empty")
    if options.data is not None and not (options.data / "wire.sqlite3").is_file():
        parser.error(f"there is no wire.sqlite3 in {options.data}")
    if os.environ.get("PYTHONHASHSEED") != "0":  # with it sets have one order in every process
        os.execve(sys.executable, [sys.executable, "-m", "tests.served", *sys.argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    return record(
        options.folder, options.data, options.now or (SAMPLE_NOW if options.data is None else _last_written(options.data))
    )


def record(folder: Path, data: Path | None, now: str) -> int:
    """Record the wire of `data`, or the sample wire. Return 1 if a request was answered with a fault of the server's."""
    began, moment = time.monotonic(), dt.datetime.fromisoformat(now).astimezone(dt.UTC)
    with tempfile.TemporaryDirectory(prefix="wire-served-") as scratch:
        own = Path(scratch) / "data"
        if data is None:
            own.mkdir()
        else:
            shutil.copytree(data, own, ignore=shutil.ignore_patterns("*.sqlite3-shm"))
        for name in filter(OTHERS_SETTINGS.match, list(os.environ)):
            del os.environ[name]
        os.environ.update(SETTINGS, WIRE_DATA_DIR=str(own))
        _stop_the_clock(moment)
        _fix_what_is_random()

        import django
        from django.conf import settings
        from django.core.management import call_command
        from django.utils.module_loading import import_string

        django.setup()
        application = import_string(settings.ASGI_APPLICATION)
        from tests.served.questions import Questions

        _stop_the_calendar(moment)
        logging.disable(logging.WARNING)
        warnings.simplefilter("ignore")
        for command in ("migrate --verbosity 0", *(SAMPLE if data is None else ())):
            call_command(*command.split(), stdout=StringIO(), stderr=StringIO())
        recorder = Recorder(application, folder, Path(scratch))
        questions = Questions(recorder)
        asyncio.run(questions.ask_all())
        questions.run_commands()
    counts = recorder.count()
    sys.stdout.write(f"{sum(counts.values()):,} answers: {', '.join(f'{number:,} {place}' for place, number in counts.items())}\n")
    sys.stdout.write(f"as of {moment.isoformat()}, in {time.monotonic() - began:.0f} s\n")
    sys.stdout.writelines(f"never asked for: {route}\n" for route in questions.list_missed())
    sys.stdout.writelines(f"fault: {fault}\n" for fault in recorder.faults)
    return int(bool(recorder.faults))


def compare(old: Path, new: Path) -> int:
    """Show each answer that only one folder has, or that differs. Return 1 if there is any."""
    names = sorted({file.relative_to(folder) for folder in (old, new) for file in folder.rglob("*") if file.is_file()})
    differing = 0
    for name in names:
        before, after = ((folder / name).read_bytes() if (folder / name).exists() else None for folder in (old, new))
        if before == after:
            continue
        differing += 1
        sys.stdout.write(f"\n{name}\n")
        if before is None or after is None:
            sys.stdout.write(f"  only in {old if after is None else new}\n")
        else:
            sys.stdout.writelines(f"  {line}\n" for line in _differences(before.decode(), after.decode()))
    sys.stdout.write(f"\n{len(names):,} answers, {differing:,} different or missing\n")
    return int(bool(differing) or not names)


def _differences(before: str, after: str) -> Iterator[str]:
    """Yield the first lines of a unified diff. Long lines, as of JSON, are broken where values end."""
    old, new = ([part for line in text.split("\n") for part in _break(line)] for text in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    for line in islice(lines, SHOWN_LINES):
        yield line if len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…"
    if len(lines) > SHOWN_LINES:
        yield f"… and {len(lines) - SHOWN_LINES:,} lines more"


def _break(line: str) -> list[str]:
    return [line] if len(line) <= SHOWN_WIDTH else re.split(r"(?<=[,>}])|(?<=\\n)", line)


def _last_written(data: Path) -> str:
    """Return when the database was last written, to the second after it."""
    last = max(file.stat().st_mtime for file in data.glob("wire.sqlite3*") if not file.name.endswith("-shm"))
    return dt.datetime.fromtimestamp(int(last) + 1, dt.UTC).isoformat()


def _stop_the_clock(moment: dt.datetime) -> None:
    """Let every look at the clock tell this moment, before modules take its functions. Clocks that measure durations go on."""
    from django.utils import timezone

    seconds = moment.timestamp()
    clock: Any = time
    clock.time = lambda: seconds
    clock.time_ns = lambda: int(seconds) * 1_000_000_000
    clock.clock_gettime = lambda _clock: 1_000.0
    timezone.now = lambda: moment


def _stop_the_calendar(moment: dt.datetime) -> None:
    """Let `datetime.now` tell this moment, after modules are loaded: what they declare with datetime needs the real one."""
    real, calendar = dt.datetime, dt.__dict__

    class Kind(type):
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, real)

        def __subclasscheck__(cls, one: type) -> bool:
            return issubclass(one, real)

    class Standing(dt.datetime, metaclass=Kind):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return real(*args, **kwargs)

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return moment.astimezone(tz) if tz else moment.astimezone().replace(tzinfo=None)

    calendar["datetime"] = Standing


def _fix_what_is_random() -> None:
    """Let random bytes and new keys come in one order, and no name of a server be found."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    def refuse(*_asked: Any, **_more: Any) -> NoReturn:
        raise OSError("A recording asks nothing of the network.")

    drawn = random.Random(0)
    system: Any = os
    system.urandom = drawn.randbytes
    keys: Any = Ed25519PrivateKey
    keys.generate = lambda: Ed25519PrivateKey.from_private_bytes(drawn.randbytes(32))
    tokens: Any = secrets
    tokens.token_bytes = lambda number=32: drawn.randbytes(number or 32)
    network: Any = socket
    network.getaddrinfo = refuse


if __name__ == "__main__":
    sys.exit(main())
