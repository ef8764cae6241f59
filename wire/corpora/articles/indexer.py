"""Index a publisher in one run: ask its feeds and sitemaps, note what they name, read the pages that are waiting.

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
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from django.db import Error, transaction
from django.utils import timezone

from config.errors import InvalidArgument, WireError
from config.url_secrets import mask_address, mask_addresses
from sources import fetch, job_lock
from sources.entries import Entry
from sources.feed_health import FIRST_WAIT, LONGEST_WAIT, HostNotes
from sources.fetch.url import WebAddress
from sources.parse import InvalidFeed, parse_feed, parse_sitemap
from sources.parse.article import Article as Page
from sources.parse.article import InvalidArticle
from sources.parse.extractor_pool import extract_articles
from wire.corpora.articles import house_publisher, page_fetch, sample, store
from wire.corpora.articles.models import AT_ONCE, NAMED_REFUSALS, OWN, SUFFIX_HINT, Article, IndexLease, Publisher, Refusals, Source
from wire.corpora.articles.normalize import RefusedItem, draft_entry, draft_page, is_front_page
from wire.corpora.articles.page_fetch import Unread
from wire.corpora.articles.store import ArticleDraft
from wire.ingest import feed_entries
from wire.text.plain_text import plain_line, plain_text

MAX_PAGES: Final = 5_000  # of one run
MAX_SECONDS: Final = 20 * 60.0  # of one run; what is left is for the next
MAX_DOCUMENT: Final = 50 << 20  # bytes of a feed or a sitemap (sitemaps.org)
MAX_CHILDREN: Final = 1_000  # sitemaps that one source leads to
MAX_NAME: Final = 200  # characters of a refused item's name
MAX_DEPTH: Final = 3  # of an index within an index
REREAD: Final = dt.timedelta(days=3)  # after which a source is read whole though it did not change, to see what it still shows
PATIENCE: Final = 5.0  # seconds that pages which were read wait to be stored
MOST_TROUBLE: Final = 5  # failures of a server in a row after which it is left alone for a while
NAMES: Final = {"foreign": "on another host", "waiting": "queued"}  # of counts and refusals whose code is no plain word
FAULT: Final = "An internal error; the log says why."
_TROUBLE: Final = {"dns", "connect", "tls", "timeout", "too_slow", "broken_answer", "http_429"}

log = logging.getLogger(__name__)

Fetching = Callable[[Iterable[fetch.Ask], fetch.Policy, HostNotes], Generator[tuple[fetch.Ask, fetch.Outcome], None, None]]


@dataclass(slots=True)
class RunReport:
    """The result of a run: `counts` by name (docs/articles.md), refused items, and in `left` the pages that wait."""

    publisher: Publisher
    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed_sources: int = 0
    left: int = 0
    seconds: float = 0.0

    @property
    def has_reached_nothing(self) -> bool:
        return 0 < self.counts["asked"] == self.failed_sources

    @property
    def changed(self) -> bool:
        return any(self.counts[name] for name in ("new", "listed", "edited", "gone"))


def index_publisher(
    publisher: Publisher,
    *,
    now: dt.datetime | None = None,
    stop: Callable[[], bool] = lambda: False,
    by_hand: bool = False,
    most_pages: int = MAX_PAGES,
    seconds: float = MAX_SECONDS,
    how: fetch.Policy | None = None,
) -> RunReport:
    """Bring a publisher's articles up to date; `now` is in UTC. `by_hand`: ask sources not yet due. `stop` ends it after the
    batch at hand. Raises: Busy; NotFound when it was removed; InvalidArgument on the sample wire, and for a public suffix.
    """
    started = time.monotonic()
    now = now or timezone.now()
    if strange := sorted(set(publisher.domains) - set(publisher.own_domains)):
        raise InvalidArgument(
            f"{publisher.name} cannot be indexed: {strange[0]} is a public suffix, below which anybody may have a site.",
            f"Nothing was changed. {SUFFIX_HINT}",
        )
    is_sample = sample.is_sample_publisher(publisher)
    if publisher.slug != OWN and not is_sample:
        feed_entries.refuse_sample()
    was_broken_off = bool(IndexLease.objects.get_or_create(publisher=publisher)[0].holder)
    with job_lock.acquire(IndexLease.objects.filter(publisher=publisher), f"indexing of {publisher.slug}") as lease:
        report, ends, has_ended = RunReport(publisher), started + seconds, False
        run = _Run(publisher, report, now, lease, how or feed_entries.get_fetch_policy(), lambda: stop() or time.monotonic() > ends)
        if is_sample:
            run.fetch_all = sample.fetch_all
        try:
            if publisher.slug == OWN:
                report.counts += house_publisher.synchronise(publisher, now)
            else:
                report.counts["left out"] += store.delete_excluded(publisher)
                run.ask_sources(by_hand=by_hand)
                run.read_pages(most_pages)
            if not stop():
                Publisher.objects.filter(pk=publisher.pk).update(indexed_at=now)
            has_ended = True
        finally:
            # What was stored before a fault, or by a run that was killed, must not wait for the next change to be seen.
            if report.changed or was_broken_off or not has_ended:
                store.invalidate_caches()
    report.left = Article.objects.waiting().filter(publisher=publisher).count()
    report.seconds = time.monotonic() - started
    return report


def preview_source(source: Source) -> list[ArticleDraft] | str:
    """Return the first articles that a run would take from a source now, or why there are none. Writes nothing."""
    publisher, url, now = source.publisher, source.url, timezone.now()
    for _ in range(MAX_DEPTH + 1):
        ask = fetch.Ask(0, url, within=publisher.own_domains)
        ((_, outcome),) = fetch.fetch_all([ask], replace(feed_entries.get_fetch_policy(), max_body=MAX_DOCUMENT), HostNotes())
        if not isinstance(outcome, fetch.Fetched):
            return outcome.message if isinstance(outcome, fetch.Failed) else "Nothing came."
        try:
            entries, children, _ = _parse_document(source, outcome)
        except InvalidFeed as error:
            return mask_addresses(str(error))
        child = next((child for child in children if publisher.has_address(child)), None)
        if entries or child is None:
            break
        url = child
    drafts, refusals = [], Counter[str]()
    for entry in islice(entries, 1_000):
        try:
            drafts.append(draft_entry(publisher, entry, now))
        except RefusedItem as refusal:
            refusals[refusal.code] += 1
    if refusals and not drafts:
        counted = ", ".join(f"{number:,} {code}" for code, number in refusals.items())
        return f"None of its addresses can be indexed: all are outside {', '.join(publisher.domains)} or refused ({counted})."
    return drafts


_STATE: Final = ("etag", "last_modified", "digest", "read_at")  # of a document's last answer; when it was read whole


@dataclass(frozen=True, slots=True)
class _Document:
    """A feed or a sitemap that is asked: a source itself, or one of the sitemaps that it leads to, `depth` indexes below."""

    source: Source
    url: str
    depth: int = 0

    @property
    def state(self) -> dict[str, Any]:
        child = self.source.children.get(self.url, {})
        state = {name: child.get(name, "") if self.depth else getattr(self.source, name) for name in _STATE}
        return state | {"read_at": dt.datetime.fromisoformat(state["read_at"])} if self.depth and state["read_at"] else state

    def is_fresh(self, now: dt.datetime) -> bool:
        return bool(read_at := self.state["read_at"]) and now - read_at < REREAD

    def build_request(self, key: int, now: dt.datetime) -> fetch.Ask:
        """Return a request that is unconditional if it is time to read the document whole again."""
        state = self.state if self.is_fresh(now) else {}
        return fetch.Ask(key, self.url, state.get("etag", ""), state.get("last_modified", ""), self.source.publisher.own_domains)


FirstItems = dict[str, tuple[str, dt.datetime | None, str]]  # hash, change and title of a document's items, by key


@dataclass(slots=True)
class _Run:
    """A run at work. Network and parsing happen outside of transactions."""

    publisher: Publisher
    report: RunReport
    now: dt.datetime
    lease: job_lock.Lease
    how: fetch.Policy
    stop: Callable[[], bool]
    fetch_all: Fetching = field(default_factory=lambda: fetch.fetch_all)
    hosts: HostNotes = field(default_factory=HostNotes)
    failures: Counter[str] = field(default_factory=Counter)  # in a row, by host

    # Sources

    def ask_sources(self, *, by_hand: bool) -> None:
        """Ask level by level: the sources, then the sitemaps that they lead to, and so on; each address once."""
        sources = [source for source in self.publisher.sources.all() if by_hand or _is_due(source, self.now)]
        self.report.counts["not due"] += self.publisher.sources.count() - len(sources)
        level = [_Document(source, source.url) for source in sources]
        asked = {document.url for document in level}
        while level and not self.stop():
            following: list[_Document] = []
            asks = [document.build_request(number, self.now) for number, document in enumerate(level)]
            for ask, outcome in self._fetch_asks(asks, replace(self.how, max_body=MAX_DOCUMENT)):
                document = level[ask.key]
                try:
                    children = [child for child in self._store_document(document, outcome) if child.url not in asked]
                except (Error, OSError, WireError):
                    raise  # the database, room on the disk or the lease is gone: nothing that follows could be stored
                except Exception:  # a fault of ours in one document costs no other its turn
                    log.exception("%s could not be processed.", mask_address(document.url))
                    self._save_failure(document, "internal_error", FAULT)
                    children = []
                if children and document.depth == MAX_DEPTH:
                    self.report.counts["too deep"] += len(children)
                    message = f"refused: {len(children):,} sitemaps nested more than {MAX_DEPTH} deep, such as {children[0].url}"
                    self.report.refused.append(f"{document.url}: {message}")
                    continue
                asked |= {child.url for child in children}
                following += children
            level = following

    def _store_document(self, document: _Document, outcome: fetch.Outcome) -> list[_Document]:
        """Store a document's items; return the sitemaps that it leads to. If only a part is stored, it is read again."""
        source, state = document.source, document.state
        self.report.counts["asked"] += not document.depth
        if isinstance(outcome, fetch.Failed):
            self._save_failure(document, outcome.code, outcome.message)
            return []
        digest = hashlib.sha256(outcome.body).hexdigest() if isinstance(outcome, fetch.Fetched) else state["digest"]
        if isinstance(outcome, fetch.Unchanged) or (digest == state["digest"] and document.is_fresh(self.now)):
            self.report.counts["unchanged"] += 1
            self._save_answer_state(document, state | {"etag": outcome.etag, "last_modified": outcome.last_modified})
            # What an index leads to may have changed all the same.
            children = [url for url, child in source.children.items() if child["by"] == document.url]
            return [_Document(source, url, document.depth + 1) for url in children]
        try:
            entries, children, whole = _parse_document(source, outcome)
        except InvalidFeed as error:
            self._save_failure(document, "invalid", str(error))
            return []
        refusals, known, waiting = Refusals(), FirstItems(), iter(entries)
        while batch := list(islice(waiting, store.BATCH)):
            if self.stop():
                return []  # it is read again
            drafts = list(self._build_drafts(batch, known, refusals))
            with transaction.atomic():
                self.lease.renew()
                stored = store.store_drafts(self.publisher, drafts, self.now)
            self.report.counts += stored
        # Of a document that is not whole the rest is to come.
        answer = (outcome.etag, outcome.last_modified, digest, self.now) if whole else ("", "", "", None)
        listed = [child for child in dict.fromkeys(children) if self.publisher.has_address(child)]
        self.report.counts["foreign"] += len(set(children)) - len(listed)
        self._save_answer_state(document, dict(zip(_STATE, answer, strict=True)), (listed, len(entries), refusals))
        return [_Document(source, child, document.depth + 1) for child in listed if child in source.children]

    def _build_drafts(self, entries: Iterable[Entry], known: FirstItems, refusals: Refusals) -> Iterator[ArticleDraft]:
        """Yield the drafts to store. Of several items with one address the first counts, the newest in most feeds."""
        for entry in entries:
            reason, same_as = "", ""
            try:
                draft = draft_entry(self.publisher, entry, self.now)
            except RefusedItem as refusal:
                reason = refusal.code
            except Exception:
                log.exception("%s could not be processed.", entry.url)
                reason = "internal error"
                if reason not in refusals:
                    self.report.errors.append(f"{entry.url}: {FAULT}")
            else:
                sha256, change, title = known.get(draft.key, ("", None, ""))
                if draft.markdown is None and is_front_page(self.publisher, draft.url):
                    reason = "front page"
                elif sha256 and sha256 != draft.sha256:
                    reason, same_as = "same address", title
                elif not sha256 or (draft.change and (change is None or draft.change > change)):
                    known[draft.key] = (draft.sha256, draft.change, draft.title[:MAX_NAME])
                    yield draft
            if reason:
                self.report.counts[reason] += 1
                name = plain_line(f"“{plain_text(entry.title, 80)}” {entry.url}" if entry.title else entry.url, MAX_NAME)
                refused = refusals.setdefault(reason, {"count": 0, "first": []})
                refused["count"] += 1
                if len(refused["first"]) < NAMED_REFUSALS:
                    refused["first"].append(f"{name} (taken: “{plain_line(same_as, 80)}”)" if same_as else name)

    def _save_answer_state(
        self, document: _Document, state: dict[str, Any], content: tuple[list[str], int, Refusals] | None = None
    ) -> None:
        """`content`, of a document that changed: sitemaps that it leads to, how many items it has, and its refused ones."""
        source = document.source
        source.asked_at = source.worked_at = self.now
        child: dict[str, Any] = {}
        if document.depth:
            child = source.children.setdefault(document.url, {"by": source.url})
            child |= state | {"read_at": state["read_at"].isoformat() if state["read_at"] else ""}
        else:
            source.failures, source.error_code, source.error = 0, "", ""
            for name, value in state.items():
                setattr(source, name, value)
        if content:
            children, found, refusals = content
            if document.depth:
                source.found += found - child.get("found", 0)
                child |= {"found": found, "refused": refusals}
            else:
                source.refused = refusals
            source.children = _replace_children(source, document.url, children)
            if any(url not in source.children for url in children):
                self.report.errors.append(f"{source}: it leads to more than {MAX_CHILDREN:,} sitemaps; the others were left out.")
            if not document.depth:
                source.found = found + sum(child.get("found", 0) for child in source.children.values())
            if refusals:
                self.report.refused.append(f"{mask_address(document.url)}: refused: {describe_refusals(refusals)}")
        _save_source(source)

    def _save_failure(self, document: _Document, code: str, message: str) -> None:
        source = document.source
        address, message = mask_address(document.url), mask_addresses(message)
        self.report.errors.append(f"{address}: {message}")
        source.asked_at = self.now
        if code == "not_yet":  # its host asked to be left alone, which is no failure
            self.report.failed_sources += not document.depth
        elif document.depth:
            source.error_code, source.error = code[:30], f"{address}: {message}"[:500]
        else:
            self.report.failed_sources += 1
            source.failures = min(source.failures + 1, 1_000)
            source.error_code, source.error = code[:30], message[:500]
        _save_source(source)

    # Pages

    def read_pages(self, most: int) -> None:
        """Read waiting pages, as many as fit into the run, then a few that no source has shown for a week."""
        urls = self._select_pages(most)
        asked: deque[tuple[int, str]] = deque()
        batch: list[tuple[int, str, Page | Unread]] = []
        stored_at = time.monotonic()
        for found in chain(extract_articles(self._fetch_pages(urls, asked, batch)), [None]):
            if found is not None:
                key, url = asked.popleft()
                batch.append((key, url, Unread(found.code, str(found)) if isinstance(found, InvalidArticle) else found))
            if found is None or len(batch) >= store.BATCH or time.monotonic() > stored_at + PATIENCE:
                self._store_pages(batch)
                batch.clear()
                stored_at = time.monotonic()

    def _select_pages(self, most: int) -> dict[int, str]:
        """Return addresses by primary key: those missing a day ago, those never read or changed, then some to look at again."""
        rows, urls = Article.objects.filter(publisher=self.publisher), dict[int, str]()
        again = rows.filter(ask_at__gt=AT_ONCE, ask_at__lte=self.now).order_by("ask_at")
        for wanted, at_most in (
            (rows.missing().filter(missing_since__lte=self.now - store.APART).exclude(ask_at__gt=self.now), most),
            (rows.filter(state=Article.State.LIVE, ask_at=AT_ONCE), most),
            (rows.filter(state=Article.State.GONE, ask_at=AT_ONCE), most),
            (rows.filter(state=Article.State.WAITING, missing_since=None).order_by("pk"), most),
            *((again.filter(state=state), 100) for state in (Article.State.FAILED, Article.State.LIVE, Article.State.GONE)),
        ):
            urls |= dict(wanted.values_list("pk", "url")[: max(0, min(at_most, most - len(urls)))])
        return urls

    def _fetch_pages(
        self, urls: dict[int, str], asked: deque[tuple[int, str]], batch: list[tuple[int, str, Page | Unread]]
    ) -> Iterator[tuple[bytes, str, str]]:
        """Yield pages to be read, each noted in `asked`; what cannot be goes to `batch` at once."""
        asks = (page_fetch.build_page_request(self.publisher, key, url) for key, url in urls.items())
        for ask, outcome in self._fetch_asks(asks, self.how):
            unread = None if isinstance(outcome, fetch.Fetched) else page_fetch.describe_failure(outcome)
            self._pause_failing_host(ask, unread)
            self.report.counts["pages"] += not (unread and unread.code == "not_yet")
            if isinstance(outcome, fetch.Fetched):
                if is_front_page(self.publisher, outcome.url) and not is_front_page(self.publisher, ask.url):
                    unread = Unread("front_page", "The address leads to the site's front page; the article is not there.")
                else:
                    asked.append((ask.key, outcome.url))
                    yield outcome.body, outcome.content_type, outcome.url
            if unread:
                batch.append((ask.key, ask.url, unread))

    def _pause_failing_host(self, ask: fetch.Ask, unread: Unread | None) -> None:
        """Leave a server that fails again and again alone for a while, as if it had asked for that; others go on."""
        host = WebAddress.parse(ask.url).authority
        if unread is None or not (unread.code in _TROUBLE or unread.code.startswith("http_5")):
            self.failures[host] = 0
            return
        self.failures[host] += 1
        if self.failures[host] == MOST_TROUBLE:
            self.hosts.setdefault(host, fetch.HostNote()).not_before = timezone.now() + dt.timedelta(minutes=10)
            message = f"{MOST_TROUBLE} pages in a row failed, so it is left alone for 10 minutes. The last said: {unread.message}"
            self.report.errors.append(f"{host}: {message}")

    def _store_pages(self, batch: Sequence[tuple[int, str, Page | Unread]]) -> None:
        if not batch:
            return
        with transaction.atomic():
            self.lease.renew()
            store.lock_publisher(self.publisher)
            known = Article.objects.select_related("publisher").in_bulk([key for key, _, _ in batch])
            groups: list[list[tuple[int, str, Page | Unread]]] = [[]]
            for page in batch:
                if isinstance(page[2], Page) and page[2].entry.url != page[1]:
                    groups.append([page])  # names another address, whose own page is stored first, to be compared with it
                else:
                    groups[0].append(page)
            for group in groups:
                drafts: dict[str, ArticleDraft] = {}
                for key, url, found in group:
                    article = known.get(key)
                    if article is None:
                        continue  # another of the batch has the same address by now
                    if isinstance(found, Unread):
                        self._mark_unreadable(article, found)
                    elif draft := self._settle_page(article, url, found):
                        drafts.setdefault(draft.key, draft)  # two addresses may redirect to one page
                self.report.counts += store.store_drafts(self.publisher, list(drafts.values()), self.now)

    def _settle_page(self, article: Article, url: str, page: Page) -> ArticleDraft | None:
        """Draft a page under its own address; None if that is not to be stored."""
        try:
            draft = draft_page(self.publisher, url, page.entry, page.markdown, article, self.now)
        except Exception as error:
            unread = Unread("internal_error", FAULT)
            if isinstance(error, RefusedItem):
                unread = Unread(error.code, f"The page is at {url[:200]} now, which is not indexed: {error.code}.")
            else:
                log.exception("%s could not be processed.", url)
            self._mark_unreadable(article, unread)
            return None
        draft = store.resolve_address(self.publisher, article, draft, url)
        is_to_store = store.move_article(self.publisher, article, draft, self.now)
        self.report.counts["merged"] += article.pk is None
        return draft if is_to_store else None

    def _mark_unreadable(self, article: Article, found: Unread) -> None:
        if found.code in page_fetch.MISSING_CODES:
            self.report.counts["missing"] += 1
            self.report.counts["not found page"] += found.code == "not_found_page"
            self.report.counts["gone"] += store.mark_missing(article, self.now)
        elif found.code not in page_fetch.RETRY_LATER_CODES:
            self.report.counts["failed"] += 1
            store.mark_failed(article, found.message, self.now)

    def _fetch_asks(self, asks: Iterable[fetch.Ask], how: fetch.Policy) -> Iterator[tuple[fetch.Ask, fetch.Outcome]]:
        """Yield answers until the run is to stop. Save the state of hosts even if the run fails."""
        with closing(self.fetch_all(asks, how, self.hosts)) as fetched:
            try:
                while not self.stop() and (answer := next(fetched, None)):
                    yield answer
            finally:
                self.hosts.save()


def describe_refusals(refusals: Refusals) -> str:
    """Return `2 same address, such as “Plums” https://… (taken: “Pears”); 1 on another host, such as https://…`; "" for none."""
    by_count = sorted(refusals.items(), key=lambda one: (-one[1]["count"], one[0]))
    named = ((NAMES.get(reason, reason), items) for reason, items in by_count)
    return "; ".join(f"{items['count']:,} {name}, such as {' and '.join(items['first'])}" for name, items in named)


def _is_due(source: Source, now: dt.datetime) -> bool:
    if not source.failures or source.asked_at is None:
        return True
    return source.asked_at + min(FIRST_WAIT * (1 << min(source.failures - 1, 20)), LONGEST_WAIT) <= now


def _replace_children(source: Source, index: str, children: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the sitemaps that a source leads to, now that one of its indexes lists these; what is known of them stays."""
    left = {url: child for url, child in source.children.items() if child["by"] != index}
    for url in children:
        if url not in left and len(left) < MAX_CHILDREN:
            left[url] = source.children.get(url, {}) | {"by": index}
    return {url: child for url, child in left.items() if child["by"] == source.url or child["by"] in left}


def _save_source(source: Source) -> None:
    """Do nothing if it was deleted meanwhile, or has another address."""
    names = ("children", "asked_at", "worked_at", "found", "refused", "failures", "error_code", "error")
    values = {name: getattr(source, name) for name in (*_STATE, *names)}
    Source.objects.filter(pk=source.pk, url=source.url).update(**values)


def _parse_document(source: Source, fetched: fetch.Fetched) -> tuple[list[Entry], list[str], bool]:
    """Return a document's items, the sitemaps that it leads to, and whether it is whole. Raises: InvalidFeed."""
    if source.kind == Source.Type.FEED:
        feed = parse_feed(fetched.body, content_type=fetched.content_type, url=fetched.url)
        return feed.entries, [], feed.whole
    sitemap = parse_sitemap(fetched.body, content_type=fetched.content_type, url=fetched.url)
    return sitemap.entries, sitemap.children, sitemap.whole
