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
from wire.text.choices import Status

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


def written(file: Path, records: list[Record]) -> Path:
    file.write_text("".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records))
    return file


def refused(*files: Path) -> list[str]:
    """What is said when each of these dumps is refused, after checking that nothing of them was stored."""
    before, said = everything(), []
    for file in files:
        with pytest.raises(CommandError) as refusal:
            loadwire(file)
        said.append(str(refusal.value))
    assert everything() == before
    return said


# The records are checked as those of a database, of which test_every_column.py changes each column.
FLIPPED: dict[str, tuple[Callable[[list[Record]], object], str]] = {
    "headline": (lambda r: flip(story(r)["revisions"][0], "headline"), r"story cbn-\w+ revision 1: story_sha256"),
    "headline of a revision that waits": (
        lambda r: flip(story(r, published=False)["revisions"][0], "headline"),
        "revision 1: story_sha256",
    ),
    "what is cited of the summary": (lambda r: flip(story(r)["revisions"][0], "summary_short"), "summary_short"),
    "publication of a story": (lambda r: flip(story(r), "publication"), "there is no publication '0"),
    "id": (lambda r: flip(story(r), "chatbotnews_id", 5), r"story cbn-\w+: id"),
    "event of a story": (lambda r: flip(story(r), "event_id", 5), "there is no event"),
    "event": (
        lambda r: flip(next(e for e in r if e["kind"] == "event" and e["event_id"] == story(r)["event_id"]), "event_id", 5),
        "there is no event",
    ),
    "storyline of an event": (
        lambda r: flip(next(e for e in r if e["kind"] == "event" and e["storyline"]), "storyline", 5),
        "which began its storyline",
    ),
    "story of a pair": (lambda r: flip(of("pair", r), "other", 5), "pair of .*: there is no story"),
    "current revision": (lambda r: story(r).update(current=None), "is not shown as in snapshot"),
    "a current revision that is none": (lambda r: story(r).update(current=9), "revision 9 is missing"),
    "hash in a manifest": (lambda r: flip(of("snapshot", r)["manifest"]["stories"][0], "story_sha256"), "snapshot 1 .*wire_sha256"),
    "take in a manifest": (lambda r: flip(of("snapshot", r)["manifest"], "editor_take"), "snapshot 1 .*wire_sha256"),
    "link": (lambda r: flip(of("snapshot", r, 2)["manifest"], "previous_sha256"), "snapshot 3 .*previous_sha256"),
    "sequence": (lambda r: of("snapshot", r, 1).update(sequence=7), "snapshot 7 .*sequence"),
    "name of the signing key": (lambda r: flip(of("snapshot", r, 1), "key_id"), "snapshot 2 .*signature"),
    "key": (lambda r: of("key", r).update(public_key=OTHER_KEY), "key .*does not belong"),
    "a number for a key": (lambda r: of("key", r).update(public_key=5), "record 2: not one that dumpwire writes"),
    "member of the roster": (lambda r: flip(of("roster", r)["members"][3], "name"), "roster revision 1: fingerprint"),
    "name of a publication": (lambda r: flip(of("publication", r), "name"), "roster: fingerprint"),
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


KINDS = ["key", "publication", "roster", "event", "story", "pair", "take", "snapshot"]
Changes = dict[str, tuple[Callable[[list[Record]], object], str]]
CUT: Changes = {
    f"behind {place}": (lambda r, place=place: r.__delitem__(slice(place, None)), "breaks off")  # type: ignore[misc]
    for place in (1, 5, 30, -3, -1)
}
TAKEN_OUT: Changes = {
    f"{kind} {place} taken out": (lambda r, kind=kind, place=place: r.remove(of(kind, r, place)), "")  # type: ignore[misc]
    for kind in KINDS
    for place in (0, -1)
}
PUT_IN_TWICE: Changes = {
    f"{kind} twice": (lambda r, kind=kind: r.insert(r.index(of(kind, r)), of(kind, r)), "")  # type: ignore[misc]
    for kind in [*KINDS, "end"]
}


def refuses(directory: Path, dumped: bytes, changes: Changes) -> None:
    files: list[Path] = []
    for name, (change, _) in changes.items():
        records = [json.loads(row) for row in dumped.splitlines()]
        change(records)
        files.append(written(directory / f"{len(files)}.ndjson", records))
        assert files[-1].read_bytes() != dumped, name
    for (name, (_, expected)), said in zip(changes.items(), refused(*files), strict=True):
        assert re.search(expected, said), name


@pytest.mark.slow
def test_one_change_anywhere_refuses_the_whole_dump(tmp_path: Path, rich_dump: bytes) -> None:
    refuses(tmp_path, rich_dump, FLIPPED)


@pytest.mark.slow
def test_a_record_that_was_taken_out_is_missed_and_one_that_was_put_in_twice_noticed(tmp_path: Path, rich_dump: bytes) -> None:
    refuses(tmp_path, rich_dump, TAKEN_OUT | PUT_IN_TWICE)


@pytest.mark.slow
def test_a_dump_that_was_cut_off_is_refused(tmp_path: Path, rich_dump: bytes) -> None:
    refuses(tmp_path, rich_dump, CUT)
    (tmp_path / "cut.ndjson").write_bytes(rich_dump[: len(rich_dump) // 2])
    packed = gzip.compress(rich_dump)
    (tmp_path / "cut.ndjson.gz").write_bytes(packed[: len(packed) // 2])
    inside, breaks = refused(tmp_path / "cut.ndjson", tmp_path / "cut.ndjson.gz")
    assert re.search(r"line \d+: not JSON", inside)
    assert re.search(r"line \d+: The file breaks off", breaks)


@pytest.mark.slow
def test_written_out_unchanged_it_is_restored_and_where_its_news_is_held_a_damaged_one_is_refused_all_the_same(
    tmp_path: Path, records: list[Record]
) -> None:
    whole = written(tmp_path / "whole.ndjson", records)
    assert loadwire(whole)["snapshot"] == records[-1]["counts"]["snapshot"]
    cut = written(tmp_path / "cut.ndjson", records[:-1])
    flip(story(records)["revisions"][0], "headline")
    breaks, flipped = refused(cut, written(tmp_path / "flipped.ndjson", records))
    assert "breaks off" in breaks
    assert "story_sha256" in flipped


def test_nothing_may_follow_the_end(tmp_path: Path, records: list[Record]) -> None:
    (said,) = refused(written(tmp_path / "dump.ndjson", [*records, of("take", records)]))
    assert "continues after its end" in said


def test_snapshots_in_another_order_are_refused(tmp_path: Path, records: list[Record]) -> None:
    one, other = records.index(of("snapshot", records, 1)), records.index(of("snapshot", records, 2))
    records[one], records[other] = records[other], records[one]
    (said,) = refused(written(tmp_path / "dump.ndjson", records))
    assert "snapshot 3" in said
