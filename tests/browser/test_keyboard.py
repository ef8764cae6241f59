"""Everything can be reached without a mouse, and it shows where one is."""

from collections.abc import Mapping
from typing import Final

import pytest

from tests.browser.conftest import Open
from tests.browser.pages import PAGES, STATUS

pytestmark = pytest.mark.browser

FOCUSABLE: Final = """() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))"""
UNMARKED: Final = f"""() => ({FOCUSABLE})().filter((one) => {{
  one.focus({{ focusVisible: true }});
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  return document.activeElement !== one || style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2 || box.width < 8;
}}).map((one) => one.outerHTML)"""
HERE: Final = f"() => ({FOCUSABLE})().indexOf(document.activeElement)"


def test_the_first_tab_reaches_the_skip_link_which_leads_to_the_news(open_page: Open) -> None:
    page = open_page("/").page
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the news"
    assert page.locator(":focus").bounding_box() is not None
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('main') !== null")


@pytest.mark.parametrize("name", PAGES)
def test_whatever_has_the_focus_is_outlined(name: str, paths: Mapping[str, str], open_page: Open) -> None:
    page = open_page(paths[name], expects=STATUS.get(name, 200)).page
    assert page.evaluate(f"() => ({FOCUSABLE})().length") > 10
    assert page.evaluate(UNMARKED) == []


@pytest.mark.parametrize("name", ["home", "story", "event", "storyline", "week", "new", "filtered search", "provenance", "API"])
def test_tab_goes_through_everything_in_its_order(name: str, paths: Mapping[str, str], open_page: Open) -> None:
    page = open_page(paths[name]).page
    number = page.evaluate(f"() => ({FOCUSABLE})().length")
    reached: list[int] = []
    while len(set(reached)) < number and len(reached) < 4 * number:  # a date is several stops
        page.keyboard.press("Tab")
        reached.append(page.evaluate(HERE))
    assert list(dict.fromkeys(reached)) == list(range(number))
