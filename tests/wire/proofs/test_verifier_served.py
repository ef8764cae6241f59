"""The published verifier against wires that `manage.py serve` serves: one that is watched, and its witness."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.clients.server import ROOT, environment, free_port, running
from tests.wire.installation import install_sqlite

pytestmark = pytest.mark.slow

SAMPLE: Final = ROOT / "fixtures" / "sample"


@contextmanager
def serve_wire(data_dir: Path, port: int) -> Iterator[str]:
    """The site's address."""
    data_dir.mkdir(exist_ok=True)
    with running(["manage.py", "serve"], environment(data_dir, port), data_dir / "server.log") as site:
        yield site


def manage(data_dir: Path, port: int, *arguments: object) -> "subprocess.CompletedProcess[str]":
    env = environment(data_dir, port) | {"WIRE_FETCH_ALLOW": "127.0.0.0/8"}
    command = [sys.executable, "manage.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def verify(site: str, *options: object) -> str:
    """Return what the verifier prints; it is run where none of the wire's code is found."""
    command = [sys.executable, "-I", str(ROOT / "docs" / "verify_wire.py"), site, *map(str, options)]
    run = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert (run.stderr, run.returncode) == ("", 0 if run.stdout.startswith("OK: ") else 1)
    return run.stdout


def forge(data_dir: Path, port: int, archive: Path) -> None:
    """The same days in the same order, signed by the same key, with one story told otherwise."""
    for file in data_dir.glob("wire.sqlite3*"):
        file.unlink()
    archive.mkdir()
    for file in SAMPLE.glob("*.ndjson"):
        (archive / file.name).write_text(
            file.read_text(encoding="utf-8").replace("two baguettes", "nine baguettes"), encoding="utf-8"
        )
    install_sqlite(data_dir)
    assert manage(data_dir, port, "loadwire", archive).returncode == 0


@pytest.mark.usefixtures("django_db_setup")
def test_a_forged_history_is_found_out_by_what_another_wire_saw(tmp_path: Path) -> None:
    watched, witness = tmp_path / "watched", tmp_path / "witness"
    of_watched, of_witness = free_port(), free_port()
    own = f"OK: localhost:{of_watched}: 4 snapshots of 4 days, the newest 4 story by story\n"
    with serve_wire(witness, of_witness) as other:
        with serve_wire(watched, of_watched) as site:
            assert "Signed." in manage(witness / "sample", of_witness, "witness", f"http://127.0.0.1:{of_watched}").stdout
            assert verify(site, "--witness", other, "--state", tmp_path / "seen.json") == own
            with urllib.request.urlopen(f"{other}/api/log/witnessed.json") as answer:  # noqa: S310  a server of ours
                (log,) = json.load(answer)["logs"]
            assert (log["origin"], log["size"]) == (f"localhost:{of_watched}", 4)
            assert verify(other).startswith(f"OK: localhost:{of_witness}: 4 snapshots")
        forge(watched / "sample", of_watched, tmp_path / "forged")
        with serve_wire(watched / "sample", of_watched) as site:
            assert verify(site) == own, "by itself nothing is wrong with it"
            assert verify(site, "--witness", other).startswith(f"DIFFERS: what {other} saw: root at 4 snapshots is ")
            assert verify(site, "--state", tmp_path / "seen.json").startswith(
                "DIFFERS: what was seen before: root at 4 snapshots is "
            )
            told = manage(witness / "sample", of_witness, "witness", f"http://127.0.0.1:{of_watched}").stderr
            assert "its 4 snapshots do not begin with the 4 that were seen" in told
