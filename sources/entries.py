"""One item as a feed or an archive gives it, before anything is believed."""

import datetime as dt
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Entry:
    """Raw values, untrusted: markup, entities and odd dates included. `wire.intake.normalise` makes them safe or refuses them.

    `image` is an absolute http(s) address or empty; `source_url` is the site of `credited_source`. With `published_at_estimated`
    the date is only a bound: a sitemap's last change, not the publication. `other_summaries` are what else the publisher's
    page says of the article, best first, for the case that `summary` turns out to be none. `content` is the item's full text as
    HTML, empty where the feed has none. `changed_at` is a sitemap's last change, whether or not the publication is known too.
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

    def by(self, publisher: str) -> "Entry":
        """The same item under another publisher's name."""
        return replace(self, publisher=publisher)
