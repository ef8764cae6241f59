"""Results of parsing: entries, or a refusal in words."""

from dataclasses import dataclass
from typing import Final, Literal

from sources.entries import Entry

MAX_ITEMS: Final = 50_000  # of one document, as many as sitemaps.org allows; above it the document is refused

Kind = Literal["rss", "atom", "rdf", "json", "sitemap"]


class InvalidFeed(ValueError):
    """The bytes are no feed that can be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Pages as entries and other sitemaps as absolute addresses, as listed; `whole` is false when the document breaks off."""

    entries: list[Entry]
    children: list[str]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Parsed:
    """A feed's entries in its own order; `publisher` of each is the feed's title, or what a news sitemap names. `whole` is false
    when the document breaks off in an item, which is not here. `doubt` tells the operator of a guessed charset.
    """

    entries: list[Entry]
    title: str
    kind: Kind
    whole: bool = True
    doubt: str = ""


def build_too_many_error(limit: int = MAX_ITEMS) -> InvalidFeed:
    return InvalidFeed(f"The feed holds more than {limit:,} items; none was read.")
