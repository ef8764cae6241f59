"""Archives into the wire: what is taken, what a second time changes, what is reported."""

import datetime as dt
import gzip
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.wire.archives import (
    counts,
    dump,
    empty_wire,
    everything,
    item,
    line,
    loadwire,
    ndjson,
    rejected,
    replace_publication,
    rss,
    rss_item,
)
from wire.models import Load, Snapshot, Story, StoryAlias, StoryRevision
from wire.ops.archive.reader import load_items

pytestmark = pytest.mark.django_db

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>The Verge</title>
<entry><title>Quince walks</title><link href="https://theverge.com/quince"/><id>tag:quince</id>
<published>2026-01-15T10:00:00+02:00</published><author><name>Ada Quill</name></author><summary>It walks.</summary></entry>
</feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>Wired</title></channel>
<item rdf:about="y"><title>Quince swims</title><link>https://wired.com/quince</link><dc:date>2026-01-15T10:00:00Z</dc:date></item>
</rdf:RDF>"""


def test_an_ndjson_item_becomes_a_published_story(tmp_path: Path) -> None:
    told = item(author="Ada Quill", guid="g-1", language="en-GB")
    assert loadwire(ndjson(tmp_path / "a.ndjson", [json.dumps(told).encode()])) == {"accepted": 1, "snapshots published": 1}
    story = Story.objects.select_related("current").get()
    assert story.current is not None
    assert (story.current.headline, story.current.author, story.guid) == (told["title"], "Ada Quill", "g-1")
    assert (story.current.language, story.current.summary_medium) == ("en-GB", told["summary"])
    assert [row["story_sha256"] for row in Snapshot.objects.get().manifest["stories"]] == [story.current.story_sha256]


def test_an_rss_file_is_loaded_item_by_item(tmp_path: Path) -> None:
    file = tmp_path / "techcrunch.xml"
    file.write_text(rss(rss_item(1), rss_item(2)))
    assert loadwire(file) == {"accepted": 2, "snapshots published": 1}
    assert set(StoryRevision.objects.values_list("original_publisher", flat=True)) == {"TechCrunch"}


@pytest.mark.parametrize(("feed", "publisher"), [(ATOM, "The Verge"), (RDF, "Wired")])
def test_atom_and_rdf_files_are_feeds_too(tmp_path: Path, feed: str, publisher: str) -> None:
    file = tmp_path / "feed.xml"
    file.write_text(feed)
    assert loadwire(file)["accepted"] == 1
    assert StoryRevision.objects.get().original_publisher == publisher


def test_a_feed_is_known_by_its_content_whatever_its_name_or_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "feed.ndjson"
    file.write_bytes(b"\xef\xbb\xbf\r\n  " + rss(rss_item()).partition("\n")[2].encode())
    assert loadwire(file)["accepted"] == 1


def test_a_directory_means_every_archive_below_it(tmp_path: Path) -> None:
    below = tmp_path / "2026" / "01"
    below.mkdir(parents=True)
    ndjson(tmp_path / "a.ndjson", [line(1)])
    ndjson(below / "b.jsonl.gz", [line(2)])
    (below / "C.XML").write_text(rss(rss_item(3)))
    (below / "notes.txt").write_text("no archive")
    assert loadwire(tmp_path) == {"accepted": 3, "snapshots published": 1}


def test_packed_files_are_known_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "feed").write_bytes(gzip.compress(rss(rss_item(1)).encode()))
    ndjson(tmp_path / "items.gz", [line(2)])
    assert loadwire(tmp_path / "feed", tmp_path / "items.gz")["accepted"] == 2


def test_a_map_gives_publishers_the_names_of_the_roster(tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text(json.dumps({"AI | VentureBeat": "VentureBeat", "TC feed": "TechCrunch"}))
    items = ndjson(tmp_path / "a.ndjson", [line(1, publisher="AI | VentureBeat", url="https://venturebeat.com/1"), line(2)])
    feed = tmp_path / "feed.xml"
    feed.write_text(rss(rss_item(3), title="TC feed"))
    assert loadwire(items, feed, map=names)["accepted"] == 3
    assert sorted(StoryRevision.objects.values_list("original_publisher", flat=True)) == ["TechCrunch", "TechCrunch", "VentureBeat"]


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": 1}', b'{"a": null}', b"\xff\xfe"], ids=str)
def test_a_map_that_is_no_map_loads_nothing(tmp_path: Path, content: bytes) -> None:
    names = tmp_path / "names"
    names.write_bytes(content)
    with pytest.raises(CommandError, match=r"names.*Nothing was loaded"):
        loadwire(ndjson(tmp_path / "a.ndjson", [line()]), map=names)
    assert not Story.objects.exists()


def test_a_missing_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        loadwire(ndjson(tmp_path / "a.ndjson", [line()]), map=tmp_path / "nowhere")


def test_publishers_outside_the_roster_are_refused_by_name(tmp_path: Path) -> None:
    file = ndjson(tmp_path / "a.ndjson", [line(1, publisher="Daily Bugle"), line(2), line(3, publisher="The Wire")])
    err = io.StringIO()
    call_command("loadwire", file, stdout=io.StringIO(), stderr=err)
    *told, summary, advice = err.getvalue().splitlines()
    assert [row.partition(": ")[0] for row in told] == ["a.ndjson:1", "a.ndjson:3"]
    assert summary == "Outside the roster: Daily Bugle (1); The Wire (1)."
    assert advice == "If a publication of the roster has one of these names in your archive, name it with --map."
    assert "'Daily Bugle'" in err.getvalue()
    assert StoryRevision.objects.get().original_publisher == "TechCrunch"


def test_an_item_may_credit_its_own_publisher(tmp_path: Path) -> None:
    names = ["TechCrunch", "techcrunch.com", "https://techcrunch.com/feed/"]
    loadwire(ndjson(tmp_path / "a.ndjson", [line(n, credited_source=name) for n, name in enumerate(names)]))
    told = set(StoryRevision.objects.values_list("original_publisher", "credited_source"))
    assert (told, Story.objects.count()) == ({("TechCrunch", None)}, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "utc"),
    [
        ("2026-01-15T10:00:00.5+05:30", "2026-01-15T04:30:00Z"),
        ("2026-01-15 10:00:00 UTC", "2026-01-15T10:00:00Z"),
        ("15 Jan 2026", "2026-01-15T00:00:00Z"),
        ("Jan 15 2026 10:00 PM EST", "2026-01-16T03:00:00Z"),
        ("Thu, 15 Jan 2026 00:30:00 CET", "2026-01-14T23:30:00Z"),
    ],
)
def test_dates_are_read_as_those_of_feeds_are(tmp_path: Path, said: str, utc: str) -> None:
    loadwire(ndjson(tmp_path / "a.ndjson", [line(published_at=said)]))
    assert Story.objects.get().published_at == dt.datetime.fromisoformat(utc)


def test_a_retired_publication_is_refused_and_its_old_stories_stay(tmp_path: Path) -> None:
    of_engadget = {"publisher": "Engadget", "url": "https://www.engadget.com/1"}
    loadwire(ndjson(tmp_path / "a.ndjson", [line(1, **of_engadget)]))
    replace_publication("engadget", "the-quill", "The Quill")
    quill = line(3, publisher="The Quill", url="https://the-quill.example/3")
    file = ndjson(tmp_path / "b.ndjson", [line(2, publisher="Engadget"), quill, line(1, **of_engadget)])
    assert rejected(file) == [(1, "not_in_roster"), (3, "not_in_roster")]
    assert sorted(StoryRevision.objects.values_list("original_publisher", flat=True)) == ["Engadget", "The Quill"]


@pytest.mark.slow
def test_a_dry_run_writes_nothing_at_all(tmp_path: Path) -> None:
    loadwire(ndjson(tmp_path / "known.ndjson", [line(1)]))
    before = everything()
    file = ndjson(tmp_path / "a.ndjson", [line(1), line(1, title="Another headline"), line(2), b"{"])
    rejects = tmp_path / "rejects"
    report = loadwire(file, dry_run=True, rejects=rejects)
    assert report == {"accepted": 1, "duplicate": 1, "rejected:invalid_json": 1, "revised": 1}
    assert everything() == before
    assert json.loads(rejects.read_text())["line"] == 4
    assert loadwire(file) == report | {"snapshots published": 1}


@pytest.mark.slow
def test_a_dry_run_of_a_dump_restores_nothing(tmp_path: Path, sample_wire: None) -> None:  # noqa: ARG001
    dump(tmp_path / "dump.ndjson")
    empty_wire()
    before = everything()
    assert loadwire(tmp_path / "dump.ndjson", dry_run=True)["story"] == 134
    assert everything() == before


@pytest.mark.slow
def test_loading_twice_changes_nothing_not_even_a_timestamp(tmp_path: Path) -> None:
    lines = [line(1), line(1, title="Another headline"), line(1), line(2, guid="g"), line(3, guid="g", title=item(2)["title"])]
    file = ndjson(tmp_path / "a.ndjson", [*lines, b"nonsense"])
    assert loadwire(file)["accepted"] == 2
    assert StoryAlias.objects.count() == 1
    before = everything()
    assert loadwire(file) == {"duplicate": 5, "rejected:invalid_json": 1}
    assert loadwire(file, file) == {"duplicate": 10, "rejected:invalid_json": 2}
    assert everything() == before


def test_every_line_is_counted_once(tmp_path: Path) -> None:
    lines = [line(1), line(1), b"", line(1, title="New"), b"{", line(2, publisher="Nobody"), line(3, url="javascript:alert(1)")]
    assert loadwire(ndjson(tmp_path / "a.ndjson", lines)) == {
        "accepted": 1,
        "duplicate": 1,
        "revised": 1,
        "rejected:invalid_json": 1,
        "rejected:not_in_roster": 1,
        "rejected:bad_url": 1,
        "snapshots published": 1,
    }


@pytest.mark.slow
def test_batches_see_what_batches_before_them_stored(tmp_path: Path) -> None:
    file = ndjson(tmp_path / "a.ndjson", [*(line(n) for n in range(600)), *(line(n) for n in range(0, 600, 2))])
    assert loadwire(file) == {"accepted": 600, "duplicate": 300, "snapshots published": 1}
    assert not Load.objects.exists()


@pytest.mark.slow
def test_a_load_that_stopped_goes_on_and_reports_as_if_it_never_had(tmp_path: Path) -> None:
    lines = [line(n % 500) if n % 9 else b"{" for n in range(700)]
    file = ndjson(tmp_path / "a.ndjson", lines)
    whole = loadwire(file, dry_run=True)

    def stop(*_what: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_items(file, {}, on_rejected=stop)
    assert not Story.objects.exists()  # a batch is stored whole, with its progress
    with pytest.raises(KeyboardInterrupt):
        load_items(file, {}, on_progress=stop)
    assert Load.objects.get().line == 500
    out = io.StringIO()
    call_command("loadwire", file, rejects=tmp_path / "rejects", stdout=out, stderr=io.StringIO())
    assert "a.ndjson: continued after line 500;" in out.getvalue()
    assert counts(out.getvalue()) == whole | {"snapshots published": 1}
    assert min(json.loads(row)["line"] for row in (tmp_path / "rejects").read_text().splitlines()) > 500
    assert not Load.objects.exists()


def test_the_rejects_file_holds_every_rejection_and_the_terminal_the_first(tmp_path: Path) -> None:
    file = ndjson(tmp_path / "a.ndjson", [line(1), *[b"{"] * 30, line(2)])
    err = io.StringIO()
    call_command("loadwire", file, rejects=tmp_path / "rejects", stdout=io.StringIO(), stderr=err)
    rows = [json.loads(row) for row in (tmp_path / "rejects").read_text().splitlines()]
    assert [row["line"] for row in rows] == list(range(2, 32))
    assert {(row["file"], row["reason"]) for row in rows} == {(str(file), "invalid_json")}
    assert "10 more of invalid_json" in err.getvalue()


def test_a_rejects_file_that_cannot_be_written_stops_before_loading(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Nothing was loaded"):
        loadwire(ndjson(tmp_path / "a.ndjson", [line()]), rejects=tmp_path / "nowhere" / "rejects")
    assert not Story.objects.exists()


def test_an_unknown_path_loads_nothing_of_the_others(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"There is no .*nowhere\. Nothing was loaded"):
        loadwire(ndjson(tmp_path / "a.ndjson", [line()]), tmp_path / "nowhere")
    assert not Story.objects.exists()


@pytest.mark.slow
def test_a_sample_database_refuses_real_news(tmp_path: Path) -> None:
    call_command("loadsample", stdout=io.StringIO())
    before = everything()
    with pytest.raises(CommandError, match="sample wire"):
        loadwire(ndjson(tmp_path / "a.ndjson", [line()]))
    assert everything() == before


@pytest.mark.slow
def test_a_wire_of_real_news_refuses_the_sample(tmp_path: Path) -> None:
    loadwire(ndjson(tmp_path / "a.ndjson", [line()]))
    before = everything()
    with pytest.raises(CommandError, match="real news"):
        call_command("loadsample", stdout=io.StringIO())
    assert everything() == before


@pytest.mark.slow
def test_the_sample_loaded_again_changes_nothing() -> None:
    call_command("loadsample", stdout=io.StringIO())
    before = everything()
    call_command("loadsample", stdout=io.StringIO())
    assert everything() == before


def test_the_lexicon_is_read_once_for_many_files(tmp_path: Path) -> None:
    with CaptureQueriesContext(connection) as queries:
        loadwire(*(ndjson(tmp_path / f"{number}.ndjson", [line(number)]) for number in range(5)))
    assert sum("lexiconterm" in query["sql"] and "COUNT" in query["sql"] for query in queries) == 1
