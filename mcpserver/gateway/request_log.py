"""The log of requests, their counts by hour, and the state of upstreams.

Counted in memory and written in batches, so that no answer waits for a database. Until then each line stands in a journal.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from django.db import connection, transaction
from django.db.models import F

from mcpserver.gateway import journal, metrics
from mcpserver.gateway.circuit_breaker import CircuitBreaker
from mcpserver.gateway.models import CallCount, RequestLog, UpstreamState
from mcpserver.gateway.response import CACHED, GatewayResponse
from mcpserver.upstreams.protocol import UpstreamError

BATCH: Final = 500
MAX_WAITING: Final = 50_000  # rows of the log that wait while the database is away; beyond, only counts go on
COLUMNS: Final = (
    *("request_id", "timestamp", "resource", "agent_id", "asked", "answered", "outcome", "upstream", "duration_ms", "cache_hit"),
    *("result_count", "error_code", "retry_attempt", "rate_limit_remaining", "cost_units", "stale_s", "sha256", "attempts"),
)
Row = tuple[Any, ...]  # in the order of COLUMNS


class CountKey(NamedTuple):
    hour: int
    agent: str
    resource: str
    outcome: str


class Counts(NamedTuple):
    calls: int = 0
    upstream_calls: int = 0
    cost: float = 0.0


@dataclass
class Pending:
    """Lines, counts and states that wait to be written, and the journal's files that hold them."""

    rows: list[Row] = field(default_factory=list)
    counts: dict[CountKey, Counts] = field(default_factory=dict)
    upstreams: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: list[journal.File] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.rows or self.counts or self.upstreams)

    def append(self, row: Row, key: CountKey, counts: Counts) -> None:
        if len(self.rows) < MAX_WAITING:
            self.rows.append(row)
        self.count(key, counts)

    def count(self, key: CountKey, counts: Counts) -> None:
        old = self.counts.get(key, Counts())
        self.counts[key] = Counts(old.calls + counts.calls, old.upstream_calls + counts.upstream_calls, old.cost + counts.cost)


class RequestLogger:
    """The log of one process. `write`, `recover` and `sweep` block; the rest is for the event loop."""

    def __init__(self, max_rows: int, folder: Path | None = None) -> None:
        self._max_rows = max_rows
        self._folder = folder
        self._journal = journal.Journal(folder)
        self._pending = Pending()

    @property
    def is_waiting(self) -> bool:
        return bool(self._pending)

    def note(self, response: GatewayResponse, agent: str, seconds: float, cost: float) -> None:
        """Log and count a request. `cost`: of one call upstream."""
        sent = 0
        for attempt in response.attempts:
            if attempt.is_sent and not attempt.is_counted:  # all who wait for a call are answered with it; it was made once
                sent, attempt.is_counted = sent + 1, True
        key = CountKey(int(response.now // 3600), agent, response.resource, response.outcome)
        ms = round(seconds * 1000, 3)
        row = _to_row(response, agent, ms, cost * sent)
        self._journal.append([*row, sent])
        self._pending.append(row, key, Counts(1, sent, cost * sent))
        metrics.observe(response, ms)

    def note_upstream(self, name: str, breaker: CircuitBreaker, now: float, error: UpstreamError | None = None) -> None:
        """Note the circuit of an upstream after an answer, or after a failure."""
        when, until = dt.datetime.fromtimestamp(now, dt.UTC), breaker.opened_until
        state = self._pending.upstreams.setdefault(name, {})
        state |= {"circuit": breaker.state, "failures": breaker.failures}
        state["opened_until"] = None if until is None else dt.datetime.fromtimestamp(until, dt.UTC)
        if error is None:
            state["answered_at"] = when
        else:
            state |= {"failed_at": when, "error": error.code, "detail": error.detail[:300]}

    def take_pending(self) -> Pending:
        pending, self._pending = self._pending, Pending()
        pending.files += self._journal.end_batch()
        return pending

    def put_back(self, older: Pending) -> None:
        newer, self._pending = self._pending, older
        older.rows = [*older.rows, *newer.rows][:MAX_WAITING]
        for key, counts in newer.counts.items():
            older.count(key, counts)
        older.upstreams |= newer.upstreams
        older.files += newer.files

    def write(self, pending: Pending) -> None:
        """Write in one transaction, after which the journal of it goes."""
        if pending:
            with transaction.atomic():
                _insert(pending)
                for name, values in pending.upstreams.items():
                    UpstreamState.objects.update_or_create(name=name, defaults=values)
            journal.remove(pending.files)

    def recover(self) -> None:
        """Count what killed processes left in their journals, each request once."""
        for file, lines in journal.read_left_over(self._folder):
            with transaction.atomic():
                _insert(_read_journal(lines))
            journal.remove([file])

    def sweep(self) -> None:
        """Delete the oldest rows of the log beyond the most. Recover first: a row says that its request was counted."""
        last = RequestLog.objects.order_by("-pk").values_list("pk", flat=True)[self._max_rows : self._max_rows + 1].first()
        if last:
            RequestLog.objects.filter(pk__lte=last).delete()


def _read_journal(lines: Sequence[Any]) -> Pending:
    """Return the lines that are not in the log: their process may have been killed after it wrote them there."""
    pending, ids = Pending(), [line[0] for line in lines]
    known: set[str] = set()
    for begin in range(0, len(ids), BATCH):
        known.update(RequestLog.objects.filter(request_id__in=ids[begin : begin + BATCH]).values_list("request_id", flat=True))
    for *values, sent in lines:
        row = dict(zip(COLUMNS, values, strict=True))
        if row["request_id"] not in known:
            when = row["timestamp"] = dt.datetime.fromisoformat(row["timestamp"])
            key = CountKey(int(when.timestamp() // 3600), row["agent_id"], row["resource"], row["outcome"])
            pending.append(tuple(row.values()), key, Counts(1, sent, row["cost_units"]))
    return pending


def read_resets() -> dict[str, int]:
    return dict(UpstreamState.objects.values_list("name", "resets"))


def reset_circuits(upstreams: Sequence[str]) -> list[str]:
    """Have every process close its circuits of these upstreams at its next look. Return those that were not closed."""
    open_ones = UpstreamState.objects.filter(name__in=upstreams).exclude(circuit="closed", failures=0)
    names = list(open_ones.values_list("name", flat=True))
    for name in upstreams:
        state = {"circuit": "closed", "failures": 0, "opened_until": None, "resets": F("resets") + 1}
        UpstreamState.objects.update_or_create(name=name, defaults=state, create_defaults={"resets": 1})
    return names


def _to_row(response: GatewayResponse, agent: str, ms: float, cost: float) -> Row:
    attempts = response.attempts
    return (
        response.request_id,
        dt.datetime.fromtimestamp(response.now, dt.UTC),
        response.resource,
        agent,
        response.asked,
        response.answered or "",
        response.outcome,
        response.upstream or "",
        ms,
        response.outcome == CACHED,
        response.count,
        response.error,
        max(0, sum(attempt.is_sent for attempt in attempts) - 1),
        response.remaining,
        cost,
        round(response.stale_for, 1),
        response.sha256 or "",
        orjson.dumps([attempt.to_dict() for attempt in attempts]).decode() if attempts else "[]",
    )


_ADD_COUNTS: Final = (
    "INSERT INTO gateway_callcount (hour, agent_id, resource, outcome, calls, upstream_calls, cost_units) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (hour, agent_id, resource, outcome) DO UPDATE SET "
    "calls = gateway_callcount.calls + excluded.calls, "
    "upstream_calls = gateway_callcount.upstream_calls + excluded.upstream_calls, "
    "cost_units = gateway_callcount.cost_units + excluded.cost_units"
)


def _insert(pending: Pending) -> None:
    """Insert by plain SQL: thousands of rows a second come of cached answers alone."""
    timestamp, hour = RequestLog._meta.get_field("timestamp"), CallCount._meta.get_field("hour")
    marks = ", ".join(["%s"] * len(COLUMNS))
    sql = f"INSERT INTO {RequestLog._meta.db_table} ({', '.join(COLUMNS)}) VALUES ({marks})"  # noqa: S608  names of our own columns
    rows = [(row[0], timestamp.get_db_prep_save(row[1], connection), *row[2:]) for row in pending.rows]
    counts = [
        (hour.get_db_prep_save(dt.datetime.fromtimestamp(key.hour * 3600, dt.UTC), connection), *key[1:], *counted)
        for key, counted in sorted(pending.counts.items())
    ]
    with connection.cursor() as cursor:
        if rows:
            cursor.executemany(sql, rows)
        if counts:
            cursor.executemany(_ADD_COUNTS, counts)
