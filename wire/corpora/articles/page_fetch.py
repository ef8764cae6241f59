"""Pages of articles: how they are asked for, outcomes in words, and an article by its address: stored, else read at once."""

import logging
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from django.db import Error, transaction
from django.utils import timezone

from config.database import routing
from config.errors import InvalidArgument, NotFound, UpstreamFailed
from sources import fetch
from sources.feed_health import HostNotes
from sources.parse.article import InvalidArticle
from sources.parse.extractor_pool import extract_article
from wire.corpora.articles import store
from wire.corpora.articles.models import OWN, Article, ArticleAlias, Publisher
from wire.corpora.articles.normalize import RefusedItem, draft_page, is_front_page
from wire.corpora.articles.url_keys import build_url_key, list_equivalent_keys
from wire.ingest import feed_entries
from wire.text.lexicons import load_lexicon

SECONDS: Final = 10.0  # for a page in all: turn, name, robots.txt, redirects, body and reading
AT_ONCE: Final = 3  # callers of one process that wait for pages; the other thread is for those who ask for what is stored
OF_ONE: Final = 2  # of them for pages of one publisher, so that a slow one does not hold up the others
UNKNOWN: Final = "search-content and list-recent find addresses."
LATER: Final = f"Try again later, or read another article: {UNKNOWN}"
# Codes of `Unread`: the server, or the page itself, says that there is no such page; the server wants to be left alone, whatever
# page is asked.
MISSING_CODES: Final = frozenset({"http_404", "gone", "not_found_page"})
RETRY_LATER_CODES: Final = frozenset({"not_yet", "http_429"})
_SENTENCES: Final[Mapping[str, str]] = load_lexicon("page_failures")["sentences"]

log = logging.getLogger(__name__)


class Unread(NamedTuple):
    """The reason why there is no article, in a sentence. `code` is stable."""

    code: str
    message: str


def build_page_request(publisher: Publisher, key: int, url: str) -> fetch.Ask:
    """Return the request for a page, which may redirect to the publisher's own hosts only, and to no path that is left out."""
    return fetch.Ask(key, url, within=publisher.own_domains, avoid=publisher.leaves_out, is_page=True)


def describe_failure(outcome: fetch.Unchanged | fetch.Failed) -> Unread:
    if isinstance(outcome, fetch.Unchanged):  # which no page was asked for
        return Unread("broken_answer", _SENTENCES["broken_answer"])
    code = outcome.code
    message = _SENTENCES.get(code, outcome.message)
    if code.startswith("http_") and code not in _SENTENCES:
        message = f"The publisher's server answers with status {code.removeprefix('http_')}."
    return Unread(code, message)


@dataclass(slots=True)
class _Lane:
    """The way to one publisher in this process: one page at a time, and `gap` seconds between two."""

    gap: float
    callers: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(OF_ONE))
    turn: threading.Lock = field(default_factory=threading.Lock)
    ended: float = float("-inf")


_lanes: Final[dict[int, _Lane]] = {}
_callers: Final = threading.BoundedSemaphore(AT_ONCE)


def get_or_fetch_article(publisher: Publisher, url: str, seconds: float = SECONDS, how: fetch.Policy | None = None) -> Article:
    """Return the article of an address. If its text is not stored, its page is read within `seconds`, and stored. Raises:
    InvalidArgument for an address that is not the publisher's; NotFound for a removed article and what is none; UpstreamFailed when
    its page cannot be read.
    """
    article = find_known_article(publisher, url)
    if article is not None and article.is_read:
        return article
    until, how = time.monotonic() + seconds, how or feed_entries.get_fetch_policy()
    lane = _lanes.setdefault(publisher.pk, _Lane(how.gap))
    with _wait_for_turn(publisher, lane, until):
        article = routing.run_write(lambda: _find_article(publisher, build_url_key(url)))  # another asker may have had it read
        if article is not None and article.is_read:
            return article
        draft = _read_page(publisher, article.url if article else url, article, until, how, lane)
        # An address that only a caller names is answered and not stored, or strangers could have any page of the site listed as an
        # article. Searches find one that is stored when the wire next publishes or indexes.
        if article is not None:
            try:
                return routing.run_write(lambda: _store_page(publisher, build_url_key(url), draft))
            except Error:
                log.exception("%s was read, but could not be stored.", draft.url)
        return store.build_article(publisher, draft, timezone.now())


def find_known_article(publisher: Publisher, url: str) -> Article | None:
    """Return the stored article of an address; None where its page has to be asked. Raises: InvalidArgument; NotFound."""
    if not publisher.has_address(url):
        domains = ", ".join(publisher.domains)
        raise InvalidArgument(f"url is not an article of {publisher.name}.", f"Its addresses are on {domains}. {UNKNOWN}")
    article = _find_article(publisher, build_url_key(url))
    if article is not None and article.is_read:
        return article
    if article is not None and article.state == Article.State.GONE and article.gone_at is not None:
        raise NotFound(f"The publisher removed this article; it has been gone since {article.gone_at:%Y-%m-%d}.", UNKNOWN)
    if publisher.slug == OWN or is_front_page(publisher, url):
        raise NotFound("There is no article at this address.", UNKNOWN)
    return article


def is_same_article(publisher: Publisher, key: str, other: str) -> bool:
    """Return whether two keys of addresses are one article's, which has both."""
    if key == other:
        return True
    first, second = _find_article(publisher, key), _find_article(publisher, other)
    return first is not None and first == second


@contextmanager
def _wait_for_turn(publisher: Publisher, lane: _Lane, until: float) -> Iterator[None]:
    """Read one page of a publisher at a time, with a pause between two. Raises: UpstreamFailed if the turn would come too late."""
    with ExitStack() as taken:
        for callers in (lane.callers, _callers):
            if not callers.acquire(blocking=False):
                words = "Other pages are being read at this moment, so this one was not fetched."
                raise UpstreamFailed(words, "Try again in 10 seconds.")
            taken.callback(callers.release)
        if not lane.turn.acquire(timeout=max(0.0, until - time.monotonic())):
            raise UpstreamFailed(f"Another page of {publisher.name} took too long, so this one was not fetched.", LATER)
        taken.callback(lane.turn.release)
        pause = lane.ended + lane.gap - time.monotonic()
        if pause > until - time.monotonic():
            hint = f"Try again in {math.ceil(pause)} seconds. {UNKNOWN}"
            raise UpstreamFailed(f"{publisher.name} was asked for another page a moment ago; this one was not fetched.", hint)
        time.sleep(max(0.0, pause))
        try:
            yield
        finally:
            lane.ended = time.monotonic()


def _read_page(
    publisher: Publisher, url: str, known: Article | None, until: float, how: fetch.Policy, lane: _Lane
) -> store.ArticleDraft:
    """Raises: NotFound, UpstreamFailed."""
    notes, patience = HostNotes(), max(0.1, until - time.monotonic())
    patient = replace(how, patience=patience, deadline=patience)
    with closing(fetch.fetch_all([build_page_request(publisher, 0, url)], patient, notes)) as fetched:
        ((_, outcome),) = fetched
    try:
        routing.run_write(notes.save)
    except Error:
        log.exception("What was learnt of a publisher's server could not be stored.")
    lane.gap = max(how.gap, fetch.crawl_delay(notes, url, how))
    if not isinstance(outcome, fetch.Fetched):
        raise _to_error(describe_failure(outcome))
    if not publisher.has_address(outcome.url):
        raise UpstreamFailed("The address redirects to a page that is not indexed; it was not read.", LATER)
    if is_front_page(publisher, outcome.url):
        raise NotFound("The address leads to the site's front page; there is no article.", UNKNOWN)
    try:
        page = extract_article(outcome.body, outcome.content_type, outcome.url, max(0.1, until - time.monotonic()))
        draft = draft_page(publisher, outcome.url, page.entry, page.markdown, known, timezone.now())
        return store.resolve_address(publisher, known, draft, outcome.url)
    except InvalidArticle as error:
        raise _to_error(Unread(error.code, str(error))) from error
    except RefusedItem as error:
        raise UpstreamFailed("The page is not one that is indexed.", LATER) from error


def _to_error(reason: Unread) -> NotFound | UpstreamFailed:
    return NotFound(reason.message, UNKNOWN) if reason.code in MISSING_CODES else UpstreamFailed(reason.message, LATER)


def _store_page(publisher: Publisher, key: str, draft: store.ArticleDraft) -> Article:
    now = timezone.now()
    with transaction.atomic():
        store.lock_publisher(publisher)
        article = _find_article(publisher, key)  # as it is now: its page took seconds to come
        if article is None:
            return store.build_article(publisher, draft, now)
        if store.move_article(publisher, article, draft, now):
            store.store_drafts(publisher, [draft], now)
        return _find_article(publisher, draft.key) or store.build_article(publisher, draft, now)


def _find_article(publisher: Publisher, key: str) -> Article | None:
    """Return the article with this address, or with one that sites often give the same article."""
    for keys in ([key], list_equivalent_keys(key)):
        if found := Article.objects.filter(publisher=publisher, key__in=keys).first():
            return found
        if other := ArticleAlias.objects.filter(publisher=publisher, key__in=keys).select_related("article").first():
            return other.article
    return None
