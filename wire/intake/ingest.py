"""One run of ingest: ask every feed that is due, take in what came feed by feed, publish once at the end."""

import datetime as dt
import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from config.errors import Busy
from sources import fetch, health, lease, raw
from sources.entries import Entry
from sources.hosts import HostNotes
from sources.models import Feed, FeedHealth, RawFetch
from sources.parse import InvalidFeed
from wire.intake import article_pages, lexicon
from wire.intake.feeds import address, count, policy, read, refuse_sample
from wire.intake.match import Outcome
from wire.intake.normalise import Context, Rejected
from wire.intake.store import Prepared, prepare, store, take_in
from wire.models import Snapshot, Story
from wire.snapshots.publish import publish_pending

log = logging.getLogger("wire.ingest")


@dataclass(slots=True)
class FeedReport:
    """What became of one feed: `taken`, `unchanged`, `failed`, or `waiting` because its host asked to be left alone.

    `counts` of its items by outcome, refusals by reason.
    """

    feed: Feed
    result: str
    counts: Counter[str] = field(default_factory=Counter)
    code: str = ""
    failure: str = ""


@dataclass(slots=True)
class Run:
    """What one run did. `pages` counts articles read from their own pages, `waiting` feeds that were not due.

    `seconds` by stage: fetch (waiting for answers), parse, store, publish."""

    reports: list[FeedReport] = field(default_factory=list)
    pages: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    published: list[Snapshot] = field(default_factory=list)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def failed(self) -> list[FeedReport]:
        return [report for report in self.reports if report.result == "failed"]

    @property
    def reached_nothing(self) -> bool:
        """Whether feeds were asked and not one of them answered."""
        asked = [report for report in self.reports if report.result != "waiting"]
        return bool(asked) and len(self.failed) == len(asked)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - started


def collect(
    feeds: Sequence[Feed],
    *,
    by_hand: bool = False,
    how: fetch.Policy | None = None,
    on_report: Callable[[FeedReport], None] = lambda _report: None,
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Fetch, take in and publish. `by_hand` asks feeds also before their next try; `stop` ends the run after the feed at hand.

    Each feed is one transaction with its health, so a run that is killed loses nothing: what was committed is published
    by the next run, what was not is fetched again. Raises: Busy while another ingest works, InvalidArgument on the sample wire.
    """
    refuse_sample()
    with lease.held() as held:
        at_work = _Collector(held, how or policy())
        run, now = at_work.run, timezone.now()
        due = {feed.pk: feed for feed in feeds if by_hand or health.is_due(_health(feed), now)}
        run.waiting = len(feeds) - len(due)
        for ask, outcome in at_work.answers(map(_ask, due.values()), stop):
            report = at_work.take(due[ask.key], outcome)
            run.reports.append(report)
            _tell(report)
            on_report(report)
        well = [report.feed for report in run.reports if report.result in ("taken", "unchanged")]
        for ask, outcome in at_work.answers(article_pages.asks(well), stop):
            at_work.take_page(due[ask.key], ask, outcome)
        with run.stage("publish"):
            run.published = publish_pending(progress=lambda _day: held.renew())
        raw.prune(timezone.now())
    return run


def try_out(feed: Feed, *, how: fetch.Policy | None = None) -> tuple[FeedReport, list[tuple[Entry, Outcome | Rejected]]]:
    """What a run would take from one feed now, item by item. Asks the publisher, and writes nothing."""
    ask = fetch.Ask(feed.pk, address(feed))
    ((_, outcome),) = fetch.fetch_all([ask], how or policy(), HostNotes())
    if not isinstance(outcome, fetch.Fetched):
        code, words = (outcome.code, outcome.message) if isinstance(outcome, fetch.Failed) else ("http_304", "Nothing came.")
        return FeedReport(feed, "failed", code=code, failure=words), []
    try:
        entries = read(feed, outcome.body, outcome.content_type, outcome.url).entries
    except InvalidFeed as error:
        return FeedReport(feed, "failed", code="invalid_feed", failure=str(error)), []
    now, sketch = timezone.now(), FeedHealth()
    entries = article_pages.titled(feed, sketch, entries)
    with transaction.atomic():
        outcomes = take_in(entries, Context.load(lexicon.load(), now).seen_in(feed, now))
        transaction.set_rollback(True)
    counts = count(outcomes) + Counter({"pages to read": len(sketch.pages)})
    return FeedReport(feed, "taken", counts), list(zip(entries, outcomes, strict=True))


@dataclass(frozen=True, slots=True)
class _Body:
    """What a new body holds: its entries, what became of cleaning them, its digest, and whether it breaks off."""

    entries: Sequence[Entry] = ()
    prepared: Prepared = field(default_factory=list)
    sha256: str = ""
    whole: bool = True


class _Collector:
    """A run at work. Network and parsing happen outside of transactions; whatever is written fits into one for each feed."""

    def __init__(self, held: lease.Lease, how: fetch.Policy) -> None:
        self.run = Run()
        self._held = held
        self._how = how
        self._notes = HostNotes()

    @cached_property
    def _context(self) -> Context:
        """Read once something new came: the lexicon is large, and most runs bring nothing."""
        return Context.load(lexicon.load(), timezone.now())

    def answers(self, asks: Iterable[fetch.Ask], stop: Callable[[], bool]) -> Iterator[tuple[fetch.Ask, fetch.Outcome]]:
        """What comes, until `stop`. What was learnt of the hosts is kept whatever becomes of the answers."""
        with closing(fetch.fetch_all(asks, self._how, self._notes)) as fetched:
            while not stop():
                with self.run.stage("fetch"):
                    answer = next(fetched, None)
                self._notes.save()
                if answer is None:
                    return
                yield answer

    def take(self, feed: Feed, outcome: fetch.Outcome) -> FeedReport:
        """Take one feed's answer in. A fault of ours in it is noted and logged, and costs no other feed its turn."""
        try:
            with self.run.stage("parse"):
                outcome, body = self._read(feed, outcome)
            return self._store(feed, outcome, body)
        except (OperationalError, InterfaceError, OSError, Busy):
            raise  # the database, room on the disk or the lease is gone: nothing that follows could be kept
        except Exception:
            log.exception("%s: its items could not be taken in.", feed)
            return self._fault(feed)

    def take_page(self, feed: Feed, ask: fetch.Ask, outcome: fetch.Outcome) -> None:
        """Take an article's page in, for a feed that names addresses only."""
        try:
            self._store_page(feed, ask, outcome)
        except (OperationalError, InterfaceError, OSError, Busy):
            raise
        except Exception:
            log.exception("%s could not be taken in.", ask.url)
            feed.health = _stored(feed)

    def _fault(self, feed: Feed) -> FeedReport:
        if not Feed.objects.filter(pk=feed.pk).exists():
            return FeedReport(feed, "failed", code="deleted", failure="The feed was deleted while it was being read.")
        feed.health = _stored(feed)
        words = "A fault of the wire's own; nothing of the feed was taken, and the log says why."
        return self._store(feed, fetch.Failed("internal_error", words), _Body())

    def _read(self, feed: Feed, outcome: fetch.Outcome) -> tuple[fetch.Outcome, _Body]:
        """A new body is parsed, cleaned and kept; the bytes of last time are as good as "not modified"."""
        if not isinstance(outcome, fetch.Fetched):
            return outcome, _Body()
        known = _health(feed)
        if raw.sha256(outcome.body) == known.body_sha256:
            return fetch.Unchanged(outcome.etag, outcome.last_modified, outcome.url, outcome.moved_to), _Body()
        try:
            parsed = read(feed, outcome.body, outcome.content_type, outcome.url)
        except InvalidFeed as error:
            return fetch.Failed("invalid_feed", str(error)), _Body()
        prepared = prepare(article_pages.titled(feed, known, parsed.entries), self._context.seen_in(feed, _now()))
        return outcome, _Body(parsed.entries, prepared, raw.keep(outcome.body), parsed.whole)

    def _store(self, feed: Feed, outcome: fetch.Outcome, body: _Body) -> FeedReport:
        """What came, and what it says of the feed's health."""
        known, now = _health(feed), _now()
        with self.run.stage("store"), transaction.atomic():
            self._held.renew()
            match outcome:
                case fetch.Failed(code="not_yet"):
                    report = FeedReport(feed, "waiting", failure=outcome.message)
                    known.next_try_at = now + (outcome.retry_after or health.FIRST_WAIT)
                case fetch.Failed():
                    report = FeedReport(feed, "failed", code=outcome.code, failure=outcome.message)
                    health.failed(known, outcome.code, outcome.message, now, outcome.retry_after)
                    if outcome.gone:
                        Feed.objects.filter(pk=feed.pk).update(active=False)
                case fetch.Unchanged():
                    report = FeedReport(feed, "unchanged")
                    health.answered(known, outcome, now)
                case fetch.Fetched():
                    report = FeedReport(feed, "taken", count(store(body.prepared, self._context.seen_in(feed, now))))
                    health.answered(known, outcome, now)
                    health.counted(known, body.entries, now)
                    known.outcomes = dict(report.counts)
                    known.body_sha256 = body.sha256
                    _remember(feed, outcome, body.sha256, now)
                    if not body.whole:  # the rest is to come, so the next request is no conditional one
                        known.etag = known.last_modified = known.body_sha256 = ""
            known.save()
        return report

    def _store_page(self, feed: Feed, ask: fetch.Ask, outcome: fetch.Outcome) -> None:
        known, now = _health(feed), _now()
        context = self._context.seen_in(feed, now)
        with self.run.stage("parse"):
            prepared = prepare(article_pages.read(feed, known, ask, outcome, now), context)
            digest = raw.keep(outcome.body) if prepared and isinstance(outcome, fetch.Fetched) else ""
        with self.run.stage("store"), transaction.atomic():
            self._held.renew()
            if digest and isinstance(outcome, fetch.Fetched):
                self.run.pages += count(store(prepared, context))
                newest = Story.objects.filter(publication=feed.publication).newest_first()
                health.dated(known, newest.values_list("published_at", flat=True)[:50], now)
                _remember(feed, outcome, digest, now, is_page=True)
            known.save()


def _ask(feed: Feed) -> fetch.Ask:
    known = _health(feed)
    return fetch.Ask(feed.pk, address(feed), known.etag, known.last_modified)


def _remember(feed: Feed, fetched: fetch.Fetched, digest: str, now: dt.datetime, *, is_page: bool = False) -> None:
    where = {"url": fetched.url[:2048], "content_type": fetched.content_type[:200]}
    RawFetch.objects.create(feed=feed, fetched_at=now, sha256=digest, is_page=is_page, **where)


def _health(feed: Feed) -> FeedHealth:
    """The feed's health, of the address that it has now."""
    known: FeedHealth = getattr(feed, "health", None) or FeedHealth(feed=feed)
    if known.address != address(feed):
        health.start_over(known, address(feed))
    return known


def _stored(feed: Feed) -> FeedHealth:
    return FeedHealth.objects.filter(feed=feed).first() or FeedHealth(feed=feed)


def _now() -> dt.datetime:
    return timezone.now().replace(microsecond=0)


def _tell(report: FeedReport) -> None:
    """One line of JSON for each feed."""
    feed = report.feed
    line = {"publication": feed.publication.slug, "feed": feed.pk, "result": report.result, **report.counts}
    if report.failure:
        line |= {"code": report.code, "failure": report.failure}
    level = logging.ERROR if report.code == "gone" else logging.WARNING if report.failure else logging.INFO
    log.log(level, json.dumps(line, ensure_ascii=False))
