"""Pictures of pages, for people who want to look at them: FULL=1 writes them to artifacts/screenshots/."""

from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Locator, Page

from tests.examples import FULL

FOLDER: Final = Path(__file__).parents[1] / "artifacts" / "screenshots"


def save_screenshot(shown: Page | Locator, name: str, **options: Any) -> None:
    """Does nothing without FULL=1: drawing a long page in four looks takes longer than testing it."""
    if FULL:
        FOLDER.mkdir(parents=True, exist_ok=True)
        shown.screenshot(path=FOLDER / f"{name}.png", **options)
