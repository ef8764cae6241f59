"""A dump holds the whole wire: restored elsewhere it is the same wire, and a damaged one is refused whole."""

import datetime as dt
import gzip
import io
import json
import zlib
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import NOW, entry, publish, take
from tests.wire.archives import comes_back_whole, dump, empty_wire, everything, line, loadwire, ndjson, rich_wire, verifywire
from wire.archive.reading import MAX_LINE
from wire.models import EditorTake, Snapshot, Story, StoryRevision, WireState
from wire.publish import publish_pending

pytestmark = pytest.mark.django_db


def test_the_sample_wire_comes_back_whole(tmp_path: Path) -> None:
    call_command("loadsample", stdout=io.StringIO())
    comes_back_whole(tmp_path)
    assert WireState.objects.get().is_sample


def test_a_wire_of_everything_comes_back_whole(tmp_path: Path) -> None:
    rich_wire()
    comes_back_whole(tmp_path)
    kinds = [json.loads(row)["kind"] for row in (tmp_path / "after.ndjson").read_text().splitlines()]
    assert set(kinds) == {"dump", "key", "publication", "roster", "event", "story", "take", "snapshot", "end"}
    assert Story.objects.pending().count() == 2


def test_an_empty_wire_comes_back_too(tmp_path: Path) -> None:
    comes_back_whole(tmp_path)


def test_a_restored_wire_goes_on_as_the_first_would_have(tmp_path: Path) -> None:
    rich_wire()
    dump(tmp_path / "dump.ndjson")
    publish_pending(now=NOW)
    first = list(Snapshot.objects.values_list("sequence", "wire_sha256"))
    empty_wire()
    loadwire(tmp_path / "dump.ndjson")
    publish_pending(now=NOW)
    assert list(Snapshot.objects.values_list("sequence", "wire_sha256")) == first


@pytest.mark.usefixtures("rich")
def test_a_packed_dump_is_the_same_bytes_whenever_and_wherever_it_is_written(tmp_path: Path) -> None:
    plain, packed = dump(tmp_path / "dump.ndjson"), dump(tmp_path / "dump.ndjson.gz")
    assert dump(tmp_path / "another name.gz") == packed
    assert gzip.decompress(packed) == plain
    assert packed[3:8] == bytes(5)  # no name, no time
    empty_wire()
    loadwire(tmp_path / "dump.ndjson.gz")
    assert dump(tmp_path / "again.gz") == packed


@pytest.mark.usefixtures("rich")
def test_without_a_file_it_goes_to_standard_output(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    capfdbinary.readouterr()
    call_command("dumpwire")
    assert capfdbinary.readouterr().out == dump(tmp_path / "dump.ndjson")


@pytest.mark.usefixtures("rich")
def test_a_dump_that_fails_leaves_the_one_before_in_place(tmp_path: Path) -> None:
    before = dump(tmp_path / "dump.ndjson")
    Snapshot.objects.filter(sequence=2).update(packed=b"garbage")
    with pytest.raises(CommandError, match=r"snapshot 2 .*cannot be read"):
        dump(tmp_path / "dump.ndjson")
    assert (tmp_path / "dump.ndjson").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["dump.ndjson"]


def test_a_dump_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("dumpwire", str(tmp_path / "nowhere" / "dump.ndjson"))


def test_a_record_longer_than_any_item_may_be_is_restored(tmp_path: Path) -> None:
    EditorTake.objects.create(wire_date=dt.date(2026, 1, 15), markdown="# Take\n" + "word " * (MAX_LINE // 4))
    publish(entry())
    comes_back_whole(tmp_path)


@pytest.mark.usefixtures("rich")
def test_loading_a_dump_twice_changes_nothing_and_says_so(tmp_path: Path) -> None:
    records = len(dump(tmp_path / "dump.ndjson").splitlines())
    empty_wire()
    restored = loadwire(tmp_path / "dump.ndjson")
    assert (restored["snapshot"], restored["publication"]) == (Snapshot.objects.count(), 25)
    before = everything()
    assert loadwire(tmp_path / "dump.ndjson") == {"duplicate": records}
    assert everything() == before


@pytest.mark.usefixtures("rich")
def test_a_wire_that_went_on_still_holds_its_own_dump(tmp_path: Path) -> None:
    dump(tmp_path / "dump.ndjson")
    publish(entry())
    before = everything()
    assert loadwire(tmp_path / "dump.ndjson").keys() == {"duplicate"}
    assert everything() == before


@pytest.mark.usefixtures("rich")
def test_dumps_are_restored_before_items_are_loaded(tmp_path: Path) -> None:
    dump(tmp_path / "z.ndjson")
    ndjson(tmp_path / "a.ndjson", [line(1)])
    empty_wire()
    report = loadwire(tmp_path)
    assert report["accepted"] == 1
    assert report["snapshot"] < Snapshot.objects.count()
    verifywire()


@pytest.mark.usefixtures("rich")
@pytest.mark.parametrize("waiting", [False, True], ids=["published", "waiting"])
def test_a_wire_of_other_news_refuses_a_dump_and_stays_as_it_was(tmp_path: Path, waiting: bool) -> None:
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    (take if waiting else publish)(entry())
    before = everything()
    ndjson(tmp_path / "items.ndjson", [line(1)])
    with pytest.raises(CommandError, match=r"other news than the dump: they part at .*Nothing was changed"):
        loadwire(tmp_path)
    assert everything() == before


def test_a_wire_that_lacks_only_what_waits_does_not_pretend_to_hold_it(tmp_path: Path) -> None:
    publish(entry())
    dump(tmp_path / "older.ndjson")
    take(entry())
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    loadwire(tmp_path / "older.ndjson")
    with pytest.raises(CommandError, match="they part at story"):
        loadwire(tmp_path / "dump.ndjson")


@pytest.mark.usefixtures("rich")
def test_an_editors_take_alone_makes_a_wire_not_empty(tmp_path: Path) -> None:
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    EditorTake.objects.create(wire_date=dt.date(2026, 1, 15), markdown="# Mine")
    with pytest.raises(CommandError, match="other news"):
        loadwire(tmp_path / "dump.ndjson")


def test_a_dump_of_the_sample_never_enters_a_wire_of_real_news(tmp_path: Path) -> None:
    call_command("loadsample", stdout=io.StringIO())
    dump(tmp_path / "dump.ndjson")
    ndjson(tmp_path / "items.ndjson", [line(1)])
    empty_wire()
    with pytest.raises(CommandError, match="sample wire"):  # restored as the sample, so the items stay out
        loadwire(tmp_path)
    assert WireState.objects.get().is_sample
    assert StoryRevision.objects.filter(headline__startswith="[Fictional]").count() == StoryRevision.objects.count()


@pytest.mark.usefixtures("rich")
def test_a_sample_database_refuses_a_dump_of_real_news(tmp_path: Path) -> None:
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    WireState.objects.update(is_sample=True)
    before = everything()
    with pytest.raises(CommandError, match="sample wire"):
        loadwire(tmp_path / "dump.ndjson")
    assert everything() == before


@pytest.mark.usefixtures("rich")
def test_zlib_gives_the_packed_bytes_back(tmp_path: Path) -> None:
    packed = dict(Snapshot.objects.values_list("sequence", "packed"))
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    loadwire(tmp_path / "dump.ndjson")
    for sequence, again in Snapshot.objects.values_list("sequence", "packed"):
        assert zlib.decompress(again) == zlib.decompress(packed[sequence])
