"""The site without its script, and without its looks."""

from collections.abc import Mapping
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.pages import PAGES, STATUS
from tests.browser.server import LONG_DAY, Wire
from tests.browser.test_reading import HEADLINES

pytestmark = pytest.mark.browser

# What stands before what, by its place in the document.
DISORDER: Final = """() => {
  const first = (selector) => document.querySelector(selector);
  const after = (one, two) => Boolean(one.compareDocumentPosition(two) & Node.DOCUMENT_POSITION_FOLLOWING);
  const main = first("main"), title = first("main h1"), found = [];
  if (!after(first("a.skip"), first("nav"))) found.push("the skip link is not first");
  if (!after(first("nav[aria-label=Main]"), main)) found.push("navigation comes after main");
  if (!after(main, first("footer"))) found.push("the footer comes before main");
  for (const one of main.querySelectorAll("ul, ol, table, h2, h3, form, section"))
    if (!after(title, one)) found.push(`${one.tagName} comes before the title`);
  return found;
}"""


def test_without_javascript_one_searches_and_filters(open_page: Open) -> None:
    page = open_page("/", java_script_enabled=False).page
    page.get_by_label("Search the wire").fill("OpenAI")
    page.get_by_role("banner").get_by_role("button", name="Search").click()
    page.wait_for_url("**/search?query=OpenAI")
    everything = page.locator(HEADLINES).count()

    page.get_by_text("Filters").click()
    page.get_by_label("Tier").select_option("2")
    page.locator("form.search").get_by_role("button", name="Search").click()
    page.wait_for_url("**tier=2**")
    assert 0 < page.locator(HEADLINES).count() < everything
    assert set(page.locator("main .story .tier").all_inner_texts()) == {"Tier 2"}


def test_without_javascript_one_turns_pages_and_goes_back_by_the_archive(long_wire: Wire, open_page: Open) -> None:
    page = open_page("/archive", of=long_wire, java_script_enabled=False).page
    page.locator(f'a[href="/day/{LONG_DAY}"]').first.click()
    page.wait_for_url(f"**/day/{LONG_DAY}")
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url("**page=2")
    assert page.locator(HEADLINES).count() > 30

    page.get_by_role("navigation", name="Categories").get_by_role("link", name="Launches").click()
    page.wait_for_url("**category=launches")
    assert page.locator(HEADLINES).count() > 30

    page.get_by_role("link", name="Topics").click()
    page.locator('main h3 a[href="/category/launches"]').click()
    page.wait_for_url("**/category/*")
    before = page.locator(HEADLINES).first.inner_text()
    page.get_by_role("link", name="Older events").click()
    page.wait_for_url("**cursor=*")
    assert page.locator(HEADLINES).first.inner_text() != before


def test_without_javascript_no_button_is_shown_that_needs_it(paths: Mapping[str, str], open_page: Open) -> None:
    page = open_page(paths["story"], java_script_enabled=False).page
    expect(page.locator("#layered")).to_be_visible()
    assert page.get_by_role("button").all_inner_texts() == ["Search"]

    page = open_page(paths["provenance"], java_script_enabled=False).page
    assert page.get_by_role("button").all_inner_texts() == ["Search"]
    expect(page.locator("noscript p")).to_be_visible()


@pytest.mark.parametrize("name", PAGES)
def test_without_styles_it_reads_in_order(name: str, paths: Mapping[str, str], open_page: Open) -> None:
    shown = open_page("/about")
    shown.page.route("**/*.css", lambda route: route.abort())
    assert shown.visit(paths[name]) == STATUS.get(name, 200)
    assert shown.page.evaluate("() => getComputedStyle(document.body).maxWidth") == "none"
    assert shown.page.evaluate(DISORDER) == []
