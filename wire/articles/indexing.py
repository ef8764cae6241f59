"""One run over a publisher: ask its feeds and sitemaps, note what they name, read the pages that are waiting.

Every batch is one transaction, and what is left to do stands in the database: a run that is killed loses the batch at hand, and the
next one goes on. Memory holds one document and one batch, however large the site is.
"""

import datetime as dt
import hashlib
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from django.db import Error, transaction
from django.utils import timezone

from config.errors import WireError
from sources import fetch, lease
from sources.entries import Entry
from sources.fetch.url import WebAddress
from sources.health import FIRST_WAIT, LONGEST_WAIT
from sources.hosts import HostNotes
from sources.parse import InvalidFeed, parse, parse_sitemap
from sources.parse.article import Article as Page
from sources.parse.article import InvalidArticle
from sources.parse.extractor import extract_all
from wire.articles import own, pages, sample, storing
from wire.articles.addresses import is_own
from wire.articles.drafts import Refused, is_front, of_entry, of_page
from wire.articles.models import AT_ONCE, OWN, Article, IndexLease, Publisher, Source
from wire.articles.pages import Unread
from wire.articles.storing import Draft
from wire.intake.feeds import refuse_sample

MAX_PAGES: Final = 5_000  # of one run
MAX_SECONDS: Final = 20 * 60.0  # of one run; what is left is for the next
MAX_AGAIN: Final = 100  # pages of one run that are looked at though no source speaks of them
MAX_DOCUMENT: Final = 50 << 20  # bytes of a feed or a sitemap (sitemaps.org)
MAX_CHILDREN: Final = 1_000  # sitemaps that one source leads to
MAX_TRIED: Final = 1_000
MAX_DEPTH: Final = 3  # of an index within an index
REREAD: Final = dt.timedelta(days=3)  # after which a source is read whole though it did not change, to see what it still shows
PATIENCE: Final = 5.0  # seconds that pages which were read wait to be stored
MOST_TROUBLE: Final = 5  # failures of a server in a row after which it is left alone for a while
LEFT_ALONE: Final = dt.timedelta(minutes=10)
_TROUBLE: Final = {"dns", "connect", "tls", "timeout", "too_slow", "broken_answer", "http_429"}

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""What is being done (`sources` or `pages`), how many are done, and how many there are."""
Fetching = Callable[[Iterable[fetch.Ask], fetch.Policy, HostNotes], Generator[tuple[fetch.Ask, fetch.Outcome], None, None]]


@dataclass(slots=True)
class Report:
    """What one run did. `counts` by name: articles `new` (with their text), `listed` (without), `edited`, `same`, `waiting` for
    their page, `gone`; items `foreign`, `left out` and `bad address`; `pages` that were asked, and which of these were `missing` or
    `failed`; sources `asked`, `unchanged`, `not due`.

    `errors` are sentences about sources and servers; `left` counts the pages that wait for the next run.
    """

    publisher: Publisher
    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    failed_sources: int = 0
    left: int = 0
    seconds: float = 0.0

    @property
    def reached_nothing(self) -> bool:
        """Whether sources were asked and not one of them answered."""
        return 0 < self.counts["asked"] == self.failed_sources

    @property
    def changed(self) -> bool:
        return any(self.counts[name] for name in ("new", "listed", "edited", "gone"))


def index(
    publisher: Publisher,
    *,
    now: dt.datetime | None = None,
    stop: Callable[[], bool] = lambda: False,
    by_hand: bool = False,
    most_pages: int = MAX_PAGES,
    seconds: float = MAX_SECONDS,
    how: fetch.Policy | None = None,
    progress: Progress = lambda _what, _done, _total: None,
) -> Report:
    """Bring a publisher's articles up to date; `now` is in UTC. `by_hand` asks sources also before they are due again; `stop` ends
    the run after the batch at hand.

    Raises: Busy while another process indexes this publisher; NotFound when it was removed; InvalidArgument on the sample wire,
    which takes no real articles.
    """
    started = time.monotonic()
    now = now or timezone.now()
    is_sample = sample.is_sample(publisher)
    if publisher.slug != OWN and not is_sample:
        refuse_sample()
    IndexLease.objects.get_or_create(publisher=publisher)
    with lease.held(IndexLease.objects.filter(publisher=publisher), f"indexing of {publisher.slug}") as held:
        storing_ends = started + seconds
        run = _Run(publisher, now, held, how or pages.policy(), lambda: stop() or time.monotonic() > storing_ends, progress)
        if is_sample:
            run.fetch_all = sample.fetch_all
        if publisher.slug == OWN:
            run.report.counts += own.synchronise(publisher, now)
        else:
            run.report.counts["left out"] += storing.leave_out(publisher)
            run.ask_sources(by_hand=by_hand)
            run.read_pages(most_pages)
        if not stop():
            Publisher.objects.filter(pk=publisher.pk).update(indexed_at=now)
        if run.report.changed:
            storing.announce()
    run.report.left = Article.objects.waiting().filter(publisher=publisher).count()
    run.report.seconds = time.monotonic() - started
    return run.report


def try_out(source: Source, *, how: fetch.Policy | None = None) -> list[Draft] | str:
    """What a run would take from a source now, of an index of sitemaps from the first one; or in a sentence why nothing. The first
    MAX_TRIED articles. Asks the publisher, and writes nothing.
    """
    publisher, url, now = source.publisher, source.url, timezone.now()
    for _ in range(MAX_DEPTH + 1):
        ask = fetch.Ask(0, url, within=tuple(publisher.domains))
        ((_, outcome),) = fetch.fetch_all([ask], replace(how or pages.policy(), max_body=MAX_DOCUMENT), HostNotes())
        if not isinstance(outcome, fetch.Fetched):
            return outcome.message if isinstance(outcome, fetch.Failed) else "Nothing came."
        try:
            entries, children, _ = _parsed(source, outcome)
        except InvalidFeed as error:
            return str(error)
        child = next((child for child in children if is_own(publisher, child)), None)
        if entries or child is None:
            break
        url = child
    drafts, refusals = [], Counter[str]()
    for entry in islice(entries, MAX_TRIED):
        try:
            drafts.append(of_entry(publisher, entry, now))
        except Refused as refusal:
            refusals[refusal.code] += 1
    if refusals and not drafts:
        counted = ", ".join(f"{number:,} {code}" for code, number in refusals.items())
        return f"Not one of its addresses is on {', '.join(publisher.domains)} and to be indexed: {counted}."
    return drafts


@dataclass(frozen=True, slots=True)
class _Document:
    """A feed or a sitemap that is asked: a source itself, or one of the sitemaps that it leads to, `depth` indexes below."""

    source: Source
    url: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is to be known of a document before it is asked again; `read_at` is when it was read whole."""

    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    read_at: dt.datetime | None = None

    def as_json(self) -> dict[str, str]:
        return {**asdict(self), "read_at": self.read_at.isoformat() if self.read_at else ""}


class _Run:
    """A run at work. Network and parsing happen outside of transactions."""

    def __init__(
        self,
        publisher: Publisher,
        now: dt.datetime,
        held: lease.Lease,
        how: fetch.Policy,
        stop: Callable[[], bool],
        progress: Progress,
    ) -> None:
        self.report = Report(publisher)
        self.fetch_all: Fetching = fetch.fetch_all
        self._publisher = publisher
        self._now = now
        self._held = held
        self._how = how
        self._stop = stop
        self._progress = progress
        self._notes = HostNotes()
        self._trouble = Counter[str]()

    # Sources

    def ask_sources(self, *, by_hand: bool) -> None:
        """Level by level: the sources, then the sitemaps that they lead to, and so on; each address once."""
        sources = [source for source in self._publisher.sources.all() if by_hand or _is_due(source, self._now)]
        self.report.counts["not due"] += self._publisher.sources.count() - len(sources)
        level = [_Document(source, source.url) for source in sources]
        asked = {document.url for document in level}
        done = 0
        while level and not self._stop():
            following: list[_Document] = []
            for document, outcome in self._documents(level):
                for child in self._taken(document, outcome):
                    if child.url not in asked and child.depth <= MAX_DEPTH:
                        asked.add(child.url)
                        following.append(child)
                done += 1
                self._progress("sources", done, len(asked))
            level = following

    def _documents(self, documents: Sequence[_Document]) -> Iterator[tuple[_Document, fetch.Outcome]]:
        asks = [self._ask(number, document) for number, document in enumerate(documents)]
        for ask, outcome in self._answers(asks, replace(self._how, max_body=MAX_DOCUMENT)):
            yield documents[ask.key], outcome

    def _ask(self, number: int, document: _Document) -> fetch.Ask:
        """A conditional one, unless it is time to read the document whole again."""
        seen = _seen(document)
        etag, last_modified = (seen.etag, seen.last_modified) if self._is_fresh(seen) else ("", "")
        return fetch.Ask(number, document.url, etag, last_modified, tuple(self._publisher.domains))

    def _is_fresh(self, seen: _Seen) -> bool:
        return seen.read_at is not None and self._now - seen.read_at < REREAD

    def _taken(self, document: _Document, outcome: fetch.Outcome) -> list[_Document]:
        """A fault of ours in one document is noted and logged, and costs no other its turn."""
        try:
            return self._take(document, outcome)
        except (Error, OSError, WireError):
            raise  # the database, room on the disk or the lease is gone: nothing that follows could be kept
        except Exception:
            log.exception("%s could not be taken in.", document.url)
            self._note_failure(document, "internal_error", "A fault of the wire's own; the log says why.")
            return []

    def _take(self, document: _Document, outcome: fetch.Outcome) -> list[_Document]:
        """Take a document in; the sitemaps that it leads to. That it was read is noted last: one taken in part is read again."""
        source = document.source
        if not document.depth:
            self.report.counts["asked"] += 1
        match outcome:
            case fetch.Failed():
                self._note_failure(document, outcome.code, outcome.message)
                return []
            case fetch.Unchanged():
                return self._still_the_same(document, outcome.etag, outcome.last_modified)
        seen = _seen(document)
        digest = hashlib.sha256(outcome.body).hexdigest()
        if digest == seen.digest and self._is_fresh(seen):
            return self._still_the_same(document, outcome.etag, outcome.last_modified)
        try:
            entries, children, whole = _parsed(source, outcome)
        except InvalidFeed as error:
            self._note_failure(document, "invalid", str(error))
            return []
        if not self._store_entries(entries):
            return []  # stopped: it is read again
        seen = _Seen(outcome.etag, outcome.last_modified, digest, self._now) if whole else _Seen()  # the rest is to come
        listed = [child for child in dict.fromkeys(children) if is_own(self._publisher, child)]
        self.report.counts["foreign"] += len(set(children)) - len(listed)
        self._note_answer(document, seen, listed, len(entries))
        return [_Document(source, child, document.depth + 1) for child in listed if child in source.children]

    def _still_the_same(self, document: _Document, etag: str, last_modified: str) -> list[_Document]:
        """Nothing new in it; what an index leads to may have changed all the same."""
        self.report.counts["unchanged"] += 1
        self._note_answer(document, replace(_seen(document), etag=etag, last_modified=last_modified))
        children = [url for url, known in document.source.children.items() if known["by"] == document.url]
        return [_Document(document.source, url, document.depth + 1) for url in children]

    def _store_entries(self, entries: Iterable[Entry]) -> bool:
        """In batches. Whether all were stored, and not stopped between two."""
        waiting = iter(entries)
        while batch := list(islice(waiting, storing.BATCH)):
            if self._stop():
                return False
            drafts = list(self._drafts(batch))
            with transaction.atomic():
                self._held.renew()
                stored = storing.store(self._publisher, drafts, self._now)
            self._count(stored)
            self.report.counts["waiting"] += stored.waiting
        return True

    def _drafts(self, entries: Iterable[Entry]) -> Iterator[Draft]:
        for entry in entries:
            try:
                draft = of_entry(self._publisher, entry, self._now)
            except Refused as refusal:
                self.report.counts[refusal.code] += 1
                continue
            if draft.markdown is not None or not is_front(self._publisher, draft.url):
                yield draft

    def _note_answer(self, document: _Document, seen: _Seen, children: list[str] | None = None, found: int | None = None) -> None:
        """`children` and `found` are None for a document that did not change."""
        source = document.source
        source.asked_at = source.worked_at = self._now
        if document.depth:
            child = source.children.setdefault(document.url, {"by": source.url})
            child |= seen.as_json()
            if found is not None:
                source.found += found - child.get("found", 0)
                child["found"] = found
        else:
            source.failures, source.error_code, source.error = 0, "", ""
            source.etag, source.last_modified, source.digest, source.read_at = astuple(seen)
        if children is not None:
            source.children = _led_to(source, document.url, children)
            if any(child not in source.children for child in children):
                message = f"it leads to more than {MAX_CHILDREN:,} sitemaps; the others were left out."
                self.report.errors.append(f"{source.url}: {message}")
        if found is not None and not document.depth:
            source.found = found + sum(child.get("found", 0) for child in source.children.values())
        _keep(source)

    def _note_failure(self, document: _Document, code: str, message: str) -> None:
        source = document.source
        self.report.errors.append(f"{document.url}: {message}")
        source.asked_at = self._now
        if code == "not_yet":  # its host asked to be left alone, which is no failure
            self.report.failed_sources += not document.depth
        elif document.depth:
            source.error_code, source.error = code[:30], f"{document.url}: {message}"[:500]
        else:
            self.report.failed_sources += 1
            source.failures = min(source.failures + 1, 1_000)
            source.error_code, source.error = code[:30], message[:500]
        _keep(source)

    # Pages

    def read_pages(self, most: int) -> None:
        """Of what is waiting as many as fit into the run, then a few that no source has shown for a week."""
        urls = self._due(most)
        done = 0
        asked: deque[tuple[int, str]] = deque()
        batch: list[tuple[int, str, Page | Unread]] = []
        stored_at = time.monotonic()
        answers = self._pages(urls, asked, batch)
        for found in chain(extract_all(answers), [None]):
            if found is not None:
                key, url = asked.popleft()
                batch.append((key, url, Unread(found.code, str(found)) if isinstance(found, InvalidArticle) else found))
            if found is None or len(batch) >= storing.BATCH or time.monotonic() > stored_at + PATIENCE:
                self._store_pages(batch)
                done += len(batch)
                batch.clear()
                stored_at = time.monotonic()
                self._progress("pages", done, len(urls))

    def _due(self, most: int) -> dict[int, str]:
        """Addresses by primary key: those missing a day ago, those never read or changed, then some to look at again."""
        rows = Article.objects.filter(publisher=self._publisher)
        missing = rows.missing().filter(missing_since__lte=self._now - storing.APART).exclude(ask_at__gt=self._now)
        urls = dict(missing.values_list("pk", "url")[:most])
        for wanted in (
            rows.filter(state=Article.State.LIVE, ask_at=AT_ONCE),
            rows.filter(state=Article.State.GONE, ask_at=AT_ONCE),
            rows.filter(state=Article.State.WAITING, missing_since=None).order_by("pk"),
        ):
            urls |= dict(wanted.values_list("pk", "url")[: max(0, most - len(urls))])
        for state in (Article.State.FAILED, Article.State.LIVE, Article.State.GONE):
            due = rows.filter(state=state, ask_at__gt=AT_ONCE, ask_at__lte=self._now).order_by("ask_at")
            urls |= dict(due.values_list("pk", "url")[: max(0, min(MAX_AGAIN, most - len(urls)))])
        return urls

    def _pages(
        self, urls: dict[int, str], asked: deque[tuple[int, str]], batch: list[tuple[int, str, Page | Unread]]
    ) -> Iterator[tuple[bytes, str, str]]:
        """Pages to be read, each noted in `asked`; what cannot be goes to `batch` at once."""
        for ask, outcome in self._answers((pages.ask(self._publisher, key, url) for key, url in urls.items()), self._how):
            unread = pages.unread(outcome)
            self._look_after(ask, unread)
            self.report.counts["pages"] += not (unread and unread.code == "not_yet")
            if isinstance(outcome, fetch.Fetched):
                if is_front(self._publisher, outcome.url) and not is_front(self._publisher, ask.url):
                    unread = Unread("front_page", "The address leads to the site's front page; the article is not there.")
                else:
                    asked.append((ask.key, outcome.url))
                    yield outcome.body, outcome.content_type, outcome.url
            if unread:
                batch.append((ask.key, ask.url, unread))

    def _look_after(self, ask: fetch.Ask, unread: Unread | None) -> None:
        """A server that fails again and again is left alone for a while, as if it had asked for that; others go on."""
        host = WebAddress.parse(ask.url).authority
        if unread is None or not (unread.code in _TROUBLE or unread.code.startswith("http_5")):
            self._trouble[host] = 0
            return
        self._trouble[host] += 1
        if self._trouble[host] == MOST_TROUBLE:
            self._notes.setdefault(host, fetch.HostNote()).not_before = timezone.now() + LEFT_ALONE
            message = f"{MOST_TROUBLE} pages in a row failed, so it is left alone for 10 minutes. The last: {unread.message}"
            self.report.errors.append(f"{host}: {message}")

    def _store_pages(self, batch: Sequence[tuple[int, str, Page | Unread]]) -> None:
        if not batch:
            return
        with transaction.atomic():
            self._held.renew()
            storing.lock(self._publisher)
            known = Article.objects.select_related("publisher").in_bulk([key for key, _, _ in batch])
            drafts = []
            for key, url, found in batch:
                article = known.get(key)
                if article is None:
                    continue  # another of the batch has the same address by now
                if isinstance(found, Unread):
                    self._note_unread(article, found)
                elif draft := self._moved(article, url, found):
                    drafts.append(draft)
            self._count(storing.store(self._publisher, drafts, self._now))

    def _moved(self, article: Article, url: str, page: Page) -> Draft | None:
        """What a page says, under the address that it has; None if that is not to be read."""
        try:
            draft = of_page(self._publisher, url, page.entry, page.markdown, article, self._now)
        except Refused as refusal:
            message = f"The page is at {url[:200]} now, which is not indexed: {refusal.code}."
            self._note_unread(article, Unread(refusal.code, message))
            return None
        except Exception:
            log.exception("%s could not be taken in.", url)
            self._note_unread(article, Unread("internal_error", "A fault of the wire's own; the log says why."))
            return None
        return draft if storing.move(self._publisher, article, draft) else None

    def _note_unread(self, article: Article, found: Unread) -> None:
        if found.is_missing:
            self.report.counts["missing"] += 1
            self.report.counts["gone"] += storing.missing(article, self._now)
        elif not found.is_later:
            self.report.counts["failed"] += 1
            storing.failed(article, found.message, self._now)

    def _answers(self, asks: Iterable[fetch.Ask], how: fetch.Policy) -> Iterator[tuple[fetch.Ask, fetch.Outcome]]:
        """What comes, until the run is to stop. What was learnt of the hosts is kept whatever becomes of the answers."""
        with closing(self.fetch_all(asks, how, self._notes)) as fetched:
            try:
                while not self._stop() and (answer := next(fetched, None)):
                    yield answer
            finally:
                self._notes.save()

    def _count(self, stored: storing.Stored) -> None:
        self.report.counts += Counter(new=stored.new, listed=stored.listed, edited=stored.edited, same=stored.same)


def _is_due(source: Source, now: dt.datetime) -> bool:
    """After failures it is asked later each time."""
    if not source.failures or source.asked_at is None:
        return True
    return source.asked_at + min(FIRST_WAIT * (1 << min(source.failures - 1, 20)), LONGEST_WAIT) <= now


def _seen(document: _Document) -> _Seen:
    source = document.source
    if not document.depth:
        return _Seen(source.etag, source.last_modified, source.digest, source.read_at)
    kept = source.children.get(document.url, {})
    read_at = dt.datetime.fromisoformat(kept["read_at"]) if kept.get("read_at") else None
    return _Seen(kept.get("etag", ""), kept.get("last_modified", ""), kept.get("digest", ""), read_at)


def _led_to(source: Source, index: str, children: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What a source leads to, now that one of its indexes lists these; what is known of them stays."""
    kept = {url: known for url, known in source.children.items() if known["by"] != index}
    for child in children:
        if child not in kept and len(kept) < MAX_CHILDREN:
            kept[child] = source.children.get(child, {}) | {"by": index}
    return {url: known for url, known in kept.items() if known["by"] == source.url or known["by"] in kept}


def _keep(source: Source) -> None:
    """Unless it was deleted meanwhile."""
    names = ("etag", "last_modified", "digest", "read_at", "children", "asked_at", "worked_at", "found")
    told = {name: getattr(source, name) for name in (*names, "failures", "error_code", "error")}
    Source.objects.filter(pk=source.pk).update(**told)


def _parsed(source: Source, fetched: fetch.Fetched) -> tuple[list[Entry], list[str], bool]:
    """A document's items, the sitemaps that it leads to, and whether it is whole. Raises: InvalidFeed."""
    if source.kind == Source.Kind.FEED:
        feed = parse(fetched.body, content_type=fetched.content_type, url=fetched.url)
        return feed.entries, [], feed.whole
    sitemap = parse_sitemap(fetched.body, content_type=fetched.content_type, url=fetched.url)
    return sitemap.entries, sitemap.children, sitemap.whole
