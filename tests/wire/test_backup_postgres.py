"""On Postgres a backup holds what dumpwire writes; it comes back into an empty database, and never into another."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from config.errors import InvalidArgument
from tests.factories import entry, publish
from tests.wire.archives import dump, empty_wire
from wire import signing
from wire.archive.dump import one_moment
from wire.backup.manifest import checked
from wire.backup.restore import restore, verify
from wire.backup.take import take
from wire.models import Snapshot

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about Postgres"),
]


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path / "wire"


def test_a_restored_wire_is_the_same_wire_and_goes_on_with_its_key(tmp_path: Path) -> None:
    publish(entry(), entry())
    before, key = dump(tmp_path / "before.ndjson"), signing.key_file().read_bytes()
    take(tmp_path / "backup")
    assert set(checked(tmp_path / "backup")["files"]) == {"wire.ndjson.gz", "ed25519.pem", "wire-keys.json"}
    empty_wire()
    signing.key_file().unlink()
    restored = restore(tmp_path / "backup", replace=False)
    assert verify(restored).counts["snapshot"] == 1
    assert (dump(tmp_path / "after.ndjson"), signing.key_file().read_bytes()) == (before, key)
    publish(entry())
    assert Snapshot.objects.order_by("-sequence")[0].key_id == signing.key_in_force()


def test_a_database_that_holds_a_wire_is_left_alone_whatever_is_asked(tmp_path: Path) -> None:
    publish(entry())
    take(tmp_path / "backup")
    publish(entry())
    for replace in (False, True):
        with pytest.raises(InvalidArgument, match=r"into an empty one only\. Nothing was changed"):
            restore(tmp_path / "backup", replace=replace)
    assert Snapshot.objects.count() == 2


def test_it_is_of_one_moment_that_no_writer_shares() -> None:
    with one_moment(), connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        assert cursor.fetchone() == ("repeatable read",)
