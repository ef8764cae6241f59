"""`manage.py ingest --try`: what would become of each item, with nothing stored."""

import gzip
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from sources.models import FeedHealth, RawFetch
from tests.feedserver import FeedServer
from tests.wire.archives import everything
from tests.wire.ingesting import feed_at, item, rss, run
from wire.ingest.feed_entries import list_feeds
from wire.ingest.replay import list_recordings, replay_recordings
from wire.models import Story

pytestmark = pytest.mark.django_db
CASES = Path(settings.BASE_DIR).parent / "shared" / "data" / "cases" / "feeds"


def tried(source: object, **options: Any) -> list[list[str]]:
    """The command's lines, split at tabs; the last is the summary."""
    out = StringIO()
    call_command("ingest", tried=str(source), stdout=out, stderr=out, **options)
    return [line.split("\t") for line in out.getvalue().splitlines()]


@pytest.mark.slow
def test_a_file_is_told_item_by_item_and_nothing_is_stored(tmp_path: Path) -> None:
    bad = "<item><title>AI\tlink</title><link>javascript:x</link><pubDate>soon</pubDate></item>"
    file = tmp_path / "feed.xml.gz"
    file.write_bytes(gzip.compress(rss(item(1, pubDate="Tue, 13 Jan 2026 09:00:00 GMT"), item(1), bad)))
    before = everything()
    first, second, third, (summary,) = tried(file, publication="techcrunch")
    assert first == ["accepted", "2026-01-13 09:00", "AI story number 1", "https://publisher.example/1"]
    assert (second[0], second[-1]) == ("repeated", "The feed lists it twice; the first counts.")
    assert third[:4] == ["rejected:bad_url", "no date", "AI link", "javascript:x"]
    assert summary == "3 items of TechCrunch: 1 accepted, 1 rejected:bad_url, 1 repeated. Nothing was stored."
    assert everything() == before
    assert not FeedHealth.objects.exists()


@pytest.mark.slow
def test_a_feeds_address_is_asked_and_compared_with_what_is_known(server: FeedServer) -> None:
    server.route("/feed.xml", body=rss(item(1)))
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    server.route("/feed.xml", body=rss(item(1), item(2)))
    before = (everything(), list(FeedHealth.objects.values()), RawFetch.objects.count())
    *rows, (summary,) = tried(feed.url)
    assert [row[0] for row in rows] == ["duplicate", "accepted"]
    assert summary.startswith("2 items of TechCrunch: 1 accepted, 1 duplicate.")
    assert (everything(), list(FeedHealth.objects.values()), RawFetch.objects.count()) == before


def test_an_address_of_no_feed_needs_a_publication(server: FeedServer) -> None:
    server.route("/other.xml", body=rss(item(1)))
    with pytest.raises(CommandError, match=r"No active feed of the roster has this address.*--publication"):
        tried(server.url("/other.xml"))
    assert tried(server.url("/other.xml"), publication="techcrunch")[0][0] == "accepted"
    assert not Story.objects.exists()


def test_what_cannot_be_read_is_an_error_that_says_why(tmp_path: Path, server: FeedServer) -> None:
    (tmp_path / "page.xml").write_text("<!doctype html><title>Sign in</title>")
    (tmp_path / "cut.xml.gz").write_bytes(gzip.compress(rss(item(1)))[:40])
    (tmp_path / "2099-01-01.xml").write_bytes(rss(item(1)))
    reasons = {"page.xml": "web page", "cut.xml.gz": "ended", "none.xml": "no file", "2099-01-01.xml": "dated in the future"}
    for name, why in reasons.items():
        with pytest.raises(CommandError, match=why):
            tried(tmp_path / name, publication="techcrunch")
    with pytest.raises(CommandError, match=r"not clear whose feed page\.xml is"):
        tried(tmp_path / "page.xml")
    with pytest.raises(CommandError, match="http_404"):
        tried(server.url("/gone.xml"), publication="techcrunch")
    with pytest.raises(CommandError, match="no-such"):
        tried(tmp_path / "page.xml", publication="no-such")


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not here")
@pytest.mark.parametrize("case", sorted(path.name for path in CASES.glob("*") if (path / "techcrunch").is_dir()))
def test_a_recorded_feed_is_told_as_a_replay_then_takes_it(case: str) -> None:
    for recorded in list_recordings(CASES / case, list_feeds()):
        try:
            rows = tried(recorded.file)
        except CommandError:
            replay_recordings([recorded])
            continue
        assert rows[-1][0].endswith("Nothing was stored.")
        total = replay_recordings([recorded])
        counts = {name: number for name, number in total.items() if name not in {"snapshots", "file:taken"}}
        assert Counter(row[0] for row in rows if len(row) > 1) == Counter(counts)
