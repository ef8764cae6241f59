"""Every kind of page, in a wide and a narrow window, light and dark: quiet, still, readable for everybody."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.browser.conftest import Open
from tests.browser.pages import OURS, PAGES, STATUS, THEMES

pytestmark = pytest.mark.browser

WIDTHS: Final = (320, 390, 1440, 2560)

STILL: Final = 0.001
"""Cumulative layout shift: a hundredth of what counts as good. A busy machine may draw a page in two parts, a pixel apart."""
TIMES: Final = "main time[title]"
TOLD_OF_STATUS: Final = "Failed to load resource: the server responded with a status of"


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_it_is_quiet_still_and_asks_nobody_else(
    name: str, width: int, paths: Mapping[str, str], open_page: Open, screenshots: Path
) -> None:
    expected = STATUS.get(name, 200)
    shown = open_page(paths[name], width=width, expects=expected)
    shown.page.wait_for_load_state("networkidle")

    said = [line for line in shown.said if expected == 200 or not line.startswith(TOLD_OF_STATUS)]
    assert (said, shown.violated(), shown.elsewhere) == ([], [], [])
    if name in OURS:
        assert shown.shifts() < STILL
    for theme in THEMES:
        shown.page.emulate_media(color_scheme=theme)
        shown.page.screenshot(path=screenshots / f"{name.replace(' ', '-')}-{width}-{theme}.png", full_page=True)
        if name in OURS:
            assert shown.unfit() == [], theme


@pytest.mark.parametrize("width", [390, 1440])
def test_no_line_moves_on_a_slow_line_when_times_become_ages(width: int, paths: Mapping[str, str], open_page: Open) -> None:
    shown = open_page(paths["event"], width=width)
    newest = shown.page.evaluate(f"() => [...document.querySelectorAll({TIMES!r})].map((one) => one.dateTime).sort().at(-1)")
    shown.page.clock.set_fixed_time(dt.datetime.fromisoformat(newest) + dt.timedelta(hours=2))
    slow = {"offline": False, "latency": 300, "downloadThroughput": 40_000, "uploadThroughput": 40_000}
    session = shown.page.context.new_cdp_session(shown.page)
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.send("Network.emulateNetworkConditions", slow)
    shown.visit(paths["event"])
    shown.page.wait_for_load_state("networkidle")

    assert "2 hours ago" in shown.page.locator(TIMES).all_inner_texts()
    assert shown.shifts() < STILL


@pytest.mark.parametrize("name", PAGES)
def test_it_never_scrolls_sideways(name: str, paths: Mapping[str, str], open_page: Open) -> None:
    shown = open_page(paths[name], expects=STATUS.get(name, 200))
    wider = {}
    for width in WIDTHS:
        shown.page.set_viewport_size({"width": width, "height": 900})
        wider[width] = shown.sideways()
    assert wider == dict.fromkeys(WIDTHS, 0)


@pytest.mark.parametrize("form", ["rss", "atom"])
def test_a_feed_is_a_readable_page_that_says_what_a_feed_is(form: str, open_page: Open, screenshots: Path) -> None:
    shown = open_page(f"/feeds/events.{form}", width=390)
    explained = shown.page.evaluate(
        "() => getComputedStyle(document.querySelector(':is(channel, feed) > title'), '::after').content"
    )
    assert "To subscribe, copy the address of this page into your reader." in explained
    assert shown.page.evaluate("() => [...document.querySelectorAll('guid, id, content')].every((one) => !one.checkVisibility())")
    assert (shown.said, shown.elsewhere, shown.sideways()) == ([], [], 0)
    shown.page.screenshot(path=screenshots / f"feed-{form}.png")
