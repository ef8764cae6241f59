"""Storylines that the machine finds: through the pipeline, on every surface."""

import pytest
from django.test import Client

from sources.entries import Entry
from tests.factories import entry, publish, story_of
from wire.models import Event
from wire.queries.documents import fetch_document, search_documents

pytestmark = pytest.mark.django_db

STEPS = (
    (
        "2026-01-02",
        "Wired",
        "Marmot Cloud sues Quince Robotics over stolen thermostat designs",
        "The complaint names two engineers.",
    ),
    (
        "2026-01-08",
        "Reuters",
        "Judge lets Marmot Cloud’s thermostat lawsuit against Quince Robotics proceed",
        "A trial may begin in May.",
    ),
    (
        "2026-01-14",
        "Axios",
        "Quince Robotics settles the thermostat lawsuit that Marmot Cloud filed",
        "Neither company gave a sum.",
    ),
)


def step(day: str, publisher: str, title: str, summary: str) -> Entry:
    return entry(publisher=publisher, title=title, summary=summary, published_at=f"{day}T10:00:00Z")


@pytest.fixture
def lawsuit() -> list[str]:
    """The events of a lawsuit, published with strangers beside them, oldest first."""
    made = [step(*row) for row in STEPS]
    strangers = (
        step("2026-01-08", "Fortune", "Gherkins are on the rise", "Pickles sell well."),
        step("2026-01-14", "Wired", "Marmalade Compute opens a data center on a glacier", "The ice cools the racks."),
    )
    publish(*made, *strangers)
    return [str(story_of(one).event_id) for one in made]


def test_steps_of_one_matter_are_one_storyline_everywhere(lawsuit: list[str], client: Client) -> None:
    assert len(set(lawsuit)) == 3
    found = client.get(f"/api/storylines/{lawsuit[1]}.json").json()
    assert (found["storyline_id"], [one["event_id"] for one in found["events"]], found["total"]) == (lawsuit[0], lawsuit, 3)
    assert STEPS[2][2] in found["events"][2]["line"]
    assert found["est_tokens"] <= 60 * 3 + 120
    middle = client.get(f"/api/events/{lawsuit[1]}.json").json()
    assert (middle["storyline_id"], middle["earlier"]["event_id"], middle["later"]["event_id"]) == tuple(
        lawsuit[i] for i in (0, 0, 2)
    )
    page = client.get(f"/storyline/{lawsuit[0]}").content.decode()
    places = [page.rindex(title) for _, _, title, _ in STEPS]
    assert places == sorted(places)
    assert client.get(f"/storyline/{lawsuit[2]}")["Location"] == f"/storyline/{lawsuit[0]}"


def test_a_storyline_is_named_after_its_most_reported_event_everywhere(client: Client) -> None:
    other = "Judge allows Marmot Cloud’s thermostat lawsuit against Quince Robotics to proceed"
    second = ("2026-01-08", "The Verge", other, "Quince had asked to throw the case out.")
    made = [step(*row) for row in (*STEPS, second)]
    publish(*made)
    storyline = story_of(made[0]).event_id
    title = client.get(f"/api/storylines/{storyline}.json").json()["headline"]
    assert title in {STEPS[1][2], second[2]}
    assert f'<h1 dir="auto">{title}</h1>' in client.get(f"/storyline/{storyline}").content.decode()
    assert fetch_document(f"storyline:{storyline}").title == title
    found = search_documents("Marmot Cloud thermostat lawsuit").results
    assert [hit.title for hit in found if hit.id == f"storyline:{storyline}"] == [title]
    for week in ("2026-W02", "2026-W03"):
        (of_week,) = client.get(f"/api/weeks/{week}.json").json()["storylines"]
        assert (of_week["storyline_id"], of_week["headline"]) == (storyline, title)


def test_what_follows_from_nothing_is_in_no_storyline(lawsuit: list[str], client: Client) -> None:
    (other,) = Event.objects.exclude(pk__in=lawsuit).filter(stories__current__headline__startswith="Gherkins")
    assert other.storyline_id is None
    found = client.get(f"/api/events/{other.pk}.json").json()
    assert (found["storyline_id"], found["earlier"], found["later"]) == (None, None, None)
    assert client.get(f"/api/storylines/{other.pk}.json").json()["total"] == 1


def test_a_later_step_joins_the_storyline_of_days_that_are_final(lawsuit: list[str], client: Client) -> None:
    late = step(
        "2026-01-15", "TechCrunch", "Marmot Cloud and Quince Robotics file thermostat lawsuit settlement", "It ends the dispute."
    )
    publish(late)
    event = story_of(late).event_id
    expected = [*lawsuit, event] if event not in lawsuit else lawsuit
    assert [one["event_id"] for one in client.get(f"/api/storylines/{lawsuit[0]}.json").json()["events"]] == expected
