"""Recorded feeds, taken in again as they were seen, each at its own date."""

import datetime as dt
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from django.utils import timezone

from config.errors import InvalidArgument
from sources import lease
from sources.models import Feed, Publication
from sources.parse import InvalidFeed
from wire.intake import lexicon
from wire.intake.feeds import count, read, refuse_sample
from wire.intake.ingest import FeedReport
from wire.intake.normalise import Context
from wire.intake.store import take_in
from wire.models import Snapshot
from wire.snapshots.publish import publish_pending

_DATED: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T_-]?(\d{2})-?:?(\d{2})(?:-?:?(\d{2}))?)?Z?[^\d]*\.(?:xml|rss|atom|rdf|json)(?:\.gz)?"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One file: what `feed` answered at `seen_at` (UTC; a file that is dated by day was seen at that day's end, today's by now)."""

    file: Path
    feed: Feed
    seen_at: dt.datetime


def recordings(directory: Path, feeds: Iterable[Feed]) -> list[Recorded]:
    """The files of `directory` named `YYYY-MM-DD[THHMM[SS]].xml`, oldest first.

    Below it, a folder named by a publication's slug holds that publication's; if it is none of `feeds`, it is passed over.
    Files outside such folders belong to the one publication of `feeds`. Raises: InvalidArgument when that is not one, or a
    date is none or after today.
    """
    now = timezone.now().replace(microsecond=0)
    first = {feed.publication.slug: feed for feed in reversed(list(feeds))}
    alone = next(iter(first.values())) if len(first) == 1 else None
    others = set(Publication.objects.values_list("slug", flat=True)) - first.keys()
    found = []
    for file in sorted(directory.rglob("*"), key=lambda file: (file.name, file)):
        if not (match := _DATED.fullmatch(file.name)) or not file.is_file():
            continue
        slug = file.relative_to(directory).parts[0]
        if slug in others:
            continue
        feed = first.get(slug) or alone
        if feed is None:
            raise InvalidArgument(
                f"It is not clear whose feed {file.name} is.",
                "Name the publication with --publication SLUG, or put the file into a folder named by its slug.",
            )
        try:
            day = dt.date.fromisoformat(match[1])
            time = dt.time(int(match[2]), int(match[3]), int(match[4] or 0)) if match[2] else dt.time(23, 59, 59)
        except ValueError as error:
            raise InvalidArgument(f"{file.name} is not named by a date: {error}.", "Name it YYYY-MM-DD.xml.") from error
        if day > now.date():
            raise InvalidArgument(f"{file.name} is of a day to come.", f"Today is {now.date()} (UTC); correct the name.")
        found.append(Recorded(file, feed, min(now, dt.datetime.combine(day, time, dt.UTC))))
    if not found:
        raise InvalidArgument(f"{directory} holds no recorded feed.", "Its files are named YYYY-MM-DD.xml, .rss, .atom or .json.")
    return sorted(found, key=lambda item: item.seen_at)


def replay(recorded: list[Recorded], on_report: Callable[[FeedReport], None] = lambda _report: None) -> Counter[str]:
    """Take every file in at its own date and publish after each date; what became of all items, by name.

    Health and raw bytes are those of live feeds and stay as they are. Again changes nothing. Raises: Busy.
    """
    refuse_sample()
    total: Counter[str] = Counter()
    with lease.held() as held:
        context = Context.load(lexicon.load(), recorded[0].seen_at)
        for seen_at, files in groupby(recorded, key=lambda item: item.seen_at):
            for item in files:
                report = _take(item, context)
                total += report.counts or Counter({f"file:{report.result}": 1})
                on_report(report)
            held.renew()
            # Into a wire that went on meanwhile nothing is published as of a time before its newest snapshot.
            latest = Snapshot.objects.values_list("generated_at", flat=True).first()
            now = max(seen_at, latest or seen_at)
            total["snapshots"] += len(publish_pending(now=now, progress=lambda _day: held.renew()))
    return total


def _take(item: Recorded, context: Context) -> FeedReport:
    body = item.file.read_bytes()
    try:
        entries = read(item.feed, gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body).entries
    except (InvalidFeed, EOFError, OSError, zlib.error) as error:
        return FeedReport(item.feed, "failed", code="invalid_feed", failure=f"{item.file.name}: {error}")
    outcomes = take_in(entries, context.seen_in(item.feed, item.seen_at))
    return FeedReport(item.feed, "taken", count(outcomes))
