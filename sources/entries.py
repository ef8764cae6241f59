"""Items as a feed or an archive gives them, before anything is believed."""

import datetime as dt
import hashlib
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Entry:
    """Raw values, untrusted: markup, entities and odd dates included. `wire.ingest.normalise` makes them safe or refuses them.

    `image` is an absolute http(s) address or empty; `source_url` is the site of `credited_source`. With `published_at_estimated`
    the date is only a bound: a sitemap's last change, which is also `changed_at`. `other_summaries`, best first, are for the case
    that `summary` turns out to be none. `content` is the item's full text as HTML, empty where the feed has none. With
    `is_not_found` it is a page that says that it does not exist. `categories` are the feed's own, with commas between.
    """

    publisher: str
    title: str
    url: str
    published_at: dt.datetime | str | None
    summary: str = ""
    author: str = ""
    guid: str = ""
    credited_source: str = ""
    language: str = ""
    image: str = ""
    source_url: str = ""
    published_at_estimated: bool = False
    other_summaries: tuple[str, ...] = ()
    content: str = ""
    changed_at: dt.datetime | str | None = None
    is_not_found: bool = False
    categories: str = ""

    @property
    def digest(self) -> str:
        """16 hex digits that stay the same as long as the publisher says the same; our rules do not change them."""
        # Stored with stories: another way to make it would make every stored one worthless.
        said = "\0".join((self.title, self.author, self.summary, *self.other_summaries))
        return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]

    def with_publisher(self, publisher: str) -> "Entry":
        return replace(self, publisher=publisher)
