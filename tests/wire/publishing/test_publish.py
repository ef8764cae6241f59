"""Publishing a day: what it does, and what it never does."""

import datetime as dt

import pytest

from tests.factories import DAY, NOW, entry, publish, published, story_of, take
from wire.ingest import corrections
from wire.models import Snapshot, WireState
from wire.models.snapshot import is_sealed
from wire.publishing.publish import publish_day as publish_day
from wire.publishing.publish import publish_pending

pytestmark = pytest.mark.django_db
LATER = NOW + dt.timedelta(days=30)


def test_a_day_becomes_a_signed_snapshot_linked_to_the_one_before() -> None:
    first = publish(entry(published_at="2026-01-14T10:00:00Z"))[0]
    second = publish(entry())[0]
    assert (first.sequence, first.previous_sha256) == (1, None)
    assert (second.sequence, second.previous_sha256) == (2, first.wire_sha256)
    assert second.key_id == first.key_id


def test_every_public_change_raises_the_version_and_publishing_again_changes_nothing() -> None:
    versions = [WireState.objects.get().version]
    story = published()
    versions.append(WireState.objects.get().version)
    assert publish_day(DAY, now=NOW) is None
    assert publish_pending(now=NOW) == []
    assert WireState.objects.get().version == versions[-1]
    corrections.withdraw_story(story.chatbotnews_id, reason="Retracted by its publisher.", now=NOW)
    versions.append(WireState.objects.get().version)
    assert versions == sorted(set(versions))


def test_a_day_seals_72_hours_after_it_ends() -> None:
    assert not is_sealed(DAY, dt.datetime(2026, 1, 18, 23, 59, 59, tzinfo=dt.UTC))
    assert is_sealed(DAY, dt.datetime(2026, 1, 19, 0, 0, 0, tzinfo=dt.UTC))


def test_a_killed_publish_is_completed_by_the_next_run() -> None:
    take(entry(published_at="2025-12-13T10:00:00Z"), entry(published_at="2026-01-14T10:00:00Z"))
    calls = []

    def kill(day: dt.date) -> None:
        calls.append(day)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish_pending(now=NOW, progress=kill)
    assert Snapshot.objects.count() == 1
    assert [s.wire_date for s in publish_pending(now=NOW)] == [dt.date(2026, 1, 14)]


def test_a_withdrawn_story_leaves_the_day_and_says_why() -> None:
    kept, made = entry(), entry()
    publish(kept, made)
    story = story_of(made)
    snapshot = corrections.withdraw_story(story.chatbotnews_id, reason="Retracted by its publisher.", now=LATER)
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
