"""The queue of pairs that are probably one event, and what each of its three buttons does."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.test import Client

from sources.entries import Entry
from tests.factories import NOW, entry, publish, story_of
from tests.wire.desk import at_desk, person, words
from wire.ingest import corrections
from wire.models import Snapshot, StoryPair, WireState
from wire.publishing.grouping import cluster
from wire.publishing.grouping.pair_model import load_models
from wire.text.choices import PairLabel

pytestmark = pytest.mark.django_db
QUEUE = "/admin/wire/storypair/?queue=one-event"
EMPTY = "No pair is waiting: no two events look like one."
TITLES = ("Marmot Cloud buys Gherkin Robotics", "Antitrust lawyers study a deal", "Quince ships thermostats at last")


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


@pytest.fixture
def three() -> list[Entry]:
    """Stories of three events, of three days."""
    made = [entry(title=title, published_at=f"2026-01-{13 + day}T10:00:00Z") for day, title in enumerate(TITLES)]
    publish(*made)
    assert len({event_of(one) for one in made}) == 3
    return made


def join_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let grouping doubt whatever it would join."""
    models = {name: replace(model, threshold=2.0) for name, model in load_models().items()}
    monkeypatch.setattr(cluster, "load_models", lambda: models)


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """Stories of one headline that grouping took for two events, in doubt; the next publish would make them one."""
    made = [entry(title=TITLES[0], publisher=name, summary="") for name in ("TechCrunch", "Wired")]
    with monkeypatch.context() as strict:
        join_nothing(strict)
        publish(*made)
    assert event_of(made[0]) != event_of(made[1])
    return made


def event_of(made: Entry) -> str:
    return str(story_of(made).event_id)


def doubt(one: Entry, other: Entry, probability: float = 0.45) -> StoryPair:
    found = {"probability": probability}
    return StoryPair.objects.update_or_create(story=story_of(one), other=story_of(other), defaults=found)[0]


def decide(desk: Client, pair: StoryPair, label: str, **form: str) -> str:
    """Return what is said after a button of the pair was pressed."""
    return words(desk.post(QUEUE, {"pair": pair.pk, "label": label, **form}, follow=True))


def test_pairs_are_shown_with_both_stories_the_likeliest_first_and_counted(desk: Client, three: list[Entry]) -> None:
    doubt(three[0], three[2], 0.31)
    doubt(three[0], three[1], 0.47)
    answer = desk.get(QUEUE)
    page = words(answer)
    assert "Probably one event (2)" in page
    assert page.index("Probability 0.47") < page.index(TITLES[1]) < page.index("Probability 0.31") < page.index(TITLES[2])
    assert f"{TITLES[0]} TechCrunch Tier 2 13 Jan 2026 10:00 UTC {three[0].summary}" in page
    for story in (story_of(three[0]), story_of(three[1])):
        for address in (f"/story/{story.chatbotnews_id}", f"/admin/wire/event/{story.event_id}/change/", story.original_url):
            assert f'href="{address}"' in answer.content.decode()
    assert "Probably one event: 2" in words(desk.get("/admin/"))
    assert EMPTY not in page


@pytest.mark.slow
def test_a_long_queue_has_pages(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    join_nothing(monkeypatch)
    made = [entry() for _ in range(8)]
    publish(*made)
    StoryPair.objects.all().delete()
    for number, one in enumerate(made):
        for other in made[number + 1 :]:
            doubt(one, other)
    first, second = words(desk.get(QUEUE)), words(desk.get(f"{QUEUE}&page=2"))
    assert (first.count("Probability 0.45"), second.count("Probability 0.45")) == (20, 8)
    assert "Page 1 of 2 Next" in first
    assert "Previous Page 2 of 2" in second


def test_one_event_merges_both_and_says_what_was_published(desk: Client, three: list[Entry]) -> None:
    pair = doubt(three[0], three[1])
    said = decide(desk, pair, "S")
    assert f"Decided: one event: “ {three[0].title} ” and “ {three[1].title} ”. Published: 14 Jan 2026 (revision 2)." in said
    assert event_of(three[0]) == event_of(three[1]) == story_of(three[0]).chatbotnews_id
    assert EMPTY in said
    pair.refresh_from_db()
    assert (pair.label, pair.decided_by) == (PairLabel.SAME, "editor")
    assert pair.decided_at is not None
    history = [(log.object_repr, log.get_change_message()) for log in LogEntry.objects.order_by("object_repr")]
    assert history == sorted((story_of(one).chatbotnews_id, "Decided: one event") for one in three[:2])
    publish(entry(published_at="2026-01-14T12:00:00Z"))
    assert event_of(three[0]) == event_of(three[1])


def test_the_reason_of_a_merge_is_the_editors_or_the_usual_one(three: list[Entry]) -> None:
    final = NOW.replace(month=3)
    corrections.decide_pair(doubt(three[0], three[1]).pk, PairLabel.SAME, by="ada", now=final)
    corrections.decide_pair(doubt(three[1], three[2]).pk, PairLabel.SAME, by="ada", reason="One deal.", now=final)
    assert Snapshot.objects.get(wire_date="2026-01-14", revision=2).reason.startswith(corrections.ONE_EVENT.removesuffix("."))
    assert Snapshot.objects.get(wire_date="2026-01-15", revision=2).reason.startswith("One deal")


def test_a_follow_up_stays_apart_and_goes_on_the_storyline(desk: Client, three: list[Entry]) -> None:
    version = WireState.objects.get().version
    said = decide(desk, doubt(three[0], three[1]), "F", reason="The study of that deal.")
    assert "Decided: a follow-up, another event of the same storyline: " in said
    assert "Readers see it within a minute" in said
    first, second = event_of(three[0]), event_of(three[1])
    assert first != second
    assert desk.get(f"/api/events/{second}.json").json()["earlier"]["event_id"] == first
    assert desk.get(f"/api/storylines/{second}.json").json()["storyline_id"] == first
    assert WireState.objects.get().version > version
    assert LogEntry.objects.all()[0].get_change_message().endswith("same storyline: The study of that deal.")
    publish(entry(published_at="2026-01-14T12:00:00Z"))
    assert (event_of(three[0]), event_of(three[1])) == (first, second)
    assert desk.get(f"/api/storylines/{second}.json").json()["storyline_id"] == first


def test_different_events_stay_apart_though_their_texts_are_one(desk: Client, alike: list[Entry]) -> None:
    assert "Decided: different events: " in decide(desk, StoryPair.objects.get(), "N")
    another = entry(title=TITLES[0], publisher="Axios", published_at="2026-01-15T10:05:00Z")
    publish(another)
    assert event_of(alike[0]) != event_of(alike[1])
    assert event_of(another) in {event_of(alike[0]), event_of(alike[1])}
    assert EMPTY in words(desk.get(QUEUE)), "not asked again about the same two events"
    assert "Possibly the same event" not in words(desk.get(f"/event/{event_of(alike[0])}"))


def test_readers_are_shown_a_doubt_until_it_is_decided(desk: Client, three: list[Entry]) -> None:
    pair = doubt(three[0], three[1])
    page = f"/event/{event_of(three[0])}"
    WireState.raise_version()
    assert "Possibly the same event" in words(desk.get(page))
    decide(desk, pair, "N")
    assert "Possibly the same event" not in words(desk.get(page))


def test_a_second_decision_changes_nothing_and_says_so(desk: Client, three: list[Entry]) -> None:
    pair = doubt(three[0], three[1])
    decide(desk, pair, "N")
    said = decide(desk, pair, "S")
    assert "This pair was already decided: “Nothing to do with each other”, by editor. Nothing was changed." in said
    assert event_of(three[0]) != event_of(three[1])


@pytest.mark.slow
def test_a_pair_that_was_merged_or_withdrawn_or_dropped_meanwhile_is_refused_in_a_sentence(
    desk: Client, three: list[Entry]
) -> None:
    corrections.merge_events([event_of(three[0]), event_of(three[1])], reason="One.", now=NOW)
    corrections.withdraw_story(story_of(three[2]).chatbotnews_id, reason="Wrong.", now=NOW)
    merged, withdrawn, dropped = doubt(three[0], three[1]), doubt(three[1], three[2]), doubt(three[0], three[2])
    dropped.delete()
    assert EMPTY in words(desk.get(QUEUE))
    assert "Both stories already belong to one event. Nothing was changed." in decide(desk, merged, "N")
    for label in PairLabel.values:
        assert "One of the two stories is no longer public. Nothing was changed" in decide(desk, withdrawn, label)
    dropped.pk = 10**9
    assert "These two stories are no longer in doubt" in decide(desk, dropped, "S")
    for form in ({}, {"pair": "x", "label": "S"}, {"pair": "9" * 30, "label": "S"}, {"pair": str(merged.pk), "label": "Z"}):
        assert "Nothing was changed: the form named no pair" in words(desk.post(QUEUE, form, follow=True)), form
    assert not StoryPair.objects.exclude(label="").exists()


def test_a_form_that_is_open_while_stories_are_grouped_again_still_works(
    desk: Client, alike: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    join_nothing(monkeypatch)
    pair = StoryPair.objects.get()
    publish(entry(title=TITLES[2]))
    assert "Decided: one event: " in decide(desk, pair, "S")
    assert event_of(alike[0]) == event_of(alike[1])


def test_what_is_no_longer_in_doubt_leaves_the_queue(desk: Client, alike: list[Entry]) -> None:
    assert "Probably one event (1)" in words(desk.get(QUEUE))
    publish(entry(title=TITLES[2]))
    assert event_of(alike[0]) == event_of(alike[1])
    assert EMPTY in words(desk.get(QUEUE))
    assert not StoryPair.objects.exists()


def test_only_who_may_change_stories_decides(three: list[Entry]) -> None:
    pair = doubt(three[0], three[1])
    looker, client = person("looker"), Client()
    looker.user_permissions.set(Permission.objects.filter(codename="view_storypair"))
    client.force_login(looker)
    page = client.get(QUEUE)
    assert TITLES[0] in words(page)
    assert 'name="label"' not in page.content.decode()
    assert client.post(QUEUE, {"pair": pair.pk, "label": "N"}).status_code == 403
    assert at_desk().get(QUEUE).status_code == 403
    pair.refresh_from_db()
    assert pair.label == ""


@pytest.mark.slow
def test_decisions_are_labels_that_grouping_is_fitted_to(desk: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    join_nothing(monkeypatch)
    made = [
        [
            entry(title=f"{title}{how}", summary=f"“{title}”,\nit says{how}.", published_at=f"2026-{month}-{day}T10:00:00Z")
            for title, day in zip(TITLES, ("10", "11", "12"), strict=True)
            for how in ("", " at last", " in the end")
        ]
        for month in ("01", "02")
    ]
    publish(*made[0], *made[1], now=NOW.replace(month=3))
    for stories in made:
        for label, one, other in (("S", 0, 1), ("S", 3, 4), ("F", 0, 2), ("N", 3, 5), ("N", 6, 7)):
            assert "Decided: " in decide(desk, doubt(stories[one], stories[other]), label)
    call_command("exportlabels", str(tmp_path), stdout=io.StringIO())
    assert (tmp_path / "pairs.tsv").read_text().count("\n") == 10
    weights, out = tmp_path / "weights.json", io.StringIO()
    call_command("fitevents", str(tmp_path / "pairs.tsv"), str(tmp_path / "stories.csv"), "--out", str(weights), stdout=out)
    assert "text: pairs 10," in out.getvalue()
    assert json.loads(weights.read_text())["fitted_to"] == "10 labelled pairs of 18 stories"
