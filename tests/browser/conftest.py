"""One Chromium and one sample wire for all tests here; other wires for those that need many stories or change some."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.pages import PAGES, places
from tests.browser.server import Wire, serving_long_day, serving_sample
from tests.browser.watched import Watched, watch

Open = Callable[..., Watched]
expect.set_options(timeout=60_000)  # of a busy machine; what never happens fails, only later


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        pytest.fail("There is no Chromium: install it, or name it in CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The sample wire; agents called it already."""
    with serving_sample(tmp_path_factory.mktemp("wire")) as wire:
        for query in ("moon", "library", "chess"):
            wire.call("search_wire", query=query)
        wire.call("get_story", story_id="cbn-000000000000")
        for _ in range(60):
            if "Nobody called yet" not in wire.get("/usage").text:
                break
            time.sleep(0.5)
        yield wire


@pytest.fixture(scope="session")
def long_wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A live wire with a day of several pages."""
    with serving_long_day(tmp_path_factory.mktemp("long")) as wire:
        yield wire


@pytest.fixture(scope="session")
def paths(wire: Wire) -> Mapping[str, str]:
    """Every kind of page of the sample wire, by name."""
    found = places(wire)
    return {name: path.format(**found) for name, path in PAGES.items()}


@pytest.fixture
def open_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Open]:
    """A page in a window of its own; unless told otherwise of the sample wire, 1440 pixels wide, light, with JavaScript."""
    with ExitStack() as closed:

        def opened(path: str, *, of: Wire | None = None, width: int = 1440, expects: int = 200, **options: Any) -> Watched:
            context = browser.new_context(viewport={"width": width, "height": 900}, locale="en-GB", **options)
            closed.callback(context.close)
            wire: Wire = of or request.getfixturevalue("wire")  # no wire is made for tests that have their own
            watched = watch(context, wire.site)
            assert watched.visit(path) == expects
            return watched

        yield opened
