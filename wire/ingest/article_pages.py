"""Articles that a plain sitemap names without title or date, read from their own pages, a few a run; a `lastmod` dates nothing."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sources import fetch
from sources.choices import FeedType
from sources.entries import Entry
from sources.models import Feed, FeedHealth
from sources.parse import parse_page
from wire.ingest.feed_entries import try_canonical_url

A_RUN: Final = 10  # pages of one publication that a run asks for
MOST: Final = 5_000  # addresses remembered of one sitemap, the newest first
OLD, NEW, DONE = "old", "new", "done"  # states of an address; behind the first two stands since when its page is missing, if it is
PATIENCE: Final = dt.timedelta(days=3)  # how long a page may be missing: sitemaps name pages before they are there


def split_off_untitled(feed: Feed, known: FeedHealth, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that have a title. Remember the addresses of others, if they are below the publication's homepage."""
    if feed.feed_type != FeedType.SITEMAP:
        return list(entries)
    bare = [entry for entry in entries if not entry.title and _is_article(feed, entry)]
    bare.sort(key=lambda entry: str(entry.published_at or ""), reverse=True)
    first_sight = OLD if known.changed_at is None else NEW
    # By the article: another spelling of its address, as after a slash was added to all of them, is no new page.
    remembered = {try_canonical_url(page[0]) or page[0]: page for page in known.pages.items()}
    named = {try_canonical_url(entry.url) or entry.url: entry.url for entry in bare}
    listed = {about: (url, remembered.get(about, (url, first_sight))[1]) for about, url in named.items()}
    # What is not listed today is remembered too: a sitemap that comes back whole after a bad day brings no news.
    known.pages = dict([*listed.values(), *(page for about, page in remembered.items() if about not in listed)][:MOST])
    return [entry for entry in entries if entry.title]


def list_page_requests(feeds: Iterable[Feed]) -> Iterator[fetch.Ask]:
    """Yield the next pages to read: what appeared since, then what was there before. `key` is the feed's."""
    for feed in feeds:
        states = enumerate(feed.health.pages.items())
        waiting = sorted((state.startswith(OLD), place, url) for place, (url, state) in states if state != DONE)
        yield from (fetch.Ask(feed.pk, url) for _, _, url in waiting[:A_RUN])


def read_article_page(feed: Feed, known: FeedHealth, ask: fetch.Ask, outcome: fetch.Outcome, now: dt.datetime) -> list[Entry]:
    """Return the article of one page, or the page if it says that it does not exist; note whether to ask for the page again."""
    state = known.pages.pop(ask.url, NEW)
    for_good = {"gone", "robots", "bad_url", "bad_redirect", "insecure_redirect"}
    if isinstance(outcome, fetch.Failed) and outcome.code not in for_good:
        # At the end, so that the others have their turn first.
        known.pages[ask.url] = _update_missing_state(state, now) if outcome.code == "http_404" else state
        return []
    known.pages[ask.url] = DONE
    if not isinstance(outcome, fetch.Fetched):
        return []
    entries = parse_article_page(feed, outcome.body, outcome.content_type, outcome.url)
    if any(entry.is_not_found for entry in entries):
        known.pages[ask.url] = _update_missing_state(state, now)
        return entries
    return [entry for entry in entries if entry.published_at is not None or state.startswith(NEW)]


def _update_missing_state(state: str, now: dt.datetime) -> str:
    state, _, since = state.partition(" ")
    since = since or f"{now:%Y-%m-%d}"
    return DONE if abs(now.date() - dt.date.fromisoformat(since)) >= PATIENCE else f"{state} {since}"


def parse_article_page(feed: Feed, body: bytes, content_type: str = "", url: str = "") -> list[Entry]:
    """Return a page under its publication's name; none without a title, or if it led out of the publication's section."""
    entry = parse_page(body, content_type=content_type, url=url)
    return [entry.with_publisher(feed.publication.name)] if entry and (entry.is_not_found or _is_article(feed, entry)) else []


def _is_article(feed: Feed, entry: Entry) -> bool:
    """Return whether it is below the publication's homepage; the section's own index is none of its articles."""
    section = feed.publication.homepage.rstrip("/") + "/"
    return entry.url.startswith(section) and (try_canonical_url(entry.url) or entry.url) != (try_canonical_url(section) or section)
