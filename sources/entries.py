"""One item as a feed or an archive gives it, before anything is believed."""

import datetime as dt
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Entry:
    """Raw values, untrusted: markup, entities and odd dates included. `wire.normalise` makes them safe or refuses them."""

    publisher: str
    title: str
    url: str
    published_at: dt.datetime | str | None
    summary: str = ""
    author: str = ""
    guid: str = ""
    credited_source: str = ""
    language: str = ""

    def by(self, publisher: str) -> "Entry":
        """The same item under another publisher's name."""
        return replace(self, publisher=publisher)
