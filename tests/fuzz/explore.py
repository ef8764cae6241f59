"""Coverage-guided search for inputs that break a target's contract: `.venv-fuzz/bin/python -m tests.fuzz.explore TARGET`.

libFuzzer through atheris, in an environment of its own, with the runtime's libraries beside it. Inputs that reach new code are kept
in tests/corpus/, the smallest of each; what breaks the contract is shown, left in artifacts/, and does not end the search.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.fuzz import corpus

TARGETS: Final = {
    "feeds": ["sources", "wire.identity", "wire.normalise"],
    "citations": ["citations"],
    "cursors": ["wire.queries.cursor", "wire.queries.ranking", "wire.queries.stories", "wire.identity", "mcpserver.servers.wire"],
    "jsonrpc": ["mcpserver", "config.edge", "config.kept", "mcp.shared.inbound"],
}
"""By name, and the code in which new ground counts."""
ROOT: Final = Path(__file__).resolve().parents[2]
ARTIFACTS: Final = ROOT / "artifacts"
LONGEST: Final = 4_096  # bytes of an input; test_corpus stretches them
SECONDS: Final = 2.0  # of processor time for any input
ALARM: Final = 60  # seconds after which an input counts as never ending, and ends the search; wide, for machines that are busy
MEGABYTES: Final = 2_048
KEPT_BYTES: Final = 60_000  # of the inputs of one target
KEPT: Final = 300


def search(target: str, minutes: float) -> int:
    """Runs the search and keeps what it found. 1 if anything broke the contract."""
    ARTIFACTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wire-fuzz-") as name:
        scratch = Path(name)
        found, least, faults = (scratch / part for part in ("found", "least", "faults"))
        for directory in (found, least, faults):
            directory.mkdir()
        for number, data in enumerate(corpus.load(target)):
            (found / f"kept-{number}").write_bytes(data)
        env = _environment(scratch)
        fill(env)
        options = [f"-max_total_time={minutes * 60:.0f}", f"-max_len={LONGEST}", f"-timeout={ALARM}", "-print_final_stats=1"]
        options += [f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={faults}/", f"-dict={corpus.FOLDER / target}.dict"]
        ended = _run(target, env, [*options, str(found)])
        _run(target, env, ["-merge=1", f"-timeout={ALARM}", f"-artifact_prefix={scratch}/", str(least), str(found)], quiet=True)
        keep(target, sorted((file.read_bytes() for file in least.iterdir()), key=len))
        broke = [shutil.copy(file, ARTIFACTS / f"{target}-{file.name}") for file in faults.iterdir()]
        for file in broke:
            print(f"{target}: broken by {file}")  # noqa: T201
        return 1 if broke or ended.returncode else 0


def keep(target: str, found: list[bytes]) -> None:
    """The smallest, as many as there is room for."""
    if not found:
        return  # the search never began
    room, taken = KEPT_BYTES, list[bytes]()
    for data in found[:KEPT]:
        room -= len(data)
        if room < 0:
            break
        taken.append(data)
    corpus.save(target, taken)
    print(f"{target}: {len(found)} inputs reach all that was reached, {len(taken)} of them kept.")  # noqa: T201


def fill(env: dict[str, str]) -> None:
    for command in ("migrate", "loadsample"):
        arguments = [sys.executable, "manage.py", command, "--verbosity", "0"]
        subprocess.run(arguments, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, check=True)


def _environment(scratch: Path) -> dict[str, str]:
    theirs = ("WIRE_", "DATABASE_", "REDIS_", "DJANGO_", "SECRET_KEY", "DEBUG")
    mine = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    set_here = {"WIRE_RATE_LIMIT": "off", "WIRE_INGEST": "off", "PYTHONDONTWRITEBYTECODE": "1"}
    return mine | set_here | {"WIRE_DATA_DIR": str(scratch / "wire"), "DJANGO_SETTINGS_MODULE": "config.settings"}


def _run(target: str, env: dict[str, str], options: list[str], *, quiet: bool = False) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "tests.fuzz.explore", target, "--inside", *options]
    return subprocess.run(command, cwd=ROOT, env=env, check=False, stderr=subprocess.DEVNULL if quiet else None)


def inside(target: str, options: list[str]) -> None:
    """The search itself, in a process of its own, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=TARGETS[target]):
        import django

        django.setup()
        from tests.fuzz import targets
        from tests.fuzz.jsonrpc import jsonrpc
        from tests.mcpserver.asgi import serving

    check: Callable[[bytes], None]
    if target == "jsonrpc":
        runner, running = asyncio.Runner(), serving()
        runner.run(running.__aenter__())
        check = lambda data: runner.run(jsonrpc(data))  # noqa: E731
    else:
        check = targets.TARGETS[target]
    for data in corpus.load(target)[:1]:
        check(data)  # so that what is read once counts for none
    faults = next((option.partition("=")[2] for option in options if option.startswith("-artifact_prefix=")), "")
    again = f"{sys.executable} -m tests.fuzz.explore {target} --inside"  # as which libFuzzer starts it to merge
    atheris.Setup([again, *options], check if not faults else _noting(check, Path(faults)))
    atheris.Fuzz()


def _noting(check: Callable[[bytes], None], faults: Path) -> Callable[[bytes], None]:
    """`check` that goes on behind a fault, after it wrote down the first input for each place in the code."""
    known = set[tuple[str, int]]()

    def noted(data: bytes) -> None:
        try:
            began = time.process_time()
            check(data)
            assert (took := time.process_time() - began) < SECONDS, f"{took:.1f} s"
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            if (place.filename, place.lineno or 0) not in known:
                known.add((place.filename, place.lineno or 0))
                (faults / f"{type(error).__name__}-{len(known)}").write_bytes(data)
                traceback.print_exc()

    return noted


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("target", choices=TARGETS)
    arguments.add_argument("--minutes", type=float, default=10)
    if "--inside" in sys.argv:
        inside(sys.argv[1], sys.argv[3:])
    told = arguments.parse_args()
    return search(told.target, told.minutes)


if __name__ == "__main__":
    sys.exit(main())
