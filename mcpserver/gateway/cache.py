"""Answers of upstreams while they may be given again: in memory, and in a table that all processes share.

A read of a fresh entry costs no query. What this process has no fresh entry of, it looks for in the table before it asks anybody:
another process may have fetched it. An entry is written before it is answered, those that come together in one transaction.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from django.db import DataError, transaction
from django.db.models import Sum

from config.database.row_seal import batch_keys
from mcpserver.gateway.canonical_json import hash_json
from mcpserver.gateway.models import Entry
from mcpserver.gateway.process_context import Batcher, ProcessContext

MEMORY: Final = 32_000_000  # bytes of bodies in one process
OVERHEAD: Final = 1_000

log = logging.getLogger(__name__)


class EntryCache:
    def __init__(self, context: ProcessContext) -> None:
        self._context = context
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._bytes = 0
        self._unwritten: dict[str, Entry] = {}
        self._touched: set[str] = set()
        self._reads = Batcher(self._read_batch, context)
        self._writes = Batcher(self._write_batch, context)

    def get(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        entry.follow_clock(self._context)
        now = self._context.now()
        if abs(now - entry.touched_at) > 60.0:  # seconds between two notes that an entry is in use
            entry.touched_at = now
            self._touched.add(key)
        return entry

    async def load_entry_from_table(self, key: str) -> Entry | None:
        try:
            entry = await self._reads.run_in_batch(key)
        except Exception:
            log.exception("The table of entries cannot be read.")
            return None
        if entry is not None:
            entry.follow_clock(self._context)
            old = self.get(key)
            if old is None or old.fetched_at < entry.fetched_at or old.has_unknown_age(self._context.now()):
                self._add_to_memory(entry)
        return entry

    async def find(self, key: str) -> Entry | None:
        return self.get(key) or await self.load_entry_from_table(key)

    def add(self, entry: Entry) -> None:
        self._unwritten[entry.key] = entry
        self._add_to_memory(entry)

    def _add_to_memory(self, entry: Entry) -> None:
        self._drop_from_memory(entry.key)
        self._entries[entry.key] = entry
        self._bytes += entry.size + OVERHEAD
        while self._bytes > MEMORY and self._entries:
            self._drop_from_memory(next(iter(self._entries)))

    def _drop_from_memory(self, key: str) -> None:
        if (old := self._entries.pop(key, None)) is not None:
            self._bytes -= old.size + OVERHEAD

    async def write_pending_entries(self) -> None:
        """Write what waits, together with what others fetched meanwhile. What cannot be written now goes on waiting."""
        try:
            if self._unwritten:
                await self._writes.run_in_batch(None)
        except Exception:
            log.exception("Entries cannot be written; they wait for the next try.")

    async def drop_deleted_entries(self) -> None:
        written = [key for key in self._entries if key not in self._unwritten]
        known = await self._context.write(partial(_list_known_keys, written))
        for key in written:
            if key not in known and key not in self._unwritten:  # fetched again meanwhile
                self._drop_from_memory(key)

    def pop_touched_keys(self) -> list[str]:
        """Return the keys that were in use since the last call."""
        touched, self._touched = list(self._touched), set()
        return touched

    async def _read_batch(self, keys: Sequence[str]) -> Sequence[Entry | None]:
        found = await self._context.read(partial(Entry.objects.in_bulk, keys))
        return [found.get(key) for key in keys]

    async def _write_batch(self, items: Sequence[None]) -> Sequence[None]:
        waiting = list(self._unwritten.values())
        try:
            await self._context.write(partial(write_entries, waiting, self._context.now()))
        except (DataError, ValueError):
            log.exception("The table refuses %d entries; they are only in this process's memory.", len(waiting))
        for entry in waiting:
            if self._unwritten.get(entry.key) is entry:
                del self._unwritten[entry.key]
        return items


def write_entries(entries: Sequence[Entry], now: float) -> None:
    for entry in entries:
        entry.used_at = now
    columns = [field.name for field in Entry._meta.concrete_fields if not field.primary_key]
    Entry.objects.bulk_create(entries, update_conflicts=True, unique_fields=["key"], update_fields=columns)


@transaction.atomic
def touch_entries(keys: Sequence[str], now: float) -> None:
    for batch in batch_keys(keys):
        Entry.objects.filter(pk__in=batch).update(used_at=now)


def delete_expired_entries(max_bytes: int, now: float) -> None:
    """Delete what is past its stale window; then, while the rest is too large, what was used longest ago."""
    Entry.objects.filter(gone_after__lt=now).delete()
    excess = (Entry.objects.aggregate(all=Sum("size"))["all"] or 0) - max_bytes
    keys = []
    for key, size in Entry.objects.order_by("used_at").values_list("pk", "size").iterator():
        if excess <= 0:
            break
        keys.append(key)
        excess -= size
    for batch in batch_keys(keys):
        Entry.objects.filter(pk__in=batch).delete()


def _list_known_keys(keys: Sequence[str]) -> set[str]:
    return {key for batch in batch_keys(keys) for key in Entry.objects.filter(pk__in=batch).values_list("pk", flat=True)}


def delete_entries(*, resource: str = "", agent: str = "") -> int:
    """Delete the entries of a resource, of an agent, or of both; all without either. Return how many."""
    return Entry.objects.filter(**{name: value for name, value in (("resource", resource), ("agent", agent)) if value}).delete()[0]


def list_corrupt_entries() -> Iterator[str]:
    """Yield a sentence for each entry whose body does not have its hash."""
    for entry in Entry.objects.only("key", "body", "sha256").iterator():
        if hash_json(entry.data) != entry.sha256:
            yield f"gateway_entry {entry.key}: its body does not match its hash; manage.py gateway forget deletes it."
