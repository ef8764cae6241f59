"""What is wrong in an archive is refused by name, with its line, and the rest is loaded."""

import errno
import gzip
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.wire.archives import everything, item, line, loadwire, ndjson, rejected, rss, rss_item
from wire.models import Story, StoryRevision
from wire.ops.archive.reader import MAX_LINE

pytestmark = pytest.mark.django_db

GOOD = [line(n) for n in range(8)]
NUL_ESCAPE = "\\u0000"


def _told(**values: Any) -> bytes:
    return line(7, **values)


def _escaped(name: str, escape: str) -> bytes:
    """An item in whose field stands a JSON escape."""
    return _told(**{name: f"{item(7).get(name, '')}@"}).replace(b"@", escape.encode())


BAD_LINES: list[tuple[str, bytes, str]] = [
    ("not JSON", b'{"title": "Quince', "invalid_json"),
    ("two objects", line(7) + line(7), "invalid_json"),
    ("NaN", b'{"title": NaN}', "invalid_json"),
    ("deep nesting", b"[" * 5000, "invalid_json"),
    ("carriage returns only", line(7) + b"\r" + line(7), "invalid_json"),
    ("array root", b"[" + line(7) + b"]", "not_an_item"),
    ("text root", b'"Quince"', "not_an_item"),
    ("null root", b"null", "not_an_item"),
    ("empty object", b"{}", "missing_field"),
    *((f"no {name}", _told(**{name: None}), "missing_field") for name in ("title", "url", "publisher", "published_at")),
    *((f"empty {name}", _told(**{name: ""}), "missing_field") for name in ("title", "url", "publisher", "published_at")),
    ("a number for a title", _told(title=5), "wrong_type"),
    ("a list for a publisher", _told(publisher=["TechCrunch"]), "wrong_type"),
    ("an object for a publisher", _told(publisher={"name": "TechCrunch"}), "wrong_type"),
    ("an object for an address", _told(url={"href": "https://techcrunch.com/"}), "wrong_type"),
    ("a number for a date", _told(published_at=1768471200), "wrong_type"),
    ("an object for an author", _told(author={"name": "Ada"}), "wrong_type"),
    ("a truth for a summary", _told(summary=True), "wrong_type"),
    ("a list for a language", _told(language=["en"]), "wrong_type"),
    ("a test item", _told(title="[dev] Quince"), "test_item"),
    ("year 0", _told(published_at="0000-01-15T10:00:00Z"), "bad_date"),
    ("year 0 in an e-mail's words", _told(published_at="Sat, 15 Jan 0000 10:00:00 GMT"), "bad_date"),
    ("no such day", _told(published_at="2026-02-30"), "bad_date"),
    ("words for a date", _told(published_at="yesterday"), "bad_date"),
    ("an unknown zone", _told(published_at="Thu, 15 Jan 2026 10:00:00 IST"), "bad_date"),
    ("before the first year", _told(published_at="0001-01-01T00:00:00+23:59"), "bad_date"),
    ("behind the last year", _told(published_at="9999-12-31T23:59:59-23:59"), "bad_date"),
    ("the year 1066", _told(published_at="1066-10-14T09:00:00Z"), "date_too_old"),
    ("the year 2999", _told(published_at="2999-01-01T00:00:00Z"), "future_date"),
    ("script address", _told(url="javascript:alert(1)"), "bad_url"),
    ("script address in disguise", _told(url=" \tJaVa\nScRiPt:alert(1)"), "bad_url"),
    ("data address", _told(url="data:text/html,<script>"), "bad_url"),
    ("file address", _told(url="file:///etc/passwd"), "bad_url"),
    ("address of this machine", _told(url="http://127.0.0.1/story"), "bad_url"),
    ("address with a password", _told(url="https://me:secret@techcrunch.com/"), "bad_url"),
    ("raw NUL", line(7).replace(b"Robot", b"Ro\x00bot"), "nul_character"),
    ("raw NULs only", b"\x00" * 64, "nul_character"),
    *(
        (f"escaped NUL in {name}", _escaped(name, NUL_ESCAPE), "nul_character")
        for name in ("title", "url", "publisher", "summary", "author", "guid", "credited_source", "published_at")
    ),
    ("high surrogate", _escaped("title", "\\ud800"), "lone_surrogate"),
    ("low surrogate", _escaped("title", "\\udc00"), "lone_surrogate"),
    ("surrogates the wrong way round", _escaped("title", "\\udc00\\ud800"), "lone_surrogate"),
    ("surrogate in bytes", _told(title="Qu@").replace(b"@", b"\xed\xa0\x80"), "invalid_utf8"),
    ("Latin-1", json.dumps(item(7, title="Café"), ensure_ascii=False).encode("latin-1"), "invalid_utf8"),
    ("overlong UTF-8", _told(title="Qu@").replace(b"@", b"\xc0\xaf"), "invalid_utf8"),
    ("UTF-16", line(7).decode().encode("utf-16-le"), "nul_character"),
    ("ten megabytes", _told(summary="x" * 10_000_000), "line_too_long"),
    ("ten megabytes of nothing", b" " * 10_000_000, "line_too_long"),
    ("one field of a megabyte", _told(summary="x" * 1_000_001), "field_too_long"),
    ("markup for a title", _told(title="<p><br></p>"), "no_headline"),
    ("unseen characters for a title", _told(title="\u202e\u200b"), "no_headline"),
    ("a publisher outside the roster", _told(publisher="Daily Bugle"), "not_in_roster"),
    ("an address known under another publication", line(0, publisher="Wired"), "url_of_another_publication"),
    ("an address of another publication", _told(url="https://www.theverge.com/q"), "url_of_another_publication"),
    ("another outlet for a source", _told(credited_source="Daily Bugle"), "source_not_this_publication"),
    ("another publication for a source", _told(credited_source="The Verge"), "source_not_this_publication"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("bad", "reason"), [row[1:] for row in BAD_LINES], ids=[row[0] for row in BAD_LINES])
@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz"])
def test_a_bad_line_is_refused_by_name_and_the_others_are_loaded(tmp_path: Path, name: str, bad: bytes, reason: str) -> None:
    assert rejected(ndjson(tmp_path / name, [*GOOD[:6], bad, GOOD[6]])) == [(7, reason)]
    assert Story.objects.published().count() == 7


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz"])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_ten_megabyte_last_line_is_refused_with_or_without_a_line_break(tmp_path: Path, name: str, end: bytes) -> None:
    content = GOOD[0] + b"\n" + _told(summary="x" * 10_000_000) + end
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert rejected(tmp_path / name) == [(2, "line_too_long")]
    assert Story.objects.count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("over", range(-2, 4))
def test_a_line_around_the_limit_never_takes_the_next_one_along(tmp_path: Path, over: int) -> None:
    padding = MAX_LINE + over - len(_told(note=""))
    long = _told(note="x" * padding)
    assert len(long) == MAX_LINE + over
    refused = rejected(ndjson(tmp_path / "a.ndjson", [GOOD[0], long, GOOD[1]]))
    assert refused in ([], [(2, "line_too_long")])
    assert Story.objects.count() == 3 - len(refused)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\n", b"\n \n\t\r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"], ids=repr)
@pytest.mark.parametrize("packed", [False, True])
def test_an_empty_file_loads_nothing_and_refuses_nothing(tmp_path: Path, content: bytes, packed: bool) -> None:
    file = tmp_path / "a.ndjson"
    file.write_bytes(gzip.compress(content) if packed else content)
    before = everything()
    assert loadwire(file) == {}
    assert everything() == before


def test_a_byte_order_mark_costs_no_item(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_bytes(b"\xef\xbb\xbf" + b"\n".join(GOOD))
    assert rejected(tmp_path / "a.ndjson") == []
    assert Story.objects.count() == len(GOOD)


def test_lines_may_end_as_on_windows_and_the_last_one_need_not_end(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_bytes(b"\r\n".join([GOOD[0], b"", GOOD[1], b"{", GOOD[2]]))
    assert rejected(tmp_path / "a.ndjson") == [(4, "invalid_json")]
    assert Story.objects.count() == 3


def test_a_pretty_printed_array_is_refused_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([item(1), item(2)], indent=1))
    assert {reason for _, reason in rejected(tmp_path / "a.json")} == {"invalid_json"}


@pytest.mark.slow
def test_a_packed_file_that_breaks_off_says_where_and_keeps_what_came_before(tmp_path: Path) -> None:
    noise = random.Random(7)
    lines = [line(n, summary=f"Robot {n} says {noise.randbytes(300).hex()}.") for n in range(300)]
    whole = ndjson(tmp_path / "whole.gz", lines).read_bytes()
    (tmp_path / "a.ndjson.gz").write_bytes(whole[: len(whole) * 2 // 3])
    ((number, reason),) = rejected(tmp_path / "a.ndjson.gz")
    assert reason == "broken_archive"
    assert 150 < number < 250
    assert Story.objects.count() == number - 1


@pytest.mark.parametrize("length", [2, 10, 15, 25])
def test_a_packed_file_of_a_few_bytes_is_refused_by_name(tmp_path: Path, length: int) -> None:
    whole = ndjson(tmp_path / "whole.gz", GOOD).read_bytes()
    (tmp_path / "a.ndjson.gz").write_bytes(whole[:length])
    assert rejected(tmp_path / "a.ndjson.gz") == [(1, "broken_archive")]


def test_damage_inside_a_packed_file_is_named(tmp_path: Path) -> None:
    packed = bytearray(ndjson(tmp_path / "a.ndjson.gz", GOOD).read_bytes())
    packed[-6] ^= 1  # its checksum
    (tmp_path / "a.ndjson.gz").write_bytes(packed)
    assert rejected(tmp_path / "a.ndjson.gz") == [(len(GOOD) + 1, "broken_archive")]
    assert Story.objects.count() == len(GOOD)


@pytest.mark.slow
@pytest.mark.parametrize(
    "garbage",
    [
        b"HTTP/1.1 200 OK",
        b"<!-- exported -->",
        b"<html><body>502 Bad Gateway</body></html>",
        b'<rss version="2.0"><channel></channel></rss>',
        b"\xff\xfe",
    ],
    ids=repr,
)
@pytest.mark.parametrize("what", ["items", "feed"])
def test_garbage_in_front_is_never_passed_over_in_silence(tmp_path: Path, garbage: bytes, what: str) -> None:
    content = b"\n".join(GOOD) if what == "items" else rss(*(rss_item(n) for n in range(len(GOOD)))).encode()
    (tmp_path / "a").write_bytes(garbage + b"\n" + content)
    assert rejected(tmp_path / "a") or Story.objects.count() == len(GOOD)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["e" * 1000, "\x00", "de_AT", "<b>", "en-US"])
def test_a_language_that_is_none_never_stops_a_batch(tmp_path: Path, language: str) -> None:
    assert rejected(ndjson(tmp_path / "a.ndjson", [_told(language=language)])) == []
    assert StoryRevision.objects.get().language in {"en", "de-AT", "en-US"}


def _bombs() -> Iterator[tuple[str, bytes]]:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    laughs = f'<!DOCTYPE rss [<!ENTITY l0 "ha">{levels}]>'
    square = f'<!DOCTYPE rss [<!ENTITY l11 "{"x" * 100_000}">]>'
    feed = rss(rss_item(1, description="&l11;" * 20_000)).partition("\n")[2]
    yield "a billion laughs", f"{laughs}{feed}".encode()
    yield "quadratic", f"{square}{feed}".encode()
    yield "behind a long comment", f"<!--{'-<rss>' * 20_000}-->{square}{feed}".encode()
    yield "behind blank space", f"{' ' * 400}<?xml version='1.0'?>{' ' * 200_000}{square}{feed}".encode()
    yield "in UTF-16", f"{square}{feed}".encode("utf-16-le")
    yield "file entity", f'<!DOCTYPE r [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>{feed}'.encode()


@pytest.mark.parametrize("bomb", [bomb for _, bomb in _bombs()], ids=[name for name, _ in _bombs()])
def test_an_xml_bomb_is_refused_unread(tmp_path: Path, bomb: bytes) -> None:
    (tmp_path / "a.xml").write_bytes(bomb)
    assert rejected(tmp_path / "a.xml") == [(1, "invalid_feed")]


def test_a_page_inside_an_item_is_no_document_type(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(rss(rss_item(1, description="<![CDATA[<!DOCTYPE html><p>It walks.</p>]]>")))
    assert loadwire(tmp_path / "a.xml")["accepted"] == 1


def test_a_feed_that_its_parser_chokes_on_is_refused_and_the_other_files_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(rss(rss_item(1)).replace("</link>", "</item></link>"))
    (tmp_path / "b.ndjson").write_bytes(GOOD[0])
    assert loadwire(tmp_path)["rejected:invalid_feed"] == 1
    assert Story.objects.count() == 1


def test_a_feed_may_end_in_comments_and_blank_space(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(rss(rss_item()) + "<!-- 0.2 s -->\n<?cached yes?>\n\n")
    assert loadwire(tmp_path / "a.xml") == {"accepted": 1, "snapshots published": 1}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_a_feed_may_be_in_any_unicode(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.xml").write_bytes(rss(rss_item(1), rss_item(2)).encode(encoding))
    assert loadwire(tmp_path / "a.xml") == {"accepted": 2, "snapshots published": 1}


def test_an_item_of_a_feed_is_refused_by_its_number(tmp_path: Path) -> None:
    items = [
        rss_item(1),
        rss_item(2, link="javascript:alert(1)"),
        rss_item(3, pubDate="Thu, 15 Jan 2999 10:00:00 GMT"),
        rss_item(4, pubDate="whenever"),
        rss_item(5, title=""),
        rss_item(6),
    ]
    (tmp_path / "a.xml").write_text(rss(*items))
    assert rejected(tmp_path / "a.xml") == [(2, "bad_url"), (3, "future_date"), (4, "no_date"), (5, "no_headline")]
    assert Story.objects.count() == 2


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0.3, 0.5, 0.95])
def test_a_feed_that_breaks_off_never_gives_half_an_item(tmp_path: Path, kept: float) -> None:
    whole = rss(*(rss_item(n) for n in range(10)))
    (tmp_path / "a.xml").write_text(whole[: int(len(whole) * kept)])
    ((number, reason),) = rejected(tmp_path / "a.xml")
    assert reason == "broken_archive"
    assert Story.objects.count() == number - 1
    assert {r.summary_medium for r in StoryRevision.objects.all()} <= {item(n)["summary"] for n in range(10)}


def test_a_feed_that_breaks_off_in_its_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(rss()[:60])
    assert rejected(tmp_path / "a.xml") == [(1, "broken_archive")]


def test_a_packed_feed_that_breaks_off_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(rss(*(rss_item(n) for n in range(50))).encode())
    (tmp_path / "a.xml.gz").write_bytes(packed[: len(packed) // 2])
    assert rejected(tmp_path / "a.xml.gz") == [(1, "broken_archive")]


def test_a_pipe_is_refused_since_it_can_be_read_but_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CommandError, match=r"pipe.*write it to a file first. Nothing was loaded"):
        loadwire(pipe)


def test_files_of_a_directory_that_are_left_out_are_named(tmp_path: Path) -> None:
    ndjson(tmp_path / "items.txt", GOOD)
    with pytest.raises(CommandError, match=r"There is no archive: names end in .ndjson, .*Nothing was loaded"):
        loadwire(tmp_path)
    ndjson(tmp_path / "items.ndjson", GOOD[:2])
    told = io.StringIO()
    call_command("loadwire", str(tmp_path), stdout=io.StringIO(), stderr=told)
    assert "Left out 1 files not named as archives (items.txt)." in told.getvalue()
    assert Story.objects.count() == 2


def test_what_was_refused_is_named_when_the_load_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, told = ndjson(tmp_path / "a.ndjson", [b"{", *GOOD]), io.StringIO()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("wire.management.commands.loadwire.publish_pending", full)
    with pytest.raises(CommandError, match="The disk is full"):
        call_command("loadwire", str(file), stdout=io.StringIO(), stderr=told)
    assert "a.ndjson:1: invalid_json" in told.getvalue()
