"""Google News: addresses of its searches, and the form of the items they answer with."""

import html
import re
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from sources.entries import Entry
from sources.parse.links import host

_AGE: Final = re.compile(r"(?<!\S)(?:when|after):\S")
_LINKED: Final = re.compile(r"<a\s[^<>]*+>([^<]*+)</a>", re.I)
_TAG: Final = re.compile(r"<[^<>]*+>")


def search_url(query: str) -> str:
    """Return the RSS address of a search in US English, bound to a week unless it names an age: Google gives items of any."""
    aged = query if _AGE.search(query) else f"{query} when:7d"
    params = {"q": aged.strip(), "hl": "en-US", "gl": "US", "ceid": "US:en"}
    return "https://news.google.com/rss/search?" + urlencode(params, safe=":")


def remove_additions(entry: Entry) -> Entry:
    """Return an item of a Google News feed without what Google adds: ` - Publisher` behind the title, once, and a summary that is a
    list of links, the title among them. Other entries, and those that name no source, are returned as they are.
    """
    if host(entry.url) != "news.google.com" or not entry.credited_source:
        return entry
    title = entry.title.removesuffix(f" - {entry.credited_source}") or entry.title
    linked = {_plain(text) for text in _LINKED.findall(entry.summary)}
    return replace(entry, title=title, summary="" if {_plain(title), _plain(entry.title)} & linked else entry.summary)


def _plain(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", markup)).split()).casefold()
