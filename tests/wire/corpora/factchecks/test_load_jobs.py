"""Loads are jobs: they report, go on where they were killed, stop when they are cancelled, and change nothing the second time."""

import fcntl
import gzip
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.claims import FIXTURES, claim, load
from tests.examples import FULL, KILLS
from tests.wire.installation import install_sqlite
from wire.corpora.factchecks import load_jobs, store
from wire.corpora.factchecks.file_formats import Unreadable
from wire.corpora.factchecks.models import Claim, FactcheckState, LoadJob

pytestmark = pytest.mark.django_db


def dump(path: Path, number: int = 30) -> Path:
    path.write_text(json.dumps([claim(n, f"Der Mond ist aus Käse {n}") for n in range(number)]), encoding="utf-8")
    return path


def test_a_load_reports_and_the_second_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for told in ("40 new, 0 changed, 0 unchanged, 0 refused", "0 new, 0 changed, 40 unchanged, 0 refused"):
        call_command("loadfactchecks", str(FIXTURES / "claims_de.json"), "--language", "de")
        assert told in capsys.readouterr().out
    assert list(LoadJob.objects.values_list("status", "processed", "total")) == [("done", 40, 40)] * 2


def test_directories_and_packed_files_are_read(tmp_path: Path) -> None:
    packed = tmp_path / "in" / "claims.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress((FIXTURES / "claims_de.json").read_bytes()))
    (tmp_path / "in" / "notes.doc").write_text("none")
    call_command("loadfactchecks", str(tmp_path))
    assert Claim.objects.count() == 40


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("foo,bar\n1,2\n")
    dump(tmp_path / "b.json", 3)
    with pytest.raises(
        CommandError, match=r"^a\.csv: the table has no column of claims.* its columns are foo, bar\. What was loaded stays"
    ):
        call_command("loadfactchecks", str(tmp_path))
    assert Claim.objects.count() == 3


def test_what_is_refused_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dump.json"
    file.write_text(json.dumps([claim(1, "eins"), {"synopsis": "ohne"}, claim(3, "drei")]))
    call_command("loadfactchecks", str(file))
    assert "Entry 2: it has neither id nor shortId" in capsys.readouterr().err
    job = LoadJob.objects.get()
    assert (job.created, job.errors, job.messages) == (2, 1, ["Entry 2: it has neither id nor shortId"])


def test_every_row_that_is_refused_or_incomplete_is_named_by_its_number_in_the_table(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = ["One,,https://a.example/1", "", ",False,https://a.example/2", '"Three\nlines",,', "Four,False,https://a.example/4"]
    file.write_text("\n".join(["claim,rating,url", *rows, "Five,,https://a.example/5"]))
    load_jobs.run_job(job := load_jobs.get_or_create_job(file, "en"), file)
    assert (job.created, job.errors) == (4, 1)
    assert job.messages == [
        "Row 2: the table has no column of names of the checkers (publisher), dates (published_at); stored without a rating",
        "Row 4: “https://a.example/2”: it has no claim",
        "Row 5: stored without a rating, a web address",
        "Row 7: stored without a rating",
    ]


def test_every_value_that_a_row_loses_is_named_and_the_row_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "claim,rating,url,date,publisher"
    stored, file = tmp_path / "a.csv", tmp_path / "b.csv"
    stored.write_text(f"{head}\nMoon,False,https://a.example/1,2026-01-02,Check")
    file.write_text(
        f"{head}\nMoon,False,moon,31.13.2026,Check\nSun,True,{'s' * 300},{'d' * 300},Check\nMars,True,https://a.example/2,2026-01-02,Check"
    )
    call_command("loadfactchecks", str(stored), str(file))
    output = capsys.readouterr()
    assert "a.csv: done. 1 new, 0 changed, 0 unchanged, 0 refused, 0 incomplete." in output.out
    assert "b.csv: done. 2 new, 0 changed, 1 unchanged, 0 refused, 2 incomplete." in output.out
    for row in re.findall("b.csv: Row .*", output.err):
        assert "stored without a web address: none could be read from" in row
        assert "stored without a date: none could be read from" in row


def test_remarks_leave_room_for_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_jobs, "MOST_MESSAGES", 3)
    monkeypatch.setattr(store, "BATCH", 4)
    file = tmp_path / "a.csv"
    file.write_text("\n".join(["claim,rating", *(f"Claim {number}," for number in range(9)), *[",False"] * 9]))
    load_jobs.run_job(job := load_jobs.get_or_create_job(file, "en"), file)
    assert [message.partition(":")[0] for message in job.messages] == [f"Row {number}" for number in (2, 3, 4, 11, 12, 13)]


def test_what_a_claim_is_stored_without_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "reviews.json"
    file.write_text(json.dumps([{"@type": "ClaimReview", "claimReviewed": "Eins", "url": "moon", "datePublished": "31.13.2026"}]))
    call_command("loadfactchecks", str(file))
    output = capsys.readouterr()
    assert "Entry 1: stored without a web address: none could be read from “moon”" in output.err
    assert "; stored without a date: none could be read from “31.13.2026”" in output.err
    assert "/factchecks, agents at " in output.out


@pytest.mark.parametrize("content", [b"\xff\xfe[", b"[{", b'"text"', b'{"a": '])
def test_a_file_that_cannot_be_read_fails_its_job_and_says_why(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "dump.json"
    file.write_bytes(content)
    with pytest.raises(CommandError, match="stays"):
        call_command("loadfactchecks", str(file))
    assert LoadJob.objects.get().status == "failed"


def test_an_empty_file_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text("")
    call_command("loadfactchecks", str(tmp_path / "dump.json"))
    assert LoadJob.objects.get().status == "done"


def test_a_missing_path_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Nothing was loaded"):
        call_command("loadfactchecks", str(tmp_path / "none.json"))


def test_a_job_that_stopped_half_way_goes_on_behind_its_last_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BATCH", 10)
    file, real, calls = dump(tmp_path / "dump.json"), store.store_claims, 0

    def breaks(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(store, "store_claims", breaks)
    with pytest.raises(KeyboardInterrupt):
        load_jobs.run_job(load_jobs.get_or_create_job(file, "de"), file)
    job = load_jobs.get_or_create_job(file, "de")
    assert (LoadJob.objects.count(), job.processed) == (1, 10)
    load_jobs.run_job(job, file)
    assert (Claim.objects.count(), job.created, job.status) == (30, 30, "done")


def test_a_cancelled_job_ends_after_the_batch_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel(job: LoadJob) -> None:
        load_jobs.request_cancel(job)

    monkeypatch.setattr(store, "BATCH", 10)
    file = dump(tmp_path / "dump.json")
    job = load_jobs.get_or_create_job(file, "de")
    load_jobs.run_job(job, file, cancel)
    assert (job.status, Claim.objects.count()) == ("canceled", 10)
    assert not load_jobs.request_cancel(job)


def test_a_file_that_is_being_loaded_is_refused_to_another(tmp_path: Path) -> None:
    file = dump(tmp_path / "dump.json")
    with file.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Unreadable, match="another process"):
            load_jobs.run_job(load_jobs.get_or_create_job(file, "de"), file)
    load_jobs.run_job(load_jobs.get_or_create_job(file, "de"), file)
    assert Claim.objects.count() == 30


def test_vectors_are_made_once_and_anew_after_a_change(settings: Any) -> None:
    from wire.corpora.factchecks import embedding

    settings.FACTCHECKS_EMBEDDING = "hashed"
    load(claim(1, "Mond"), claim(2, "Mars"))
    assert (embedding.embed_missing(), embedding.embed_missing()) == (2, 0)
    dropped = FactcheckState.objects.get().vectors_dropped
    load(claim(1, "Mond", publishingUrl="https://x.example/"), claim(2, "Venus"))
    assert embedding.embed_missing() == 1
    assert FactcheckState.objects.get().vectors_dropped == dropped + 1


ROWS: Final = (
    "SELECT number, external_id, short_id, status, internal, synopsis, rating_label, rating_key, rating_summary, publisher, "
    "publishing_url, language, categories, facts, content_sha256, withdrawn_at IS NULL, superseded_by "
    "FROM factchecks_claim ORDER BY 1",
    "SELECT number, revision, r.content_sha256, fields FROM factchecks_claimrevision r "
    "JOIN factchecks_claim c ON c.id = r.claim_id ORDER BY 1, 2",
    "SELECT number, name FROM factchecks_claimcategory k JOIN factchecks_claim c ON c.id = k.claim_id ORDER BY 1, 2",
    "SELECT token FROM factchecks_word ORDER BY 1",
    "SELECT key, rating FROM factchecks_ratingname ORDER BY 1",
    "SELECT found, next_number FROM factchecks_factcheckstate",
    'SELECT "index", token, block, hex(found) FROM wire_postings ORDER BY 1, 2, 3',
    "SELECT status, processed, created, updated, skipped, errors FROM factchecks_loadjob ORDER BY id",
)
"""All that a load writes but times and keys."""


class Loads:
    """Loads into a wire of its own, in processes that may be killed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "WIRE_DATA_DIR": str(directory),
            "DATABASE_URL": "",
            "FACTCHECKS_EMBEDDING": "hashed",
        }

    def start(self, *command: str) -> "subprocess.Popen[str]":
        given = [sys.executable, "manage.py", *command]
        return subprocess.Popen(given, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *command: str) -> str:
        out, err = (process := self.start(*command)).communicate(timeout=200)
        assert process.returncode == 0, err
        return out

    def kill(self, seconds: float, *command: str) -> bool:
        """SIGKILL, so long after a load begins; False if it ended before."""
        process = self.start(*command)
        before = self.processed()
        deadline = time.monotonic() + 60
        while process.poll() is None and self.processed() == before and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def processed(self) -> int:
        return int(self.rows("SELECT coalesce(sum(processed), 0) FROM factchecks_loadjob")[0][0])

    def rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.directory / 'wire.sqlite3'}?mode=ro", uri=True, timeout=20)) as database:
            return database.execute(query).fetchall()

    def everything(self) -> list[list[Any]]:
        return [self.rows(query) for query in ROWS]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the killed processes have SQLite files")
def test_kills_during_loads_lose_and_double_nothing(tmp_path: Path) -> None:
    """The first load stores, the second changes a third of the claims; both end as if nobody had killed them."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    many = 30_000 if FULL else 2_400
    entries = [claim(number, f"Der Mond ist aus Käse {number}", ratingLabelName="falsch") for number in range(many)]
    first.write_text(json.dumps([*entries, {"synopsis": "ohne"}]), encoding="utf-8")
    changed = [one | {"ratingLabelName": "wahr"} if place % 3 == 0 else one for place, one in enumerate(entries)]
    second.write_text(json.dumps(changed), encoding="utf-8")
    whole, killed = Loads(tmp_path / "whole"), Loads(tmp_path / "killed")
    install_sqlite(whole.directory)
    shutil.copytree(whole.directory, killed.directory)
    chance, kills, of_each = random.Random(35), 0, KILLS // 2 if FULL else 2
    for file in (first, second):
        whole.run("loadfactchecks", str(file), "--no-vectors")
        for _ in range(of_each):
            kills += killed.kill(chance.uniform(0, 0.05), "loadfactchecks", str(file), "--no-vectors")
        killed.run("loadfactchecks", str(file), "--no-vectors")
    assert kills == of_each * 2
    assert killed.everything() == whole.everything()
    assert len(whole.everything()[1]) == many // 3


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the killed processes have SQLite files")
def test_kills_while_vectors_are_made_lose_and_double_nothing(tmp_path: Path) -> None:
    """Vectors are made, and made anew for another model, in processes that are killed at any moment."""
    loads, many = Loads(tmp_path / "data"), 3_000 if FULL else 500
    install_sqlite(loads.directory)
    loads.run("loadfactchecks", str(dump(tmp_path / "dump.json", many)), "--no-vectors")
    for former in (False, True):
        if former:
            script = (
                "from wire.corpora.factchecks.models import *; ClaimVector.objects.update(model='former');"
                "FactcheckState.objects.update(model='former')"
            )
            loads.run("shell", "-v0", "-c", script)
        for number in range(KILLS // 4 if FULL else 2):
            process = loads.start("embedfactchecks")
            time.sleep(0.9 + number % 10 * 0.11)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        loads.run("embedfactchecks")
    found = loads.rows("SELECT count(*), count(DISTINCT claim_id), sum(model = 'former') FROM factchecks_claimvector")
    assert found == [(many, many, 0)]
