"""Proofs as they are served: each checks against the signed checkpoint, and the log is a function of the snapshots."""

import base64
import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from config.errors import InvalidArgument, NotFound, NothingPublished
from tests.factories import DAY, NOW, entry, publish, published, story_of
from tests.wire.archives import dump, empty_wire, loadwire
from tests.wire.changes.follower import BEGINNING
from tests.wire.proofs.inclusion import is_included
from wire import queries
from wire.ingest import corrections
from wire.models import Change, LogEntry, LogNode, SigningKey, Snapshot, Story
from wire.publishing import signing
from wire.publishing.transparency import log, merkle, signed_note
from wire.text.provenance_manifest import canonicalize_json

pytestmark = pytest.mark.django_db


def checkpoint() -> signed_note.Checkpoint:
    found = signed_note.parse_checkpoint(queries.get_checkpoint())
    assert any(signed_note.is_signed_by_log(found, base64.b64decode(key.public_key)) for key in SigningKey.objects.all())
    return found


def assert_proved(story_id: str, **asked: object) -> None:
    proof = queries.prove_inclusion(story_id, **asked)  # type: ignore[arg-type]
    top = signed_note.parse_checkpoint(proof.checkpoint)
    path = [base64.b64decode(step) for step in proof.story_path]
    stories = bytes.fromhex(proof.leaf.stories_root)
    assert is_included(merkle.hash_leaf(canonicalize_json(proof.story)), proof.story_index, proof.story_count, path, stories)
    leaf = merkle.hash_leaf(canonicalize_json(proof.leaf.model_dump(mode="json")))
    path = [base64.b64decode(step) for step in proof.log_path]
    assert is_included(leaf, proof.leaf.sequence - 1, proof.log_size, path, top.root)
    assert (top.size, top.root) == (checkpoint().size, checkpoint().root)


@pytest.mark.usefixtures("sample_wire")
def test_every_story_is_proved_by_the_checkpoint() -> None:
    stories = Story.objects.values_list("chatbotnews_id", flat=True)
    for story_id in list(stories)[::5]:
        assert_proved(story_id)


def test_a_story_that_was_withdrawn_is_proved_in_the_last_snapshot_that_has_it() -> None:
    story = published()
    publish(entry())
    corrections.withdraw_story(story.chatbotnews_id, reason="It was made up.", now=NOW)
    assert_proved(story.chatbotnews_id)
    assert_proved(story.chatbotnews_id, day=DAY, revision=1)
    with pytest.raises(NotFound, match="is not in"):
        queries.prove_inclusion(story.chatbotnews_id, DAY, Snapshot.objects.order_by("-revision")[0].revision)


@pytest.mark.slow
def test_every_log_begins_with_every_earlier_one() -> None:
    tops = []
    for number in range(7):
        publish(entry(), now=NOW + dt.timedelta(minutes=number))
        tops.append(checkpoint())
    for first in tops:
        for second in tops[first.size - 1 :]:
            found = queries.prove_consistency(first.size, second.size)
            path = [base64.b64decode(step) for step in found.path]
            assert merkle.is_consistent(first.size, second.size, path, first.root, second.root)
            assert base64.b64decode(found.first_root) == first.root
    for wrong in ((0, 3), (4, 3), (1, 99)):
        with pytest.raises(InvalidArgument, match="does not hold"):
            queries.prove_consistency(*wrong)


@pytest.mark.slow
def test_the_log_is_made_again_from_the_snapshots_and_is_the_same() -> None:
    for number in range(6):
        publish(entry(), now=NOW + dt.timedelta(minutes=number))
    rows = list(LogEntry.objects.order_by("sequence").values_list("sequence", "stories_root", "leaf", "root"))
    nodes = list(LogNode.objects.order_by("level", "position").values_list("level", "position", "digest"))
    LogEntry.objects.all().delete()
    LogNode.objects.all().delete()
    assert log.append_missing_snapshots() == 6
    assert list(LogEntry.objects.order_by("sequence").values_list("sequence", "stories_root", "leaf", "root")) == rows
    assert list(LogNode.objects.order_by("level", "position").values_list("level", "position", "digest")) == nodes
    publish(entry(), now=NOW + dt.timedelta(minutes=9))
    assert checkpoint().size == 7


def test_a_wire_from_before_the_log_gets_its_checkpoint_signed_where_the_key_is() -> None:
    publish(entry())
    LogEntry.objects.all().delete()
    log.append_missing_snapshots()
    with pytest.raises(NothingPublished):
        queries.get_checkpoint()
    signing.sign_newest_checkpoint()
    assert checkpoint().size == 1
    signing.sign_newest_checkpoint()
    LogEntry.objects.update(origin="")
    SigningKey.objects.update(retired_at=NOW)
    signing.sign_newest_checkpoint()
    with pytest.raises(NothingPublished):
        queries.get_checkpoint()


def test_publishing_appends_what_a_wire_of_before_had_already() -> None:
    publish(entry())
    LogEntry.objects.all().delete()
    Change.objects.all().delete()
    made = entry()
    publish(made, now=NOW + dt.timedelta(minutes=1))
    assert checkpoint().size == 2
    assert_proved(story_of(made).chatbotnews_id)
    assert {change.subject for change in queries.get_changes(since=BEGINNING).changes} >= set(
        Story.objects.values_list("chatbotnews_id", flat=True)
    )


@pytest.mark.usefixtures("rich")
def test_a_restored_wire_has_the_same_log(tmp_path: Path) -> None:
    rows = list(LogEntry.objects.order_by("sequence").values_list("sequence", "leaf", "root"))
    file = tmp_path / "dump.ndjson"
    whole = dump(file)
    empty_wire()
    loadwire(file)
    assert list(LogEntry.objects.order_by("sequence").values_list("sequence", "leaf", "root")) == rows
    assert dump(file) == whole
    assert queries.get_changes(limit=1, since=BEGINNING).changes


def test_a_key_that_was_retired_signs_no_checkpoint_after(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path  # other tests' wires are signed by the key of all
    publish(entry())
    before = checkpoint()
    signing.rotate_key()
    publish(entry(), now=NOW + dt.timedelta(days=1))
    assert checkpoint().size == before.size + 1
    assert len(checkpoint().signatures) == 1


@pytest.mark.usefixtures("sample_wire")
def test_a_proof_is_smaller_than_two_kilobytes(client: Client) -> None:
    story_id = Story.objects.values_list("chatbotnews_id", flat=True)[0]
    assert len(client.get(f"/api/proofs/{story_id}.json").content) < 2_048
    note = client.get("/.well-known/wire-checkpoint")
    assert note["Content-Type"] == "text/plain; charset=utf-8"
    assert signed_note.parse_checkpoint(note.content.decode()).origin == "localhost:8000"


NO_CHECKPOINTS = [
    "",
    "a\n1\n",
    "a\n01\nAAAA\n\n— a AAAA\n",
    "a\nx\nAAAA\n\n— a AAAA\n",
    "a\n1\nAAAA\n\n- a AAAA\n",
    "a\n1\nAAAA\n\n— a AAAA\n",
]


@pytest.mark.parametrize("note", NO_CHECKPOINTS)
def test_what_is_no_checkpoint_is_refused(note: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  whatever is missing
        signed_note.parse_checkpoint(note)
