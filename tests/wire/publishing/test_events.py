"""Which stories are one event, through the pipeline and through the editors' hands."""

import datetime as dt
import random
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.errors import InvalidArgument, NotFound
from sources.entries import Entry
from tests.factories import DAY, NOW, entry, publish, story_of, take
from tests.wire.archives import comes_back_whole, verifywire
from wire.ingest import corrections
from wire.models import Change, Event, LogEntry, LogNode, Snapshot, Story
from wire.publishing.publish import publish_pending

pytestmark = pytest.mark.django_db

NEWS = "Quince Robotics buys Lantern Labs for $90 million"
WORDINGS = {
    "TechCrunch": NEWS,
    "Wired": "Quince Robotics to buy Lantern Labs for $90 million",
    "Reuters": "Lantern Labs bought by Quince Robotics for $90 million",
    "Axios": "Quince Robotics pays $90 million to buy Lantern Labs",
}
REASON = "The stories tell of two purchases."
AFTER_SEALING = dt.datetime(2026, 1, 25, tzinfo=dt.UTC)


def report_by(publisher: str, hour: int, title: str = "", day: dt.date = DAY) -> Entry:
    return entry(
        publisher=publisher,
        title=title or WORDINGS[publisher],
        url=f"https://news.example/{publisher}/{day}/{hour}",
        published_at=f"{day}T{hour:02}:00:00Z",
        summary="",
    )


def event_of(made: Entry) -> str:
    return str(story_of(made).event_id)


def one_event(*made: Entry) -> bool:
    return len({event_of(one) for one in made}) == 1


def partition() -> set[frozenset[str]]:
    """Events as sets of addresses, with their ids."""
    events: dict[str, set[str]] = {}
    for event, url in Story.objects.values_list("event", "original_url"):
        events.setdefault(event, {event}).add(url)
    return {frozenset(event) for event in events.values()}


@pytest.fixture
def three() -> list[Entry]:
    """A happening, reported by three publications on one day, and published."""
    made = [report_by("TechCrunch", 8), report_by("Wired", 9), report_by("Reuters", 10)]
    publish(*made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_order_of_arrival_the_events_are_the_same(seed: int) -> None:
    days = [DAY, DAY - dt.timedelta(days=1), DAY - dt.timedelta(days=2)]
    other, third = "Regulator fines Marmot Cloud over leaked thermostats", "Marmot Cloud leaked thermostats, regulator says fine"
    stories = [
        report_by(who, hour, title, day)
        for day in days
        for hour, (who, title) in enumerate(
            [
                ("TechCrunch", NEWS),
                ("Wired", f"{NEWS} in cash"),
                ("Reuters", other),
                ("Axios", third),
                ("Fortune", "A quiet day for gherkins"),
            ]
        )
    ]
    publish(*stories)
    at_once = partition()
    for model in (Snapshot, LogEntry, LogNode, Change):
        model.objects.all().delete()
    Story.objects.update(current=None)
    Story.objects.all().delete()
    Event.objects.all().delete()
    random.Random(seed).shuffle(stories)
    for at in range(0, len(stories), 4):
        publish(*stories[at : at + 4])
    assert partition() == at_once


def test_an_earlier_report_that_comes_late_becomes_the_founder_and_every_day_says_so() -> None:
    late = report_by("Reuters", 23, day=DAY - dt.timedelta(days=1))
    first, second = report_by("TechCrunch", 8), report_by("Wired", 9)
    publish(first, second)
    known = event_of(first)
    publish(late)
    assert one_event(first, second, late)
    assert event_of(first) == story_of(late).chatbotnews_id != known
    assert Event.objects.get(event_id=known).merged_into_id == event_of(late)
    assert "verify" in verifywire()


def test_a_round_up_stands_alone_unless_an_editor_pins_it_to_an_event(three: list[Entry]) -> None:
    roundup = report_by("Axios", 11, f"The Daily Brief: {WORDINGS['Axios']}")
    same = report_by("Axios", 12, f"Today: {WORDINGS['Axios']}")
    publish(roundup, same)
    assert one_event(*three, same)
    assert event_of(roundup) == story_of(roundup).chatbotnews_id
    assert story_of(same).cross_source_count == 4
    publish(report_by("Fortune", 13, "A quiet day for gherkins"))
    assert event_of(roundup) == story_of(roundup).chatbotnews_id
    corrections.merge_events([event_of(roundup), event_of(same)], reason="It reports the purchase only.", now=NOW)
    publish(report_by("Fortune", 14, "A loud day for gherkins"))
    assert one_event(*three, roundup)


def test_a_round_up_that_came_first_founds_no_event_for_others() -> None:
    roundup = report_by("Axios", 1, f"Morning brief: {WORDINGS['Axios']}")
    publish(roundup)
    made = report_by("TechCrunch", 8), report_by("Wired", 9)
    publish(*made)
    assert one_event(*made)
    assert event_of(made[0]) == story_of(made[0]).chatbotnews_id != event_of(roundup)
    assert "verify" in verifywire()


def test_merged_events_are_one_for_every_reader_and_the_oldest_keeps_its_id() -> None:
    one, other = report_by("TechCrunch", 8), report_by("Wired", 9, "Gherkins are on the rise")
    publish(one, other)
    kept, gone = event_of(one), event_of(other)
    corrections.merge_events([gone, kept], reason="Both tell of the purchase.", now=NOW)
    assert event_of(one) == event_of(other) == kept
    assert Event.objects.get(event_id=gone).merged_into_id == kept
    assert story_of(one).cross_source_count == story_of(other).cross_source_count == 2
    assert "verify" in verifywire()


def test_the_machine_never_undoes_a_merge() -> None:
    one, other = report_by("TechCrunch", 8), report_by("Wired", 9, "Gherkins are on the rise")
    publish(one, other)
    corrections.merge_events([event_of(one), event_of(other)], reason="Both tell of the purchase.", now=NOW)
    publish(report_by("Reuters", 11), report_by("Axios", 12, "Gherkins are on the rise"))
    assert one_event(one, other)


def test_the_machine_never_undoes_a_split(three: list[Entry]) -> None:
    corrections.split_event([story_of(three[1]).chatbotnews_id], reason=REASON, now=NOW)
    publish(report_by("Axios", 12))
    assert not one_event(three[0], three[1])
    assert one_event(three[0], three[2])
    assert "verify" in verifywire()


def test_the_founder_keeps_the_events_id_when_it_is_split_off(three: list[Entry]) -> None:
    known = event_of(three[0])
    corrections.split_event([story_of(three[0]).chatbotnews_id], reason=REASON, now=NOW)
    assert event_of(three[0]) == known
    assert event_of(three[1]) == event_of(three[2]) == story_of(three[1]).chatbotnews_id
    assert [story_of(made).cross_source_count for made in three] == [1, 2, 2]


def test_a_sealed_day_is_published_again_with_the_editors_reason(three: list[Entry]) -> None:
    published = corrections.split_event([story_of(three[2]).chatbotnews_id], reason=REASON, now=AFTER_SEALING)
    assert [(snapshot.wire_date, snapshot.reason) for snapshot in published] == [(DAY, f"{REASON[:-1]}; 3 whose event changed")]
    assert [row["cross_source_count"] for row in published[0].manifest["stories"]] == [1, 2, 2]
    assert "verify" in verifywire()


def test_a_merge_on_a_sealed_day_changes_no_other_event() -> None:
    made = [report_by("TechCrunch", 8), report_by("Wired", 9), report_by("Fortune", 10, "Gherkins are on the rise")]
    bystander = report_by("Axios", 11, "Marmot Cloud leaked thermostats, regulator says")
    publish(*made, bystander)
    late = report_by("Reuters", 12, "Thermostats leaked by Marmot Cloud, says regulator")
    publish(late, now=AFTER_SEALING)
    corrections.merge_events([event_of(made[0]), event_of(made[2])], reason="One purchase.", now=AFTER_SEALING)
    assert [story_of(one).cross_source_count for one in (*made, bystander, late)] == [3, 3, 3, 2, 2]


def test_what_is_pinned_stays_and_what_is_unpinned_is_told_anew(three: list[Entry]) -> None:
    moved = story_of(three[1]).chatbotnews_id
    corrections.split_event([moved], reason=REASON, now=NOW)
    corrections.pin_stories([story_of(made).chatbotnews_id for made in three], pinned=False)
    publish(report_by("Axios", 12))
    assert one_event(*three)
    corrections.pin_stories([moved])
    assert story_of(three[1]).event_pinned


def test_a_founder_belongs_to_the_event_that_another_was_pinned_to() -> None:
    one, other = report_by("TechCrunch", 8), report_by("Wired", 9)
    publish(one, other)
    corrections.pin_stories([story_of(other).chatbotnews_id])
    corrections.correct_texts(story_of(one).chatbotnews_id, headline="Something else altogether", reason="Wrong.", now=NOW)
    assert one_event(one, other)


def test_a_withdrawn_founder_stands_alone() -> None:
    one, two, three = report_by("TechCrunch", 8), report_by("Wired", 9), report_by("Reuters", 10)
    publish(one, two, three)
    corrections.withdraw_story(story_of(one).chatbotnews_id, reason="Retracted.", now=NOW)
    assert event_of(two) == event_of(three) == story_of(two).chatbotnews_id
    assert Event.objects.get(event_id=event_of(one)).merged_into_id == event_of(two)
    assert Client().get(f"/event/{event_of(one)}")["Location"] == f"/event/{event_of(two)}"
    assert "verify" in verifywire()


@pytest.mark.slow
@pytest.mark.parametrize("sealed", [False, True])
def test_a_merged_event_is_founded_by_a_story_that_may_be_shown(sealed: bool) -> None:
    now = AFTER_SEALING if sealed else NOW
    gone, two, other = report_by("TechCrunch", 8), report_by("Wired", 9), report_by("Reuters", 10, "Gherkins are on the rise")
    publish(gone, two, other)
    corrections.withdraw_story(story_of(gone).chatbotnews_id, reason="Retracted.", now=now)
    corrections.merge_events([event_of(gone), event_of(other)], reason="One purchase.", now=now)
    assert event_of(other) == story_of(other).chatbotnews_id
    assert event_of(two) == (event_of(other) if sealed else story_of(two).chatbotnews_id)
    assert Client().get(f"/event/{story_of(gone).chatbotnews_id}")["Location"] == f"/event/{event_of(other)}"
    assert "verify" in verifywire()


def test_an_event_of_which_nothing_may_be_shown_keeps_its_oldest_founder() -> None:
    one, other = report_by("TechCrunch", 8), report_by("Wired", 9, "Gherkins are on the rise")
    publish(one, other)
    for made in (one, other):
        corrections.withdraw_story(story_of(made).chatbotnews_id, reason="Retracted.", now=NOW)
    corrections.merge_events([event_of(one), event_of(other)], reason="One purchase.", now=NOW)
    assert event_of(one) == event_of(other) == story_of(one).chatbotnews_id


def test_what_is_withdrawn_on_a_sealed_day_is_no_witness_of_an_open_one() -> None:
    early, late = report_by("TechCrunch", 8), report_by("Wired", 9, day=DAY + dt.timedelta(days=1))
    publish(early, late)
    assert story_of(late).cross_source_count == 2
    just_sealed = dt.datetime(2026, 1, 19, 1, tzinfo=dt.UTC)
    corrections.withdraw_story(story_of(early).chatbotnews_id, reason="Retracted.", now=just_sealed)
    assert (story_of(late).cross_source_count, story_of(late).consensus_score) == (1, 0.0)
    assert "verify" in verifywire()


def test_an_absorbed_event_follows_its_founder_out_of_a_merge() -> None:
    first, second, third = (
        report_by("TechCrunch", 8),
        report_by("Wired", 9, "A marmot sings"),
        report_by("Axios", 10, "Gherkins rise"),
    )
    publish(first, second, third)
    absorbed = event_of(third)
    corrections.merge_events([event_of(made) for made in (first, second, third)], reason="One.", now=NOW)
    corrections.split_event([story_of(made).chatbotnews_id for made in (second, third)], reason="Two.", now=NOW)
    assert Event.objects.get(event_id=absorbed).merged_into_id == event_of(third)


@pytest.mark.slow
def test_what_editors_settled_comes_back_with_a_dump(three: list[Entry], tmp_path: Path) -> None:
    corrections.split_event([story_of(three[1]).chatbotnews_id], reason=REASON, now=NOW)
    comes_back_whole(tmp_path)
    assert [story_of(made).event_pinned for made in three] == [True, True, True]


def test_a_withdrawn_story_stays_so_and_a_headline_is_never_empty(three: list[Entry]) -> None:
    gone = story_of(three[0]).chatbotnews_id
    corrections.withdraw_story(gone, reason="Retracted.", now=NOW)
    with pytest.raises(InvalidArgument, match="was withdrawn"):
        corrections.correct_texts(gone, headline="Back again", reason="Why not.", now=NOW)
    with pytest.raises(InvalidArgument, match="would be empty"):
        corrections.correct_texts(story_of(three[1]).chatbotnews_id, headline="<b></b>", reason="Why not.", now=NOW)


def test_a_mistaken_hand_changes_nothing(three: list[Entry]) -> None:
    ids = [story_of(made).chatbotnews_id for made in three]
    before = partition()
    with pytest.raises(InvalidArgument, match="merged"):
        corrections.merge_events([event_of(three[0])], reason=REASON)
    for chosen in (ids, []):
        with pytest.raises(InvalidArgument, match="split"):
            corrections.split_event(chosen, reason=REASON)
    with pytest.raises(InvalidArgument, match="reason"):
        corrections.split_event(ids[:1], reason="  ")
    with pytest.raises(NotFound, match="cbn-nowhere"):
        corrections.merge_events(["cbn-nowhere", event_of(three[0])], reason=REASON)
    with pytest.raises(NotFound, match="cbn-nowhere"):
        corrections.split_event(["cbn-nowhere"], reason=REASON)
    assert partition() == before
    assert not Story.objects.filter(event_pinned=True).exists()


def test_what_waits_is_split_before_anybody_sees_it(three: list[Entry]) -> None:
    waiting = report_by("Axios", 12)
    take(waiting)
    assert story_of(waiting).event_id is None
    with pytest.raises(InvalidArgument):
        corrections.split_event([story_of(waiting).chatbotnews_id], reason=REASON)
    publish_pending(now=NOW)
    assert one_event(*three, waiting)


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


def act(desk: Client, action: str, *made: Entry, reason: str = "") -> str:
    chosen = {"action": action, "reason": reason, "_selected_action": [story_of(one).pk for one in made]}
    return desk.post("/admin/wire/story/", chosen, follow=True).content.decode()


@pytest.mark.slow
def test_editors_split_pin_and_merge_in_the_list_of_stories(desk: Client, three: list[Entry]) -> None:
    assert "Split off into an event of their own: " in act(desk, "split_off", three[1], reason=REASON)
    assert not one_event(three[0], three[1])
    assert "Unpinned" in act(desk, "unpin", three[1])
    assert "Pinned" in act(desk, "pin", three[1])
    assert "Events merged: " in act(desk, "merge_events", three[0], three[1], reason="One after all.")
    assert one_event(*three)


def test_the_desk_asks_for_a_reason_and_says_who_reads_it(desk: Client, three: list[Entry]) -> None:
    asked = "stored in the history, and published if a final day is published again"
    assert f'aria-label="Reason: {asked}"' in desk.get("/admin/wire/story/").content.decode()
    answer = act(desk, "split_off", three[1])
    assert f"A reason is missing. Say in one sentence why; it is {asked}." in answer
    assert one_event(*three)
