"""From what a feed, a sitemap or a page says to a draft that is safe to store, or a refusal with a name."""

import datetime as dt
import re
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from sources.entries import Entry
from sources.fetch.url import WebAddress
from sources.parse.article import to_markdown
from sources.parse.dates import read_date
from wire.articles import rendering
from wire.articles.addresses import key_of
from wire.articles.models import Article, Publisher
from wire.articles.storing import Draft
from wire.stories.text import byline, plain_text, visible

MIN_CONTENT: Final = 200  # characters of an item's own text from which on it is the article
MAX_TITLE: Final = 500
MAX_DESCRIPTION: Final = 1_000
MAX_TEXT: Final = 1_000_000
MAX_ADDRESS: Final = 2_048
EARLIEST: Final = dt.datetime(1800, 1, 1, tzinfo=dt.UTC)
EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)  # which is what programs write that know no date
TOLERANCE: Final = dt.timedelta(days=1)  # clocks and time zones differ; further ahead is a mistake
_LANGUAGE: Final = re.compile(r"(?=.{2,35}\Z)[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")  # RFC 5646 §2.1, §4.4.1


class Refused(Exception):
    """An item that is not taken. `code` is what refusals are counted by: `foreign`, `left out` or `bad address`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def of_entry(publisher: Publisher, entry: Entry, now: dt.datetime) -> Draft:
    """An item of a feed or a sitemap; `now` is in UTC. Its text is there if the item brings at least MIN_CONTENT characters of it.

    Raises: Refused.
    """
    url, key = _own(publisher, entry.url)
    content = plain_text(entry.content, MIN_CONTENT)
    markdown = _content(entry.content, url) if len(content) >= MIN_CONTENT // 2 else None
    published = None if entry.published_at_estimated else _sane(entry.published_at, now)
    return Draft(
        url=url,
        key=key,
        title=plain_text(entry.title, MAX_TITLE) or (plain_text(content, 80) if markdown else ""),
        author=byline(entry.author) or "",
        published_at=published,
        description=_description(entry.summary, markdown),
        language=_language(entry.language),
        markdown=markdown,
        change=_change(entry.changed_at, now),
    )


def of_page(publisher: Publisher, url: str, entry: Entry, markdown: str, known: Article | None, now: dt.datetime) -> Draft:
    """The article of a page at `url`, where it was found after redirects. What the page does not say is taken from what is `known`.

    Its address is the one that the page names as its own, if that is one of the publisher's and no front page. Raises: Refused.
    """
    at = named = _own(publisher, url)
    with suppress(Refused):
        named = _own(publisher, entry.url)
    if is_front(publisher, named[0]):
        named = at
    text = visible(markdown)[:MAX_TEXT]
    published = None if entry.published_at_estimated else _sane(entry.published_at, now)
    return Draft(
        url=named[0],
        key=named[1],
        title=plain_text(entry.title, MAX_TITLE) or (known.title if known else "") or rendering.snippet("", text)[:80],
        author=byline(entry.author) or (known.author if known else ""),
        published_at=published or (known.published_at if known else None),
        description=plain_text(entry.summary, MAX_DESCRIPTION) or (known.description if known else "") or _description("", text),
        language=_language(entry.language) or (known.language if known else ""),
        markdown=text,
    )


def is_front(publisher: Publisher, url: str) -> bool:
    """Whether an address is a site's front page, where addresses that are none any more often lead."""
    parts = urlsplit(url)
    return (parts.path in {"", "/"} and not parts.query) or url.rstrip("/") == publisher.homepage.rstrip("/")


def _own(publisher: Publisher, raw: str) -> tuple[str, str]:
    """The address as it is asked for, and its key. Raises: Refused."""
    try:
        address = WebAddress.parse(raw)
        key = key_of(raw)
    except ValueError as error:
        raise Refused("bad address") from error
    url = str(address).partition("#")[0]
    if len(url) > MAX_ADDRESS or len(key) > MAX_ADDRESS:
        raise Refused("bad address")
    if not publisher.owns(address.authority):
        raise Refused("foreign")
    if publisher.leaves_out(address.target):
        raise Refused("left out")
    return url, key


def _content(content: str, url: str) -> str | None:
    """An item's own text; None if it is too short to be the article, or nothing that can be read."""
    try:
        markdown = visible(to_markdown(content, url))[:MAX_TEXT]
    except ValueError:
        return None
    return markdown if len(rendering.rendered(markdown, "text")) >= MIN_CONTENT else None


def _description(summary: str, markdown: str | None) -> str:
    """The publisher's, else how the text begins."""
    return plain_text(summary, MAX_DESCRIPTION) or (rendering.snippet("", markdown) if markdown else "")


def _language(raw: str) -> str:
    tag = raw.strip().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _sane(raw: dt.datetime | str | None, now: dt.datetime) -> dt.datetime | None:
    """A date of publication in UTC, whole seconds, up to TOLERANCE ahead; None for one that cannot be right."""
    moment = _moment(raw)
    if moment is None or moment == EPOCH or not EARLIEST <= moment <= now + TOLERANCE:
        return None
    return moment.replace(microsecond=0)  # not cut to now, which would be another date, and a revision, at each run


def _change(raw: dt.datetime | str | None, now: dt.datetime) -> dt.datetime | None:
    """A last change; one in the future is not believed: it would have the page read at each run."""
    moment = _moment(raw)
    return moment if moment is not None and moment <= now else None


def _moment(raw: dt.datetime | str | None) -> dt.datetime | None:
    moment = read_date(raw) if isinstance(raw, str) else raw
    if moment is None:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC).replace(microsecond=0)
    except OverflowError:
        return None
