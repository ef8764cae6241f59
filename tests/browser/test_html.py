"""The site as a crawler reads it: valid HTML, no dead link, and a sitemap that names every page and no other."""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from tests.browser.html import Html, page_of, parsed
from tests.browser.pages import PAGES, STATUS
from tests.browser.server import Answer, Wire

pytestmark = pytest.mark.browser

MOST: Final = 2_500  # addresses; the sample wire has fewer
FOR_MACHINES: Final = re.compile(r"/(api|feeds|static|admin)/|\.(txt|xml|json|ico)$")
ID_OR_DAY: Final = re.compile(r"cbn-[0-9a-z]{12}|\d{4}-\d\d-\d\d")
MAP: Final = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@dataclass(slots=True)
class Crawl:
    pages: dict[str, Html] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)  # and a page that has it


@pytest.fixture(scope="session")
def crawl(wire: Wire) -> Crawl:
    """Every page that links lead to, from the first one on; of what is for machines one address of each shape."""
    found, waiting, shapes = Crawl(), deque(["/"]), set[str]()
    while waiting and len(found.answers) < MOST:
        address = waiting.popleft()
        if address in found.answers:
            continue
        if FOR_MACHINES.search(urlsplit(address).path):
            if (shape := ID_OR_DAY.sub("…", address)) in shapes:
                continue
            shapes.add(shape)
        answer = found.answers[address] = wire.get(address)
        if answer.type == "text/html" and not FOR_MACHINES.search(address):
            page = found.pages[address] = parsed(address, answer.text)
            for link in page.addresses(wire.site):
                found.links.setdefault(link, address)
                waiting.append(page_of(link))
    assert not waiting, "The wire has more pages than were looked at."
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_kind_of_page_is_valid(name: str, wire: Wire, paths: Mapping[str, str]) -> None:
    answer = wire.get(paths[name])
    assert answer.status == STATUS.get(name, 200)
    assert parsed(paths[name], answer.text).faults() == []


def test_every_page_has_one_title_headings_in_order_and_each_id_once(crawl: Crawl) -> None:
    assert [fault for page in crawl.pages.values() for fault in page.faults()] == []


def test_no_link_is_dead(crawl: Crawl) -> None:
    dead = {address: answer.status for address, answer in crawl.answers.items() if answer.status != 200}
    assert {f"{crawl.links[address]} → {address}": status for address, status in dead.items()} == {}


def test_every_fragment_is_there(crawl: Crawl) -> None:
    fragments = {link: (page_of(link), urlsplit(link).fragment) for link in crawl.links if urlsplit(link).fragment}
    assert fragments
    missing = [link for link, (page, fragment) in fragments.items() if not crawl.pages[page].has(fragment)]
    assert [f"{crawl.links[link]} → {link}" for link in missing] == []


def test_the_sitemap_names_every_page_and_no_other(wire: Wire, crawl: Crawl, paths: Mapping[str, str]) -> None:
    index = locations(wire, "/sitemap.xml")
    named = [path for part in index for path in locations(wire, part)]
    assert len(named) == len(set(named))
    linked = {path for path, page in crawl.pages.items() if "?" not in path and page.is_its_own()}
    assert linked - set(named) == {paths["withdrawn story"]}
    assert set(named) - linked - crawl.answers.keys() == set()  # files, too


def locations(wire: Wire, path: str) -> list[str]:
    """The paths that a sitemap, or the index of sitemaps, names."""
    root = ElementTree.fromstring(wire.get(path).text)  # noqa: S314  our own
    found = [str(location.text) for location in root.iter(f"{MAP}loc")]
    assert all(location.startswith(f"{wire.site}/") for location in found)
    return [location.removeprefix(wire.site) for location in found]
