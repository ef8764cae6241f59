"""A publisher's own article as a citation: for content that no newsroom summarised, read from its publisher."""

import datetime as dt

from citations.format.formats import MONTHS


def cite_article(title: str, publisher: str, url: str, author: str | None, published_on: dt.date | None) -> str:
    """Return one line that names the title, who wrote and published it, the UTC day, and where it is read."""
    by = f"{author}, {publisher}" if author and author != publisher else publisher
    day = f" ({published_on.day} {MONTHS[published_on.month - 1]} {published_on.year})" if published_on else ""
    ended = title if title.endswith((".", "!", "?", "…")) else f"{title}."
    return f"According to {by}{day}: “{ended}” Source: {url}"
