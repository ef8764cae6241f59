"""What was fetched, while it may be given again: in memory, and in a table that all processes share and which outlives them.

A read of a fresh entry costs no query. What this process has no fresh entry of, it looks for in the table before it asks anybody:
another process may have fetched it. Writing goes on behind the answers, in batches.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.db import connection, transaction
from django.db.models import Sum

from sources.gateway.models import Entry

MEMORY: Final = 32_000_000  # bytes of bodies in one process
OVERHEAD: Final = 1_000
TOUCH_EVERY: Final = 60.0  # seconds between two notes that an entry is in use
LOT: Final = 500


@dataclass(slots=True)
class Kept:
    """One entry. Times are seconds since 1970. `data` are JSON values that nobody changes."""

    key: str
    resource: str
    agent: str
    uri: str
    data: Any
    sha256: str
    count: int
    upstream: str
    untrusted: bool
    marker: str
    note: str
    fetched_at: float
    fresh_until: float
    gone_after: float
    size: int = 0
    touched_at: float = 0.0

    def is_fresh(self, now: float, marker: str) -> bool:
        """What was made of something else than would be used now is old, whatever its age. An unknown marker counts as the same."""
        return now < self.fresh_until and (not marker or not self.marker or marker == self.marker)

    def may_be_given(self, now: float) -> bool:
        return now < self.gone_after


class Entries:
    """The cache of one process over the table. For one event loop; `read`, `write` and `sweep` block and are for its thread."""

    def __init__(self, max_bytes: int, memory: int = MEMORY) -> None:
        self._max_bytes = max_bytes
        self._memory = memory
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0
        self._unwritten: dict[str, Kept] = {}
        self._touched: dict[str, float] = {}

    def get(self, key: str, now: float) -> Kept | None:
        """From memory alone."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        if now - found.touched_at > TOUCH_EVERY:
            found.touched_at = self._touched[key] = now
        return found

    def remember(self, entry: Kept) -> None:
        """Take one that was read from the table, unless memory has a newer one."""
        old = self._kept.get(entry.key)
        if old is not None and old.fetched_at >= entry.fetched_at:
            return
        self._bytes += entry.size + OVERHEAD - (old.size + OVERHEAD if old else 0)
        self._kept[entry.key] = entry
        self._kept.move_to_end(entry.key)
        while self._bytes > self._memory and self._kept:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= gone.size + OVERHEAD

    def put(self, entry: Kept) -> None:
        """Take one that was just fetched; it is written behind."""
        self._unwritten[entry.key] = entry
        self.remember(entry)

    def drop(self, keys: Iterable[str]) -> None:
        for key in keys:
            gone = self._kept.pop(key, None)
            self._unwritten.pop(key, None)
            if gone is not None:
                self._bytes -= gone.size + OVERHEAD

    def written(self) -> list[str]:
        """The keys in memory that the table has too, unless somebody deleted them."""
        return [key for key in self._kept if key not in self._unwritten]

    def pending(self) -> tuple[list[Kept], dict[str, float]]:
        """What has to be written, and which entries were in use; afterwards nothing has."""
        found = list(self._unwritten.values()), self._touched
        self._unwritten, self._touched = {}, {}
        return found


def read(keys: Sequence[str]) -> dict[str, Kept]:
    """From the table, by key."""
    return {row.key: _kept(row) for row in Entry.objects.filter(pk__in=keys).order_by()}


@transaction.atomic
def write(entries: Iterable[Kept], touched: dict[str, float], now: float) -> None:
    rows = [
        Entry(
            key=one.key,
            resource=one.resource,
            agent=one.agent,
            uri=one.uri,
            body=orjson.dumps(one.data),
            sha256=one.sha256,
            size=one.size,
            count=one.count,
            upstream=one.upstream,
            untrusted=one.untrusted,
            marker=one.marker,
            note=one.note,
            fetched_at=one.fetched_at,
            fresh_until=one.fresh_until,
            gone_after=one.gone_after,
            used_at=now,
        )
        for one in entries
    ]
    if rows:
        columns = [field.name for field in Entry._meta.concrete_fields if not field.primary_key]
        Entry.objects.bulk_create(rows, update_conflicts=True, unique_fields=["key"], update_fields=columns, batch_size=LOT)
    keys = list(touched)
    for begin in range(0, len(keys), LOT):
        Entry.objects.filter(pk__in=keys[begin : begin + LOT]).update(used_at=now)


def sweep(max_bytes: int, now: float) -> int:
    """Forget what nobody may be given any more; then, while the rest is too large, what was used longest ago. How many went."""
    gone, _ = Entry.objects.filter(gone_after__lt=now).delete()
    over = (Entry.objects.aggregate(all=Sum("size"))["all"] or 0) - max_bytes
    while over > 0:
        lot = list(Entry.objects.order_by("used_at").values_list("pk", "size")[:LOT])
        keys = []
        for key, size in lot:
            keys.append(key)
            over -= size
            if over <= 0:
                break
        Entry.objects.filter(pk__in=keys).delete()
        gone += len(keys)
    return gone


def gone(keys: Sequence[str]) -> list[str]:
    """Those of these keys that the table does not have. Asked every few seconds for all in memory, so by plain SQL."""
    found: list[str] = []
    name, table = connection.ops.quote_name("key"), connection.ops.quote_name(Entry._meta.db_table)
    with connection.cursor() as cursor:
        for begin in range(0, len(keys), LOT):
            lot = keys[begin : begin + LOT]
            marks = ", ".join(["%s"] * len(lot))
            cursor.execute(f"SELECT {name} FROM {table} WHERE {name} IN ({marks})", lot)  # noqa: S608  names of our own
            there = {key for (key,) in cursor.fetchall()}
            found += [key for key in lot if key not in there]
    return found


def forget(*, resource: str = "", agent: str = "") -> int:
    """Delete entries of a resource, of an agent, or of both; all without either. How many."""
    rows = Entry.objects.all()
    if resource:
        rows = rows.filter(resource=resource)
    if agent:
        rows = rows.filter(agent=agent)
    return rows.delete()[0]


def _kept(row: Entry) -> Kept:
    return Kept(
        key=row.key,
        resource=row.resource,
        agent=row.agent,
        uri=row.uri,
        data=orjson.loads(bytes(row.body)),
        sha256=row.sha256,
        count=row.count,
        upstream=row.upstream,
        untrusted=row.untrusted,
        marker=row.marker,
        note=row.note,
        fetched_at=row.fetched_at,
        fresh_until=row.fresh_until,
        gone_after=row.gone_after,
        size=row.size,
    )
