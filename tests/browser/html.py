"""A page as the HTML standard reads it, and the faults that it finds."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element

import html5lib

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
ADDRESSES: Final = {"a": "href", "link": "href", "script": "src", "img": "src", "form": "action"}


@dataclass(frozen=True, slots=True)
class Html:
    path: str
    root: Element

    def faults(self) -> list[str]:
        ids = Counter(element.get("id") for element in self.root.iter() if element.get("id"))
        levels = [int(str(element.tag)[1]) for element in self.root.iter() if element.tag in HEADINGS]
        found = [f"the id {name} is there {times} times" for name, times in ids.items() if times > 1]
        found += [f"level {one} is followed by {two}" for one, two in zip([0, *levels], levels, strict=False) if two > one + 1]
        if levels.count(1) != 1:
            found.append(f"{levels.count(1)} titles")
        referred = (element.get("aria-labelledby") or element.get("for") for element in self.root.iter())
        names = (name for several in referred if several for name in several.split())
        found += [f"{name} labels nothing or is no id" for name in names if name not in ids]
        return [f"{self.path}: {fault}" for fault in found]

    def addresses(self, site: str) -> Iterator[str]:
        """Path, query and fragment of everything of this site that the page names."""
        for element in self.root.iter():
            address = element.get(ADDRESSES.get(str(element.tag), "")) if element.tag in ADDRESSES else None
            if address is not None:
                whole = urljoin(f"{site}{self.path}", address)
                if whole.startswith(f"{site}/"):
                    yield whole.removeprefix(site)

    def is_its_own(self) -> bool:
        """Whether it does not say that another page is the one to be found."""
        canonical = next((link.get("href") for link in self.root.iter("link") if link.get("rel") == "canonical"), None)
        return canonical is None or urlsplit(canonical).path == self.path

    def has(self, fragment: str) -> bool:
        return any(element.get("id") == fragment for element in self.root.iter())

    def text(self, name: str) -> str:
        """Of the element with that id."""
        return next("".join(element.itertext()) for element in self.root.iter() if element.get("id") == name)


def parsed(path: str, text: str) -> Html:
    """Raises: ParseError at the first thing that is not HTML."""
    return Html(path, html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text))


def page_of(address: str) -> str:
    """The address without its fragment."""
    return urlsplit(address)._replace(fragment="").geturl()
