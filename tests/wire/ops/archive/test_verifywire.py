"""Whatever is stored and served as published is recomputed: a change to any of it is named and ends with exit code 1."""

import base64
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError

from sources.models import Publication, RosterRevision
from tests.factories import NOW, entry, publish, story_of, take
from tests.wire.archives import dump, verifywire
from wire.ingest import corrections
from wire.models import Event, SigningKey, Snapshot, Story, StoryRevision
from wire.publishing.signing import sign_hash
from wire.text.choices import Status
from wire.text.provenance_manifest import canonicalize_json, hash_json

pytestmark = pytest.mark.django_db

OTHER = "0" * 64


def test_a_wire_as_it_was_published_verifies(rich: None) -> None:  # noqa: ARG001
    last = Snapshot.objects.order_by("-sequence")[0]
    stories, revisions = Story.objects.count(), StoryRevision.objects.count()
    told = verifywire()
    assert told == (
        f"database: {last.sequence} snapshots, {stories} stories, {revisions} revisions verify; "
        f"the chain ends in {last.wire_sha256}.\n"
    )


def test_an_empty_wire_verifies() -> None:
    assert "0 snapshots" in verifywire()


def test_what_waits_to_be_published_verifies_too() -> None:
    made = entry()
    publish(made)
    take(entry(url=made.url, title="Not public yet"), entry())
    assert "2 stories, 3 revisions" in verifywire()


def test_a_story_withdrawn_before_it_was_ever_published_verifies() -> None:
    made = entry()
    take(made)
    story_id = story_of(made).chatbotnews_id
    corrections.withdraw_story(story_id, reason="Retracted by its publisher.", now=NOW)
    assert story_of(made).event_id == story_id
    assert "0 snapshots, 1 stories, 2 revisions" in verifywire()


def _revision() -> StoryRevision:
    """The only one of its story; which story comes first depends on the ids that this run made."""
    told = StoryRevision.objects.filter(story__status=Status.LIVE, story__pending=False, author=None)
    return told.exclude(story__revisions__revision__gt=1).order_by("pk")[0]


def revision(**changes: object) -> Callable[[], object]:
    return lambda: StoryRevision.objects.filter(pk=_revision().pk).update(**changes)


def story(**changes: object) -> Callable[[], object]:
    return lambda: Story.objects.filter(pk=_revision().story_id).update(**changes)


def snapshot(sequence: int, **changes: object) -> Callable[[], object]:
    return lambda: Snapshot.objects.filter(sequence=sequence).update(**changes)


def _show_an_older_revision() -> None:
    corrected = Story.objects.filter(status=Status.CORRECTED)[0]
    first = corrected.revisions.get(revision=1)
    Story.objects.filter(pk=corrected.pk).update(current=first, status=first.status)


def _join_another_event() -> None:
    story = _revision().story
    Story.objects.filter(pk=story.pk).update(event=Event.objects.exclude(pk=story.event_id)[0])


def _withdraw_in_silence() -> None:
    latest = _revision()
    Story.objects.filter(pk=latest.story_id).update(status=Status.WITHDRAWN)
    StoryRevision.objects.filter(pk=latest.pk).update(status=Status.WITHDRAWN)


def _rewrite_a_take() -> None:
    second = Snapshot.objects.get(sequence=2)
    second.packed = zlib.compress(canonicalize_json(second.manifest | {"editor_take": "# Nothing happened\n"}))
    second.save()


def _rewrite_a_take_and_sign_it() -> None:
    second = Snapshot.objects.get(sequence=2)
    manifest = second.manifest | {"editor_take": "# Nothing happened\n"}
    second.packed, second.wire_sha256 = zlib.compress(canonicalize_json(manifest)), hash_json(manifest)
    second.signature = sign_hash(second.wire_sha256)[0]
    second.save()


def _replace_the_key() -> None:
    raw = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    SigningKey.objects.update(public_key=base64.b64encode(raw).decode())


def _delete_the_newest_story_unseen() -> None:
    newest = Story.objects.live().order_by("-pk")[0]
    Story.objects.filter(pk=newest.pk).update(current=None)
    newest.delete()


# One value in any one column is what test_every_column.py changes.
TAMPERED: dict[str, tuple[Callable[[], object], str]] = {
    "headline": (revision(headline="Quince ships nothing"), r"story cbn-\w+ revision \d: story_sha256"),
    "status": (_withdraw_in_silence, "story_sha256"),
    "removed revision": (
        lambda: StoryRevision.objects.filter(story__status=Status.CORRECTED, revision=1).delete(),
        "number is 2, but recomputed it is 1",
    ),
    "wire date": (story(wire_date="2026-01-01"), r"story cbn-\w+ is (shown as published|not shown as)"),
    "older revision shown": (_show_an_older_revision, r"story cbn-\w+ is not shown as in snapshot \d+ \(2026"),
    "event": (_join_another_event, "is not shown as in snapshot"),
    "status that lists read": (story(status=Status.WITHDRAWN), "status, category, tier, published_at are not those"),
    "removed story": (_delete_the_newest_story_unseen, r"snapshot \d+ .*, story cbn-\w+ revision 1: story_sha256"),
    "packed bytes": (snapshot(2, packed=b"garbage"), "snapshot 2 .*cannot be read"),
    "packed bytes of no JSON": (snapshot(2, packed=zlib.compress(b"{")), "snapshot 2 .*cannot be read"),
    "packed bytes of no manifest": (snapshot(2, packed=zlib.compress(b"[]")), "not one that dumpwire writes"),
    "take": (_rewrite_a_take, r"snapshot 2 \(2026-01-1\d revision \d\): wire_sha256"),
    "take, signed again": (_rewrite_a_take_and_sign_it, "snapshot 3 .*previous_sha256"),
    "signature": (lambda: Snapshot.objects.filter(sequence=2).update(signature=sign_hash(OTHER)[0]), "snapshot 2 .*signature"),
    "first snapshot removed": (lambda: Snapshot.objects.filter(sequence=1).delete(), "snapshot 2 .*sequence"),
    "snapshot in the middle removed": (lambda: Snapshot.objects.filter(sequence=3).delete(), "snapshot 4 .*sequence"),
    "last snapshot removed": (lambda: Snapshot.objects.order_by("-sequence")[0].delete(), "is not shown as in snapshot"),
    "all snapshots removed": (lambda: Snapshot.objects.all().delete(), "shown as published, but its day .* has no snapshot"),
    "key": (_replace_the_key, "key .*: its id does not belong to its public key"),
    "key that is none": (lambda: SigningKey.objects.update(public_key="%"), "key|not one that dumpwire writes"),
    "members of a roster": (lambda: RosterRevision.objects.filter(number=1).update(members=[]), "roster revision 1: finger"),
    "fingerprint of a roster": (lambda: RosterRevision.objects.filter(number=2).update(fingerprint=OTHER), "roster revision 2"),
    "roster removed": (lambda: RosterRevision.objects.filter(number=1).delete(), "roster revision 2: number"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("tamper", "said"), TAMPERED.values(), ids=TAMPERED)
def test_tampering_is_named(rich: None, tamper: Callable[[], object], said: str) -> None:  # noqa: ARG001
    tamper()
    with pytest.raises(CommandError, match=f"^First break: .*{said}") as broken:
        verifywire()
    assert broken.value.returncode == 1


def test_a_wire_of_everything_else_than_what_is_checked_still_verifies(rich: None) -> None:  # noqa: ARG001
    """What a reader of the public JSON could not recompute either."""
    StoryRevision.objects.update(reason="Another.")
    Story.objects.update(guid="another")
    Publication.objects.filter(slug="wired").update(aliases=["W"])
    verifywire()


def test_files_verify_as_the_database_does(rich: None, tmp_path: Path) -> None:  # noqa: ARG001
    below = tmp_path / "dumps" / "2026"
    below.mkdir(parents=True)
    dump(tmp_path / "dumps" / "a.ndjson")
    dump(below / "b.ndjson.gz")
    (below / "items.ndjson").write_text("{}\n")
    lines = verifywire(from_files=tmp_path / "dumps").splitlines()
    chain = verifywire().partition(":")[2].strip()
    assert sorted(lines) == [f"a.ndjson: {chain}", f"b.ndjson.gz: {chain}"]


def test_a_break_in_a_file_is_named(rich: None, tmp_path: Path) -> None:  # noqa: ARG001
    whole = dump(tmp_path / "a.ndjson")
    (tmp_path / "a.ndjson").write_bytes(whole.replace(b'"headline":"Quince', b'"headline":"Prince', 1))
    with pytest.raises(CommandError, match=r"First break: story cbn-\w+ revision \d: story_sha256"):
        verifywire(from_files=tmp_path)
    (tmp_path / "a.ndjson").write_bytes(whole[:-40])
    with pytest.raises(CommandError, match=r"First break: line \d+: not JSON"):
        verifywire(from_files=tmp_path / "a.ndjson")


def test_where_there_is_no_dump_it_says_so(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "There is no dump in"), (tmp_path / "nowhere", "There is no .*nowhere")):
        with pytest.raises(CommandError, match=said):
            verifywire(from_files=path)
