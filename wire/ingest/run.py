"""Runs of ingest: ask every feed that is due, store items feed by feed, publish once at the end."""

import datetime as dt
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Final, NamedTuple

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from config.errors import Busy
from config.url_secrets import mask_address
from sources import feed_health, fetch, job_lock, raw_store
from sources.entries import Entry
from sources.feed_health import HostNotes
from sources.models import Feed, FeedHealth, RawFetch
from sources.parse import InvalidFeed, Parsed
from wire.ingest import article_pages, classifier_terms, feed_entries
from wire.ingest.draft_comparison import Outcome
from wire.ingest.feed_entries import ItemOutcome
from wire.ingest.normalise import Context
from wire.ingest.save import Prepared, normalise_entries, store_drafts
from wire.models import Snapshot, Story
from wire.publishing.publish import publish_pending

log = logging.getLogger("wire.ingest")
UNREACHABLE: Final = frozenset({"dns", "connect", "timeout"})
"""Codes of feeds whose server was not reached, as without a network."""


@dataclass(slots=True)
class FeedReport:
    """Result of one feed: `taken`, `unchanged`, `failed`, or `waiting` because its host asked to be left alone."""

    feed: Feed
    result: str
    counts: Counter[str] = field(default_factory=Counter)
    code: str = ""
    failure: str = ""
    doubt: str = ""


@dataclass(slots=True)
class Run:
    """Result of a run. `pages` counts articles' pages, `waiting` feeds that were not due."""

    reports: list[FeedReport] = field(default_factory=list)
    pages: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    published: list[Snapshot] = field(default_factory=list)

    @property
    def reached_nothing(self) -> bool:
        return {report.result for report in self.reports} - {"waiting"} == {"failed"}

    @property
    def is_offline(self) -> bool:
        """True if several feeds were asked and no server could be reached."""
        return len(self.reports) > 1 and all(report.code in UNREACHABLE for report in self.reports)


def run_ingest(
    feeds: Sequence[Feed], *, by_hand: bool = False, how: fetch.Policy | None = None, stop: Callable[[], bool] = lambda: False
) -> Run:
    """Fetch, store and publish. `by_hand` asks feeds also before their next try; `stop` ends the run after the feed at hand. Each
    feed is one transaction with its health, so a killed run loses nothing. Raises: Busy, InvalidArgument on the sample wire.
    """
    feed_entries.refuse_sample()
    with job_lock.acquire() as lease:
        at_work = _Collector(lease, how or feed_entries.get_fetch_policy())
        run, now = at_work.run, timezone.now()
        due = {feed.pk: feed for feed in feeds if by_hand or feed_health.is_due(_current_health(feed), now)}
        run.waiting = len(feeds) - len(due)
        known = ((feed, _current_health(feed)) for feed in due.values())
        asks = (fetch.Ask(feed.pk, feed_entries.get_feed_address(feed), state.etag, state.last_modified) for feed, state in known)
        for ask, outcome in at_work.fetch_answers(asks, stop):
            report = at_work.store_feed(due[ask.key], outcome)
            run.reports.append(report)
            if report.code not in UNREACHABLE:
                _log_report(report)
        _log_unreachable(run)
        well = [report.feed for report in run.reports if report.result in ("taken", "unchanged")]
        for ask, outcome in at_work.fetch_answers(article_pages.list_page_requests(well), stop):
            at_work.store_page(due[ask.key], ask, outcome)
        run.published = publish_pending(progress=lambda _day: lease.renew())
        raw_store.delete_expired(timezone.now())
    return run


def preview_feed(feed: Feed, url: str = "") -> tuple[FeedReport, list[ItemOutcome]]:
    """Return what a run would read in one feed now, item by item; in `url`, if given, by the rules of `feed`. Writes nothing."""
    ask = fetch.Ask(feed.pk, url or feed_entries.get_feed_address(feed))
    ((_, outcome),) = fetch.fetch_all([ask], feed_entries.get_fetch_policy(), HostNotes())
    if not isinstance(outcome, fetch.Fetched):
        code, words = (outcome.code, outcome.message) if isinstance(outcome, fetch.Failed) else ("http_304", "Nothing came.")
        return FeedReport(feed, "failed", code=code, failure=words), []
    known = copy(_current_health(feed)) if ask.url == feed_entries.get_feed_address(feed) else FeedHealth(feed=feed)
    return preview_answer(feed, known, outcome, _get_now())


def preview_answer(feed: Feed, known: FeedHealth, fetched: fetch.Fetched, now: dt.datetime) -> tuple[FeedReport, list[ItemOutcome]]:
    """Return what a run at `now` would take from one answer of a feed, item by item. Writes nothing; `known` may be changed."""
    previous = cache(partial(_read_previous, feed, known.body_sha256))
    context = Context.load(classifier_terms.load_lexicon(), now).bind_feed(feed, now, previous=previous)
    body = _read_body(feed, known, fetched, context)
    if isinstance(body, fetch.Failed):
        return FeedReport(feed, "failed", code=body.code, failure=body.message), []
    with transaction.atomic():
        outcomes = store_drafts(body.prepared, context)
        transaction.set_rollback(True)
    waiting = sum(state != article_pages.DONE for state in known.pages.values())
    counts = feed_entries.count_outcomes(outcomes) + Counter({"pages to read": waiting})
    return FeedReport(feed, "taken", counts, doubt=body.parsed.doubt), list(map(feed_entries.describe_item, body.titled, outcomes))


class _Body(NamedTuple):
    """A new body, its entries with a title, the drafts made of them, and its digest once its bytes are stored."""

    parsed: Parsed
    titled: Sequence[Entry]
    prepared: Prepared
    sha256: str = ""


def _read_body(feed: Feed, known: FeedHealth, fetched: fetch.Fetched, context: Context) -> _Body | fetch.Failed:
    """Parse and clean a new body, or say why it cannot be; addresses alone are noted in `known`."""
    try:
        parsed = feed_entries.parse_feed_body(feed, fetched.body, fetched.content_type, fetched.url)
    except InvalidFeed as error:
        return fetch.Failed("invalid_feed", str(error))
    if not (parsed.whole or parsed.entries):
        return fetch.Failed("broken_answer", "The feed breaks off before the end of its first item; try again later.")
    titled = article_pages.split_off_untitled(feed, known, parsed.entries)
    return _Body(parsed, titled, normalise_entries(titled, context))


class _Collector:
    """State of a run. Network and parsing happen outside of transactions; whatever is written fits into one for each feed."""

    def __init__(self, lease: job_lock.Lease, how: fetch.Policy) -> None:
        self.run = Run()
        self._lease = lease
        self._how = how
        self._notes = HostNotes()

    @cached_property
    def _context(self) -> Context:
        """Loaded once something new came: the lexicon is large, and most runs bring nothing."""
        return Context.load(classifier_terms.load_lexicon(), timezone.now())

    def fetch_answers(self, asks: Iterable[fetch.Ask], stop: Callable[[], bool]) -> Iterator[tuple[fetch.Ask, fetch.Outcome]]:
        """Yield answers, until `stop`. The state of hosts is saved whatever becomes of the answers."""
        with closing(fetch.fetch_all(asks, self._how, self._notes)) as fetched:
            while not stop():
                answer = next(fetched, None)
                self._notes.save()
                if answer is None:
                    return
                yield answer

    def store_feed(self, feed: Feed, outcome: fetch.Outcome) -> FeedReport:
        with _log_faults(feed, f"{feed}: its items"):
            return self._store_outcome(feed, *self._parse_and_store_body(feed, outcome))
        if not Feed.objects.filter(pk=feed.pk).exists():
            return FeedReport(feed, "failed", code="deleted", failure="The feed was deleted while it was being read.")
        words = "An internal error; nothing from the feed was stored, and the log says why."
        return self._store_outcome(feed, fetch.Failed("internal_error", words), None)

    def _parse_and_store_body(self, feed: Feed, outcome: fetch.Outcome) -> tuple[fetch.Outcome, _Body | None]:
        """Parse, clean and keep a new body; the bytes of last time are as good as "not modified"."""
        if not isinstance(outcome, fetch.Fetched):
            return outcome, None
        known = _current_health(feed)
        if raw_store.sha256(outcome.body) == known.body_sha256:
            return fetch.Unchanged(outcome.etag, outcome.last_modified, outcome.url, outcome.moved_to), None
        body = _read_body(feed, known, outcome, self._context.bind_feed(feed, _get_now()))
        return (body, None) if isinstance(body, fetch.Failed) else (outcome, body._replace(sha256=raw_store.save(outcome.body)))

    def _store_outcome(self, feed: Feed, outcome: fetch.Outcome, body: _Body | None) -> FeedReport:
        known, now = _current_health(feed), _get_now()
        previous = cache(partial(_read_previous, feed, known.body_sha256))
        with transaction.atomic():
            self._lease.renew()
            if isinstance(outcome, fetch.Failed) and outcome.code == "not_yet":
                report = FeedReport(feed, "waiting", failure=outcome.message)
                known.next_try_at = now + (outcome.retry_after or feed_health.FIRST_WAIT)
            elif isinstance(outcome, fetch.Failed):
                report = FeedReport(feed, "failed", code=outcome.code, failure=outcome.message)
                feed_health.record_failure(known, outcome.code, outcome.message, now, outcome.retry_after)
                if outcome.code == "gone":
                    Feed.objects.filter(pk=feed.pk).update(active=False)
            else:
                report = FeedReport(feed, "unchanged")
                feed_health.record_answer(known, outcome, now)
            if isinstance(outcome, fetch.Fetched) and body is not None:
                outcomes = store_drafts(body.prepared, self._context.bind_feed(feed, now, previous=previous))
                report = FeedReport(feed, "taken", feed_entries.count_outcomes(outcomes), doubt=body.parsed.doubt)
                feed_health.record_items(known, body.parsed.entries, now)
                known.outcomes = dict(report.counts)
                known.recent_items = feed_entries.merge_recent_items(known.recent_items, body.titled, outcomes, now)
                known.charset_doubt = body.parsed.doubt[:200]
                known.body_sha256 = body.sha256
                _record_fetch(feed, outcome, body.sha256, now)
                # The rest is to come, or a change waits: the same bytes must come again, and count as new.
                if not body.parsed.whole or report.counts[Outcome.POSTPONED]:
                    known.etag = known.last_modified = known.body_sha256 = ""
            known.save()
        return report

    def store_page(self, feed: Feed, ask: fetch.Ask, outcome: fetch.Outcome) -> None:
        with _log_faults(feed, mask_address(ask.url)):
            known, now = _current_health(feed), _get_now()
            context = self._context.bind_feed(feed, now)
            entries = article_pages.read_article_page(feed, known, ask, outcome, now)
            prepared = normalise_entries(entries, context)
            is_kept = any(not entry.is_not_found for entry in entries)
            digest = raw_store.save(outcome.body) if is_kept and isinstance(outcome, fetch.Fetched) else ""
            with transaction.atomic():
                self._lease.renew()
                if entries:
                    outcomes = store_drafts(prepared, context)
                    self.run.pages += feed_entries.count_outcomes(outcomes)
                    known.recent_items = feed_entries.merge_recent_items(known.recent_items, entries, outcomes, now)
                if digest and isinstance(outcome, fetch.Fetched):
                    newest = Story.objects.filter(publication=feed.publication).newest_first()
                    feed_health.record_dates(known, newest.values_list("published_at", flat=True)[:50], now)
                    _record_fetch(feed, outcome, digest, now, is_page=True)
                known.save()


@contextmanager
def _log_faults(feed: Feed, what: str) -> Iterator[None]:
    """Log a fault of ours in what stands inside, which costs no other feed its turn."""
    try:
        yield
    except (OperationalError, InterfaceError, OSError, Busy):
        raise  # the database, room on the disk or the lease is gone: nothing that follows could be kept
    except Exception:
        log.exception("%s could not be processed.", what)
        feed.health = FeedHealth.objects.filter(feed=feed).first() or FeedHealth(feed=feed)


def _record_fetch(feed: Feed, fetched: fetch.Fetched, digest: str, now: dt.datetime, *, is_page: bool = False) -> None:
    where = {"url": fetched.url[:2048], "content_type": fetched.content_type[:200]}
    RawFetch.objects.create(feed=feed, fetched_at=now, sha256=digest, is_page=is_page, **where)


def _read_previous(feed: Feed, digest: str) -> Mapping[str, str]:
    """Return digests of the items of the feed's last body, read by today's parser, by canonical address; the first counts."""
    found = RawFetch.objects.filter(feed=feed, sha256=digest, is_page=False).order_by("-id").first() if digest else None
    try:
        entries = feed_entries.parse_feed_body(feed, raw_store.read(digest), found.content_type, found.url).entries if found else ()
    except (InvalidFeed, OSError):  # then stored digests decide alone
        return {}
    return {url: entry.digest for entry in reversed(entries) if (url := feed_entries.try_canonical_url(entry.url))}


def _current_health(feed: Feed) -> FeedHealth:
    known: FeedHealth = getattr(feed, "health", None) or FeedHealth(feed=feed)
    if known.address != feed_entries.get_feed_address(feed):
        feed_health.reset_health(known, feed_entries.get_feed_address(feed))
    return known


def _get_now() -> dt.datetime:
    return timezone.now().replace(microsecond=0)


def _log_unreachable(run: Run) -> None:
    """Log each feed that was not reached; in one line if none was, which says more than as many lines."""
    if run.is_offline:
        number = len(run.reports)
        log.warning("%d of %d feeds unreachable: no network?", number, number)
        return
    for report in run.reports:
        if report.code in UNREACHABLE:
            _log_report(report)


def _log_report(report: FeedReport) -> None:
    feed = report.feed
    line = {"publication": feed.publication.slug, "feed": feed.pk, "result": report.result, **report.counts}
    if report.failure:
        line |= {"code": report.code, "failure": report.failure}
    if report.doubt:
        line |= {"charset": report.doubt}
    level = logging.ERROR if report.code == "gone" else logging.WARNING if report.failure or report.doubt else logging.INFO
    log.log(level, json.dumps(line, ensure_ascii=False))
