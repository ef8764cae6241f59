"""What publishing a day does, and what it never does."""

import datetime as dt

import pytest

from tests.factories import DAY, NOW, entry, publish, story_of, take
from wire import editorial
from wire.models import Snapshot, StoryRevision, WireState
from wire.models.record import is_sealed
from wire.publish import publish as publish_day
from wire.publish import publish_pending

pytestmark = pytest.mark.django_db
LATER = NOW + dt.timedelta(days=30)


def test_a_day_becomes_a_signed_snapshot_linked_to_the_one_before() -> None:
    first = publish(entry(published_at="2026-01-14T10:00:00Z"))[0]
    second = publish(entry())[0]
    assert (first.sequence, first.previous_sha256) == (1, None)
    assert (second.sequence, second.previous_sha256) == (2, first.wire_sha256)
    assert second.key_id == first.key_id


def test_publishing_again_changes_nothing_not_even_the_version() -> None:
    publish(entry())
    before = WireState.objects.get().version
    assert publish_day(DAY, now=NOW) is None
    assert publish_pending(now=NOW) == []
    assert WireState.objects.get().version == before


def test_every_public_change_raises_the_version() -> None:
    versions = [WireState.objects.get().version]
    made = entry()
    publish(made)
    versions.append(WireState.objects.get().version)
    editorial.withdraw(story_of(made).chatbotnews_id, reason="Retracted by its publisher.", now=NOW)
    versions.append(WireState.objects.get().version)
    assert versions == sorted(set(versions))


def test_an_edited_headline_is_a_revision_and_the_old_text_stays() -> None:
    made = entry(title="Quince ships")
    publish(made)
    publish(entry(url=made.url, title="Quince ships late"))
    story = story_of(made)
    assert story.current is not None
    assert (story.current.revision, story.current.headline) == (2, "Quince ships late")
    assert [r.headline for r in story.revisions.all()] == ["Quince ships", "Quince ships late"]
    assert Snapshot.objects.filter(wire_date=DAY).count() == 2


def test_what_is_taken_in_is_not_public_before_it_is_published() -> None:
    made = entry()
    publish(made)
    take(entry(url=made.url, title="Not public yet"))
    story = story_of(made)
    assert story.current is not None
    assert story.current.headline == made.title
    assert StoryRevision.objects.filter(story=story).count() == 2


def test_a_redated_story_stays_on_its_day() -> None:
    made = entry()
    publish(made)
    publish(entry(url=made.url, title="Redated", published_at="2026-01-16T09:00:00Z"))
    assert story_of(made).wire_date == DAY


def test_a_day_seals_72_hours_after_it_ends() -> None:
    assert not is_sealed(DAY, dt.datetime(2026, 1, 18, 23, 59, 59, tzinfo=dt.UTC))
    assert is_sealed(DAY, dt.datetime(2026, 1, 19, 0, 0, 0, tzinfo=dt.UTC))


def test_a_sealed_day_keeps_its_derived_fields_when_a_late_story_joins_the_event() -> None:
    early = entry(title="Quince Robotics buys Lantern Labs for $90 million")
    publish(early)
    late = entry(title="Quince Robotics buys Lantern Labs for $90 million deal", publisher="Wired", url="https://wired.com/late")
    snapshot = publish(late, now=LATER)[0]
    lines = {row["chatbotnews_id"]: row for row in snapshot.manifest["stories"]}
    first, second = story_of(early), story_of(late)
    assert first.event_id == second.event_id
    assert lines[first.chatbotnews_id]["cross_source_count"] == 1
    assert lines[second.chatbotnews_id]["cross_source_count"] == 2
    assert snapshot.reason == "1 late"


def test_an_unsealed_day_takes_new_coverage_into_account() -> None:
    early = entry(title="Quince Robotics buys Lantern Labs for $90 million")
    publish(early)
    publish(entry(title="Quince Robotics buys Lantern Labs for $90 million deal", publisher="Wired", url="https://wired.com/x"))
    assert story_of(early).cross_source_count == 2


def test_coverage_on_the_next_day_republishes_the_unsealed_day_before() -> None:
    early = entry(title="Quince Robotics buys Lantern Labs for $90 million", published_at="2026-01-14T20:00:00Z")
    publish(early)
    later = entry(title="Quince Robotics buys Lantern Labs for $90 million deal", publisher="Wired", url="https://wired.com/x")
    days = {snapshot.wire_date for snapshot in publish(later)}
    assert days == {DAY, dt.date(2026, 1, 14)}


def test_a_killed_publish_is_completed_by_the_next_run() -> None:
    take(entry(published_at="2025-12-13T10:00:00Z"), entry(published_at="2026-01-14T10:00:00Z"))
    calls = []

    def killed(day: dt.date) -> None:
        calls.append(day)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish_pending(now=NOW, progress=killed)
    assert Snapshot.objects.count() == 1
    assert [s.wire_date for s in publish_pending(now=NOW)] == [dt.date(2026, 1, 14)]


def test_a_withdrawn_story_leaves_the_day_and_says_why() -> None:
    kept, made = entry(), entry()
    publish(kept, made)
    story = story_of(made)
    snapshot = editorial.withdraw(story.chatbotnews_id, reason="Retracted by its publisher.", now=LATER)
    assert snapshot is not None
    assert [row["chatbotnews_id"] for row in snapshot.manifest["stories"]] == [story_of(kept).chatbotnews_id]
    assert snapshot.reason == "Retracted by its publisher."


def test_a_broken_roster_publishes_nothing() -> None:
    from config.errors import RosterLocked
    from sources.models import Publication

    take(entry())
    Publication.objects.filter(slug="fortune").update(seat=None, retired_on=DAY)
    with pytest.raises(RosterLocked):
        publish_pending(now=NOW)
    assert not Snapshot.objects.exists()
