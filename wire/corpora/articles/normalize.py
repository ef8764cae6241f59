"""Turn what a feed, a sitemap or a page says into a draft that is safe to store, or refuse it with a code."""

import datetime as dt
import re
from typing import Final
from urllib.parse import urlsplit

from sources.entries import Entry
from sources.fetch.url import WebAddress
from sources.parse.article import to_markdown
from sources.parse.dates import read_date
from wire.corpora.articles import rendering
from wire.corpora.articles.models import Article, Publisher
from wire.corpora.articles.store import ArticleDraft
from wire.corpora.articles.url_keys import build_url_key
from wire.text.plain_text import extract_author, plain_text, strip_invisible

MIN_CONTENT: Final = 200  # characters of an item's own text from which on it is the article
MAX_TITLE: Final = 500
MAX_DESCRIPTION: Final = 1_000
MAX_TEXT: Final = 1_000_000
MAX_ADDRESS: Final = 2_048
EARLIEST: Final = dt.datetime(1800, 1, 1, tzinfo=dt.UTC)
TOLERANCE: Final = dt.timedelta(days=1)  # clocks and time zones differ; further ahead is a mistake
_LANGUAGE: Final = re.compile(r"(?=.{2,35}\Z)[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")  # RFC 5646 §2.1, §4.4.1


class RefusedItem(Exception):
    """`code` is what refusals are counted by: `foreign`, `left out` or `bad address`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def draft_entry(publisher: Publisher, entry: Entry, now: dt.datetime) -> ArticleDraft:
    """Draft an item of a feed or sitemap; with text of at least MIN_CONTENT characters. `now` is in UTC. Raises: RefusedItem."""
    url, key = _parse_own_url(publisher, entry.url)
    content, markdown = plain_text(entry.content, MIN_CONTENT), None
    if len(content) >= MIN_CONTENT // 2:
        try:
            markdown = strip_invisible(to_markdown(entry.content, url))[:MAX_TEXT]
            if len(rendering.render_markdown(markdown, "text")) < MIN_CONTENT:
                markdown = None
        except ValueError:  # nothing that can be read
            markdown = None
    change = _to_utc(entry.changed_at)
    return ArticleDraft(
        url=url,
        key=key,
        title=plain_text(entry.title, MAX_TITLE) or (plain_text(content, 80) if markdown else ""),
        author=extract_author(entry.author) or "",
        published_at=_parse_publication_date(entry, now),
        description=plain_text(entry.summary, MAX_DESCRIPTION) or (rendering.cut_snippet("", markdown) if markdown else ""),
        language=_parse_language(entry.language),
        markdown=markdown,
        change=change if change is not None and change <= now else None,  # one to come would have the page read at each run
    )


def draft_page(
    publisher: Publisher, url: str, entry: Entry, markdown: str, known: Article | None, now: dt.datetime
) -> ArticleDraft:
    """Draft the article of a page at `url`, where it was found after redirects; `known` fills in what the page does not say.

    Its address is the one that the page names as its own, if that is one of the publisher's and no front page. Raises: RefusedItem,
    also if that is left out.
    """
    at = named = _parse_own_url(publisher, url)
    try:
        named = _parse_own_url(publisher, entry.url)
    except RefusedItem as refusal:
        if refusal.code == "left out":  # the same article by another way
            raise
    if is_front_page(publisher, named[0]):
        named = at
    text = strip_invisible(markdown)[:MAX_TEXT]
    known = known or Article()
    return ArticleDraft(
        url=named[0],
        key=named[1],
        title=plain_text(entry.title, MAX_TITLE) or known.title or rendering.cut_snippet("", text)[:80],
        author=extract_author(entry.author) or known.author,
        published_at=_parse_publication_date(entry, now) or known.published_at,
        description=plain_text(entry.summary, MAX_DESCRIPTION) or known.description or rendering.cut_snippet("", text),
        language=_parse_language(entry.language) or known.language,
        markdown=text,
    )


def is_front_page(publisher: Publisher, url: str) -> bool:
    """Return whether an address is a site's front page, where removed addresses often redirect."""
    parts = urlsplit(url)
    return (parts.path in {"", "/"} and not parts.query) or url.rstrip("/") == publisher.homepage.rstrip("/")


def _parse_own_url(publisher: Publisher, raw: str) -> tuple[str, str]:
    """Return the address as it is asked for, and its key. Raises: RefusedItem."""
    try:
        address, key = WebAddress.parse(raw), build_url_key(raw)
    except ValueError as error:
        raise RefusedItem("bad address") from error
    url = str(address).partition("#")[0]
    if len(url) > MAX_ADDRESS or len(key) > MAX_ADDRESS:
        raise RefusedItem("bad address")
    if not publisher.owns(address.authority):
        raise RefusedItem("foreign")
    if publisher.leaves_out(address.target):
        raise RefusedItem("left out")
    return url, key


def _parse_language(raw: str) -> str:
    tag = raw.strip().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _parse_publication_date(entry: Entry, now: dt.datetime) -> dt.datetime | None:
    """Return it in UTC, whole seconds, up to TOLERANCE ahead; None for one that cannot be right."""
    moment = None if entry.published_at_estimated else _to_utc(entry.published_at)
    # Programs that know no date write 1970. One ahead is not cut to now, which would be a revision at each run.
    return moment if moment is not None and moment.timestamp() and EARLIEST <= moment <= now + TOLERANCE else None


def _to_utc(raw: dt.datetime | str | None) -> dt.datetime | None:
    moment = read_date(raw) if isinstance(raw, str) else raw
    try:
        return moment and (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC).replace(microsecond=0)
    except OverflowError:
        return None
