"""Writes entries and log of a gateway beside its answers, and sweeps its tables."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

from mcpserver.gateway import cache
from mcpserver.gateway.cache import EntryCache
from mcpserver.gateway.host import Host
from mcpserver.gateway.request_log import RequestLogger

FLUSH: Final = 0.5  # seconds between two writes
SWEEP: Final = 600.0  # seconds between two sweeps

log = logging.getLogger(__name__)


class BackgroundWriter:
    def __init__(self, entries: EntryCache, logger: RequestLogger, host: Host, max_bytes: int) -> None:
        self._entries = entries
        self._logger = logger
        self._host = host
        self._max_bytes = max_bytes
        self._flushing: asyncio.Task[None] | None = None
        self._swept_at = float("-inf")
        host.on_new_loop.append(self._reset)

    def _reset(self) -> None:
        self._flushing = None

    def flush_soon(self) -> None:
        self._host.follow_loop()
        if self._flushing is None or self._flushing.done():
            self._flushing = self._host.start(self._flush_until_written())

    async def _flush_until_written(self) -> None:
        while True:
            await asyncio.sleep(FLUSH)
            await self.flush()
            if not self._logger.is_waiting:
                return

    async def flush(self) -> None:
        touched = self._entries.take_touched()
        if self._entries.has_unwritten:
            await self._entries.save()
        pending = self._logger.take_pending()
        try:
            await self._host.write(partial(self._logger.write, pending))
        except Exception:
            log.exception("The gateway's accounts cannot be written; they are kept for the next try.")
            self._logger.put_back(pending)
            return
        if touched or self._is_sweep_due():
            try:
                await self._host.write(partial(self._tidy, touched))
            except Exception:
                log.exception("Nobody could look for entries and lines of the log that are too old; it is done later.")

    def _is_sweep_due(self) -> bool:
        return abs(self._host.steady() - self._swept_at) > SWEEP

    def _tidy(self, touched: Sequence[str]) -> None:
        """Note which entries were in use; now and then sweep, and count what killed processes left."""
        now = self._host.now()
        cache.touch_entries(touched, now)
        if self._is_sweep_due():
            self._swept_at = self._host.steady()
            cache.sweep(self._max_bytes, now)
            self._logger.recover()
            self._logger.sweep()
