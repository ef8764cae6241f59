"""Health of feeds: when one is asked again, whether it fell silent (changes a `FeedHealth`, saves nothing). And notes of hosts."""

import datetime as dt
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Final

from sources.choices import Circuit
from sources.entries import Entry
from sources.fetch import Fetched, HostNote, Unchanged
from sources.models import FeedHealth, FetchHost
from sources.schemas import FeedWarningOut

FIRST_WAIT: Final = dt.timedelta(minutes=5)
LONGEST_WAIT: Final = dt.timedelta(hours=24)
OPENS_AT: Final = 3  # failures in a row after which the circuit is open: only single probes, ever further apart
SHORTEST_GAP: Final = dt.timedelta(hours=1)  # a feed of a busy day is no promise for the night


def record_failure(health: FeedHealth, code: str, words: str, now: dt.datetime, retry_after: dt.timedelta | None = None) -> None:
    """Note a failure; the wait doubles with each, with a tenth of chance so that many feeds do not come back at once."""
    health.tried_at = now
    health.failures += 1
    health.failure_code, health.failure = code[:40], words[:500]
    wait = min(FIRST_WAIT * 2 ** min(health.failures - 1, 20), LONGEST_WAIT)
    wait *= random.uniform(0.9, 1.1)  # noqa: S311
    health.next_try_at = (now + max(wait, retry_after or dt.timedelta())).replace(microsecond=0)


def reset_health(health: FeedHealth, address: str) -> None:
    """Forget what was learnt of another address: its validators mean nothing here, nor do its failures."""
    fresh = FeedHealth(address=address)
    for column in FeedHealth._meta.concrete_fields:
        if column.name not in {"feed", "pages", "newest_item_at"}:
            setattr(health, column.attname, getattr(fresh, column.attname))


def record_answer(health: FeedHealth, answer: Fetched | Unchanged, now: dt.datetime) -> None:
    """Note an answer that could be read; the circuit closes."""
    health.etag, health.last_modified = answer.etag[:500], answer.last_modified[:100]
    health.moved_to = answer.moved_to[:2048]
    health.tried_at = health.succeeded_at = now
    health.failures, health.failure_code, health.failure = 0, "", ""
    health.next_try_at = None


def record_items(health: FeedHealth, entries: Sequence[Entry], now: dt.datetime) -> None:
    """Note a new body: how many items it holds, how new and how far apart they are, and since when it holds none any more."""
    had_items = bool(health.items or health.newest_item_at or health.empty_since)
    health.empty_since = (health.empty_since or now) if had_items and not entries else None
    health.changed_at = now
    health.items = len(entries)
    moments = (entry.published_at for entry in entries if not entry.published_at_estimated)
    in_utc = (when if when.tzinfo else when.replace(tzinfo=dt.UTC) for when in moments if isinstance(when, dt.datetime))
    record_dates(health, in_utc, now)


def record_dates(health: FeedHealth, moments: Iterable[dt.datetime], now: dt.datetime) -> None:
    dates = sorted({moment for moment in moments if moment <= now})
    if dates:
        health.newest_item_at = max(dates[-1], health.newest_item_at or dates[-1])
    if len(dates) > 1:
        health.usual_gap = min((dates[-1] - dates[0]) / (len(dates) - 1), dt.timedelta(days=30))


def is_due(health: FeedHealth | None, now: dt.datetime) -> bool:
    """Return whether to ask; also if it was last asked well after now: a wait set by a clock that was ahead binds nobody."""
    if health is None or health.next_try_at is None or health.next_try_at <= now:
        return True
    return health.tried_at is not None and health.tried_at > now + dt.timedelta(minutes=1)  # by less, two clocks may differ


def get_circuit_state(health: FeedHealth | None, now: dt.datetime) -> Circuit:
    """Return closed: asked at every run; open: left alone until `next_try_at`; or half open: the next run sends one probe."""
    if health is None or health.failures < OPENS_AT:
        return Circuit.CLOSED
    return Circuit.HALF_OPEN if is_due(health, now) else Circuit.OPEN


def is_silent(health: FeedHealth | None, now: dt.datetime) -> bool:
    """Return whether nothing new came for three times the usual gap, which counts as one hour at least."""
    if health is None or health.newest_item_at is None or health.usual_gap is None:
        return False
    return now - health.newest_item_at > 3 * max(health.usual_gap, SHORTEST_GAP)


def list_warnings(health: FeedHealth | None) -> list[FeedWarningOut]:
    """Return what is odd about the latest body that could be read: no items though it had some before, or a guessed charset."""
    found = []
    if health and health.empty_since:
        message = (
            f"It answers, but has had no items since {health.empty_since:%Y-%m-%d %H:%M} UTC, though it had some before. No "
            "story is lost. Open its address: if the publisher has news elsewhere, correct the address or the search at the desk."
        )
        found.append(FeedWarningOut(code="empty", message=message))
    if health and health.charset_doubt:
        message = f"{health.charset_doubt} If letters in the headlines look wrong, ask the publisher to declare its charset."
        found.append(FeedWarningOut(code="charset", message=message))
    return found


class HostNotes(dict[str, HostNote]):
    """State of hosts, stored between runs: robots.txt, and until when one asked to be left alone. `save` writes what changed."""

    _COLUMNS: Final = [field.name for field in fields(HostNote)]

    def __init__(self) -> None:
        self._saved = {row.pop("host"): row for row in FetchHost.objects.values("host", *self._COLUMNS)}
        super().__init__((host, HostNote(**row)) for host, row in self._saved.items())

    def save(self) -> None:
        now = {host: asdict(note) for host, note in list(self.items())}  # the fetching thread goes on meanwhile
        changed = [FetchHost(host=host, **row) for host, row in now.items() if row != self._saved.get(host)]
        if changed:
            FetchHost.objects.bulk_create(changed, update_conflicts=True, unique_fields=["host"], update_fields=self._COLUMNS)
        self._saved = now
