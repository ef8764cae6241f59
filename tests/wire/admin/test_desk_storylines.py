"""Storylines at the desk: events are joined and parted there, and what editors settled stays, whatever becomes of the events."""

import datetime as dt
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from config.errors import InvalidArgument, NotFound
from sources.entries import Entry
from tests.factories import DAY, NOW, entry, publish, story_of
from tests.wire.archives import comes_back_whole
from tests.wire.desk import at_desk, words
from wire.ingest import corrections
from wire.models import Event, WireState
from wire.publishing.publish import publish_pending

pytestmark = pytest.mark.django_db
TITLES = (
    "Marmot Cloud sues Gherkin Robotics",
    "Quince ships thermostats at last",
    "Judge hears a bitter quarrel over patents",
    "Lantern Labs raises $40 million",
)
FINAL = NOW.replace(month=3)


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


@pytest.fixture
def four() -> list[Entry]:
    """Stories of four events, of four days, none of which goes on from another."""
    made = [entry(title=title, published_at=f"2026-01-{12 + day}T10:00:00Z", summary="") for day, title in enumerate(TITLES)]
    publish(*made)
    assert len({event_of(one) for one in made}) == 4
    assert not Event.objects.exclude(storyline=None).exists()
    return made


def event_of(made: Entry) -> str:
    return str(story_of(made).event_id)


def join(*made: Entry) -> None:
    for other in made[1:]:
        corrections.join_storylines(event_of(made[0]), event_of(other))


def storyline_of(event_id: str) -> tuple[str, list[str]]:
    """Return the id of the storyline at an address, and its events, as readers get them."""
    answer = Client().get(f"/api/storylines/{event_id}.json").json()
    return answer["storyline_id"], [event["event_id"] for event in answer["events"]]


def do(desk: Client, made: Entry, **form: object) -> str:
    """Return what is said after a form of the event's page was sent."""
    return words(desk.post(f"/admin/wire/event/{event_of(made)}/change/", form, follow=True))


@pytest.mark.slow
def test_an_event_joins_the_storyline_of_another_by_id_or_address(desk: Client, four: list[Entry]) -> None:
    version = WireState.objects.get().version
    first, other, third, _ = map(event_of, four)
    page = do(desk, four[2], do="join", other_id=first, reason="The hearing.")
    assert (
        f"Joined the storyline of “ {TITLES[0]} ”: “ {TITLES[2]} ”. Readers see it within a minute; no day is published again"
        in page
    )
    assert "Automatic linking leaves these events where they are now. See the public page ." in page
    assert page.index(f"{TITLES[0]} TechCrunch, 12 Jan 2026 10:00 UTC") < page.index(f"{TITLES[2]} (this event)")
    assert "An editor decided this" in page
    assert storyline_of(third) == (first, [first, third])
    assert WireState.objects.get().version > version
    assert LogEntry.objects.get().get_change_message() == f"Joined the storyline of “{TITLES[0]}”: The hearing."
    do(desk, four[0], do="join", other_id=f"https://wire.example/event/{other}")
    assert storyline_of(other) == (first, [first, other, third])
    assert TITLES[2] in words(Client().get(f"/event/{other}"))


def test_the_storyline_has_the_id_of_its_oldest_event_and_leads_there_from_the_former_one(four: list[Entry]) -> None:
    first, second, third, _ = map(event_of, four)
    join(four[1], four[2])
    assert storyline_of(third) == (second, [second, third])
    join(four[0], four[2])
    assert storyline_of(second) == (first, [first, second, third])
    answer = Client().get(f"/storyline/{second}")
    assert (answer.status_code, answer["Location"]) == (302, f"/storyline/{first}")


@pytest.mark.slow
def test_an_event_and_the_later_ones_begin_a_storyline_of_their_own(desk: Client, four: list[Entry]) -> None:
    first, second, third, fourth = map(event_of, four)
    join(*four)
    said = do(desk, four[1], do="part", reason="Another matter.")
    moved = "; ".join(f"“ {title} ”" for title in TITLES[1:])
    assert f"A new storyline: {moved}. In the former one: “ {TITLES[0]} ”. Readers see it within a minute" in said
    assert "Automatic linking leaves these events where they are now." in said
    assert storyline_of(fourth) == (second, [second, third, fourth])
    assert storyline_of(first) == (first, [first])
    page = words(desk.get(f"/admin/wire/event/{first}/change/"))
    assert "This is the only event of its storyline. An editor decided this: automatic linking leaves this event" in page
    assert LogEntry.objects.get().get_change_message() == f"Started a new storyline, apart from “{TITLES[0]}”: Another matter."
    said = do(desk, four[3], do="part")
    assert f"A new storyline: “ {TITLES[3]} ”. In the former one: “ {TITLES[1]} ”; “ {TITLES[2]} ”." in said
    assert "This is the only event of its storyline." in said
    assert "not part of a storyline" not in said
    assert storyline_of(third) == (second, [second, third])
    assert storyline_of(fourth) == (fourth, [fourth])


@pytest.mark.slow
def test_what_cannot_be_joined_or_parted_is_said_and_changes_nothing(desk: Client, four: list[Entry]) -> None:
    join(four[0], four[1])
    before = list(Event.objects.order_by("pk").values_list())
    first = event_of(four[0])
    assert f"Nothing was joined: “{first}” leads to this event." in do(desk, four[0], do="join", other_id=first)
    said = "Nothing was joined: both events are in one storyline already."
    assert said in do(desk, four[0], do="join", other=event_of(four[1]))
    assert "Nothing was joined: no other event was chosen." in do(desk, four[0], do="join")
    assert "no event was found for “cbn-nowhere”" in do(desk, four[0], do="join", other_id="cbn-nowhere")
    assert "Nothing was changed: no event comes before it in a storyline." in do(desk, four[0], do="part")
    assert "Nothing was changed: no event comes before it in a storyline." in do(desk, four[3], do="part")
    with pytest.raises(NotFound):
        corrections.join_storylines(first, "cbn-000000000000")
    assert list(Event.objects.order_by("pk").values_list()) == before
    corrections.withdraw_story(story_of(four[3]).chatbotnews_id, reason="Wrong.", now=NOW)
    with pytest.raises(InvalidArgument, match="Readers see no story"):
        corrections.join_storylines(first, event_of(four[3]))


def test_a_link_that_is_right_is_settled_by_a_button(desk: Client, four: list[Entry]) -> None:
    first, second, *_ = map(event_of, four)
    join(four[0], four[1])
    Event.objects.update(storyline_pinned=False)  # as the machine links
    page = f"/admin/wire/event/{second}/change/"
    assert "This link is right" in words(desk.get(page))
    said = do(desk, four[1], do="confirm")
    assert "Confirmed: automatic linking leaves this event in its storyline." in said
    assert "This link is right" not in said
    assert list(Event.objects.filter(storyline_pinned=True)) == [Event.objects.get(pk=second)]
    assert storyline_of(second) == (first, [first, second])
    assert LogEntry.objects.get().get_change_message() == "Confirmed that it belongs to its storyline"


def test_a_link_that_is_gone_by_now_is_not_confirmed(desk: Client, four: list[Entry]) -> None:
    assert "Nothing was changed: it is in no storyline." in do(desk, four[1], do="confirm")
    assert not Event.objects.filter(storyline_pinned=True).exists()


def test_the_machine_leaves_what_was_settled(four: list[Entry]) -> None:
    first, second, *_ = map(event_of, four)
    join(four[0], four[1])
    publish(entry(title="Lighthouse keepers knit scarves", published_at="2026-01-13T12:00:00Z"))
    publish_pending(now=NOW)
    assert storyline_of(second) == (first, [first, second])


@pytest.mark.parametrize("now", [NOW, FINAL], ids=["open days", "final days"])
def test_a_merge_hands_the_storyline_on_to_the_event_that_stays(four: list[Entry], now: dt.datetime) -> None:
    first, second, third, fourth = map(event_of, four)
    join(four[1], four[2], four[3])
    corrections.merge_events([second, first], reason="One happening.", now=now)
    assert event_of(four[1]) == first
    assert storyline_of(fourth) == (first, [first, third, fourth])
    assert storyline_of(second) == (first, [first, third, fourth])
    assert Client().get(f"/storyline/{second}")["Location"] == f"/storyline/{first}"


def test_of_two_storylines_that_were_linked_by_hand_a_merge_makes_one(four: list[Entry]) -> None:
    first, second, third, fourth = map(event_of, four)
    join(four[0], four[2])
    join(four[1], four[3])
    corrections.merge_events([second, first], reason="One happening.", now=NOW)
    assert storyline_of(fourth) == (first, [first, third, fourth])


@pytest.mark.slow
def test_a_merge_says_which_storyline_the_event_now_belongs_to(desk: Client, four: list[Entry]) -> None:
    first, second, third, fourth = map(event_of, four)
    join(four[1], four[2])
    page = words(desk.get(f"/admin/wire/event/{first}/change/"))
    assert "This event is in no storyline with other events." in page
    assert f"storyline that began with “{TITLES[1]}”." in words(desk.get(f"/admin/wire/event/{third}/change/"))
    said = do(desk, four[0], do="merge", other=third, reason="One happening.")
    assert f"Their event is in the storyline of 2 events that began with “ {TITLES[0]} ”." in said
    assert storyline_of(second) == (first, [first, second])
    said = do(desk, four[0], do="merge", other=second, reason="One happening.")
    assert "Their event is in no storyline with other events." in said
    said = do(desk, four[0], do="split", story=first, reason="Two happenings.")
    corrections.pin_stories([first], pinned=False)
    Event.objects.update(storyline=None)
    said = do(desk, four[3], do="merge", other=first, reason="One.")
    assert "Their event is in" not in said
    assert event_of(four[3]) == event_of(four[0]) != fourth


@pytest.mark.slow
def test_a_refused_join_keeps_what_was_typed(desk: Client, four: list[Entry]) -> None:
    for other in ("cbn-nowhere", event_of(four[0])):
        page = desk.post(f"/admin/wire/event/{event_of(four[0])}/change/", {"do": "join", "other_id": other, "reason": "Go on."})
        assert "Nothing was joined" in words(page)
        assert f'value="{other}"' in page.content.decode()
        assert 'id="join-reason" name="reason" maxlength="500" value="Go on."' in page.content.decode()


def test_an_earlier_report_that_comes_late_takes_the_storyline_over(four: list[Entry]) -> None:
    first, second, *_ = map(event_of, four)
    join(four[0], four[1])
    late = entry(title=four[0].title, publisher="Reuters", published_at="2026-01-12T08:00:00Z", summary="")
    publish(late, now=dt.datetime.combine(DAY, dt.time(12), dt.UTC) - dt.timedelta(days=1))
    founder = story_of(late).chatbotnews_id
    assert event_of(four[0]) == founder != first
    assert storyline_of(second) == (founder, [founder, second])
    assert storyline_of(first)[0] == founder


@pytest.mark.slow
def test_a_storyline_whose_first_event_was_withdrawn_keeps_its_address(desk: Client, four: list[Entry]) -> None:
    first, second, third, fourth = map(event_of, four)
    join(*four)
    corrections.withdraw_story(story_of(four[0]).chatbotnews_id, reason="Wrong.", now=NOW)
    assert storyline_of(third)[1] == [second, third, fourth]
    assert storyline_of(first) == storyline_of(third)
    assert Client().get(f"/storyline/{storyline_of(third)[0]}").status_code == 200
    do(desk, four[3], do="part")
    assert storyline_of(first) == (second, [second, third])
    assert Client().get(f"/storyline/{first}")["Location"] == f"/storyline/{second}"
    for made in four[1:3]:
        corrections.withdraw_story(story_of(made).chatbotnews_id, reason="Wrong.", now=NOW)
    assert Client().get(f"/storyline/{first}").status_code == 404


def test_late_stories_of_a_final_day_take_no_event_out_of_its_storyline(four: list[Entry]) -> None:
    first, second, *_ = map(event_of, four)
    join(four[0], four[1])
    Event.objects.update(storyline_pinned=False)  # as the machine links
    publish(entry(published_at="2026-01-12T12:00:00Z"), now=FINAL)
    assert storyline_of(second) == (first, [first, second])


@pytest.mark.slow
def test_storylines_come_back_from_a_dump(four: list[Entry], tmp_path: Path) -> None:
    first, second, third, _ = map(event_of, four)
    join(*four[:3])
    comes_back_whole(tmp_path)
    assert storyline_of(third) == (first, [first, second, third])
    assert Event.objects.filter(storyline_pinned=True).count() == 3
