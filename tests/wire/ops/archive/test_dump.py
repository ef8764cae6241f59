"""A dump holds the whole wire: restored elsewhere it is the same wire, and a damaged one is refused whole."""

import gzip
import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from django.core.management import CommandError, call_command

from sources.models import Publication
from tests.factories import DAY, NOW, entry, publish, take
from tests.wire.archives import comes_back_whole, dump, empty_wire, everything, line, loadwire, ndjson, rich_wire, verifywire
from wire.models import EditorTake, Snapshot, Story, StoryRevision, WireState
from wire.ops.archive.reader import MAX_LINE
from wire.publishing.publish import publish_pending

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_the_sample_wire_and_an_empty_one_come_back_whole(tmp_path: Path) -> None:
    comes_back_whole(tmp_path)
    call_command("loadsample", stdout=io.StringIO())
    comes_back_whole(tmp_path)
    assert WireState.objects.get().is_sample


@pytest.mark.slow
def test_a_wire_of_everything_comes_back_whole(tmp_path: Path) -> None:
    rich_wire()
    comes_back_whole(tmp_path)
    kinds = [json.loads(row)["kind"] for row in (tmp_path / "after.ndjson").read_text().splitlines()]
    assert set(kinds) == {"dump", "key", "publication", "roster", "event", "story", "pair", "take", "snapshot", "end"}
    assert Story.objects.pending().count() == 2


@pytest.mark.slow
def test_a_restored_wire_goes_on_as_the_first_would_have(tmp_path: Path) -> None:
    rich_wire()
    dump(tmp_path / "dump.ndjson")
    publish_pending(now=NOW)
    first = list(Snapshot.objects.values_list("sequence", "wire_sha256"))
    empty_wire()
    loadwire(tmp_path / "dump.ndjson")
    publish_pending(now=NOW)
    assert list(Snapshot.objects.values_list("sequence", "wire_sha256")) == first


@pytest.mark.slow
def test_a_dump_of_before_owners_were_stored_is_restored_with_those_that_an_upgraded_wire_has(tmp_path: Path) -> None:
    rich_wire()
    records = [json.loads(row) for row in dump(tmp_path / "dump.ndjson").splitlines()]
    for record in records:
        if record["kind"] == "publication":
            del record["owner"], record["owner_since"]
    owned = list(Publication.objects.order_by("slug").values_list("slug", "owner", "owner_since"))
    assert ("the-quill", "", None) in owned
    assert ("wired", "Condé Nast", None) in owned
    empty_wire()
    loadwire(ndjson(tmp_path / "old.ndjson", [orjson.dumps(record) for record in records]))
    assert list(Publication.objects.order_by("slug").values_list("slug", "owner", "owner_since")) == owned
    assert "verify" in verifywire()


@pytest.mark.usefixtures("rich")
def test_a_packed_dump_is_the_same_bytes_whenever_and_wherever_it_is_written(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    plain, packed = dump(tmp_path / "dump.ndjson"), dump(tmp_path / "dump.ndjson.gz")
    assert dump(tmp_path / "another name.gz") == packed
    assert gzip.decompress(packed) == plain
    assert packed[3:8] == bytes(5)  # no name, no time
    capfdbinary.readouterr()
    call_command("dumpwire")  # without a file it goes to standard output
    assert capfdbinary.readouterr().out == plain
    snapshots = {sequence: zlib.decompress(content) for sequence, content in Snapshot.objects.values_list("sequence", "packed")}
    empty_wire()
    loadwire(tmp_path / "dump.ndjson.gz")
    assert dump(tmp_path / "again.gz") == packed
    again = {sequence: zlib.decompress(content) for sequence, content in Snapshot.objects.values_list("sequence", "packed")}
    assert again == snapshots


@pytest.mark.usefixtures("rich")
def test_a_dump_that_fails_says_why_and_leaves_the_one_before_in_place(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("dumpwire", str(tmp_path / "nowhere" / "dump.ndjson"))
    before = dump(tmp_path / "dump.ndjson")
    Snapshot.objects.filter(sequence=2).update(packed=b"garbage")
    with pytest.raises(CommandError, match=r"snapshot 2 .*cannot be read"):
        dump(tmp_path / "dump.ndjson")
    assert (tmp_path / "dump.ndjson").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["dump.ndjson"]


@pytest.mark.slow
def test_a_record_longer_than_any_item_may_be_is_restored(tmp_path: Path) -> None:
    EditorTake.objects.create(wire_date=DAY, markdown="# Take\n" + "word " * (MAX_LINE // 4))
    publish(entry())
    comes_back_whole(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("rich")
def test_loading_a_dump_again_changes_nothing_and_says_so_though_the_wire_went_on(tmp_path: Path) -> None:
    records = len(dump(tmp_path / "dump.ndjson").splitlines())
    empty_wire()
    restored = loadwire(tmp_path / "dump.ndjson")
    assert (restored["snapshot"], restored["publication"]) == (Snapshot.objects.count(), 25)
    for go_on in (False, True):
        if go_on:
            publish(entry())
        before = everything()
        assert loadwire(tmp_path / "dump.ndjson") == {"duplicate": records}
        assert everything() == before


@pytest.mark.slow
@pytest.mark.usefixtures("rich")
def test_dumps_are_restored_before_items_are_loaded(tmp_path: Path) -> None:
    dump(tmp_path / "z.ndjson")
    ndjson(tmp_path / "a.ndjson", [line(1)])
    empty_wire()
    report = loadwire(tmp_path)
    assert report["accepted"] == 1
    assert report["snapshot"] < Snapshot.objects.count()
    verifywire()


OTHER_NEWS = "This wire and the dump hold different news; the first difference is .*Nothing was changed"
OTHER: dict[str, tuple[Callable[[], object], str]] = {
    "published": (lambda: publish(entry()), OTHER_NEWS),
    "waiting": (lambda: take(entry()), OTHER_NEWS),
    "a take alone": (lambda: EditorTake.objects.create(wire_date=DAY, markdown="# Mine"), OTHER_NEWS),
    "the sample": (lambda: WireState.objects.update(is_sample=True), "sample wire"),
}


@pytest.mark.slow
@pytest.mark.usefixtures("rich")
@pytest.mark.parametrize(("make", "said"), OTHER.values(), ids=OTHER)
def test_a_wire_of_other_news_refuses_a_dump_and_stays_as_it_was(tmp_path: Path, make: Callable[[], object], said: str) -> None:
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    make()
    before = everything()
    ndjson(tmp_path / "items.ndjson", [line(1)])
    with pytest.raises(CommandError, match=said):
        loadwire(tmp_path)
    assert everything() == before


def test_a_wire_that_lacks_only_what_waits_does_not_pretend_to_hold_it(tmp_path: Path) -> None:
    publish(entry())
    dump(tmp_path / "older.ndjson")
    take(entry())
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    loadwire(tmp_path / "older.ndjson")
    with pytest.raises(CommandError, match="the first difference is story"):
        loadwire(tmp_path / "dump.ndjson")


@pytest.mark.slow
def test_a_dump_of_the_sample_never_enters_a_wire_of_real_news(tmp_path: Path) -> None:
    call_command("loadsample", stdout=io.StringIO())
    dump(tmp_path / "dump.ndjson")
    ndjson(tmp_path / "items.ndjson", [line(1)])
    empty_wire()
    with pytest.raises(CommandError, match="sample wire"):  # restored as the sample, so the items stay out
        loadwire(tmp_path)
    assert WireState.objects.get().is_sample
    assert StoryRevision.objects.filter(headline__startswith="[Fictional]").count() == StoryRevision.objects.count()
