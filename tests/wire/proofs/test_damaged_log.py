"""Rows of the log and of the changes, damaged by SQL: `verifywire` names them, and nothing is signed over them."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from config.errors import WireError
from tests.factories import NOW, entry, publish
from tests.wire.archives import verifywire
from wire import queries
from wire.models import Change, LogEntry, LogNode, Snapshot, WireState
from wire.publishing import signing
from wire.publishing.transparency import log, merkle, signed_note

pytestmark = pytest.mark.django_db

ZERO = bytes(32)


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Any) -> None:
    settings.WIRE_DATA_DIR = tmp_path  # other tests' wires are signed by the key of all


def days(number: int) -> None:
    for at in range(number):
        publish(entry(), now=NOW + dt.timedelta(minutes=at))


def execute(sql: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        assert cursor.rowcount > 0


DAMAGES: dict[str, tuple[str, list[Any], str]] = {
    "a node": ("UPDATE wire_lognode SET digest = %s WHERE level = 1 AND position = 1", [ZERO], "wire_lognode 1/1"),
    "a node that is gone": ("DELETE FROM wire_lognode WHERE level = 2 AND position = 0", [], "wire_lognode 2/0"),
    "a leaf": ("UPDATE wire_logentry SET leaf = %s WHERE sequence = 3", [ZERO], "wire_logentry 3: leaf"),
    "a root": ("UPDATE wire_logentry SET root = %s WHERE sequence = 6", [ZERO], "wire_logentry 6: root"),
    "a root of stories": (
        "UPDATE wire_logentry SET stories_root = %s WHERE sequence = 2",
        [ZERO],
        "wire_logentry 2: stories_root",
    ),
    "an origin": ("UPDATE wire_logentry SET origin = %s WHERE sequence = 4", ["else.example"], "wire_logentry 4: .*signature"),
    "a signature": ("UPDATE wire_logentry SET signature = %s WHERE sequence = 6", [ZERO], "wire_logentry 6: .*signature"),
    "a checkpoint taken away": (
        "UPDATE wire_logentry SET origin = '', signature = %s WHERE sequence = 6",
        [b""],
        "wire_logentry 6: .*not signed",
    ),
    "all checkpoints taken away": ("UPDATE wire_logentry SET origin = '', signature = %s", [b""], "wire_logentry 6: .*not signed"),
    "the newest entry that is gone": ("DELETE FROM wire_logentry WHERE sequence = 6", [], "wire_logentry 6"),
    "a change of another kind": (
        "UPDATE wire_change SET kind = 'story_withdrawn' WHERE kind = 'story_added' AND number = %s",
        [1],
        "wire_change 1",
    ),
    "a change about something else": ("UPDATE wire_change SET subject = 'cbn-000000000000' WHERE number = 2", [], "wire_change 2"),
    "a change that is gone": ("DELETE FROM wire_change WHERE number = 3", [], "wire_change 3"),
    "all changes that are gone": ("DELETE FROM wire_change", [], "wire_change"),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_verifywire_names_the_row(damage: str) -> None:
    days(6)
    assert "verify" in verifywire()
    sql, values, name = DAMAGES[damage]
    execute(sql, *values)
    with pytest.raises(CommandError, match=name):
        verifywire()


def test_verifywire_names_the_newest_changes_that_are_gone() -> None:
    days(2)
    execute("DELETE FROM wire_change WHERE number = %s", Change.objects.latest("number").number)
    with pytest.raises(CommandError, match="wire_change"):
        verifywire()


def test_verifywire_names_a_change_that_was_added() -> None:
    days(2)
    last = Change.objects.latest("number")
    Change(number=last.number + 1, kind="story_withdrawn", subject=Change.objects.earliest("number").subject, at=NOW).save()
    with pytest.raises(CommandError, match=f"wire_change {last.number + 1}"):
        verifywire()


SPOILED = {
    "a node": "UPDATE wire_lognode SET digest = %s WHERE level = 2 AND position = 0",
    "a leaf": "UPDATE wire_logentry SET leaf = %s WHERE sequence = 7",
    "the newest root": "UPDATE wire_logentry SET root = %s WHERE sequence = 7",
    "the newest signature": "UPDATE wire_logentry SET signature = %s WHERE sequence = 7",
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", SPOILED)
def test_nothing_is_signed_over_a_damaged_log_and_it_can_be_made_again(damage: str) -> None:
    days(7)
    before, signed = queries.get_checkpoint(), list(LogEntry.objects.order_by("sequence").values_list("sequence", "root"))
    execute(SPOILED[damage], ZERO)
    with pytest.raises(WireError, match="log") as refused:
        publish(made := entry(), now=NOW + dt.timedelta(hours=1))
    assert "rebuildlog" in refused.value.hint
    assert Snapshot.objects.count() == LogEntry.objects.count() == 7
    call_command("rebuildlog")
    assert list(LogEntry.objects.order_by("sequence").values_list("sequence", "root")) == signed
    assert queries.get_checkpoint() == before or "signature" in damage
    publish(made, now=NOW + dt.timedelta(hours=1))
    assert signed_note.parse_checkpoint(queries.get_checkpoint()).size == 8
    assert "verify" in verifywire()


def test_a_node_that_is_gone_is_no_traceback() -> None:
    days(3)
    LogNode.objects.all().delete()
    with pytest.raises(WireError, match="wire_lognode 1/0 is missing"):
        publish(entry(), now=NOW + dt.timedelta(hours=1))
    assert Snapshot.objects.count() == 3


@pytest.mark.slow
def test_nothing_is_signed_over_a_damaged_log_that_was_never_signed() -> None:
    days(4)
    LogEntry.objects.update(origin="", signature=b"")
    execute("UPDATE wire_lognode SET digest = %s WHERE level = 2 AND position = 0", ZERO)
    with pytest.raises(WireError, match="log"):
        publish(entry(), now=NOW + dt.timedelta(hours=1))


@pytest.mark.slow
def test_a_log_whose_snapshots_are_others_than_were_signed_is_not_made_again() -> None:
    days(4)
    entry_ = LogEntry.objects.get(sequence=4)
    entry_.root = merkle.hash_leaf(b"another history")
    signing.sign_hash(str(entry_.sequence))  # the key is there
    entry_.signature = _signature(entry_)
    entry_.save()
    with pytest.raises(CommandError, match="checkpoint 4"):
        call_command("rebuildlog")
    assert bytes(LogEntry.objects.get(sequence=4).root) == entry_.root


def _signature(entry_: LogEntry) -> bytes:
    private = signing._load_private_key()
    text = signed_note.Checkpoint(entry_.origin, entry_.sequence, bytes(entry_.root)).text
    return signed_note.compute_key_id(entry_.origin, private.public_key().public_bytes_raw()) + private.sign(text.encode())


@pytest.mark.slow
def test_a_log_that_is_right_stays_as_it_is() -> None:
    days(5)
    rows = list(LogEntry.objects.order_by("sequence").values_list())
    call_command("rebuildlog")
    assert list(LogEntry.objects.order_by("sequence").values_list()) == rows
    assert LogNode.objects.count() == 3
    assert log.append_missing_snapshots() == 0
    assert WireState.objects.get().changes_epoch
