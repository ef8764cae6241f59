"""Data that each released version made with its own code is today's wire after `migrate` alone; README.md says how it was made."""

import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from tests.clients.server import ROOT, environment, services

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

VERSIONS: Final = ("1.0", "1.1", "1.2", "1.3")
SAME_WORDS: Final = {"inline", "academic", "reference", "markdown"}
"""Formats that no release has changed. How the others are worded has changed since, on purpose: CHANGELOG.md, Unreleased."""
DIFFERS: Final = {"citation_objects", "citation", "est_tokens", "message", "sealed"}
"""Fields of answers that the code or the clock makes, not the record; citations are compared on their own."""
RECORD: Final = {
    "stories": "SELECT chatbotnews_id, original_url, wire_date, published_at, event_id, status FROM wire_story ORDER BY 1",
    "revisions": "SELECT story_id, revision, status, story_sha256, headline, summary_medium FROM wire_storyrevision ORDER BY 1, 2",
    "snapshots": "SELECT sequence, wire_sha256, previous_sha256, roster_sha256, generated_at, packed, signature, key_id "
    "FROM wire_snapshot ORDER BY 1",
    "keys": "SELECT key_id, public_key FROM wire_signingkey ORDER BY 1",
}


class Upgrade:
    """An old installation: what it held, what it answered, and what it says once it is migrated."""

    def __init__(self, version: str, data_dir: Path, *, postgres: bool) -> None:
        with tarfile.open(Path(__file__).with_name(f"{version}.tar.xz")) as archive:
            archive.extractall(data_dir, filter="data")
        self.answers: dict[str, Any] = json.loads((data_dir / "answers.json").read_text(encoding="utf-8"))
        self.env = environment(data_dir, 8000) | {"DJANGO_SETTINGS_MODULE": "config.settings", "WIRE_VECTORS": "0"}
        self.file = data_dir / "wire.sqlite3"
        if postgres:
            self.env |= services(data_dir)
            self.file.unlink()
            dumped = (data_dir / "postgres.sql").read_text(encoding="utf-8").splitlines(keepends=True)
            with psycopg.connect(self.env["DATABASE_URL"]) as connection:  # what begins with \ is for psql
                connection.execute("".join(line for line in dumped if not line.startswith("\\")).encode())
        self.before, self.version = self.read(), self.query("SELECT version FROM wire_wirestate")[0][0]
        self.run("manage.py", "migrate", "--verbosity", "0")
        self.after = self.read()
        target = data_dir / "told.json"
        self.run("-m", "tests.upgrades.answers", str(data_dir / "answers.json"), str(target))
        self.told: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))

    def run(self, *arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=self.env, check=True, timeout=400)

    def read(self) -> dict[str, list[tuple[Any, ...]]]:
        return {name: self.query(sql) for name, sql in RECORD.items()}

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        if self.env.get("DATABASE_URL"):
            with psycopg.connect(self.env["DATABASE_URL"]) as connection:
                return connection.execute(sql.encode()).fetchall()
        with closing(sqlite3.connect(self.file)) as database:
            return database.execute(sql).fetchall()


@pytest.fixture(
    scope="module",
    params=[
        *((version, False) for version in VERSIONS),
        *(
            pytest.param(
                (version, True),
                marks=[
                    pytest.mark.services,
                    pytest.mark.skipif(not os.environ.get("TEST_DATABASE_URL"), reason="TEST_DATABASE_URL is not set"),
                ],
            )
            for version in VERSIONS
        ),
    ],
    ids=lambda param: f"{param[0]}-{'postgres' if param[1] else 'sqlite'}",
)
def upgrade(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Upgrade:
    version, postgres = request.param
    return Upgrade(version, tmp_path_factory.mktemp("upgrade"), postgres=postgres)


def test_the_record_is_the_same_byte_for_byte(upgrade: Upgrade) -> None:
    assert upgrade.after == upgrade.before
    assert [len(rows) for rows in upgrade.before.values()][:2] == [48, 51], "with a correction of two stories and a withdrawal"


def test_every_old_address_answers_what_it_answered(upgrade: Upgrade) -> None:
    """Permalinks, hashes and texts of stories, every revision of every day, and the second page that an old cursor leads to."""
    assert any("cursor=" in path for path in upgrade.answers)
    wrong = [
        found
        for path, (status, body) in upgrade.answers.items()
        for found in list_differences([status, body], upgrade.told["answers"][path], path)
    ]
    assert wrong == []


def list_differences(old: Any, new: Any, where: str) -> Iterator[str]:
    """Yield where `new` lacks something of `old`; what was added since is no difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() - DIFFERS:
            yield from list_differences(old[key], new[key], f"{where} {key}") if key in new else [f"{where} {key} is gone"]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for left, right in zip(old, new, strict=True):
            yield from list_differences(left, right, where)
    elif old != new:
        yield f"{where}: {old!r} is {new!r}"


def test_citations_are_the_same_or_still_known(upgrade: Upgrade) -> None:
    corrected = {row["chatbotnews_id"] for _, row in upgrade.answers.values() if row.get("status") == "corrected"}
    formats: Counter[str] = Counter()
    for path, (status, body) in upgrade.answers.items():
        if status != 200 or "/citations/" not in path:
            continue
        story, name = path.removeprefix("/api/citations/").split(".json?format=")
        formats[name] += 1
        if name in SAME_WORDS:
            assert upgrade.told["answers"][path][1]["citation"] == body["citation"], path
        # One that left the corrected headline out is taken for one of the text before.
        good = {"verified", "outdated"} if story in corrected else {"verified"}
        ((cited, verdict),) = upgrade.told["verdicts"][path]
        assert (cited, verdict in good) == (story, True), (path, verdict)
    assert len(formats) == 8
    assert set(formats.values()) == {47}
    assert formats.keys() >= SAME_WORDS


def test_changes_begin_with_the_record_and_go_on_with_what_is_new(upgrade: Upgrade) -> None:
    changes = upgrade.told["changes"]["changes"]
    stories = {story: status for story, _, _, _, _, status in upgrade.before["stories"]}
    told = [(change["subject"], change["kind"]) for change in changes if change["kind"].startswith("story_")]
    assert sorted(told) == sorted(
        (story, "story_withdrawn" if status == "withdrawn" else "story_added") for story, status in stories.items()
    )
    days = [change["subject"] for change in changes if change["kind"] == "day_published"]
    assert len(days) == len(set(days)) == 4
    later = [(change["kind"], change["subject"]) for change in upgrade.told["later"]["changes"]]
    assert ("story_corrected", upgrade.told["corrected"]) in later
    assert not any(kind == "story_added" for kind, _ in later)
    assert upgrade.told["version"] >= upgrade.version


def test_the_chain_verifies_and_goes_on_with_the_old_key(upgrade: Upgrade) -> None:
    before, previous, key = upgrade.told["chain"]
    assert (before, previous) == (upgrade.before["snapshots"][-1][1],) * 2
    assert [key] == [row[0] for row in upgrade.before["keys"]]
    many = len(upgrade.before["snapshots"])
    verified = upgrade.told["verifywire"].splitlines()
    assert [line.split(",")[0] for line in verified] == [f"database: {many} snapshots", f"database: {many + 1} snapshots"]
