"""What parsing answers: entries, or a refusal in words."""

from dataclasses import dataclass
from typing import Final, Literal

from sources.entries import Entry

MAX_ITEMS: Final = 50_000
"""Items of one document, as many as sitemaps.org allows. Above it reading stops and the document is refused."""

Kind = Literal["rss", "atom", "rdf", "json", "sitemap"]


class InvalidFeed(ValueError):
    """The bytes are no feed that can be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A feed's entries in its own order; `publisher` of each is the feed's title, or what a news sitemap names.

    `whole` is false when the document breaks off: the items before the break are here, the broken one is not.
    """

    entries: list[Entry]
    title: str
    kind: Kind
    whole: bool = True


def too_many() -> InvalidFeed:
    return InvalidFeed(f"The feed holds more than {MAX_ITEMS:,} items; none was read.")
