"""What readers do: search, cite, verify, turn pages, go back in time."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Open
from tests.browser.server import LONG_DAY, Wire
from tests.browser.watched import Watched

pytestmark = pytest.mark.browser

HEADLINES: Final = "main :is(#lead, .stories article :is(h2, h3)) a"
OF_THE_WIRE: Final = "main :is(.lead .kicker, .row) a:is([href^='/story/'], [href^='/event/'])"
"""Of each event of a list the link to the wire's own page."""


def test_it_finds_a_story_from_the_masthead(open_page: Open) -> None:
    page = open_page("/").page
    page.get_by_label("Search the wire").fill("moon library")
    page.keyboard.press("Enter")

    page.wait_for_url("**/search?query=moon+library")
    result = page.locator(HEADLINES).first
    headline = result.inner_text()
    assert "oon" in headline
    page.get_by_role("link", name="Cite it").first.click()
    page.wait_for_url("**/story/cbn-*")
    assert page.locator("h1").inner_text() == headline


def test_what_was_mistyped_is_put_right_and_the_page_says_so(open_page: Open) -> None:
    page = open_page("/search?query=robto").page
    headlines = page.locator(HEADLINES).all_inner_texts()
    assert headlines
    page.get_by_role("link", name="robot", exact=True).click()
    page.wait_for_url("**/search?query=robot*")
    assert page.locator(HEADLINES).all_inner_texts() == headlines


def test_it_copies_the_layered_citation_as_the_api_has_it(wire: Wire, paths: Mapping[str, str], open_page: Open) -> None:
    page = open_page(paths["story"], permissions=["clipboard-read", "clipboard-write"]).page
    button = page.get_by_role("button", name="Copy the layered citation")
    button.click()

    expect(page.locator('[data-copy="layered"]')).to_have_text("Copied")
    told = wire.json(f"/api/stories/{paths['story'].rpartition('/')[2]}.json")
    assert page.evaluate("() => navigator.clipboard.readText()") == told["citation_objects"]["layered_ready"]


def test_it_verifies_a_day_in_the_browser(wire: Wire, paths: Mapping[str, str], open_page: Open) -> None:
    proof = wire.json(f"/api{paths['provenance of a day']}.json")
    assert verified(open_page(paths["provenance of a day"])) == [
        f"✓ {proof['story_count']} stories, each matching its hash.",
        f"✓ The day's hash is {proof['wire_sha256']}.",
        f"✓ Signed by the published key {proof['signature']['key_id']}.",
    ]


def _one_letter(day: Any) -> None:
    headline = day["stories"][-1]["headline"]
    day["stories"][-1]["headline"] = headline[:-1] + ("x" if headline[-1] != "x" else "y")


def _one_story_less(day: Any) -> None:
    del day["stories"][-1]


def _the_hash(proof: Any) -> None:
    proof["wire_sha256"] = "0" * 64


def _the_signature(proof: Any) -> None:
    proof["signature"]["value"] = "A" * 86 + "=="


@pytest.mark.parametrize(
    ("address", "change", "says"),
    [
        ("**/api/archive/*", _one_letter, "is not what was published"),
        ("**/api/archive/*", _one_story_less, "its manifest"),
        ("**/api/provenance/*", _the_hash, "The manifest's hash is"),
        ("**/api/provenance/*", _the_signature, "The signature does not match."),
    ],
)
def test_it_shows_what_was_tampered_with(
    address: str, change: Callable[[Any], None], says: str, paths: Mapping[str, str], open_page: Open
) -> None:
    shown = open_page(paths["provenance of a day"])

    def tamper(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        change(told)
        route.fulfill(response=answer, body=json.dumps(told))

    shown.page.route(address, tamper)
    assert [line for line in verified(shown) if line.startswith("✗") and says in line]


def verified(shown: Watched) -> list[str]:
    """What the page says once it has looked."""
    button = shown.page.get_by_role("button", name="Verify in this browser")
    button.click()
    expect(button).to_be_enabled()
    expect(shown.page.locator("#verified li").first).to_be_visible()
    return shown.page.locator("#verified li").all_inner_texts()


def test_a_long_day_is_told_page_by_page_and_nothing_twice(long_wire: Wire, open_page: Open) -> None:
    page = open_page(f"/day/{LONG_DAY}", of=long_wire).page
    found = page.locator(OF_THE_WIRE).evaluate_all("links => links.map(link => link.pathname)")
    while (onwards := page.get_by_role("link", name="Next page")).count():
        onwards.click()
        page.wait_for_load_state()
        found += page.locator(OF_THE_WIRE).evaluate_all("links => links.map(link => link.pathname)")
    events, cursor = list[dict[str, str]](), ""
    while cursor is not None:
        told = long_wire.json(f"/api/events.json?date={LONG_DAY}&limit=100{cursor}")
        events, cursor = events + told["events"], told["next_cursor"] and f"&cursor={told['next_cursor']}"
    assert len(events) == told["total"] > 300
    ids = {f"/story/{event.get('lead', event['event_id'])}": event["event_id"] for event in events}
    ids |= {f"/event/{event['event_id']}": event["event_id"] for event in events}
    assert sorted(ids[link] for link in found) == sorted(event["event_id"] for event in events)


@pytest.mark.parametrize(("width", "height", "least"), [(1440, 900, 15), (390, 844, 6)])
def test_the_first_screen_of_a_day_has_many_events(width: int, height: int, least: int, long_wire: Wire, open_page: Open) -> None:
    page = open_page("/", of=long_wire, width=width).page
    page.set_viewport_size({"width": width, "height": height})
    bottoms = page.locator("main :is(.lead, .row)").evaluate_all("rows => rows.map(row => row.getBoundingClientRect().bottom)")
    assert sum(bottom <= height for bottom in bottoms) >= least


def test_what_is_new_since_the_last_visit_is_remembered_in_the_browser_alone(open_page: Open) -> None:
    shown = open_page("/new")
    page = shown.page
    assert "Only this browser remembers" in page.locator("#visit").inner_text()
    rows = page.locator(".row")
    assert (rows.count() > 10, page.locator(".is-new").count()) == (True, 0)
    earlier = "row => Number(row.dataset.at) - 1"
    moments = sorted({int(moment) for moment in rows.evaluate_all(f"rows => rows.map({earlier})")})
    visit = json.dumps({"on": 0, "newest": moments[-1], "before": 0})
    page.evaluate("visit => localStorage.setItem('wire-visit', visit)", visit)
    page.reload()
    new = rows.locator("xpath=self::*[contains(@class, 'is-new')]").count()
    assert new == rows.evaluate_all(f"rows => rows.filter(row => Number(row.dataset.at) > {moments[-1]}).length") > 0
    assert "arrived since your last visit" in page.locator("#visit").inner_text()
    assert shown.shifts() < 0.001
    page.reload()  # the same visit still
    assert page.locator(".is-new").count() == new
    assert (page.context.cookies(), shown.elsewhere) == ([], [])
