"""docs/verify_day.py, which shares no code with the wire, finds every served day true and every change to one."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests.wire.archives import own_environment
from wire.models import Snapshot

pytestmark = pytest.mark.django_db

SCRIPT = Path(settings.BASE_DIR) / "docs" / "verify_day.py"
Files = dict[str, Any]


def served(day: Any, address: str | None = None) -> Files:
    """What a reader downloads to check a day."""
    addresses = {
        "day": address or f"/api/archive/{day}.json",
        "provenance": f"/api/provenance/{day}.json",
        "keys": "/.well-known/wire-keys.json",
    }
    return {name: json.loads(Client().get(path).content) for name, path in addresses.items()}


def verify(directory: Path, files: Files) -> tuple[int, str]:
    """Exit code and what was printed."""
    paths = []
    for name, content in files.items():
        path = directory / f"{name}.json"
        path.write_text(json.dumps(content))
        paths.append(str(path))
    command = [sys.executable, str(SCRIPT), *paths]
    ran = subprocess.run(command, env=own_environment(directory), capture_output=True, text=True, check=False, cwd=directory)
    assert not ran.stderr
    return ran.returncode, ran.stdout


def test_it_imports_nothing_of_this_project() -> None:
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name.partition(".")[0]
        for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= set(sys.stdlib_module_names) | {"rfc8785", "cryptography"}


@pytest.mark.slow
@pytest.mark.usefixtures("sample_wire")
def test_every_day_of_the_sample_verifies(tmp_path: Path) -> None:
    snapshots = list(Snapshot.objects.all())
    assert len(snapshots) == 4
    for snapshot in snapshots:
        code, told = verify(tmp_path, served(snapshot.wire_date))
        assert (code, told) == (
            0,
            f"OK: {snapshot.wire_date} revision 1, {snapshot.story_count} stories, "
            f"wire_sha256 {snapshot.wire_sha256}, signed by key {snapshot.key_id}\n",
        )


@pytest.mark.slow
def test_days_with_corrections_withdrawals_and_takes_verify(rich: None, tmp_path: Path) -> None:  # noqa: ARG001
    for day in Snapshot.objects.days():
        assert verify(tmp_path, served(day.wire_date))[0] == 0
    newest = Snapshot.objects.order_by("-wire_date")[0].wire_date
    assert verify(tmp_path, served(newest, "/api/today.json"))[1].startswith(f"OK: {newest} revision")


def _swap(stories: list[Any]) -> None:
    stories[0], stories[1] = stories[1], stories[0]


TAMPERED: dict[str, tuple[Callable[[Files], Any], str]] = {
    "headline": (lambda f: f["day"]["stories"][1].update(headline="No"), "story cbn-"),
    "publisher": (lambda f: f["day"]["stories"][1].update(original_publisher="Daily Bugle"), "story_sha256"),
    "cited summary": (lambda f: f["day"]["stories"][1].update(summary_short="No."), "summary_short"),
    "address": (lambda f: f["day"]["stories"][1].update(original_url="https://evil.example/"), "chatbotnews_id"),
    "a story's hash": (lambda f: f["day"]["stories"][1].update(story_sha256="0" * 64), "story_sha256"),
    "consensus": (lambda f: f["day"]["stories"][1].update(consensus_score=0.99), "differ in stories"),
    "a story less": (lambda f: f["day"]["stories"].pop(), "differ in stories"),
    "another order": (lambda f: _swap(f["day"]["stories"]), "differ in stories"),
    "take": (lambda f: f["day"].update(editor_take="# Nothing happened\n"), "differ in editor_take"),
    "date": (lambda f: f["day"].update(wire_date="2026-01-01"), "differ in wire_date"),
    "link": (lambda f: f["day"]["provenance"].update(previous_sha256="0" * 64), "differ in previous_sha256"),
    "roster": (lambda f: f["day"]["source_integrity"].update(roster_sha256="0" * 64), "differ in roster_sha256"),
    "the day's hash": (lambda f: f["day"]["provenance"].update(wire_sha256="0" * 64), "wire_sha256 is '0000"),
    "anchor": (lambda f: f["day"]["provenance"]["fpl_anchor"].update(sha256="0" * 64), "fpl_anchor"),
    "day and provenance alike": (
        lambda f: [f["day"].update(editor_take="No"), f["provenance"]["manifest"].update(editor_take="No")],
        "wire_sha256 is",
    ),
    "signature": (
        lambda f: [part["signature"].update(value="A" * 86 + "==") for part in (f["provenance"], f["day"]["provenance"])],
        "signature: not made by key",
    ),
    "no key": (lambda f: f["keys"]["keys"].clear(), "there is no published key"),
    "another key": (lambda f: f["keys"]["keys"][0].update(public_key="A" * 43 + "="), "key .*id is"),
    "a field less": (lambda f: f["day"]["stories"][0].pop("language"), "CANNOT BE READ: KeyError"),
    "no day": (lambda f: f.update(day=[]), "CANNOT BE READ"),
}


@pytest.mark.slow
def test_every_change_to_a_served_day_is_named(rich: None, tmp_path: Path) -> None:  # noqa: ARG001
    whole = json.dumps(served("2026-01-15"))
    missed = {}
    for name, (tamper, said) in TAMPERED.items():
        files = json.loads(whole)
        tamper(files)
        code, told = verify(tmp_path, files)
        if code != 1 or not re.search(said, told):
            missed[name] = told
    assert not missed


def test_it_explains_itself_when_called_otherwise(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "day.json"]
    ran = subprocess.run(command, env=own_environment(tmp_path), capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "python verify_day.py https://wire.example" in ran.stderr


@pytest.mark.slow
def test_it_reads_a_wire_that_is_served(live_server: Any, rich: None, tmp_path: Path) -> None:  # noqa: ARG001
    command = [sys.executable, str(SCRIPT), str(live_server.url), "2026-01-14"]
    ran = subprocess.run(command, env=own_environment(tmp_path), capture_output=True, text=True, check=False)
    assert ran.stdout.startswith("OK: 2026-01-14 revision")
    assert ran.returncode == 0


def test_a_day_that_was_published_again_since_verifies(rich: None, tmp_path: Path) -> None:  # noqa: ARG001
    latest = Snapshot.objects.order_by("-revision")[0]
    files = served(latest.wire_date, f"/api/archive/{latest.wire_date}.json?revision=1")
    code, told = verify(tmp_path, files)
    assert told.startswith(f"OK: {latest.wire_date} revision 1 (the provenance given is of revision {latest.revision}), ")
    assert code == 0
    files["day"]["editor_take"] = "No"
    assert verify(tmp_path, files)[1].startswith("DIFFERS: wire_sha256 is")
