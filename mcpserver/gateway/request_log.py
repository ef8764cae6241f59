"""The log of requests, their counts by hour, and the state of upstreams.

Counted in memory and written twice a second beside the answers, so that no answer waits for a database. Until then each line
stands in a journal. The same task writes entries that wait, and sweeps the tables.
"""

import asyncio
import datetime as dt
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import add
from pathlib import Path
from typing import Any, Final

import orjson
from django.db import connection, transaction
from django.db.models import F

from config.database.row_seal import batch_keys
from mcpserver.gateway import cache, journal, metrics
from mcpserver.gateway.cache import EntryCache
from mcpserver.gateway.circuit_breaker import CircuitBreaker
from mcpserver.gateway.models import CallCount, RequestLog, UpstreamState
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.response import CACHED, GatewayResponse
from mcpserver.upstreams.client_interface import UpstreamError

FLUSH: Final = 0.5  # seconds between two writes
MAX_WAITING: Final = 50_000  # rows of the log that wait while the database is away; beyond, only counts go on
COLUMNS: Final = tuple(column.name for column in RequestLog._meta.concrete_fields if not column.primary_key)
POLICY_ROW: Final = ""  # in the table of upstreams: every process reads the policy's files again when its `resets` rises
Row = tuple[Any, ...]  # in the order of COLUMNS

log = logging.getLogger(__name__)


CountKey = tuple[int, str, str, str]  # hours since 1970, agent, resource, outcome
Counts = tuple[int, int, float]  # requests, calls upstream, their cost


@dataclass
class Pending:
    """Lines, counts and states that wait to be written, and the journal's files that hold them."""

    rows: list[Row] = field(default_factory=list)
    counts: dict[CountKey, Counts] = field(default_factory=dict)
    upstreams: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: list[journal.File] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.rows or self.counts or self.upstreams)

    def add_counts(self, key: CountKey, counts: Counts) -> None:
        calls, upstream_calls, cost = map(add, self.counts.get(key, (0, 0, 0.0)), counts)
        self.counts[key] = calls, upstream_calls, cost

    def extend(self, newer: "Pending") -> None:
        self.rows = [*self.rows, *newer.rows][:MAX_WAITING]
        for key, counts in newer.counts.items():
            self.add_counts(key, counts)
        self.upstreams |= newer.upstreams
        self.files += newer.files


class RequestLogger:
    """The log of one process. Its journal is in `folder`; without one, the last half second of a killed process is lost."""

    def __init__(self, context: ProcessContext, entries: EntryCache, max_rows: int, max_bytes: int, folder: Path | None) -> None:
        self._context = context
        self._entries = entries
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._folder = folder
        self._journal = journal.Journal(folder)
        self._pending = Pending()
        self._flushing: asyncio.Task[None] | None = None
        self._swept_at = float("-inf")

    @property
    def has_unwritten_rows(self) -> bool:
        return bool(self._pending)

    def log_response(self, response: GatewayResponse, agent: str, seconds: float, cost: float) -> None:
        """Log and count a request. `cost`: of one call upstream."""
        sent = 0
        for attempt in response.attempts:
            if attempt.is_sent and not attempt.is_counted:  # all who wait for a call are answered with it; it was made once
                sent, attempt.is_counted = sent + 1, True
        ms = round(seconds * 1000, 3)
        pending, hour = self._pending, int(response.now // 3600)
        row = _build_log_row(response, agent, ms, cost * sent)
        self._journal.append([*row, sent])
        if len(pending.rows) < MAX_WAITING:
            pending.rows.append(row)
        pending.add_counts((hour, agent, response.resource, response.outcome), (1, sent, cost * sent))
        metrics.observe_response(response, ms)
        self._flush_soon()

    def log_upstream_state(self, name: str, breaker: CircuitBreaker, error: UpstreamError | None = None) -> None:
        when, until = _to_datetime(self._context.now()), breaker.opened_until
        state = self._pending.upstreams.setdefault(name, {})
        state |= {"circuit": breaker.state, "failures": breaker.failures}
        state["opened_until"] = None if until is None else _to_datetime(until)
        if error is None:
            state["answered_at"] = when
        else:
            state |= {"failed_at": when, "error": error.code, "detail": error.detail[:300]}
        self._flush_soon()

    def _flush_soon(self) -> None:
        self._context.reset_on_new_loop()
        task = self._flushing
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            self._flushing = self._context.start_task(self._flush_until_written())

    async def _flush_until_written(self) -> None:
        while True:
            await asyncio.sleep(FLUSH)
            await self.flush()
            if not self._pending:
                return

    async def flush(self) -> None:
        touched = self._entries.pop_touched_keys()
        await self._entries.write_pending_entries()
        pending, self._pending = self._pending, Pending()
        pending.files += self._journal.end_batch()
        try:
            if pending or pending.files:
                await self._context.write(partial(_write_pending, pending))
        except Exception:
            log.exception("The gateway's log and counts cannot be written; they are kept for the next try.")
            pending.extend(self._pending)
            self._pending = pending
            return
        if touched or self._is_sweep_due():
            try:
                await self._context.write(partial(self._delete_old_rows, touched))
            except Exception:
                log.exception("Expired entries and log lines could not be deleted; the next sweep tries again.")

    def _is_sweep_due(self) -> bool:
        return abs(self._context.steady() - self._swept_at) > 600.0  # seconds between two sweeps

    def _delete_old_rows(self, touched: Sequence[str]) -> None:
        now = self._context.now()
        cache.touch_entries(touched, now)
        if self._is_sweep_due():
            self._swept_at = self._context.steady()
            # Count what killed processes left, before old rows go: a row says that its request was counted.
            for file, lines in journal.read_orphaned_files(self._folder):
                _write_pending(_read_journal(file, lines))
            cache.delete_expired_entries(self._max_bytes, now)
            last = RequestLog.objects.order_by("-pk").values_list("pk", flat=True)[self._max_rows : self._max_rows + 1].first()
            if last:
                RequestLog.objects.filter(pk__lte=last).delete()


def _read_journal(file: journal.File, lines: Sequence[Any]) -> Pending:
    """Return the lines that are not in the log: their process may have been killed after it wrote them there."""
    pending, known = Pending(files=[file]), set[str]()
    for batch in batch_keys(line[0] for line in lines):
        known.update(RequestLog.objects.filter(request_id__in=batch).values_list("request_id", flat=True))
    for *values, sent in lines:
        row = dict(zip(COLUMNS, values, strict=True))
        if row["request_id"] not in known:
            when = row["timestamp"] = dt.datetime.fromisoformat(row["timestamp"])
            pending.rows.append(tuple(row.values()))
            hour = int(when.timestamp() // 3600)
            pending.add_counts((hour, row["agent_id"], row["resource"], row["outcome"]), (1, sent, row["cost_units"]))
    return pending


def announce_policy_change() -> None:
    """Have every process read the policy and its secrets again at its next look."""
    UpstreamState.objects.update_or_create(name=POLICY_ROW, defaults={"resets": F("resets") + 1}, create_defaults={"resets": 1})


def reset_circuits(upstreams: Sequence[str]) -> list[str]:
    """Have every process close its circuits of these upstreams at its next look. Return those that were not closed."""
    open_ones = UpstreamState.objects.filter(name__in=upstreams).exclude(circuit="closed", failures=0)
    names = list(open_ones.values_list("name", flat=True))
    for name in upstreams:
        state = {"circuit": "closed", "failures": 0, "opened_until": None, "resets": F("resets") + 1}
        UpstreamState.objects.update_or_create(name=name, defaults=state, create_defaults={"resets": 1})
    return names


def _to_datetime(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def _build_log_row(response: GatewayResponse, agent: str, ms: float, cost: float) -> Row:
    attempts = response.attempts
    return (
        *(response.request_id, _to_datetime(response.now), response.resource, agent, response.asked, response.answered or ""),
        *(response.outcome, response.upstream or "", ms, response.outcome == CACHED, response.count, response.error),
        max(0, sum(attempt.is_sent for attempt in attempts) - 1),
        *(response.remaining, cost, round(response.stale_for, 1), response.sha256 or ""),
        orjson.dumps([attempt.to_dict() | {"words": attempt.words} for attempt in attempts]).decode() if attempts else "[]",
    )


def _write_pending(pending: Pending) -> None:
    # Plain SQL: thousands of rows a second come of cached answers alone.
    timestamp, marks = RequestLog._meta.get_field("timestamp"), ", ".join(["%s"] * len(COLUMNS))
    sql = f"INSERT INTO {RequestLog._meta.db_table} ({', '.join(COLUMNS)}) VALUES ({marks})"  # noqa: S608  our own columns
    rows = [(row[0], timestamp.get_db_prep_save(row[1], connection), *row[2:]) for row in pending.rows]
    with transaction.atomic(), connection.cursor() as cursor:
        if rows:
            cursor.executemany(sql, rows)
        for (hour, *names), counted in sorted(pending.counts.items()):
            key = dict(zip(("hour", "agent_id", "resource", "outcome"), (_to_datetime(hour * 3600), *names), strict=True))
            found = dict(zip(("calls", "upstream_calls", "cost_units"), counted, strict=True))
            more = {name: F(name) + number for name, number in found.items()}
            CallCount.objects.update_or_create(**key, defaults=more, create_defaults=found)
        for name, values in pending.upstreams.items():
            UpstreamState.objects.update_or_create(name=name, defaults=values)
    journal.remove_files(pending.files)
