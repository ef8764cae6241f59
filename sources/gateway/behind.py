"""What a gateway has, and what it does behind its answers: it writes entries and accounts, and looks at what others changed.

Everything runs on one event loop; the tables are asked in threads.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from sources.gateway import entries
from sources.gateway.accounting import Accounts
from sources.gateway.callers import Caller
from sources.gateway.entries import Entries, Kept
from sources.gateway.outcome import Answer
from sources.gateway.policy import Policy, PolicyError
from sources.gateway.reach import Reach
from sources.gateway.together import Together

T = TypeVar("T")
Run = Callable[[Callable[[], T]], Awaitable[T]]

LOOK: Final = 5.0  # seconds between two looks at what the desk and other processes did
FLUSH: Final = 0.5  # seconds in which entries and accounts are written

log = logging.getLogger(__name__)


class Behind:
    """`run` does blocking work that writes, one piece after the other, `read` what reads. `now`: seconds since 1970."""

    def __init__(
        self,
        policy: Policy,
        to: Reach,
        *,
        run: Run[Any],
        read: Run[Any] | None = None,
        now: Callable[[], float] = time.time,
        max_bytes: int = 1_000_000_000,
        log_rows: int = 200_000,
        policy_now: Callable[[], Policy] | None = None,
    ) -> None:
        self.policy = policy
        self.reach = to
        self.now = now
        self.entries = Entries(max_bytes)
        self.accounts = Accounts(log_rows)
        self._max_bytes = max_bytes
        self._run = run
        self._read = read or run
        self._policy_now = policy_now
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._flushing: asyncio.Task[None] | None = None
        self._swept_at = self._looked_at = 0.0
        self._reading = Together(self._read_all, self._go)

    async def _stored(self, key: str) -> Kept | None:
        try:
            found = await self._reading.ask(key)
        except Exception:
            log.exception("The table of entries cannot be read.")
            return None
        if found is not None:
            self.entries.remember(found)
        return found

    async def _read_all(self, keys: Sequence[str]) -> list[Kept | None]:
        found: dict[str, Kept] = await self._read(partial(entries.read, keys))
        return [found.get(key) for key in keys]

    def _account(self, answer: Answer, caller: Caller, took: float) -> None:
        self.accounts.note(answer, caller.name, took, self.policy.resources[answer.resource].cost)
        self._flush_soon()
        if answer.now - self._looked_at > LOOK:
            self._looked_at = answer.now
            self._go(self.look())

    def _on_this_loop(self) -> None:
        """Tasks of a loop that is gone are gone with it."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._tasks.clear()
            self._flushing = None
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget what belonged to the loop before."""
        self._reading.begin_anew()

    def _go(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _flush_soon(self) -> None:
        self._on_this_loop()
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush_later())

    async def _flush_later(self) -> None:
        while True:
            await asyncio.sleep(FLUSH)
            await self.flush()
            if not self.accounts.is_waiting:
                return

    async def look(self) -> None:
        """Take over the desk's numbers, and let go of entries that another process forgot. What nobody can tell stays as it is."""
        try:
            gone = await self._run(partial(entries.gone, self.entries.written()))
            policy = await self._read(self._policy_now) if self._policy_now is not None else self.policy
        except PolicyError as error:
            log.error("The desk's numbers are left as they were: %s", error)
        except Exception:
            log.exception("Nobody can tell what the desk and other processes did.")
        else:
            self.entries.drop(gone)
            if policy.resources != self.policy.resources:
                self.policy = policy

    async def flush(self) -> None:
        """Write entries and accounts. What cannot be written now is lost if it is an entry, and waits if it is an account."""
        now, (kept, touched) = self.now(), self.entries.pending()
        rows = self.accounts.pending()

        def write() -> None:
            if kept or touched:
                entries.write(kept, touched, now)
            self.accounts.write(rows)
            if now - self._swept_at > 600:
                self._swept_at = now
                entries.sweep(self._max_bytes, now)
                self.accounts.sweep()

        try:
            await self._run(write)
        except Exception:
            log.exception("The gateway's accounts cannot be written; they are kept for the next try.")
            self.accounts.put_back(rows)

    async def close(self) -> None:
        """Give up what goes on behind, write what waits, and let go of every upstream."""
        for task in [*self._tasks, *([self._flushing] if self._flushing else [])]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.reach.close()
        await self.flush()
