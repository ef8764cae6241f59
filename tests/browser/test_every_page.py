"""Every kind of page, in a wide and a narrow window, light and dark: quiet, still, readable for everybody."""

import datetime as dt
from collections.abc import Mapping
from typing import Final, Literal

import pytest

from tests.browser.conftest import Open
from tests.browser.pages import PAGES, STATUS
from tests.examples import FULL
from tests.screenshots import save_screenshot

pytestmark = pytest.mark.browser

WIDTHS: Final = {390: (390, 320), 1440: (1440, 2560)}
"""Of a phone and of a desk: the usual one and the most extreme."""

STILL: Final = 0.001
"""Cumulative layout shift: a hundredth of what counts as good. A busy machine may draw a page in two parts, a pixel apart."""
TIMES: Final = "main time[title]"
TOLD_OF_STATUS: Final = "Failed to load resource: the server responded with a status of"


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light"), *([(390, "light"), (1440, "dark")] if FULL else [])])
@pytest.mark.parametrize("name", PAGES)
def test_it_is_quiet_still_fits_and_asks_nobody_else(
    name: str, width: int, theme: Literal["light", "dark"], paths: Mapping[str, str], open_page: Open
) -> None:
    expected = STATUS.get(name, 200)
    shown = open_page(paths[name], width=width, expects=expected, color_scheme=theme)
    shown.page.wait_for_load_state("networkidle")

    said = [line for line in shown.said if expected == 200 or not line.startswith(TOLD_OF_STATUS)]
    assert (said, shown.violated(), shown.elsewhere) == ([], [], [])
    save_screenshot(shown.page, f"{name.replace(' ', '-')}-{width}-{theme}", full_page=True)
    assert shown.shifts() < STILL
    assert shown.unfit() == []
    wider = {}
    for most in WIDTHS[width]:
        shown.page.set_viewport_size({"width": most, "height": 900})
        wider[most] = shown.sideways()
    assert wider == dict.fromkeys(WIDTHS[width], 0)


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


@pytest.mark.parametrize("form", ["rss", "atom"])
def test_a_feed_is_a_readable_page_that_says_what_a_feed_is(form: str, open_page: Open) -> None:
    shown = open_page(f"/feeds/events.{form}", width=390)
    explained = shown.page.evaluate(
        "() => getComputedStyle(document.querySelector(':is(channel, feed) > title'), '::after').content"
    )
    assert "To subscribe, copy the address of this page into your reader." in explained
    assert shown.page.evaluate("() => [...document.querySelectorAll('guid, id, content')].every((one) => !one.checkVisibility())")
    assert (shown.said, shown.elsewhere, shown.sideways()) == ([], [], 0)
    save_screenshot(shown.page, f"feed-{form}")
