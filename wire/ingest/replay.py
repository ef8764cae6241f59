"""Replay of recorded feeds, each file at its own date; and dry runs of files and addresses."""

import datetime as dt
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from django.utils import timezone

from config.errors import InvalidArgument
from sources import job_lock
from sources.fetch import Fetched
from sources.models import Feed, FeedHealth, Publication
from sources.parse import InvalidFeed
from wire.ingest import classifier_terms
from wire.ingest.feed_entries import ItemOutcome, count_outcomes, get_feed_address, list_feeds, parse_feed_body, refuse_sample
from wire.ingest.normalise import Context
from wire.ingest.run import FeedReport, preview_answer, preview_feed
from wire.ingest.save import save_entries
from wire.models import Snapshot
from wire.publishing.publish import publish_pending

_DATED: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T_-]?(\d{2})-?:?(\d{2})(?:-?:?(\d{2}))?)?Z?[^\d]*\.(?:xml|rss|atom|rdf|json)(?:\.gz)?"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file: `feed` answered it at `seen_at` (UTC; a file that is dated by day was seen at that day's end, today's by now)."""

    file: Path
    feed: Feed
    seen_at: dt.datetime


def list_recordings(directory: Path, feeds: Iterable[Feed]) -> list[Recorded]:
    """List the files of `directory` named `YYYY-MM-DD[THHMM[SS]].xml`, oldest first. Raises: InvalidArgument."""
    feeds, now = list(feeds), timezone.now().replace(microsecond=0)
    others = set(Publication.objects.values_list("slug", flat=True)) - {feed.publication.slug for feed in feeds}
    found = []
    for file in sorted(directory.rglob("*"), key=lambda file: (file.name, file)):
        if _DATED.fullmatch(file.name) and file.is_file():
            slug = file.relative_to(directory).parts[0]
            if slug not in others:
                found.append(identify_recording(file, slug, feeds, now))
    if not found:
        raise InvalidArgument(f"{directory} contains no recorded feed.", "Name its files YYYY-MM-DD.xml, .rss, .atom or .json.")
    return sorted(found, key=lambda item: item.seen_at)


def identify_recording(file: Path, slug: str, feeds: Sequence[Feed], now: dt.datetime) -> Recorded:
    """Return a file as a recording of the publication with this slug, else of the only one of `feeds`; seen at `now` if its name
    has no date. Raises: InvalidArgument.
    """
    first = {feed.publication.slug: feed for feed in reversed(feeds)}
    feed = first.get(slug) or (next(iter(first.values())) if len(first) == 1 else None)
    if feed is None:
        raise InvalidArgument(
            f"It is not clear whose feed {file.name} is.",
            "Name the publication with --publication SLUG, or put the file into a folder named after its slug.",
        )
    match = _DATED.fullmatch(file.name)
    if not match:
        return Recorded(file, feed, now)
    try:
        day = dt.date.fromisoformat(match[1])
        time = dt.time(int(match[2]), int(match[3]), int(match[4] or 0)) if match[2] else dt.time(23, 59, 59)
    except ValueError as error:
        raise InvalidArgument(f"{file.name} is not named after a date: {error}.", "Name it YYYY-MM-DD.xml.") from error
    if day > now.date():
        raise InvalidArgument(f"{file.name} is dated in the future.", f"Today is {now.date()} (UTC); correct the name.")
    return Recorded(file, feed, min(now, dt.datetime.combine(day, time, dt.UTC)))


def read_recording(file: Path) -> bytes:
    """Return a file's bytes, unpacked. Raises: InvalidFeed for a damaged archive, OSError."""
    body = file.read_bytes()
    try:
        return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidFeed(str(error)) from error


def replay_recordings(recorded: list[Recorded], on_report: Callable[[FeedReport], None] = lambda _report: None) -> Counter[str]:
    """Store the items of every file at its own date and publish after each date; return the counts of outcomes. Raises: Busy."""
    refuse_sample()
    total: Counter[str] = Counter()
    with job_lock.acquire() as lease:
        context = Context.load(classifier_terms.load_lexicon(), recorded[0].seen_at)
        for seen_at, files in groupby(recorded, key=lambda item: item.seen_at):
            for item in files:
                try:
                    entries = parse_feed_body(item.feed, read_recording(item.file)).entries
                except InvalidFeed as error:
                    report = FeedReport(item.feed, "failed", code="invalid_feed", failure=f"{item.file.name}: {error}")
                else:
                    report = FeedReport(
                        item.feed, "taken", count_outcomes(save_entries(entries, context.bind_feed(item.feed, item.seen_at)))
                    )
                total += report.counts or Counter({f"file:{report.result}": 1})
                on_report(report)
            lease.renew()
            # Into a wire that went on meanwhile nothing is published as of a time before its newest snapshot.
            latest = Snapshot.objects.values_list("generated_at", flat=True).first()
            now = max(seen_at, latest or seen_at)
            total["snapshots"] += len(publish_pending(now=now, progress=lambda _day: lease.renew()))
    return total


def preview_source(source: str, publication: str | None = None) -> tuple[FeedReport, list[ItemOutcome]]:
    """Return what a run would read in a file or at an http(s) address, item by item. Raises: NotFound, InvalidArgument, OSError."""
    feeds = list_feeds(publication)
    if source.lower().startswith(("http://", "https://")):
        feed = next((feed for feed in feeds if get_feed_address(feed) == source), feeds[0] if publication is not None else None)
        if feed is None:
            raise InvalidArgument("No active feed of the roster has this address.", "Name its publication with --publication SLUG.")
        return preview_feed(feed, source)
    file = Path(source)
    if not file.is_file():
        raise InvalidArgument(f"There is no file {source}.", "Name a feed's file, or an address with http:// or https://.")
    recorded = identify_recording(file, file.resolve().parent.name, feeds, timezone.now().replace(microsecond=0))
    try:
        fetched = Fetched(read_recording(file), content_type="", etag="", last_modified="", url="", moved_to="")
    except InvalidFeed as error:
        return FeedReport(recorded.feed, "failed", code="invalid_feed", failure=f"{file.name}: {error}"), []
    return preview_answer(recorded.feed, FeedHealth(feed=recorded.feed), fetched, recorded.seen_at)
