"""A page in the browser, and everything that goes wrong in it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

WCAG: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
EVERY_REPORT: Final = Path(__file__).with_name("watch.js")
AXE: Final = Axe()


@dataclass
class Watched:
    """`page`, told apart from what it says, asks for and does."""

    page: Page
    site: str
    said: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def visit(self, path: str) -> int:
        """The status of the answer, once the page is loaded."""
        answer = self.page.goto(f"{self.site}{path}")
        assert answer is not None
        return answer.status

    def shifts(self) -> float:
        """How far things moved by themselves while the page was built."""
        found: float = self.page.evaluate("() => window.watched.shifts")
        return found

    def violated(self) -> list[str]:
        """What the Content-Security-Policy forbade."""
        found: list[str] = self.page.evaluate("() => window.watched.violated")
        return found

    def unfit(self) -> list[str]:
        """What axe holds against WCAG 2.2 AA: rule, place, why."""
        found: dict[str, Any] = AXE.run(self.page, options={"runOnly": {"type": "tag", "values": WCAG}}).response
        assert found["passes"], "axe looked at nothing"
        return [
            f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    def sideways(self) -> int:
        """By how many pixels the page is wider than its window."""
        found: int = self.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return found

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.said.append(message.text)

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and f"{parts.scheme}://{parts.netloc}" != self.site:
            self.elsewhere.append(request.url)


def watch(context: BrowserContext, site: str) -> Watched:
    """A new page of `context`, watched from its first byte."""
    context.add_init_script(path=EVERY_REPORT)
    watched = Watched(context.new_page(), site)
    watched.page.on("console", watched._console)
    watched.page.on("request", watched._request)
    watched.page.on("pageerror", lambda error: watched.said.append(str(error)))
    return watched
