"""What pages draw and count, and the same in REST: one click out, coverage, stories a day, first reports, weeks, arrivals."""

import datetime as dt
import re

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import NOW, entry, publish, story_of
from tests.wire.site.test_site import page
from wire.models import Story
from wire.site.day_summary import describe_day

pytestmark = pytest.mark.django_db

NEWS = "Quince Robotics buys Lantern Labs for $90 million"
OTHER = "Lantern Labs bought by Quince Robotics for $90 million"
THIRD = "Quince Robotics to buy Lantern Labs for $90 million in cash"


@pytest.fixture
def event() -> list[Story]:
    """A newsroom and an agency report one purchase; the day before has a story alone."""
    made = [
        entry(title=NEWS, published_at="2026-01-15T08:00:00Z"),
        entry(title=OTHER, publisher="Reuters", url="https://reuters.com/q", published_at="2026-01-15T09:30:00Z"),
    ]
    publish(*made, entry(title="Gherkins are on the rise", url="https://techcrunch.com/g", published_at="2026-01-14T10:00:00Z"))
    return [story_of(one) for one in made]


def test_headlines_lead_to_the_article_and_beside_it_to_the_page_of_the_wire(client: Client, event: list[Story]) -> None:
    event_id, (first, second) = event[0].event_id, event
    for address in (
        "/day/2026-01-15",
        f"/category/{first.category}",
        "/week",
        f"/event/{event_id}",
        f"/story/{first.chatbotnews_id}",
    ):
        html = client.get(address).content.decode()
        assert f'<a href="{first.original_url}" rel="noopener external"' in html, address
        assert f'<a href="{second.original_url}" rel="noopener external"' in html, address
        assert (f'href="/event/{event_id}"' in html) or address.startswith("/event/"), address
    lone = Story.objects.get(wire_date="2026-01-14")
    html = client.get("/day/2026-01-14").content.decode()
    assert f'<a href="{lone.original_url}" rel="noopener external"' in html
    assert f'<a href="/story/{lone.chatbotnews_id}">one source</a>' in html


@pytest.mark.usefixtures("event")
def test_a_story_shows_one_citation_and_folds_the_others(client: Client) -> None:
    html = client.get(f"/story/{Story.objects.get(wire_date='2026-01-14').chatbotnews_id}").content.decode()
    assert html.index('id="others"') < html.index('id="layered"') < html.index("<details>") < html.index('id="inline"')


def test_a_day_is_filtered_by_category(client: Client) -> None:
    publish(
        entry(title="OpenAI launches quinces"), entry(title="Medlar raises $4 million in funding", url="https://techcrunch.com/m")
    )
    assert {"?category=launches", "?category=funding"} <= set(page(client, "/").links)
    shown = page(client, "/day/2026-01-15?category=funding").text.partition("Skip to the news")[2].partition("Editor’s take")[0]
    assert ("Medlar raises" in shown, "OpenAI launches quinces" in shown) == (True, False)
    assert "No event on this day is in this category." in page(client, "/day/2026-01-15?category=agents").text
    assert client.get("/day/2026-01-15?category=gossip").status_code == 404


def test_the_shape_of_a_day_names_what_stands_out(client: Client) -> None:
    before = [
        entry(title=f"Marmot {letter} sings", url=f"https://techcrunch.com/{letter}", published_at="2026-01-14T10:00:00Z")
        for letter in "ab"
    ]
    names = ("TechCrunch", "Reuters", "Wired")
    told = [
        entry(title=title, publisher=name, url=f"https://{name}.com/q")
        for title, name in zip((NEWS, OTHER, THIRD), names, strict=True)
    ]
    publish(*before, *told)
    text = " ".join(page(client, "/day/2026-01-15").text.split())
    assert "3 stories about 1 event from 3 of 24 publications, more stories" not in text  # one day before says nothing
    assert "3 stories about 1 event from 3 of 24 publications. 1 event widely reported." in text
    busy = describe_day([], dt.date(2026, 1, 15), 9, 3, [3] * 7)
    assert busy.startswith("9 stories about 0 events from 3 of 24 publications, more stories than the usual 3")
    assert "fewer stories than the usual 30" in describe_day([], dt.date(2026, 1, 15), 9, 3, [20, 40] * 4)
    assert "than the usual 1" in describe_day([], dt.date(2026, 1, 15), 9, 3, [1] * 7)
    assert "usual" not in describe_day([], dt.date(2026, 1, 15), 9, 3, [30] * 6)


def test_coverage_by_tier_is_the_same_in_rest_and_in_the_picture(client: Client, event: list[Story]) -> None:
    told = client.get(f"/api/events/{event[0].event_id}/coverage.json").json()
    reported = {tier["tier"]: tier["reported"] for tier in told["tiers"]}
    assert reported == {1: [], 2: ["TechCrunch"], 3: ["Reuters"], 4: []}
    states = ("reported", "not_counted", "silent", "not_received")
    assert sum(len(tier[state]) for tier in told["tiers"] for state in states) == 24
    html = client.get(f"/event/{event[0].event_id}").content.decode()
    drawn = re.findall(r'<rect class="(\w+) t(\d)"', html)
    for tier in told["tiers"]:
        for state in states:
            assert drawn.count((state, str(tier["tier"]))) == len(tier[state])
    assert 'aria-label="Coverage by tier. tier 1: 7 nothing received; tier 2: 1 reported' in html
    assert 'aria-label="Sources: 1 of tier 2, 1 of tier 3"' in client.get("/day/2026-01-15").content.decode()
    refused(client.get("/api/events/cbn-000000000000/coverage.json"), 404, "not_found")


def test_stories_a_day_are_counted_and_the_peak_is_named_and_linked(client: Client) -> None:
    days = {"2026-01-10": 1, "2026-01-12": 3, "2026-01-15": 2}
    publish(
        *(
            entry(
                title=f"OpenAI launches marmot{chr(97 + n)}{day[-2:]}",
                url=f"https://techcrunch.com/{day}/{n}",
                published_at=f"{day}T10:00:00Z",
            )
            for day, number in days.items()
            for n in range(number)
        )
    )
    for address in ("topic=openai", "source=techcrunch", "category=launches"):
        told = client.get(f"/api/activity.json?days=7&{address}").json()
        assert [day["stories"] for day in told["days"]] == [0, 1, 0, 3, 0, 0, 2]
        assert (told["total"], told["mean"], told["peak"]) == (6, 0.9, {"date": "2026-01-12", "stories": 3})
    for address in ("/topic/openai", "/source/techcrunch", "/category/launches", "/archive", "/day/2026-01-15"):
        html = client.get(address).content.decode()
        assert '<a href="/day/2026-01-12">12 January 2026</a> (3)' in html, address
        assert "3 at most, on 12 January 2026" in html, address
    refused(client.get("/api/activity.json?topic=openai&source=techcrunch"), 422, "invalid_argument")
    refused(client.get("/api/activity.json?source=nobody"), 404, "not_found")


@pytest.mark.usefixtures("event")
def test_first_reports_are_counted_where_every_report_has_a_time(client: Client) -> None:
    first = {slug: client.get(f"/api/activity.json?source={slug}").json()["first_reports"] for slug in ("techcrunch", "reuters")}
    assert first == {"techcrunch": {"events": 1, "first": 1}, "reuters": {"events": 1, "first": 0}}
    assert "1 of 1 events that others also report" in page(client, "/source/techcrunch").text
    publish(
        entry(
            title="Loquat Works sues Damson Group over chatbots",
            url="https://techcrunch.com/l",
            published_at="2026-01-13T00:00:00Z",
        ),
        entry(
            title="Damson Group sued by Loquat Works over chatbots",
            publisher="Reuters",
            url="https://reuters.com/l",
            published_at="2026-01-13T09:00:00Z",
        ),
    )
    assert client.get("/api/activity.json?source=techcrunch").json()["first_reports"]["events"] == 1


def test_a_week_has_its_events_days_and_neighbours(client: Client, event: list[Story]) -> None:
    publish(entry(title="Medlars in the week before", url="https://techcrunch.com/w", published_at="2026-01-09T10:00:00Z"))
    told = client.get("/api/weeks/2026-W03.json").json()
    assert (told["week"], told["first"], told["last"]) == ("2026-W03", "2026-01-12", "2026-01-18")
    assert (told["stories"], told["total"], told["earlier"], told["later"]) == (3, 2, "2026-W02", None)
    assert [(day["stories"], day["events"]) for day in told["days"]] == [(0, 0), (0, 0), (1, 1), (2, 1), (0, 0), (0, 0), (0, 0)]
    assert told["events"][0]["event_id"] == event[0].event_id
    assert client.get("/api/weeks/latest.json").json() == told
    for address in ("/week", "/week/2026-W03"):
        shown = page(client, address)
        assert {"/week/2026-W02", "/day/2026-01-15", f"/event/{event[0].event_id}"} <= set(shown.links)
        assert "3 stories about 2 events" in shown.text
    assert {"/week/2026-W03", "/week/2026-W02"} <= set(page(client, "/archive").links)
    assert "/week/2026-W02</loc>" in client.get("/sitemap-pages.xml").content.decode()


@pytest.mark.usefixtures("event")
@pytest.mark.parametrize("week", ["2026-W04", "2025-W53", "2026-W60", "9999-W52", "0000-W01", "2026-03", "x"])
def test_a_week_without_news_or_that_is_none_is_not_found(client: Client, week: str) -> None:
    assert client.get(f"/week/{week}").status_code == 404
    assert client.get(f"/api/weeks/{week}.json").status_code == (404 if week == "2026-W04" else 422)


def test_a_week_shows_its_storylines(client: Client, event: list[Story]) -> None:
    gherkins = Story.objects.get(wire_date="2026-01-14")
    for story in (event[0], gherkins):
        assert story.event is not None
        story.event.storyline_id = gherkins.event_id
        story.event.save()
    (storyline,) = client.get("/api/weeks/2026-W03.json").json()["storylines"]
    assert (storyline["storyline_id"], storyline["total"]) == (gherkins.event_id, 2)
    assert storyline["events"] == [gherkins.event_id, event[0].event_id]
    assert f"/storyline/{gherkins.event_id}" in page(client, "/week").links
    html = client.get(f"/storyline/{gherkins.event_id}").content.decode()
    assert 'aria-label="2 events from 14 January 2026 to 15 January 2026"' in html
    assert html.count("<circle") == 2


def test_new_lists_what_came_last_with_its_moment_for_the_browser(client: Client) -> None:
    publish(entry(title="Early marmots", url="https://techcrunch.com/1"), now=NOW)
    publish(
        entry(title="Late marmots", url="https://techcrunch.com/2", published_at="2026-01-12T10:00:00Z"),
        now=NOW + dt.timedelta(hours=2),
    )
    html = client.get("/new").content.decode()
    assert html.index("Late marmots") < html.index("Early marmots"), "what came last is first, whatever its date"
    moments = [int(moment) for moment in re.findall(r'data-at="(\d+)"', html)]
    assert (len(moments), moments) == (2, sorted(moments, reverse=True))
    assert "set-cookie" not in {name.lower() for name in client.get("/new").headers}


def test_addresses_that_people_try_lead_to_what_they_mean(client: Client) -> None:
    assert client.get("/consensus")["Location"] == "/methodology#consensus"
    assert client.get("/gateway")["Location"] == "/mcp/gateway"
    assert 'id="consensus"' in client.get("/methodology").content.decode()


def test_a_search_says_what_it_understood_and_an_empty_one_offers_the_nearest(client: Client) -> None:
    publish(entry(title="OpenAI launches robots"), entry(title="Robots dance", publisher="Wired", url="https://wired.com/r"))
    text = " ".join(page(client, "/search?query=OpenAI+robots+in+January+2026").text.split())
    assert "Understood as openai, robots · from 1 January 2026 until 1 February 2026 (not included), UTC · topic OpenAI." in text
    assert "Understood as from 1 January 2026 until" in " ".join(page(client, "/search?query=January+2026").text.split())
    none = page(client, "/search?query=openai&source=Reuters")
    assert "Without the filters" in none.text
    assert "OpenAI launches robots" in none.text
    assert "The newest stories instead" in page(client, "/search?query=zyzzyva").text
