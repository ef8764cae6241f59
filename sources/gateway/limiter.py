"""How often an upstream is asked, over all processes: a sliding log and a least distance for each bucket. Never sleeps.

The log of a bucket is one row, changed in a transaction that locks it, so processes that share the database share the limit
exactly. Requests that come together are decided in one transaction.
"""

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.db import transaction

from sources.gateway.models import Bucket

MICRO: Final = 1_000_000
MOST: Final = 100_000  # entries of one bucket that are stored; no limit is larger


class Want(NamedTuple):
    """What one attempt must get from one bucket. Times are seconds."""

    bucket: str
    limit: int
    period: float
    spacing: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`wait`: 0 if the attempt may go, and then it was counted in every bucket; else seconds after which the next one may.
    `remaining`: how many more may go now.
    """

    wait: float
    remaining: int


def decide(log: Sequence[int], want: Want, now: float) -> tuple[int, int]:
    """For a log of microseconds, oldest first: how many microseconds to wait, and how many may still go. Pure."""
    at, period = int(now * MICRO), int(want.period * MICRO)
    used = len(log) - bisect_right(log, at - period)
    wait = 0
    if used >= want.limit:
        wait = log[len(log) - want.limit] + period - at
    if log:
        wait = max(wait, log[-1] + int(want.spacing * MICRO) - at)
    return max(0, wait), max(0, want.limit - used)


def acquire(wants: Sequence[Want], now: float) -> Verdict:
    """Count one attempt in all of these buckets, or in none."""
    return acquire_all([wants], now)[0]


def acquire_all(asked: Sequence[Sequence[Want]], now: float) -> list[Verdict]:
    """The same for several attempts, first come first served, in one transaction."""
    names = sorted({want.bucket for wants in asked for want in wants})
    with transaction.atomic():
        rows = _locked(names)
        if len(rows) < len(names):
            Bucket.objects.bulk_create([Bucket(name=name) for name in names if name not in rows], ignore_conflicts=True)
            rows = _locked(names)
        logs = {name: _read(row) for name, row in rows.items()}
        changed: dict[str, float] = {}
        verdicts = []
        for wants in asked:
            found = [(want, *decide(logs[want.bucket], want, now)) for want in wants]
            wait = max((wait for _, wait, _ in found), default=0)
            if not wait:
                for want, _, _ in found:
                    _note(logs[want.bucket], want, now)
                    changed[want.bucket] = max(changed.get(want.bucket, 0.0), want.period, want.spacing)
            left = min((remaining for _, _, remaining in found), default=0)
            verdicts.append(Verdict(wait / MICRO, left - 1 if not wait and found else left))
        for name in changed:
            Bucket.objects.filter(name=name).update(log=logs[name].tobytes(), used_at=now)
    return verdicts


def remaining(wants: Sequence[Want], now: float) -> Verdict:
    """What `acquire` would say; nothing is counted."""
    rows = {row.name: row for row in Bucket.objects.filter(name__in=[want.bucket for want in wants])}
    found = [decide(_read(rows[want.bucket]) if want.bucket in rows else array("q"), want, now) for want in wants]
    return Verdict(max((wait for wait, _ in found), default=0) / MICRO, min((left for _, left in found), default=0))


def _locked(names: Sequence[str]) -> dict[str, Bucket]:
    return {row.name: row for row in Bucket.objects.select_for_update().filter(name__in=names).order_by("name")}


def _read(row: Bucket) -> "array[int]":
    found = array("q")
    found.frombytes(bytes(row.log))
    return found


def _note(log: "array[int]", want: Want, now: float) -> None:
    """Add this moment, and forget what no window holds any more; the newest stays, for the spacing."""
    at = int(now * MICRO)
    begin = at - math.ceil(max(want.period, want.spacing) * MICRO)
    del log[: max(bisect_right(log, begin), len(log) - MOST)]
    log.append(max(at, log[-1]) if log else at)
