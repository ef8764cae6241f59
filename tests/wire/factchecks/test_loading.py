"""Loads are jobs: they report, go on where they were killed, stop when they are cancelled, and change nothing the second time."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.claims import FIXTURES, claim, load
from wire.factchecks import loading, storing
from wire.factchecks.models import Claim, ClaimVector, FactcheckState, LoadJob
from wire.factchecks.reading import Unreadable

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


def test_what_is_refused_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dump.json"
    file.write_text(json.dumps([claim(1, "eins"), {"synopsis": "ohne"}, claim(3, "drei")]))
    call_command("loadfactchecks", str(file))
    assert "entry 2: it has neither id nor shortId" in capsys.readouterr().err
    job = LoadJob.objects.get()
    assert (job.created, job.errors, job.messages) == (2, 1, ["Entry 2: it has neither id nor shortId"])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[{", b'"text"', b'{"a": '])
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
    monkeypatch.setattr(storing, "BATCH", 10)
    file, real, calls = dump(tmp_path / "dump.json"), storing.store, 0

    def breaks(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(storing, "store", breaks)
    with pytest.raises(KeyboardInterrupt):
        loading.load(loading.job_for(file, "de"), file)
    job = loading.job_for(file, "de")
    assert (LoadJob.objects.count(), job.processed) == (1, 10)
    loading.load(job, file)
    assert (Claim.objects.count(), job.created, job.status) == (30, 30, "done")


def test_a_cancelled_job_ends_after_the_batch_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel(job: LoadJob) -> None:
        loading.cancel(job)

    monkeypatch.setattr(storing, "BATCH", 10)
    file = dump(tmp_path / "dump.json")
    job = loading.job_for(file, "de")
    loading.load(job, file, cancel)
    assert (job.status, Claim.objects.count()) == ("canceled", 10)
    assert not loading.cancel(job)


def test_a_file_that_is_being_loaded_is_refused_to_another(tmp_path: Path) -> None:
    file = dump(tmp_path / "dump.json")
    job = loading.job_for(file, "de")
    LoadJob.objects.filter(pk=job.pk).update(messages=[f"process {os.getppid()}"])
    with pytest.raises(Unreadable, match="another process"):
        loading.job_for(file, "de")


def test_vectors_are_made_once_and_anew_after_a_change(settings: Any) -> None:
    from wire.factchecks import embedding

    settings.FACTCHECKS_EMBEDDING = "hashed"
    load(claim(1, "Mond"), claim(2, "Mars"))
    assert (embedding.fill(), embedding.fill()) == (2, 0)
    dropped = FactcheckState.objects.get().vectors_dropped
    load(claim(1, "Mond", publishingUrl="https://x.example/"), claim(2, "Venus"))
    assert embedding.fill() == 1
    assert FactcheckState.objects.get().vectors_dropped == dropped + 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_fifty_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """Loads, makes vectors, and makes them anew for another model, in processes that are killed at any moment."""
    file, many = dump(tmp_path / "dump.json", 3_000), 3_000
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "WIRE_DATA_DIR": str(tmp_path / "data"),
        "DATABASE_URL": "",
        "FACTCHECKS_EMBEDDING": "hashed",
    }
    manage = [sys.executable, "manage.py"]

    def run(*command: str) -> None:
        subprocess.run([*manage, *command], env=environment, check=True, capture_output=True)

    def run_killed(times: int, *command: str) -> None:
        """So many times killed, then let end."""
        for kill in range(times):
            process = subprocess.Popen([*manage, *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.9 + kill % 10 * 0.11)
            process.send_signal(signal.SIGKILL)
            process.wait(20)
        run(*command)

    run("migrate", "-v0")
    run_killed(24, "loadfactchecks", str(file), "--no-vectors")
    run_killed(13, "embedfactchecks")
    former = (
        "from wire.factchecks.models import *; ClaimVector.objects.update(model='former');"
        "FactcheckState.objects.update(model='former')"
    )
    run("shell", "-v0", "-c", former)
    run_killed(13, "embedfactchecks")
    script = (
        "from wire.factchecks.models import *; from wire.factchecks.indexing import *; from wire import postings; import json;"
        "held = postings.weights(INDEX, ['mond']);"
        "print(json.dumps([Claim.objects.count(), FactcheckState.objects.get().found, len(set(held['mond'][0].tolist())),"
        "len(held['mond'][0]), ClaimVector.objects.count(), Claim.objects.values('number').distinct().count(),"
        "ClaimVector.objects.filter(model=FactcheckState.objects.get().model).exclude(model='former').count()]))"
    )
    told = subprocess.run([*manage, "shell", "-v0", "-c", script], env=environment, check=True, capture_output=True, text=True)
    assert json.loads(told.stdout.strip().splitlines()[-1]) == [many] * 7
    assert ClaimVector.objects.count() == 0
