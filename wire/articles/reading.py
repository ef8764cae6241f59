"""One article by its address: as it is stored, else read from its page at once."""

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Final

from django.db import Error, transaction
from django.utils import timezone

from config.database import routing
from config.errors import InvalidArgument, NotFound, UpstreamFailed
from sources import fetch
from sources.hosts import HostNotes
from sources.parse.article import InvalidArticle
from sources.parse.extractor import extract
from wire.articles import pages, storing
from wire.articles.addresses import is_own, key_of
from wire.articles.drafts import Refused, is_front, of_page
from wire.articles.models import OWN, Article, ArticleAlias, Publisher
from wire.articles.storing import Draft

SECONDS: Final = 10.0  # for a page in all: turn, name, robots.txt, redirects, body and reading
AT_ONCE: Final = 3  # callers of one process that wait for pages; the other thread is for those who ask for what is stored
OF_ONE: Final = 2  # of them for pages of one publisher, so that a slow one does not hold up the others
UNKNOWN: Final = "search-content and list-recent find addresses."
LATER: Final = f"Ask again later, or take another article: {UNKNOWN}"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Lane:
    """The way to one publisher in this process: one page at a time, and `gap` seconds between two."""

    gap: float
    callers: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(OF_ONE))
    turn: threading.Lock = field(default_factory=threading.Lock)
    ended: float = float("-inf")


_lanes: Final[dict[int, _Lane]] = {}
_callers: Final = threading.BoundedSemaphore(AT_ONCE)


def article_at(publisher: Publisher, url: str, seconds: float = SECONDS, how: fetch.Policy | None = None) -> Article:
    """The article of an address. One whose text is not stored is read from its page within `seconds`, and stored.

    Raises: InvalidArgument for an address that is not the publisher's; NotFound for a removed article and what is none;
    UpstreamFailed when its page cannot be read.
    """
    article = known_at(publisher, url)
    if article is not None and article.is_read:
        return article
    until = time.monotonic() + seconds
    policy = how or pages.policy()
    lane = _lanes.setdefault(publisher.pk, _Lane(policy.gap))
    with _turn(publisher, lane, until):
        article = routing.write(lambda: _stored(publisher, key_of(url)))  # another asker may have had it read meanwhile
        if article is not None and article.is_read:
            return article
        draft = _read(publisher, article.url if article else url, article, until, policy, lane)
        return _keep(publisher, article, key_of(url), draft)


def known_at(publisher: Publisher, url: str) -> Article | None:
    """The article of an address, as far as it is stored; none where its page would have to be asked.

    Raises: InvalidArgument for an address that is not the publisher's; NotFound for a removed article and what cannot be one.
    """
    if not is_own(publisher, url):
        domains = ", ".join(publisher.domains)
        raise InvalidArgument(f"url is not an article of {publisher.name}.", f"Its addresses are on {domains}. {UNKNOWN}")
    article = _stored(publisher, key_of(url))
    if article is not None and article.is_read:
        return article
    if article is not None and article.state == Article.State.GONE and article.gone_at is not None:
        raise NotFound(f"The publisher removed this article; it is gone since {article.gone_at:%Y-%m-%d}.", UNKNOWN)
    if publisher.slug == OWN or is_front(publisher, url):
        raise NotFound("There is no article at this address.", UNKNOWN)
    return article


@contextmanager
def _turn(publisher: Publisher, lane: _Lane, until: float) -> Iterator[None]:
    """One page of a publisher at a time, and a pause between two. Raises: UpstreamFailed when the turn would come too late."""
    with _counted(lane.callers), _counted(_callers):
        if not lane.turn.acquire(timeout=max(0.0, until - time.monotonic())):
            raise UpstreamFailed(f"Another page of {publisher.name} took too long, so this one was not asked.", LATER)
        try:
            pause = lane.ended + lane.gap - time.monotonic()
            if pause > until - time.monotonic():
                hint = f"Ask again in {math.ceil(pause)} seconds. {UNKNOWN}"
                raise UpstreamFailed(f"{publisher.name} was asked a moment ago; this page was not.", hint)
            time.sleep(max(0.0, pause))
            try:
                yield
            finally:
                lane.ended = time.monotonic()
        finally:
            lane.turn.release()


@contextmanager
def _counted(callers: threading.BoundedSemaphore) -> Iterator[None]:
    """One of these callers. Raises: UpstreamFailed when there are as many as there may be."""
    if not callers.acquire(blocking=False):
        raise UpstreamFailed("Other pages are being read at this moment, so this one was not asked.", "Ask again in 10 seconds.")
    try:
        yield
    finally:
        callers.release()


def _read(publisher: Publisher, url: str, known: Article | None, until: float, how: fetch.Policy, lane: _Lane) -> Draft:
    """Raises: NotFound, UpstreamFailed."""
    notes = HostNotes()
    patient = pages.patient(how, max(0.1, until - time.monotonic()))
    with closing(fetch.fetch_all([pages.ask(publisher, 0, url)], patient, notes)) as asked:
        ((_, outcome),) = asked
    _remember(notes)
    lane.gap = max(how.gap, fetch.crawl_delay(notes, url, how))
    if unread := pages.unread(outcome):
        if unread.is_missing:
            raise NotFound(unread.message, UNKNOWN)
        raise UpstreamFailed(unread.message, LATER)
    assert isinstance(outcome, fetch.Fetched), "what is none is told above"  # noqa: S101
    if not is_own(publisher, outcome.url):
        raise UpstreamFailed("The address redirects to what is not indexed; that was not read.", LATER)
    if is_front(publisher, outcome.url):
        raise NotFound("The address leads to the site's front page; there is no article.", UNKNOWN)
    try:
        page = extract(outcome.body, outcome.content_type, outcome.url, max(0.1, until - time.monotonic()))
        return of_page(publisher, outcome.url, page.entry, page.markdown, known, timezone.now())
    except InvalidArticle as error:
        raise UpstreamFailed(str(error), LATER) from error
    except Refused as error:
        raise UpstreamFailed("The page is none that is indexed.", LATER) from error


def _keep(publisher: Publisher, known: Article | None, asked: str, draft: Draft) -> Article:
    """Store it, if a source named it: an address that only a caller names is answered and not stored, or strangers could have any
    page of the site listed as an article. While it cannot be stored it is answered all the same. Searches find it when the wire
    next publishes or indexes.
    """

    def change() -> Article:
        now = timezone.now()
        with transaction.atomic():
            storing.lock(publisher)
            article = _stored(publisher, asked)  # as it is now: its page took seconds to come
            if article is None:
                return storing.unsaved(publisher, draft, now)
            if storing.move(publisher, article, draft):
                storing.store(publisher, [draft], now)
            return _stored(publisher, draft.key) or storing.unsaved(publisher, draft, now)

    if known is None:
        return storing.unsaved(publisher, draft, timezone.now())
    try:
        return routing.write(change)
    except Error:
        log.exception("%s was read, but could not be stored.", draft.url)
        return storing.unsaved(publisher, draft, timezone.now())


def _remember(notes: HostNotes) -> None:
    try:
        routing.write(notes.save)
    except Error:
        log.exception("What was learnt of a publisher's server could not be stored.")


def _stored(publisher: Publisher, key: str) -> Article | None:
    rows = Article.objects.filter(publisher=publisher, key=key)
    if found := rows.first():
        return found
    other = ArticleAlias.objects.filter(publisher=publisher, key=key).select_related("article").first()
    return other.article if other else None
