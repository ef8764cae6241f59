"""A load that is killed without warning is completed by the next run, as if nothing had happened."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.wire.archives import MANAGE, counts, line, own_environment
from tests.wire.installation import install_sqlite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files"),
]

LINES: Final = 1_600
DAYS: Final = 10
WORDS: Final = ("quince", "lantern", "gherkin", "biscuit", "toaster")
SITES: Final = {
    **{"TechCrunch": "techcrunch.com", "Wired": "wired.com", "Reuters": "reuters.com"},
    **{"OpenAI Blog": "openai.com", "The Register": "theregister.com"},
}
# Everything that is public or decides what becomes public; only times of storing and keys may differ between two runs.
TABLES: Final = {
    "story": "SELECT chatbotnews_id, original_url, guid, wire_date, event_id, status, category, pending, consensus_score, "
    "cross_source_count FROM wire_story ORDER BY 1",
    "revision": "SELECT chatbotnews_id, revision, headline, summary_short, story_sha256, story_id IS NOT NULL "
    "FROM wire_storyrevision r JOIN wire_story s ON s.id = r.story_id ORDER BY 1, 2",
    "alias": "SELECT url, chatbotnews_id FROM wire_storyalias a JOIN wire_story s ON s.id = a.story_id ORDER BY 1",
    "topic": "SELECT chatbotnews_id, topic FROM wire_storytopic t JOIN wire_story s ON s.id = t.story_id ORDER BY 1, 2",
    "search": "SELECT chatbotnews_id, tokens FROM wire_searchdocument d JOIN wire_story s ON s.id = d.story_id ORDER BY 1",
    "event": "SELECT * FROM wire_event ORDER BY 1",
    "snapshot": "SELECT sequence, wire_date, revision, wire_sha256, previous_sha256, packed FROM wire_snapshot ORDER BY 1",
    "load": "SELECT * FROM wire_load",
}


@dataclass(slots=True)
class Wire:
    """A wire of its own, in its own directory, and the archive it is to load."""

    directory: Path
    archive: Path
    more: tuple[str, ...] = ()

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(MANAGE), "loadwire", str(self.archive), *self.more]
        return subprocess.Popen(
            command, env=own_environment(self.directory), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self) -> str:
        """Loads to the end; the report."""
        with self.start() as process:
            out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out

    def kill_once(self, reached: Callable[["Wire"], bool], delay: float) -> None:
        """SIGKILL, `delay` seconds after the database shows that `reached` holds."""
        with self.start() as process:
            deadline = time.monotonic() + 300
            while not reached(self):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.005)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert process.returncode == -signal.SIGKILL

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.directory / 'wire.sqlite3'}?mode=ro", uri=True, timeout=20)) as database:
            return database.execute(query).fetchall()

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        return {table: self.rows(query) for table, query in TABLES.items()}

    def lines_done(self) -> int:
        return int(self.rows("SELECT coalesce(max(line), 0) FROM wire_load")[0][0])

    def snapshots(self) -> int:
        return int(self.rows("SELECT count(*) FROM wire_snapshot")[0][0])


@pytest.fixture
def migrated(django_db_setup: None, tmp_path: Path) -> Path:  # noqa: ARG001
    return install_sqlite(tmp_path / "migrated").parent


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Stories of ten days, three to a happening; every tenth line is a duplicate, a revision, an alias or a refusal."""
    chance = random.Random(20260115)
    lines = []
    for number in range(LINES):
        publisher = chance.choice([*SITES])
        day = f"2026-01-{chance.randrange(10, 10 + DAYS):02}T{chance.randrange(24):02}:00:00Z"
        happening = chance.randrange(LINES // 3)
        title = f"Firm{happening} buys Lab{happening * 7} for ${happening} million, {chance.choice(WORDS)} says"
        made = {"title": title, "publisher": publisher, "published_at": day, "guid": f"g-{number}"}
        made["url"] = f"https://{SITES[publisher]}/{number}"
        if number % 10 == 9:
            earlier = chance.randrange(0, number, 10)
            again = [line(earlier), line(earlier, title=title), b"{", line(number, publisher="Daily Bugle")]
            lines.append(again[number // 10 % 4])
        else:
            lines.append(line(number, **(made if number % 10 else {})))
    file = tmp_path / "a.ndjson"
    file.write_bytes(b"\n".join(lines))
    return file


def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(tmp_path: Path, migrated: Path, archive: Path) -> None:
    whole, killed = (Wire(shutil.copytree(migrated, tmp_path / name), archive) for name in ("whole", "killed"))
    chance = random.Random(9)
    with whole.start() as uninterrupted:
        for least in (500, 1000):
            killed.kill_once(lambda wire, least=least: wire.lines_done() >= least, chance.uniform(0, 0.1))  # type: ignore[misc]
        done = killed.lines_done()
        for least in (1, 5):
            killed.kill_once(lambda wire, least=least: wire.snapshots() >= least, chance.uniform(0, 0.1))  # type: ignore[misc]
        kept = killed.rows(TABLES["snapshot"])
        told = counts(killed.run())
        report = counts(uninterrupted.communicate(timeout=300)[0])

    assert 1000 <= done < LINES
    assert 5 <= len(kept) < DAYS
    found = killed.everything()
    assert found == whole.everything()
    assert found["snapshot"][: len(kept)] == kept
    assert not found["load"]
    assert len(found["event"]) < len(found["story"]) == report["accepted"]
    assert report["accepted"] > LINES * 0.8
    # The runs before took everything in; the last one says so, and what it published itself.
    refused = {name: number for name, number in report.items() if name.startswith("rejected")}
    assert sum(report.values()) == LINES + DAYS
    assert told == refused | {"duplicate": LINES - sum(refused.values()), "snapshots published": DAYS - len(kept)}


def test_killed_it_has_named_whatever_it_will_not_read_again(tmp_path: Path, migrated: Path, archive: Path) -> None:
    wire, rejects = Wire(shutil.copytree(migrated, tmp_path / "killed"), archive), tmp_path / "rejects.ndjson"
    wire.more = ("--rejects", str(rejects))
    wire.kill_once(lambda wire: wire.lines_done() >= 1000, 0)
    done = wire.lines_done()
    assert 1000 <= done < LINES
    named = {json.loads(row)["line"] for row in rejects.read_bytes().splitlines()}
    report = counts(wire.run())
    assert any(line <= done for line in named)
    named = {json.loads(row)["line"] for row in rejects.read_bytes().splitlines()}
    assert len(named) == sum(number for name, number in report.items() if name.startswith("rejected"))
