"""The log of changes: complete, in order, without gaps, and enough to keep a copy by."""

import datetime as dt
from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import InvalidArgument
from sources.models import Publication
from tests.factories import NOW, entry, publish, published, story_of
from tests.wire.changes.follower import BEGINNING, Follower, database
from wire import queries
from wire.ingest import corrections
from wire.models import Change, Snapshot, Story
from wire.publishing import changelog
from wire.schemas.story import estimate_tokens
from wire.text.choices import Category, ChangeKind

pytestmark = pytest.mark.django_db


def list_changes(after: int = 0) -> list[tuple[str, str, int | None]]:
    return list(Change.objects.filter(number__gt=after).values_list("kind", "subject", "revision"))


def last() -> int:
    return Change.objects.count()


def test_a_new_story_an_edit_a_correction_and_a_withdrawal_are_told_one_by_one() -> None:
    made = entry()
    publish(made)
    story_id = story_of(made).chatbotnews_id
    assert list_changes() == [
        ("story_added", story_id, 1),
        ("event_founded", story_id, None),
        ("day_published", "2026-01-15", 1),
    ]
    publish(entry(url=made.url, title="Quince Robotics says something else"))
    corrections.correct_texts(story_id, headline="Quince Robotics said nothing", reason="It said nothing.", now=NOW)
    corrections.withdraw_story(story_id, reason="It was made up.", now=NOW)
    assert [kind for kind, subject, _ in list_changes(3) if subject == story_id][-2:] == ["story_corrected", "story_withdrawn"]
    assert [number for (number,) in Change.objects.values_list("number")] == [*range(1, last() + 1)]


@pytest.mark.usefixtures("sample_wire")
def test_an_event_is_founded_once() -> None:
    founded = list(Change.objects.filter(kind=ChangeKind.EVENT_FOUNDED).values_list("subject", flat=True))
    assert len(founded) == len(set(founded)) > 80


def test_nothing_new_is_no_change() -> None:
    made = entry()
    publish(made)
    before = last()
    publish(made, now=NOW + dt.timedelta(hours=1))
    assert last() == before


def test_events_that_are_merged_and_split_by_an_editor_are_told() -> None:
    one, two = published(title="A lighthouse moves to the cloud"), published(title="Hedgehogs raise twelve million")
    before = last()
    corrections.merge_events([one.chatbotnews_id, two.chatbotnews_id], reason="The same happening.", now=NOW)
    kept, gone = sorted((one, two), key=lambda story: (story.published_at, story.chatbotnews_id))
    assert ("event_merged", gone.chatbotnews_id, None) in list_changes(before)
    assert ("story_moved", gone.chatbotnews_id, 1) in list_changes(before)
    before = last()
    corrections.split_event([gone.chatbotnews_id], reason="Another happening after all.", now=NOW)
    assert ("event_split", kept.chatbotnews_id, None) in list_changes(before)


def test_a_replaced_publication_is_told() -> None:
    published()
    before = last()
    named = {"name": "Quince Daily", "aliases": [], "domains": ["quince.example"], "homepage": "https://quince.example"}
    admit = {**named, "slug": "quince-daily", "tier": 2, "feeds": []}
    corrections.replace_publication(Publication.objects.get(slug="zdnet"), admit, reason="It closed.", now=NOW)
    assert ("roster_replaced", "2", 2) in list_changes(before)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 3, 500])
@pytest.mark.usefixtures("sample_wire")
def test_a_follower_has_what_the_database_has(limit: int) -> None:
    follower = Follower()
    follower.follow(limit)
    assert follower.stories == database()
    assert follower.numbers == [*range(1, last() + 1)]
    assert follower.days == {str(day): revision for day, revision in Snapshot.objects.values_list("wire_date", "revision")}
    story = Story.objects.live()[0]
    corrections.classify_story(story.chatbotnews_id, category=Category.FUNDING, topics=[], reason="Money.", now=NOW)
    follower.follow(limit)
    assert follower.stories == database()
    assert follower.numbers == [*range(1, last() + 1)]


@pytest.mark.usefixtures("rich")
def test_a_log_that_is_begun_late_leads_to_the_same_copy() -> None:
    Change.objects.all().delete()
    assert changelog.create_missing_log() == last() > 0
    assert changelog.create_missing_log() == 0
    follower = Follower()
    follower.follow()
    assert follower.stories == database()


@pytest.mark.usefixtures("sample_wire")
def test_only_the_kinds_that_are_asked_for_come_and_the_cursor_goes_on_all_the_same() -> None:
    page = queries.get_changes(limit=2, kinds=[ChangeKind.DAY_PUBLISHED], since=BEGINNING)
    assert [change.kind for change in page.changes] == ["day_published"] * 2
    assert page.has_more
    rest = queries.get_changes(page.next_cursor, 500, [ChangeKind.DAY_PUBLISHED])
    assert [change.subject for change in page.changes + rest.changes] == [f"2026-10-{day}" for day in range(12, 16)]
    assert not rest.has_more
    assert queries.get_changes(rest.next_cursor).changes == []


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(f"{text}+00:00")


def test_without_a_place_to_begin_at_they_begin_with_today(monkeypatch: pytest.MonkeyPatch) -> None:
    publish(entry(), now=moment("2026-01-15T23:59:00"))
    publish(entry(), now=moment("2026-01-16T00:00:00"))
    monkeypatch.setattr("wire.queries.changes.utc_today", lambda: dt.date(2026, 1, 16))
    whole, today = queries.get_changes(since=BEGINNING).changes, queries.get_changes().changes
    assert today == [change for change in whole if change.at >= moment("2026-01-16T00:00:00")]
    assert 0 < len(today) < len(whole)


def test_a_moment_to_begin_at_is_included_and_a_cursor_wins_over_it() -> None:
    for minute in range(3):
        publish(entry(), now=NOW + dt.timedelta(minutes=minute))
    whole = queries.get_changes(since=BEGINNING).changes
    since = NOW + dt.timedelta(minutes=1)
    assert queries.get_changes(since=since).changes == [change for change in whole if change.at >= since]
    first = queries.get_changes(since=since, limit=2)
    rest = queries.get_changes(first.next_cursor, since=BEGINNING)
    assert first.changes + rest.changes == queries.get_changes(since=since).changes
    for never in ("9999-12-31T00:00:00", "2026-01-17T00:00:00"):
        later = queries.get_changes(since=moment(never))
        assert (later.changes, later.counts, later.has_more) == ([], {}, False)
        publish(entry(), now=NOW + dt.timedelta(minutes=5))
        assert queries.get_changes(later.next_cursor).changes, "the place of an empty answer is kept"
    assert queries.get_changes(since=moment("0001-01-01T00:00:00")).changes[0].number == 1


@pytest.mark.usefixtures("sample_wire")
def test_an_answer_that_begins_counts_all_there_is_by_kind_and_is_small() -> None:
    whole = queries.get_changes(since=BEGINNING, limit=500)
    assert not whole.has_more
    first = queries.get_changes(since=BEGINNING)
    assert first.has_more
    assert first.counts == Counter(change.kind for change in whole.changes)
    assert queries.get_changes(since=BEGINNING, kinds=[ChangeKind.DAY_PUBLISHED]).counts == {"day_published": 4}
    assert "counts" not in queries.get_changes(first.next_cursor).model_dump()
    told = first.model_dump(mode="json")
    assert first.est_tokens == pytest.approx(estimate_tokens([orjson.dumps(told)]), rel=0.01)
    assert first.est_tokens <= 3_000


@given(st.lists(st.tuples(st.integers(0, 5 * 24), st.integers(0, 23)), max_size=12), st.integers(-1, 6 * 24))
def test_none_that_came_since_is_left_out_although_a_run_writes_when_it_began(hours: list[tuple[int, int]], since: int) -> None:
    """Each is written at an hour, in their order, and bears an hour up to a day before."""
    Change.objects.all().delete()
    ages = [written - lasted for written, lasted in sorted(hours)]
    Change.objects.bulk_create(
        Change(number=number, kind=ChangeKind.DAY_PUBLISHED, subject="2026-01-15", at=NOW + dt.timedelta(hours=age))
        for number, age in enumerate(ages, 1)
    )
    begin = NOW + dt.timedelta(hours=since)
    found = [change.number for change in queries.get_changes(since=begin).changes]
    wanted = [number for number, age in enumerate(ages, 1) if age >= since]
    assert found == ([*range(wanted[0], len(ages) + 1)] if wanted else [])


@pytest.mark.usefixtures("sample_wire")
def test_a_cursor_of_another_log_is_refused() -> None:
    cursor = queries.get_changes(limit=1).next_cursor
    Change.objects.all().delete()
    changelog.create_missing_log()
    with pytest.raises(InvalidArgument, match="a log that no longer exists"):
        queries.get_changes(cursor)
    for strange in ("x", "", cursor[:-2]):
        with pytest.raises(InvalidArgument):
            queries.get_changes(strange)


def test_the_change_is_in_the_transaction_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(changelog, "record_changes", fail)
    with pytest.raises(RuntimeError):
        publish(entry())
    assert not Story.objects.published().exists()
    assert not Change.objects.exists()
