"""Agreement about an event: its page, its stories and get_consensus agree, whatever arrives when and whichever days are sealed."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from sources.entries import Entry
from tests.examples import examples
from tests.factories import DAY, entry, feed_of, publish, see, story_of, take
from tests.wire.agreement import disagreements
from tests.wire.archives import empty_wire, loadwire, ndjson, verifywire
from wire.ingest import corrections
from wire.models import Snapshot, Story
from wire.publishing import consensus
from wire.publishing.publish import publish_pending
from wire.text.choices import Status

pytestmark = pytest.mark.django_db

SEALED = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
NEXT_DAY, THIRD_DAY = DAY + dt.timedelta(days=1), DAY + dt.timedelta(days=2)
WORDINGS = {
    "TechCrunch": "Quince Robotics buys Lantern Labs for $90 million",
    "Wired": "Quince Robotics to buy Lantern Labs for $90 million",
    "Reuters": "Lantern Labs bought by Quince Robotics for $90 million",
    "Axios": "Quince Robotics pays $90 million to buy Lantern Labs",
}


def report_by(publisher: str, day: dt.date = DAY, **values: Any) -> Entry:
    usual = {
        "publisher": publisher,
        "title": WORDINGS[publisher],
        "url": f"https://news.example/{publisher}/{day}",
        "published_at": f"{day}T10:00:00Z",
    }
    return entry(**(usual | values))


def figures(*made: Entry) -> list[int]:
    return [story_of(one).cross_source_count for one in made]


def revisions() -> dict[dt.date, list[str]]:
    """By day the reason of each of its snapshots."""
    found: dict[dt.date, list[str]] = {}
    for snapshot in Snapshot.objects.order_by("sequence"):
        found.setdefault(snapshot.wire_date, []).append(snapshot.reason)
    return found


@pytest.mark.slow
def test_a_late_report_of_a_sealed_day_counts_for_every_story_of_its_event() -> None:
    first, second = report_by("TechCrunch"), report_by("Wired", NEXT_DAY)
    publish(first, second, now=SEALED)
    late = report_by("Reuters", THIRD_DAY)
    publish(late, now=SEALED)
    assert figures(first, second, late) == [3, 3, 3]
    assert revisions() == {DAY: ["", "1 whose event changed"], NEXT_DAY: ["", "1 whose event changed"], THIRD_DAY: [""]}
    assert not disagreements()
    assert "verify" in verifywire()


def test_what_was_published_before_stays_readable_as_it_was(client: Client) -> None:
    publish(report_by("TechCrunch"), now=SEALED)
    before = client.get(f"/api/archive/{DAY}.json").json()
    publish(report_by("Wired", NEXT_DAY), now=SEALED)
    old = client.get(f"/api/archive/{DAY}.json?revision=1").json()
    assert {name: old[name] for name in ("editor_take", "stories", "provenance")} == {
        name: before[name] for name in ("editor_take", "stories", "provenance")
    }
    now = client.get(f"/api/archive/{DAY}.json").json()
    assert (now["provenance"]["revision"], now["stories"][0]["cross_source_count"]) == (2, 2)


@pytest.mark.slow
def test_a_report_of_today_that_joins_a_sealed_event_counts_for_it_too() -> None:
    early = report_by("TechCrunch")
    publish(early)
    today = report_by("Wired", DAY + dt.timedelta(days=4))
    publish(today, now=dt.datetime(2026, 1, 19, 12, tzinfo=dt.UTC))
    assert figures(early, today) == [2, 2]
    assert revisions()[DAY] == ["", "1 whose event changed"]
    assert not disagreements()


@pytest.mark.slow
def test_a_story_of_today_that_leaves_a_sealed_event_counts_for_it_no_more() -> None:
    early, today = report_by("TechCrunch"), report_by("Wired", DAY + dt.timedelta(days=2))
    now = dt.datetime(2026, 1, 19, 12, tzinfo=dt.UTC)
    publish(early, today, now=now)
    assert figures(early, today) == [2, 2]
    corrections.correct_texts(story_of(today).chatbotnews_id, headline="A marmot sings", reason="Wrong story.", now=now)
    assert figures(early, today) == [1, 1]
    assert revisions()[DAY] == ["", "Wrong story; 1 whose event changed"]
    assert not disagreements()


@pytest.mark.slow
@pytest.mark.parametrize("day", [DAY, NEXT_DAY])
def test_what_is_withdrawn_or_corrected_after_sealing_is_told_by_every_story_of_its_event(day: dt.date) -> None:
    made = [report_by("TechCrunch"), report_by("Wired", day), report_by("Reuters", day)]
    publish(*made, now=SEALED)
    corrections.withdraw_story(story_of(made[1]).chatbotnews_id, reason="Retracted.", now=SEALED)
    assert figures(made[0], made[2]) == [2, 2]
    score = story_of(made[0]).consensus_score
    corrections.correct_texts(story_of(made[2]).chatbotnews_id, headline="Lantern Labs sold to Quince", reason="Vague.", now=SEALED)
    assert story_of(made[0]).consensus_score < score
    assert not disagreements()
    assert [reason.partition(";")[0] for reason in revisions()[DAY]] == ["", "Retracted", "Vague"]


@pytest.mark.slow
def test_a_headline_that_a_publisher_edits_after_sealing_is_told_by_every_story_of_its_event() -> None:
    other, feed = report_by("Wired", NEXT_DAY), feed_of("techcrunch")
    for title in (WORDINGS["TechCrunch"], "Quince Robotics, maker of robots, buys Lantern Labs"):
        see(feed, report_by("TechCrunch", title=title), now=SEALED)
        publish(other, now=SEALED)
    assert revisions() == {DAY: ["", "1 revised by the publisher"], NEXT_DAY: ["", "1 whose event changed"]}
    assert not disagreements()


@pytest.mark.slow
def test_a_load_publishes_every_day_that_it_touches_once(tmp_path: Path) -> None:
    days = [DAY + dt.timedelta(days=number) for number in range(8)]
    publish(*(report_by("TechCrunch", day) for day in days), now=SEALED)
    late = [report_by(who, day) for who in ("Wired", "Reuters", "Axios") for day in days[::2]]
    lines = [json.dumps({"title": e.title, "url": e.url, "publisher": e.publisher, "published_at": e.published_at}) for e in late]
    report = loadwire(ndjson(tmp_path / "late.ndjson", [line.encode() for line in lines]))
    assert report == {"accepted": len(late), "snapshots published": len(days)}
    assert {len(reasons) for reasons in revisions().values()} == {2}
    assert not disagreements()


def test_what_nothing_arrived_for_is_not_weighed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sealed day comes out again for one event; the figures of another stay, even if today's rules gave others."""
    untouched = [report_by("TechCrunch"), report_by("Wired")]
    other = report_by("Axios", title="Marmot Cloud leaked thermostats, regulator says")
    publish(*untouched, other, now=SEALED)
    before = [(story_of(one).consensus_score, story_of(one).cross_source_count) for one in untouched]
    for tier in consensus.WEIGHTS:
        monkeypatch.setitem(consensus.WEIGHTS, tier, 0.1)
    publish(report_by("Reuters", title="Thermostats leaked by Marmot Cloud, says regulator"), now=SEALED)
    assert figures(other) == [2]
    assert [(story_of(one).consensus_score, story_of(one).cross_source_count) for one in untouched] == before


@pytest.mark.slow
def test_what_changes_no_figure_publishes_no_sealed_day_again() -> None:
    publish(report_by("TechCrunch"), report_by("Wired", NEXT_DAY), now=SEALED)
    publish(report_by("Wired", THIRD_DAY), now=SEALED)
    assert revisions() == {DAY: [""], NEXT_DAY: [""], THIRD_DAY: [""]}
    assert not Story.objects.pending().exists()
    assert not disagreements()


@pytest.mark.slow
def test_a_load_that_was_killed_between_two_days_of_an_event_is_completed_by_the_next_run() -> None:
    publish(report_by("TechCrunch"), report_by("Wired", THIRD_DAY), now=SEALED)
    take(report_by("Reuters", NEXT_DAY), now=SEALED)
    reached = []

    def kill(day: dt.date) -> None:
        reached.append(day)
        if len(reached) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish_pending(now=SEALED, progress=kill)
    assert reached == [DAY, NEXT_DAY]
    publish_pending(now=SEALED)
    assert not disagreements()
    assert {day: len(reasons) for day, reasons in revisions().items()} == {DAY: 2, NEXT_DAY: 1, THIRD_DAY: 2}


@pytest.mark.slow
def test_an_editor_may_correct_what_a_load_that_waits_belongs_to() -> None:
    """The days of an event come out together; what waits on one of them comes out with it, in an event of its own or another's."""
    publish(report_by("TechCrunch"), report_by("Wired", NEXT_DAY), now=SEALED)
    take(report_by("Reuters", NEXT_DAY), report_by("Axios", THIRD_DAY, title="Gherkins are on the rise"), now=SEALED)
    corrections.withdraw_story(story_of(report_by("TechCrunch")).chatbotnews_id, reason="Retracted.", now=SEALED)
    assert figures(report_by("Wired", NEXT_DAY), report_by("Reuters", NEXT_DAY)) == [2, 2]
    publish_pending(now=SEALED)
    assert not disagreements()


HAPPENINGS = (
    WORDINGS,
    {
        "TechCrunch": "Marmot Cloud leaked thermostats, regulator says",
        "Wired": "Regulator: Marmot Cloud leaked its thermostats",
        "Reuters": "Thermostats leaked by Marmot Cloud, regulator says",
        "Axios": "Thermostats leaked by Marmot Cloud, regulator says",  # the same text: a copy
    },
    {  # which a podcast, a live page and a column report, too
        "TechCrunch": "Walrus Motors recalls 4,000 robot taxis – podcast",
        "Wired": "Walrus Motors recalls 4,000 robot taxis",
        "Reuters": "Walrus Motors recalls 4,000 robot taxis after crash – live",
        "Axios": "Opinion: Walrus Motors recalls 4,000 robot taxis, too late",
    },
)


@pytest.mark.slow
@pytest.mark.parametrize("now", [dt.datetime(2026, 1, 16, 12, tzinfo=dt.UTC), SEALED], ids=["open", "final"])
def test_all_that_is_served_agrees_which_reports_are_news(now: dt.datetime) -> None:
    made = [
        report_by(who, title=title, published_at=f"{DAY}T{10 + n}:00:00Z") for n, (who, title) in enumerate(HAPPENINGS[2].items())
    ]
    publish(*made, now=now)
    assert {story_of(one).event_id for one in made} == {story_of(made[0]).event_id}
    assert figures(*made) == [1, 1, 1, 1]
    assert not disagreements()
    publish(
        report_by("Reuters", NEXT_DAY, title="Robot taxis of Walrus Motors recalled, all 4,000"), now=now + dt.timedelta(days=1)
    )
    assert figures(*made) == [2, 2, 2, 2]
    assert not disagreements()


ARRIVALS = st.tuples(st.sampled_from(HAPPENINGS), st.sampled_from(sorted(WORDINGS)), st.integers(0, 12))
STEPS = st.tuples(
    st.lists(ARRIVALS, max_size=4), st.sampled_from([1, 30, 200]), st.sampled_from(["", "", "", "withdraw", "correct", "split"])
)


@pytest.mark.slow
@given(st.lists(STEPS, min_size=2, max_size=5))
@examples(10)
def test_whatever_arrives_in_whatever_order_all_that_is_served_agrees(steps: list[Any]) -> None:
    """Stories of thirteen days, from days long sealed to days to come; the clock goes on, and editors change what is there."""
    empty_wire()
    now = dt.datetime.combine(DAY, dt.time(12), dt.UTC) + dt.timedelta(days=4)
    for arrivals, hours, hand in steps:
        made = [
            report_by(who, day, title=wordings[who], url=f"https://news.example/{who}/{day}/{HAPPENINGS.index(wordings)}")
            for wordings, who, number in arrivals
            for day in [DAY + dt.timedelta(days=number - 5)]
        ]
        publish(*made, now=now)
        assert not disagreements()
        change(hand, now)
        assert not disagreements()
        now += dt.timedelta(hours=hours)
    assert not Story.objects.pending().exists()
    if Snapshot.objects.exists():
        assert "verify" in verifywire()


def change(hand: str, now: dt.datetime) -> None:
    """An editor's action on one of the stories that are shown, if there is any."""
    stories = Story.objects.live().exclude(status=Status.CORRECTED).order_by("chatbotnews_id")
    story = stories.first()
    match hand:
        case "withdraw" if story:
            corrections.withdraw_story(story.chatbotnews_id, reason="Gone.", now=now)
        case "correct" if story:
            corrections.correct_texts(story.chatbotnews_id, headline="Lantern Labs and its thermostats", reason="Wrong.", now=now)
        case "split" if story and Story.objects.filter(event=story.event_id).count() > 1:
            corrections.split_event([story.chatbotnews_id], reason="Another one.", now=now)
