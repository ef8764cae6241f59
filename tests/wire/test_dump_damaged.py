"""A dump that is not what dumpwire wrote is refused whole, and the break is named."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from tests.wire.archives import everything, loadwire
from wire.vocabulary import Status

pytestmark = pytest.mark.django_db

Record = dict[str, Any]
OTHER_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


@pytest.fixture
def records(rich_dump: bytes) -> list[Record]:
    return [json.loads(row) for row in rich_dump.splitlines()]


def of(kind: str, records: list[Record], place: int = 0) -> Record:
    return [record for record in records if record["kind"] == kind][place]


def story(records: list[Record], *, published: bool = True) -> Record:
    """The first that the public sees (one that is withdrawn is on no snapshot to be compared with), or the first that waits."""
    for record in records:
        if record["kind"] != "story" or (record["current"] is not None) != published:
            continue
        if not published or record["revisions"][record["current"] - 1]["status"] != Status.WITHDRAWN:
            return record
    raise LookupError


def flip(holder: Any, name: Any, at: int = 0) -> None:
    """Another character in the place of one."""
    text = holder[name]
    holder[name] = text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]


def written(directory: Path, records: list[Record]) -> Path:
    file = directory / "dump.ndjson"
    file.write_text("".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records))
    return file


def refused(file: Path) -> str:
    """What is said when the dump is refused, after checking that nothing of it was stored."""
    before = everything()
    with pytest.raises(CommandError) as refusal:
        loadwire(file)
    assert everything() == before
    return str(refusal.value)


FLIPPED: dict[str, tuple[Callable[[list[Record]], None], str]] = {
    "headline": (lambda r: flip(story(r)["revisions"][0], "headline"), r"story cbn-\w+ revision 1: story_sha256"),
    "headline of a revision that waits": (
        lambda r: flip(story(r, published=False)["revisions"][0], "headline"),
        "revision 1: story_sha256",
    ),
    "summary": (lambda r: flip(story(r)["revisions"][0], "summary_medium"), "story_sha256"),
    "what is cited of the summary": (lambda r: flip(story(r)["revisions"][0], "summary_short"), "summary_short"),
    "date": (lambda r: flip(story(r)["revisions"][0], "published_at", 3), "story_sha256"),
    "publisher": (lambda r: flip(story(r)["revisions"][0], "original_publisher"), "story_sha256"),
    "publication of a story": (lambda r: flip(story(r), "publication"), "there is no publication '0"),
    "address": (lambda r: flip(story(r), "original_url", 12), r"story cbn-\w+: id"),
    "id": (lambda r: flip(story(r), "chatbotnews_id", 5), r"story cbn-\w+: id"),
    "event of a story": (lambda r: flip(story(r), "event_id", 5), "there is no event"),
    "event": (lambda r: flip(of("event", r), "event_id", 5), "there is no event"),
    "wire date of a story": (lambda r: flip(story(r), "wire_date", 9), r"story cbn-\w+ is (shown as|not shown as)"),
    "score of a story": (lambda r: story(r).update(consensus_score=0.99), "is not shown as snapshot"),
    "witnesses of a story": (lambda r: story(r).update(cross_source_count=9), "is not shown as snapshot"),
    "current revision": (lambda r: story(r).update(current=None), "is not shown as snapshot"),
    "a current revision that is none": (lambda r: story(r).update(current=9), "revision 9 is missing"),
    "story hash": (lambda r: flip(story(r)["revisions"][0], "story_sha256"), "story_sha256"),
    "number of a revision": (lambda r: story(r)["revisions"][0].update(revision=2), "number is 2"),
    "wire hash": (lambda r: flip(of("snapshot", r, 2), "wire_sha256"), r"snapshot 3 \(.*\): wire_sha256"),
    "hash in a manifest": (lambda r: flip(of("snapshot", r)["manifest"]["stories"][0], "story_sha256"), "snapshot 1 .*wire_sha256"),
    "take in a manifest": (lambda r: flip(of("snapshot", r)["manifest"], "editor_take"), "snapshot 1 .*wire_sha256"),
    "link": (lambda r: flip(of("snapshot", r, 2)["manifest"], "previous_sha256"), "snapshot 3 .*previous_sha256"),
    "link beside the manifest": (lambda r: flip(of("snapshot", r, 2), "previous_sha256"), "snapshot 3 .*previous_sha256"),
    "day beside the manifest": (lambda r: flip(of("snapshot", r, 2), "wire_date", 9), "snapshot 3 .*wire_date"),
    "roster beside the manifest": (lambda r: flip(of("snapshot", r, 2), "roster_sha256"), "snapshot 3 .*roster_sha256"),
    "number of stories": (lambda r: of("snapshot", r).update(story_count=99), "snapshot 1 .*story_count"),
    "sequence": (lambda r: of("snapshot", r, 1).update(sequence=7), "snapshot 7 .*sequence"),
    "signature": (lambda r: flip(of("snapshot", r, 1), "signature", 9), "snapshot 2 .*signature"),
    "name of the signing key": (lambda r: flip(of("snapshot", r, 1), "key_id"), "snapshot 2 .*signature"),
    "key": (lambda r: of("key", r).update(public_key=OTHER_KEY), "key .*does not belong"),
    "a number for a key": (lambda r: of("key", r).update(public_key=5), "record 2: not one that dumpwire writes"),
    "member of the roster": (lambda r: flip(of("roster", r)["members"][3], "name"), "roster revision 1: fingerprint"),
    "fingerprint": (lambda r: flip(of("roster", r, 1), "fingerprint"), "roster revision 2: fingerprint"),
    "number of a roster": (lambda r: of("roster", r, 1).update(number=3), "roster revision 3: number"),
    "name of a publication": (lambda r: flip(of("publication", r), "name"), "roster: fingerprint"),
    "tier of a publication": (lambda r: of("publication", r).update(tier=4), "roster: fingerprint"),
    "domain of a publication": (lambda r: flip(of("publication", r)["domains"], 0), "roster: fingerprint"),
    "count at the end": (lambda r: of("end", r)["counts"].update(story=1), "end of the dump: counts"),
    "version": (lambda r: r[0].update(v=2), "version 2"),
    "kind": (lambda r: of("take", r).update(kind="taken"), "unknown kind 'taken'"),
    "no kind": (lambda r: of("take", r).pop("kind"), "not one that dumpwire writes"),
    "a time that is none": (lambda r: story(r).update(first_seen_at="yesterday"), "not what dumpwire writes"),
    "a day that is none": (lambda r: of("take", r).update(wire_date="2026-02-30"), "not what dumpwire writes"),
    "a missing field": (lambda r: story(r).pop("guid"), "not what dumpwire writes"),
    "a field too many": (lambda r: story(r)["revisions"][0].update(colour="red"), "not one that dumpwire writes"),
    "a text for a list": (lambda r: of("snapshot", r).update(manifest="x"), "not one that dumpwire writes"),
    "the same address twice": (lambda r: story(r).update(aliases=["https://a.example/"] * 2), "not what dumpwire writes"),
}


@pytest.mark.parametrize(("change", "said"), FLIPPED.values(), ids=FLIPPED)
def test_one_change_anywhere_refuses_the_whole_dump(
    tmp_path: Path, records: list[Record], change: Callable[[list[Record]], None], said: str
) -> None:
    change(records)
    assert re.search(said, refused(written(tmp_path, records)))


def test_written_out_unchanged_it_is_restored(tmp_path: Path, records: list[Record]) -> None:
    assert loadwire(written(tmp_path, records))["snapshot"] == records[-1]["counts"]["snapshot"]


@pytest.mark.parametrize("kept", [1, 5, 30, -3, -1])
def test_a_dump_that_was_cut_off_is_refused(tmp_path: Path, records: list[Record], kept: int) -> None:
    assert "breaks off" in refused(written(tmp_path, records[:kept]))


def test_a_dump_that_was_cut_off_inside_a_line_is_refused(tmp_path: Path, rich_dump: bytes) -> None:
    (tmp_path / "cut.ndjson").write_bytes(rich_dump[: len(rich_dump) // 2])
    assert re.search(r"line \d+: not JSON", refused(tmp_path / "cut.ndjson"))


def test_a_packed_dump_that_was_cut_off_is_refused(tmp_path: Path, rich_dump: bytes) -> None:
    packed = gzip.compress(rich_dump)
    (tmp_path / "cut.ndjson.gz").write_bytes(packed[: len(packed) // 2])
    assert re.search(r"line \d+: The file breaks off", refused(tmp_path / "cut.ndjson.gz"))


def test_where_its_news_is_held_a_damaged_dump_is_refused_all_the_same(tmp_path: Path, records: list[Record]) -> None:
    loadwire(written(tmp_path, records))
    assert "breaks off" in refused(written(tmp_path, records[:-1]))
    flip(story(records)["revisions"][0], "headline")
    assert "story_sha256" in refused(written(tmp_path, records))


@pytest.mark.parametrize("kind", ["key", "publication", "roster", "event", "story", "take", "snapshot"])
@pytest.mark.parametrize("place", [0, -1])
def test_a_record_that_was_taken_out_is_missed(tmp_path: Path, records: list[Record], kind: str, place: int) -> None:
    records.remove(of(kind, records, place))
    assert refused(written(tmp_path, records))


@pytest.mark.parametrize("kind", ["key", "publication", "roster", "event", "story", "take", "snapshot", "end"])
def test_a_record_that_was_put_in_twice_is_noticed(tmp_path: Path, records: list[Record], kind: str) -> None:
    records.insert(records.index(of(kind, records)), of(kind, records))
    assert refused(written(tmp_path, records))


def test_nothing_may_follow_the_end(tmp_path: Path, records: list[Record]) -> None:
    assert "goes on behind its end" in refused(written(tmp_path, [*records, of("take", records)]))


def test_snapshots_in_another_order_are_refused(tmp_path: Path, records: list[Record]) -> None:
    one, other = records.index(of("snapshot", records, 1)), records.index(of("snapshot", records, 2))
    records[one], records[other] = records[other], records[one]
    assert "snapshot 3" in refused(written(tmp_path, records))
