"""Items that are read again by newer rules: what the publisher did not change is no revision of the publisher's."""

import datetime as dt
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F

from sources.entries import Entry
from sources.models import Feed, RawFetch
from sources.parse import Parsed, parse_feed
from tests.factories import entry, feed_of, second_feed, see, served_feed
from tests.feedserver import FeedServer
from tests.wire.archives import dump, empty_wire, line, loadwire, ndjson, rss, rss_item
from wire.ingest import feed_entries, normalise
from wire.ingest.draft_comparison import Outcome
from wire.ingest.run import run_ingest
from wire.models import Snapshot, Story, StoryRevision
from wire.text.choices import NEWER_RULES
from wire.text.plain_text import extract_summary
from wire.text.provenance_manifest import to_rfc3339

pytestmark = pytest.mark.django_db

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
OPEN, FINAL = NOW - dt.timedelta(hours=20), NOW - dt.timedelta(days=9)
"""When an item was published, on a day that may still change and on one that is final."""
SUMMARY = "It is out today. It costs nine dollars."
NEWER = "It is out today."


@pytest.fixture
def newer_rules(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on summaries are one sentence long."""

    def become() -> None:
        monkeypatch.setattr(
            normalise, "extract_summary", lambda raw: extract_summary(raw).partition(". ")[0].removesuffix(".") + "."
        )

    return become


@pytest.fixture
def feed(server: FeedServer) -> Feed:
    return served_feed(server, "techcrunch")


def item(number: int = 0, *, when: dt.datetime = OPEN, **values: str) -> dict[str, str]:
    usual = {"title": f"Quince {number} ships", "description": SUMMARY, "pubDate": f"{when:%a, %d %b %Y %H:%M:%S} GMT"}
    return rss_item(number, **(usual | values))


def fetch(server: FeedServer, feed: Feed, *items: dict[str, str]) -> Counter[str]:
    """The feed shows these items now, an hour after all that was recorded, and a run takes them in: what became of them."""
    hour = dt.timedelta(hours=1)
    StoryRevision.objects.update(recorded_at=F("recorded_at") - hour)
    RawFetch.objects.update(fetched_at=F("fetched_at") - hour)
    Snapshot.objects.update(generated_at=F("generated_at") - hour)
    server.route("/feed", body=rss(*items).encode())
    (report,) = run_ingest([Feed.objects.select_related("publication", "health").get(pk=feed.pk)], by_hand=True).reports
    assert report.result == "taken", report
    return report.counts


def revisions(number: int = 0) -> list[tuple[str, str, str]]:
    """Headline, summary and reason of each revision of a story, oldest first."""
    rows = StoryRevision.objects.filter(story__original_url=f"https://techcrunch.com/2026/01/15/item-{number}")
    return list(rows.order_by("revision").values_list("headline", "summary_medium", "reason"))


def as_before_the_upgrade() -> None:
    """Stories as they were stored before their inputs were."""
    Story.objects.update(inputs="")


def rebuild(**options: Any) -> str:
    out = io.StringIO()
    call_command("rebuild", since=NOW.date() - dt.timedelta(days=1), yes=True, stdout=out, **options)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("when", [OPEN, FINAL])
@pytest.mark.parametrize("is_old", [False, True])
def test_an_unchanged_item_of_a_feed_makes_no_revision(
    server: FeedServer, feed: Feed, newer_rules: Callable[[], None], when: dt.datetime, is_old: bool
) -> None:
    fetch(server, feed, item(when=when))
    snapshots = Snapshot.objects.filter(wire_date=when.date()).count()
    if is_old:
        as_before_the_upgrade()
    newer_rules()
    assert fetch(server, feed, item(when=when), item(1)) == {"read_differently": 1, "accepted": 1}
    assert fetch(server, feed, item(when=when), item(2)) == {"read_differently": 1, "accepted": 1}
    assert revisions() == [("Quince 0 ships", SUMMARY, "")]
    if when == FINAL:
        assert Snapshot.objects.filter(wire_date=when.date()).count() == snapshots


@pytest.mark.slow
@pytest.mark.parametrize("is_old", [False, True])
def test_an_edit_of_the_publisher_after_newer_rules_is_the_publishers(
    server: FeedServer, feed: Feed, newer_rules: Callable[[], None], is_old: bool
) -> None:
    fetch(server, feed, item(), item(1))
    if is_old:
        as_before_the_upgrade()
    newer_rules()
    edited = fetch(server, feed, item(description="It is late. It costs ten dollars."), item(1, title="Gherkin ships"))
    assert edited == {"revised": 2}
    assert revisions()[1:] == [("Quince 0 ships", "It is late.", "")]
    assert revisions(1)[1:] == [("Gherkin ships", NEWER, "")]
    assert fetch(server, feed, item(), item(1)) == {"revised": 2}, "a publisher may go back to older words"
    assert [headline for headline, _, _ in revisions(1)] == ["Quince 1 ships", "Gherkin ships", "Quince 1 ships"]
    assert fetch(server, feed, item(), item(1), item(2)) == {"duplicate": 2, "accepted": 1}


@pytest.mark.slow
def test_a_newer_parser_makes_no_revision(server: FeedServer, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(server, feed, item(), item(1))

    def parse_newly(*args: Any, **named: Any) -> Parsed:
        parsed = parse_feed(*args, **named)
        return replace(parsed, entries=[replace(found, title=f"{found.title}, it says") for found in parsed.entries])

    monkeypatch.setattr(feed_entries, "parse_feed", parse_newly)
    assert fetch(server, feed, item(), item(1, title="Gherkin ships")) == {"read_differently": 1, "revised": 1}
    assert fetch(server, feed, item(), item(1, title="Gherkin ships"), item(2))["read_differently"] == 1
    assert [headline for headline, _, _ in revisions()] == ["Quince 0 ships"]


@pytest.mark.slow
@pytest.mark.parametrize("when", [OPEN, FINAL])
@pytest.mark.parametrize("is_old", [False, True])
def test_an_archive_loaded_again_makes_no_revision(
    tmp_path: Path, newer_rules: Callable[[], None], when: dt.datetime, is_old: bool
) -> None:
    lines = [line(number, published_at=to_rfc3339(when), summary=SUMMARY) for number in range(3)]
    archive = ndjson(tmp_path / "a.ndjson", lines)
    assert loadwire(archive)["accepted"] == 3
    before = list(StoryRevision.objects.values()), list(Snapshot.objects.values())
    if is_old:
        as_before_the_upgrade()
    newer_rules()
    for _ in range(2):
        assert (loadwire(archive).get("revised"), loadwire(archive)["read_differently"]) == (None, 3)
        assert (list(StoryRevision.objects.values()), list(Snapshot.objects.values())) == before
    edited = [line(0, published_at=to_rfc3339(when), summary=SUMMARY, title="Gherkin ships"), *lines[1:]]
    assert loadwire(ndjson(tmp_path / "b.ndjson", edited))["revised"] == 1


def test_an_archive_that_says_more_is_a_revision_by_any_rules(tmp_path: Path, newer_rules: Callable[[], None]) -> None:
    loadwire(ndjson(tmp_path / "a.ndjson", [line(published_at=to_rfc3339(FINAL), summary=SUMMARY)]))
    newer_rules()
    edited = ndjson(tmp_path / "b.ndjson", [line(published_at=to_rfc3339(FINAL), summary="It is late. It costs ten.")])
    assert loadwire(edited)["revised"] == 1
    assert "revised" not in loadwire(edited)


@pytest.mark.slow
@pytest.mark.parametrize("is_old", [False, True])
def test_recorded_feeds_replayed_again_make_no_revision(tmp_path: Path, newer_rules: Callable[[], None], is_old: bool) -> None:
    days = [NOW.date() - dt.timedelta(days=number) for number in (9, 8, 2)]
    histories = tmp_path / "techcrunch"
    histories.mkdir()
    for number, day in enumerate(days):
        title = ("Quince ships", "Gherkin ships", "Quince ships")[number]
        (histories / f"{day}.xml").write_text(rss(item(when=FINAL, title=title), item(number + 1, when=FINAL)))
    call_command("ingest", from_files=tmp_path, stdout=io.StringIO())
    before = list(StoryRevision.objects.values()), list(Snapshot.objects.values())
    assert [headline for headline, _, _ in revisions()] == ["Quince ships", "Gherkin ships", "Quince ships"]
    if is_old:
        as_before_the_upgrade()
    newer_rules()
    out = io.StringIO()
    call_command("ingest", from_files=tmp_path, stdout=out)
    assert "revised" not in out.getvalue()
    assert (list(StoryRevision.objects.values()), list(Snapshot.objects.values())) == before


@pytest.mark.slow
def test_rebuild_changes_open_days_and_says_why_and_final_days_only_if_asked(
    server: FeedServer, feed: Feed, newer_rules: Callable[[], None]
) -> None:
    fetch(server, feed, item(0, when=FINAL), item(1))
    newer_rules()
    snapshots = Snapshot.objects.filter(wire_date=FINAL.date()).count()
    told = rebuild()
    assert "Items of final days left out: 1; --final-days includes them." in told
    assert "Done: 0 added, 1 changed. Published: " in told
    assert revisions(1)[1:] == [("Quince 1 ships", NEWER, NEWER_RULES)]
    assert len(revisions(0)) == 1
    assert Snapshot.objects.filter(wire_date=FINAL.date()).count() == snapshots
    assert "Done: 0 added, 1 changed. Published: " in rebuild(final_days=True)
    assert revisions(0)[1:] == [("Quince 0 ships", NEWER, NEWER_RULES)]
    assert "Nothing would change." in rebuild(final_days=True)
    assert fetch(server, feed, item(0, when=FINAL), item(1), item(2)) == {"duplicate": 2, "accepted": 1}


def test_rebuild_adds_nothing_to_a_final_day_unless_asked(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = served_feed(server, "techcrunch")
    with monkeypatch.context() as older:
        older.setattr(normalise, "is_test_item", lambda *_: True)
        fetch(server, feed, item(0, when=FINAL), item(1))
    assert not Story.objects.exists()
    assert "Done: 1 added" in rebuild()
    assert not revisions(0)
    assert "Done: 1 added" in rebuild(final_days=True)
    assert revisions(0)


def test_a_feed_that_takes_a_story_over_brings_its_own_words(newer_rules: Callable[[], None]) -> None:
    first, second = feed_of("techcrunch"), second_feed("techcrunch")
    mine = entry(published_at=to_rfc3339(OPEN), summary=SUMMARY)
    other = replace(mine, title="Another headline for the quince", summary="Another summary. It is longer.")
    see(first, mine, now=OPEN)
    see(second, other, now=OPEN + dt.timedelta(hours=1))
    Feed.objects.filter(pk=first.pk).update(active=False)
    newer_rules()
    see(second, other, now=OPEN + dt.timedelta(hours=2))
    assert list(StoryRevision.objects.order_by("revision").values_list("headline", flat=True)) == [mine.title, other.title]


def test_another_feed_goes_on_filling_in_what_a_story_lacks(newer_rules: Callable[[], None]) -> None:
    first, second = feed_of("techcrunch"), second_feed("techcrunch")
    mine = entry(published_at=to_rfc3339(OPEN), summary="")
    see(first, mine, now=OPEN)
    as_before_the_upgrade()
    newer_rules()
    see(second, replace(mine, summary=SUMMARY), now=OPEN + dt.timedelta(hours=1))
    assert StoryRevision.objects.order_by("revision").last().summary_medium == NEWER  # type: ignore[union-attr]


def test_what_another_feed_filled_in_leaves_the_first_feeds_item_unchanged(newer_rules: Callable[[], None]) -> None:
    first, second = feed_of("techcrunch"), second_feed("techcrunch")
    mine = entry(published_at=to_rfc3339(OPEN), summary=SUMMARY)
    see(first, mine, now=OPEN)
    see(second, replace(mine, author="Ada Quill"), now=OPEN + dt.timedelta(hours=1))
    newer_rules()
    assert see(first, mine, now=OPEN + dt.timedelta(hours=2)) == [Outcome.READ_DIFFERENTLY]
    assert StoryRevision.objects.count() == 2


@pytest.mark.slow
def test_a_story_remembers_a_bounded_number_of_items() -> None:
    for number in range(20):
        see(
            feed_of("techcrunch"),
            entry(url="https://techcrunch.com/a", title="Quince ships", summary=f"{SUMMARY}<!-- {number} -->"),
            now=OPEN,
        )
    story = Story.objects.get()
    assert len(story.inputs.splitlines()) == 16
    assert StoryRevision.objects.count() == 1


def test_digests_stay_as_they_are_stored() -> None:
    made = Entry("TechCrunch", "A \ud83d title", "https://techcrunch.com/a", None, "A summary.", "Ada", other_summaries=("More.",))
    assert made.digest == "d5bb009d0b6dd25b"
    assert replace(made, url="https://techcrunch.com/b", image="https://techcrunch.com/c.png").digest == made.digest


def test_a_dump_keeps_what_stories_were_read_from(tmp_path: Path, newer_rules: Callable[[], None]) -> None:
    archive = ndjson(tmp_path / "a.ndjson", [line(published_at=to_rfc3339(FINAL), summary=SUMMARY)])
    loadwire(archive)
    before = dump(tmp_path / "dump.ndjson")
    empty_wire()
    loadwire(tmp_path / "dump.ndjson")
    assert dump(tmp_path / "again.ndjson") == before
    newer_rules()
    assert loadwire(archive)["read_differently"] == 1
