"""Feeds as bytes in, entries out. Never fetches: feedparser would, if it were handed an address instead of bytes."""

import calendar
import datetime as dt
import re
from typing import Any, Final

import feedparser

from sources.entries import Entry

MAX_ITEMS: Final = 50_000
_BEFORE_ROOT: Final = re.compile(rb"[^<]+|<\?.*?\?>|<!--.*?-->", re.S)  # XML 1.0 §2.8, but for the document type
_ROOT: Final = re.compile(rb"<[A-Za-z_]")


class InvalidFeed(ValueError):
    """The bytes are no feed that can be read; the message says why."""


def parse_feed(data: bytes) -> list[Entry]:
    """The items of an RSS, Atom or RDF document, as it orders them; `publisher` is the feed's own title.

    Raises: InvalidFeed, also for any document type declaration: entities are how XML bombs are made, and feeds need none.
    """
    start = 0
    while skipped := _BEFORE_ROOT.match(data, start):
        start = skipped.end()
    if data.startswith(b"<!", start):
        raise InvalidFeed("The feed declares a document type; it was refused unread, as a guard against XML bombs.")
    if not _ROOT.match(data, start):  # another encoding than those that agree with ASCII could hide one
        raise InvalidFeed("The file is neither RSS nor Atom.")
    try:
        parsed = feedparser.parse(data, sanitize_html=False, resolve_relative_uris=False)
    except Exception as error:  # of any kind: feedparser's loose parser lets them out when tags do not match
        raise InvalidFeed(f"The feed cannot be read: {error!r}.") from error
    if not parsed.entries and parsed.get("version", "") == "":
        raise InvalidFeed("The file is neither RSS nor Atom.")
    if len(parsed.entries) > MAX_ITEMS:
        raise InvalidFeed(f"The feed holds more than {MAX_ITEMS:,} items; none was read.")
    title = str(parsed.feed.get("title", ""))
    language = str(parsed.feed.get("language", ""))
    return [_entry(item, title, language) for item in parsed.entries]


def _entry(item: Any, publisher: str, language: str) -> Entry:
    return Entry(
        publisher=publisher,
        title=str(item.get("title", "")),
        url=str(item.get("link", "")),
        published_at=_date(item),
        summary=str(item.get("summary", "")),
        author=str(item.get("author", "")),
        guid=str(item.get("id", "")),
        credited_source=str(item.get("source", {}).get("title", "")),
        language=language[:35],
    )


def _date(item: Any) -> dt.datetime | None:
    """feedparser gives struct_time in UTC; a date that it could not read is None, one out of range too."""
    # Not item.get(): that makes up an updated_parsed where there is none, and warns.
    parsed = dict.get(item, "published_parsed") or dict.get(item, "updated_parsed")
    try:
        return dt.datetime.fromtimestamp(calendar.timegm(parsed), dt.UTC) if parsed else None
    except (ValueError, OverflowError, OSError):
        return None
