"""Cards (MCP Apps) in a host that can do next to nothing. tests/clients opens them in hosts of other projects."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Frame, Page

from mcpserver.cards.page_files import Card

pytestmark = pytest.mark.browser

HOST: Final = """<iframe id="card" sandbox="allow-scripts"></iframe><script>
const answer = (message) => card.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", ({data}) => {
  if (data.method === "ui/initialize") answer({id: data.id, result: {hostCapabilities: {}, hostContext: {}}});
  if (data.method === "ui/notifications/initialized") window.ready = true;
});
card.srcdoc = PAGE;
</script>"""
REPORT: Final = {
    "chatbotnews_id": "cbn-1",
    "permalink": "https://wire.example/story/cbn-1",
    "headline": "<b>A headline</b>",
    "original_publisher": "Wired",
    "original_publisher_tier": 2,
    "original_url": "javascript:alert(1)",
    "published_at": "2026-01-01T00:00:00Z",
    "published_at_estimated": True,
    "untrusted_instructions": True,
    "independent": False,
    "is_copy": True,
    "layered_ready": "According to Wired, …",
    "genre": "opinion",
}
EVENT: Final = {
    "lead": "cbn-1",
    "permalink": "https://wire.example/event/cbn-1",
    "headline": REPORT["headline"],
    "agreement": "one source",
    "first_reported": REPORT | {"certain": True},
    "reports": [REPORT],
    "not_received": [],
    "earlier": None,
    "later": None,
}


@pytest.fixture
def host(browser: Browser) -> Iterator[Page]:
    """A page that shows the card of an event and does nothing for it; it gives no structured content."""
    page = browser.new_page()
    card = json.dumps(Card("event", "One event", "").render()).replace("</", "<\\/")
    page.set_content(HOST.replace("PAGE", card))
    page.wait_for_function("() => window.ready")
    yield page
    page.close()


def show(host: Page, text: str, *, is_error: bool = False) -> Frame:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    host.evaluate("(params) => answer({method: 'ui/notifications/tool-result', params})", result)
    card = host.frames[1]
    card.wait_for_selector("main:not([aria-busy])")
    return card


def test_it_reads_the_answers_text_where_there_is_nothing_else(host: Page) -> None:
    card = show(host, json.dumps(EVENT))
    assert card.locator("h1").inner_text() == "<b>A headline</b>"
    assert (
        "1 Jan 2026 · Wired Tier 2 · repeats another report's text, opinion, when first seen" in card.locator("main").inner_text()
    )


def test_only_addresses_of_the_web_become_links(host: Page) -> None:
    links = show(host, json.dumps(EVENT)).locator("a").all()
    assert [link.get_attribute("href") for link in links] == [EVENT["permalink"], REPORT["permalink"]]


def test_a_reader_is_given_the_address_that_the_host_does_not_open(host: Page) -> None:
    card = show(host, json.dumps(EVENT))
    card.get_by_role("link", name="Permalink").first.click()
    card.wait_for_selector(f"#status:has-text('{EVENT['permalink']}')")


def test_no_format_is_offered_that_would_have_to_be_asked_for(host: Page) -> None:
    assert show(host, json.dumps(EVENT)).locator("select").count() == 0


@pytest.mark.parametrize(("text", "is_error"), [("plain words", False), ("It broke.", True)])
def test_words_are_shown_as_they_are(text: str, is_error: bool, host: Page) -> None:
    assert text in show(host, text, is_error=is_error).locator("main").inner_text()
