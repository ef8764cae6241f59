"""On Postgres a backup holds a file for each table; it comes back into an empty database, and never into another."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from config.errors import InvalidArgument
from tests.factories import entry, publish
from tests.wire.archives import dump, empty_wire
from wire.models import Snapshot
from wire.ops.archive.dump import read_consistently
from wire.ops.backup import create as backup_take
from wire.ops.backup.contents import Manifest, check_backup
from wire.ops.backup.create import create_backup
from wire.ops.backup.restore import restore_backup, verify_restored
from wire.publishing import signing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about Postgres"),
]


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path / "wire"


def test_a_restored_wire_is_the_same_wire_and_goes_on_with_its_key(tmp_path: Path) -> None:
    publish(entry(), entry())
    before, key = dump(tmp_path / "before.ndjson"), signing.key_file().read_bytes()
    create_backup(tmp_path / "backup")
    files = set(check_backup(tmp_path / "backup")["files"])
    assert files >= {"tables/wire_story.copy.gz", "tables/auth_user.copy.gz", "keys/ed25519.pem", "wire-keys.json"}
    empty_wire()
    signing.key_file().unlink()
    restored = restore_backup(tmp_path / "backup")
    assert verify_restored(restored).counts["snapshot"] == 1
    assert (dump(tmp_path / "after.ndjson"), signing.key_file().read_bytes()) == (before, key)
    publish(entry())
    assert Snapshot.objects.order_by("-sequence")[0].key_id == signing.get_key_in_force()


def test_backups_taken_while_others_publish_restore_and_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both writers publish between the moment that a backup is of and its first byte, and go on meanwhile."""
    stop, write_files = threading.Event(), backup_take._write_files

    def publish_on() -> int:
        published = 0
        try:
            while not stop.is_set():
                published += len(publish(entry()))
        finally:
            connection.close()
        return published

    def write_files_later(draft: Path) -> Manifest:
        wait_for(now_published() + 2)
        return write_files(draft)

    def now_published() -> int:
        with ThreadPoolExecutor(1) as elsewhere:  # this thread's transaction sees none of it
            return elsewhere.submit(count).result()

    def count() -> int:
        try:
            return Snapshot.objects.count()
        finally:
            connection.close()

    def wait_for(snapshots: int) -> None:
        ends = time.monotonic() + 60
        while now_published() < snapshots:
            assert time.monotonic() < ends
            time.sleep(0.02)

    monkeypatch.setattr(backup_take, "_write_files", write_files_later)
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(publish_on) for _ in range(2)]
        try:
            wait_for(2)
            taken = [create_backup(tmp_path / f"backup-{number}")["sequence"] for number in range(2)]
        finally:
            stop.set()
    published = sum(writer.result() for writer in writers)
    assert 2 <= taken[0] < taken[1] < published == Snapshot.objects.count()
    for number, sequence in enumerate(taken):
        empty_wire()
        assert verify_restored(restore_backup(tmp_path / f"backup-{number}")).counts["snapshot"] == sequence


def test_a_database_that_holds_a_wire_is_left_alone(tmp_path: Path) -> None:
    publish(entry())
    create_backup(tmp_path / "backup")
    publish(entry())
    with pytest.raises(InvalidArgument, match=r"only be restored into an empty installation\. Nothing was changed"):
        restore_backup(tmp_path / "backup")
    assert Snapshot.objects.count() == 2


def test_it_is_of_one_moment_that_no_writer_shares() -> None:
    with read_consistently(), connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        assert cursor.fetchone() == ("repeatable read",)
