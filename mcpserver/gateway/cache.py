"""Answers of upstreams while they may be given again: in memory, and in a table that all processes share.

A read of a fresh entry costs no query. What this process has no fresh entry of, it looks for in the table before it asks anybody:
another process may have fetched it. An entry is written before it is answered, those that come together in one transaction.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

import orjson
from django.db import DataError, connection, transaction
from django.db.models import Sum

from mcpserver.gateway.canonical_json import digest
from mcpserver.gateway.host import AHEAD, Batcher, Host, measure_step
from mcpserver.gateway.models import Entry
from mcpserver.upstreams.config import FOREVER

MEMORY: Final = 32_000_000  # bytes of bodies in one process
OVERHEAD: Final = 1_000
TOUCH_EVERY: Final = 60.0  # seconds between two notes that an entry is in use
BATCH: Final = 500

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CacheEntry:
    """An answer of an upstream, whose `data` nobody changes. Times are seconds since 1970.

    `steady_at` is `fetched_at` on the steady clock of `boot`.
    """

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
    attributes_sha256: str = ""
    steady_at: float | None = None
    boot: str = ""
    touched_at: float = 0.0

    def follow_clock(self, host: Host) -> None:
        """Move its times by what the wall clock stepped since it was fetched: its age stays what it is."""
        if step := measure_step(self.fetched_at, self.steady_at, self.boot, host.now(), host.steady()):
            self.fetched_at += step
            self.fresh_until += step
            self.gone_after += step

    def has_unknown_age(self, now: float) -> bool:
        """Return whether a clock that was ahead dated it."""
        return self.fetched_at > now + AHEAD

    def is_fresh(self, now: float, marker: str) -> bool:
        """Return whether it is within its TTL, and made of what would be used now; an unknown marker counts as the same."""
        return now < self.fresh_until and not self.has_unknown_age(now) and marker in ("", self.marker or marker)

    def is_usable(self, now: float) -> bool:
        """Return whether it is in its stale window. Without a known age only an entry without an end is."""
        return now < self.gone_after and (not self.has_unknown_age(now) or self.gone_after - self.fetched_at >= FOREVER)


_COLUMNS: Final = tuple(field.name for field in fields(CacheEntry) if field.name not in ("data", "touched_at"))


class EntryCache:
    def __init__(self, host: Host, memory: int = MEMORY) -> None:
        self._host = host
        self._memory = memory
        self._entries: OrderedDict[str, CacheEntry] = OrderedDict()
        self._bytes = 0
        self._unwritten: dict[str, CacheEntry] = {}
        self._touched: set[str] = set()
        self._reads = Batcher(self._read_batch, host)
        self._writes = Batcher(self._write_batch, host)

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten)

    def get(self, key: str) -> CacheEntry | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        entry.follow_clock(self._host)
        now = self._host.now()
        if abs(now - entry.touched_at) > TOUCH_EVERY:
            entry.touched_at = now
            self._touched.add(key)
        return entry

    async def load(self, key: str) -> CacheEntry | None:
        """Return an entry from the table, and keep it in memory unless that has a newer one."""
        try:
            entry = await self._reads.ask(key)
        except Exception:
            log.exception("The table of entries cannot be read.")
            return None
        if entry is not None:
            entry.follow_clock(self._host)
            old = self.get(key)
            if old is None or old.fetched_at < entry.fetched_at or old.has_unknown_age(self._host.now()):
                self._remember(entry)
        return entry

    async def find(self, key: str) -> CacheEntry | None:
        return self.get(key) or await self.load(key)

    def add(self, entry: CacheEntry) -> None:
        self._unwritten[entry.key] = entry
        self._remember(entry)

    def _remember(self, entry: CacheEntry) -> None:
        self._forget(entry.key)
        self._entries[entry.key] = entry
        self._bytes += entry.size + OVERHEAD
        while self._bytes > self._memory and self._entries:
            self._forget(next(iter(self._entries)))

    def _forget(self, key: str) -> None:
        if (old := self._entries.pop(key, None)) is not None:
            self._bytes -= old.size + OVERHEAD

    async def save(self) -> None:
        """Write what waits, together with what others fetched meanwhile. What cannot be written now goes on waiting."""
        try:
            await self._writes.ask(None)
        except Exception:
            log.exception("Entries cannot be written; they wait for the next try.")

    async def drop_deleted(self) -> None:
        """Let go of entries that another process deleted from the table."""
        written = [key for key in self._entries if key not in self._unwritten]
        for key in await self._host.write(partial(find_deleted, written)):
            if key not in self._unwritten:  # fetched again meanwhile
                self._forget(key)

    def take_touched(self) -> list[str]:
        """Return the keys that were in use since the last call."""
        touched, self._touched = list(self._touched), set()
        return touched

    async def _read_batch(self, keys: Sequence[str]) -> Sequence[CacheEntry | None]:
        found = await self._host.read(partial(read_entries, keys))
        return [found.get(key) for key in keys]

    async def _write_batch(self, items: Sequence[None]) -> Sequence[None]:
        waiting = list(self._unwritten.values())
        try:
            await self._host.write(partial(write_entries, waiting, self._host.now()))
        except (DataError, ValueError):
            log.exception("The table does not take %d entries; they are in the memory of this process alone.", len(waiting))
        for entry in waiting:
            if self._unwritten.get(entry.key) is entry:
                del self._unwritten[entry.key]
        return items


def read_entries(keys: Sequence[str]) -> dict[str, CacheEntry]:
    rows = Entry.objects.filter(pk__in=keys).order_by()
    return {
        row.key: CacheEntry(data=orjson.loads(bytes(row.body)), **{name: getattr(row, name) for name in _COLUMNS}) for row in rows
    }


@transaction.atomic
def write_entries(entries: Sequence[CacheEntry], now: float) -> None:
    rows = [
        Entry(body=orjson.dumps(entry.data), used_at=now, **{name: getattr(entry, name) for name in _COLUMNS}) for entry in entries
    ]
    if rows:
        columns = [field.name for field in Entry._meta.concrete_fields if not field.primary_key]
        Entry.objects.bulk_create(rows, update_conflicts=True, unique_fields=["key"], update_fields=columns, batch_size=BATCH)


@transaction.atomic
def touch_entries(keys: Sequence[str], now: float) -> None:
    for begin in range(0, len(keys), BATCH):
        Entry.objects.filter(pk__in=keys[begin : begin + BATCH]).update(used_at=now)


def sweep(max_bytes: int, now: float) -> None:
    """Delete what is past its stale window; then, while the rest is too large, what was used longest ago."""
    Entry.objects.filter(gone_after__lt=now).delete()
    excess = (Entry.objects.aggregate(all=Sum("size"))["all"] or 0) - max_bytes
    keys = []
    for key, size in Entry.objects.order_by("used_at").values_list("pk", "size").iterator():
        if excess <= 0:
            break
        keys.append(key)
        excess -= size
    for begin in range(0, len(keys), BATCH):
        Entry.objects.filter(pk__in=keys[begin : begin + BATCH]).delete()


def find_deleted(keys: Sequence[str]) -> list[str]:
    # Plain SQL, since it is asked every few seconds for all in memory.
    deleted: list[str] = []
    name, table = connection.ops.quote_name("key"), connection.ops.quote_name(Entry._meta.db_table)
    with connection.cursor() as cursor:
        for begin in range(0, len(keys), BATCH):
            batch = keys[begin : begin + BATCH]
            marks = ", ".join(["%s"] * len(batch))
            cursor.execute(f"SELECT {name} FROM {table} WHERE {name} IN ({marks})", batch)  # noqa: S608  names of our own
            known = {key for (key,) in cursor.fetchall()}
            deleted += [key for key in batch if key not in known]
    return deleted


def forget(*, resource: str = "", agent: str = "") -> int:
    """Delete the entries of a resource, of an agent, or of both; all without either. Return how many."""
    rows = Entry.objects.filter(**({"resource": resource} if resource else {}), **({"agent": agent} if agent else {}))
    return rows.delete()[0]


def list_faults() -> Iterator[str]:
    """Yield a sentence for each entry whose body does not have its hash."""
    for key, body, sha256 in Entry.objects.values_list("key", "body", "sha256").iterator():
        if digest(orjson.loads(bytes(body))) != sha256:
            yield f"gateway_entry {key}: its body does not have its hash; manage.py gateway forget deletes it."
