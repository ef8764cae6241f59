"""Limits over all processes: a sliding log and a least distance for each bucket. Never sleeps.

The log of a bucket is one row, changed in a transaction that locks it, so processes that share the database share the limit
exactly. It is of the wall clock, and follows its steps: with each change stands the same moment on the machine's steady clock.
Where that cannot be compared, after a restart or on another machine, entries of the future count as of now.
"""

import hashlib
import math
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from django.db import transaction

from mcpserver.gateway.models import Bucket
from mcpserver.gateway.process_context import AHEAD, BOOT, Batcher, ProcessContext, measure_clock_step
from mcpserver.gateway.request import GatewayRequest
from mcpserver.gateway.resource_policy import Policy

MICRO: Final = 1_000_000


class Limit(NamedTuple):
    """A limit that an attempt is counted in. Times are seconds."""

    bucket: str
    limit: int
    period: float
    spacing: float = 0.0


class Admission(NamedTuple):
    """`wait`: 0 if the attempt may go; else seconds after which the next one may. `remaining`: how many more may go now."""

    wait: float
    remaining: int


def acquire_limits(attempts: Sequence[Sequence[Limit]], now: float, steady: float) -> list[Admission]:
    """Count each attempt in all of its limits, or in none: first come, first served, in one transaction."""
    names = sorted({limit.bucket for limits in attempts for limit in limits})
    with transaction.atomic():
        rows = _lock_buckets(names)
        if len(rows) < len(names):
            Bucket.objects.bulk_create([Bucket(name=name) for name in names if name not in rows], ignore_conflicts=True)
            rows = _lock_buckets(names)
        logs = {name: _read_timestamps(row, now, steady) for name, row in rows.items()}
        admissions = []
        for limits in attempts:
            admission = _decide_admission(logs, limits, now)
            if not admission.wait and limits:
                admission = Admission(0.0, admission.remaining - 1)
                for limit in limits:
                    _append_timestamp(logs[limit.bucket], limit, now)
            admissions.append(admission)
        for name, log in logs.items():
            if log.tobytes() != bytes(rows[name].log):
                Bucket.objects.filter(name=name).update(log=log.tobytes(), used_at=now, steady_at=steady, boot=BOOT)
    return admissions


def peek_admission(limits: Sequence[Limit], now: float, steady: float) -> Admission:
    rows = Bucket.objects.filter(name__in=[limit.bucket for limit in limits])
    return _decide_admission({row.name: _read_timestamps(row, now, steady) for row in rows}, limits, now)


def delete_buckets(*, resource: str = "", agent: str = "") -> list[str]:
    names = [
        name
        for name in Bucket.objects.order_by("name").values_list("name", flat=True)
        if (not resource or name.split(" ")[0] == resource) and (not agent or f"@{agent}" in name.split(" "))
    ]
    Bucket.objects.filter(name__in=names).delete()
    return names


def _lock_buckets(names: Sequence[str]) -> dict[str, Bucket]:
    return {row.name: row for row in Bucket.objects.select_for_update().filter(name__in=names).order_by("name")}


def _decide_admission(logs: Mapping[str, "array[int]"], limits: Sequence[Limit], now: float) -> Admission:
    at, wait, remaining = int(now * MICRO), 0, []
    for limit in limits:
        log, period = logs.get(limit.bucket, array("q")), int(limit.period * MICRO)
        used = len(log) - bisect_right(log, at - period)
        if used >= limit.limit:
            wait = max(wait, log[len(log) - limit.limit] + period - at)
        if log:
            wait = max(wait, log[-1] + int(limit.spacing * MICRO) - at)
        remaining.append(max(0, limit.limit - used))
    return Admission(wait / MICRO, min(remaining, default=0))


def _read_timestamps(row: Bucket, now: float, steady: float) -> "array[int]":
    log = array("q", bytes(row.log))
    if step := int(measure_clock_step(row.used_at, row.steady_at, row.boot, now, steady) * MICRO):
        log = array("q", (moment + step for moment in log))
    at = int(now * MICRO)
    if log and log[-1] > at + AHEAD * MICRO:
        log = array("q", (min(moment, at) for moment in log))
    return log


def _append_timestamp(log: "array[int]", limit: Limit, now: float) -> None:
    """Add this moment, and forget what no window holds any more; the newest stays, for the spacing."""
    at = int(now * MICRO)
    begin = at - math.ceil(max(limit.period, limit.spacing) * MICRO)
    del log[: max(bisect_right(log, begin), len(log) - 100_000)]  # entries of one bucket; no limit is larger
    log.append(max(at, log[-1]) if log else at)


class Quota:
    """Counts attempts before they are sent, those that come together in one transaction. `is_on`: False lets every one pass."""

    def __init__(self, policy: Policy, context: ProcessContext, *, is_on: bool = True) -> None:
        self.is_on = is_on
        self._upstreams = policy.upstreams
        self._context = context
        self._batches = Batcher(self._acquire_batch, context)

    def list_limits(self, request: GatewayRequest, *, is_retry: bool = False, is_refresh: bool = False) -> list[Limit]:
        """Return the limits that an attempt is counted in: the upstream's, and the agent's share of it unless nobody waits."""
        resource, caller = request.resource, request.caller
        values = "".join(f" {request.params.get(name)}" for name in resource.limit_per)
        if len(values) > 100:
            values = f" {hashlib.sha256(values.encode()).hexdigest()}"
        owner = f" @{caller.name}" if resource.limit_scope == "agent" else ""
        bucket = f"{resource.name}{values}{owner}"
        if is_retry and resource.retry_limit:
            return [Limit(f"{bucket} retries", resource.retry_limit, resource.period)]
        # Our own wire needs no protection from its readers: only the share of an agent holds there.
        is_own = self._upstreams[resource.upstream].kind == "wire"
        limits = [] if is_own else [Limit(bucket, resource.limit, resource.period, resource.min_interval)]
        if caller.share < 100 and resource.limit_scope != "agent" and not is_refresh:
            share = max(1, resource.limit * caller.share // 100)
            limits.append(Limit(f"{bucket} share @{caller.name}", share, resource.period))
        return limits

    async def acquire(self, limits: Sequence[Limit]) -> Admission:
        return await self._batches.run_in_batch(limits) if self.is_on else Admission(0.0, 0)

    async def _acquire_batch(self, attempts: Sequence[Sequence[Limit]]) -> Sequence[Admission]:
        return await self._context.write(partial(acquire_limits, attempts, self._context.now(), self._context.steady()))
