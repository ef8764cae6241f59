"""What became of each question: the log, counts by hour, how upstreams fare, and figures for Prometheus.

Counted in memory and written in batches, so that no answer waits for a database.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson
from django.db import connection, transaction

from sources.gateway.circuit import Breaker
from sources.gateway.metrics import observe
from sources.gateway.models import CallCount, RequestLog, UpstreamState
from sources.gateway.outcome import CACHED, Answer

MOST_WAITING: Final = 50_000  # rows of the log that wait while the database is away; beyond, only counts go on
COLUMNS: Final = (
    *("request_id", "timestamp", "resource", "agent_id", "asked", "answered", "outcome", "upstream", "duration_ms", "cache_hit"),
    *("result_count", "error_code", "retry_attempt", "rate_limit_remaining", "cost_units", "stale_s", "sha256", "attempts"),
)


class Key(NamedTuple):
    hour: int
    agent: str
    resource: str
    outcome: str


@dataclass
class Pending:
    """What waits to be written."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    counts: Counter[Key] = field(default_factory=Counter)
    upstream_calls: Counter[Key] = field(default_factory=Counter)
    cost: dict[Key, float] = field(default_factory=lambda: defaultdict(float))
    upstreams: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.rows or self.counts or self.upstreams)


class Accounts:
    """The accounts of one process. `write` and `sweep` block; the rest is for the event loop."""

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._pending = Pending()

    @property
    def is_waiting(self) -> bool:
        return bool(self._pending)

    def note(self, answer: Answer, agent: str, took: float, cost: float) -> None:
        """Account for one question. `took` in seconds, `cost` of one call upstream."""
        sent = sum(one.sent for one in answer.attempts)
        waiting, ms = self._pending, round(took * 1000, 3)
        key = Key(int(answer.now // 3600), agent, answer.resource, answer.outcome)
        waiting.counts[key] += 1
        if sent:
            waiting.upstream_calls[key] += sent
            waiting.cost[key] += cost * sent
        observe(answer, ms)
        if len(waiting.rows) < MOST_WAITING:
            waiting.rows.append(_row(answer, agent, ms, cost * sent, max(0, sent - 1)))

    def upstream(self, name: str, breaker: Breaker, now: float, *, worked: bool, code: str = "", detail: str = "") -> None:
        """Note how an upstream fares."""
        when = dt.datetime.fromtimestamp(now, dt.UTC)
        found = self._pending.upstreams.setdefault(name, {})
        found["circuit"], found["failures"] = breaker.state(now), breaker.failures
        found["opened_until"] = dt.datetime.fromtimestamp(breaker.opened_until, dt.UTC) if breaker.opened_until else None
        if worked:
            found["answered_at"] = when
        else:
            found |= {"failed_at": when, "error": code, "detail": detail[:300]}

    def recent(self, request_id: str) -> dict[str, Any] | None:
        """One that is not written yet."""
        row = next((row for row in reversed(self._pending.rows) if row[0] == request_id), None)
        return None if row is None else told(dict(zip(COLUMNS, row, strict=True)))

    def pending(self) -> Pending:
        found, self._pending = self._pending, Pending()
        return found

    def put_back(self, found: Pending) -> None:
        now = self._pending
        now.rows = [*found.rows, *now.rows][:MOST_WAITING]
        now.counts.update(found.counts)
        now.upstream_calls.update(found.upstream_calls)
        for key, cost in found.cost.items():
            now.cost[key] += cost
        now.upstreams = found.upstreams | now.upstreams

    def write(self, found: Pending) -> None:
        """In one transaction."""
        if not found:
            return
        with transaction.atomic():
            _insert(found.rows)
            _add(found)
            for name, values in found.upstreams.items():
                UpstreamState.objects.update_or_create(name=name, defaults=values)

    def sweep(self) -> int:
        """Delete the oldest rows of the log beyond the most."""
        over = RequestLog.objects.order_by("-pk").values_list("pk", flat=True)[self._most_rows : self._most_rows + 1].first()
        return RequestLog.objects.filter(pk__lte=over).delete()[0] if over else 0


def explain(request_id: str) -> dict[str, Any] | None:
    """One question of the log, by its id."""
    row = RequestLog.objects.filter(request_id=request_id).values(*COLUMNS).first()
    return None if row is None else told(row)


def told(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the log as it is shown."""
    when = row["timestamp"]
    if isinstance(when, dt.datetime):
        when = when.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    attempts = orjson.loads(row["attempts"]) if isinstance(row["attempts"], str | bytes) else row["attempts"]
    return {**row, "timestamp": when, "cache_hit": bool(row["cache_hit"]), "attempts": attempts}


def _row(answer: Answer, agent: str, ms: float, cost: float, retries: int) -> tuple[Any, ...]:
    return (
        answer.request_id,
        dt.datetime.fromtimestamp(answer.now, dt.UTC),
        answer.resource,
        agent,
        answer.asked,
        answer.answered or "",
        answer.outcome,
        answer.upstream or "",
        ms,
        answer.outcome == CACHED,
        answer.count,
        answer.error,
        retries,
        answer.remaining,
        cost,
        round(answer.stale_for, 1),
        answer.sha256 or "",
        orjson.dumps([one.as_dict() for one in answer.attempts]).decode() if answer.attempts else "[]",
    )


def _insert(rows: Iterable[tuple[Any, ...]]) -> None:
    """Straight to the database: thousands of rows a second come of cached answers alone."""
    rows = list(rows)
    if not rows:
        return
    when = RequestLog._meta.get_field("timestamp")
    marks = ", ".join(["%s"] * len(COLUMNS))
    sql = f"INSERT INTO {RequestLog._meta.db_table} ({', '.join(COLUMNS)}) VALUES ({marks})"  # noqa: S608  names of our own columns
    with connection.cursor() as cursor:
        cursor.executemany(sql, [(row[0], when.get_db_prep_save(row[1], connection), *row[2:]) for row in rows])


_ADD: Final = (
    "INSERT INTO gateway_callcount (hour, agent_id, resource, outcome, calls, upstream_calls, cost_units) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (hour, agent_id, resource, outcome) DO UPDATE SET "
    "calls = gateway_callcount.calls + excluded.calls, "
    "upstream_calls = gateway_callcount.upstream_calls + excluded.upstream_calls, "
    "cost_units = gateway_callcount.cost_units + excluded.cost_units"
)


def _add(found: Pending) -> None:
    when = CallCount._meta.get_field("hour")
    rows = []
    for key, calls in sorted(found.counts.items()):
        hour = when.get_db_prep_save(dt.datetime.fromtimestamp(key.hour * 3600, dt.UTC), connection)
        rows.append((hour, key.agent, key.resource, key.outcome, calls, found.upstream_calls[key], found.cost.get(key, 0.0)))
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_ADD, rows)
