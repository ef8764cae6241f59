"""What a process gives its resolver: clocks, threads for the database, tasks of an event loop, and work done in batches."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

T = TypeVar("T")
Q = TypeVar("Q")
A = TypeVar("A")

AHEAD: Final = 60.0  # seconds by which the clocks of two machines may differ; a record further ahead is of a clock that was wrong
MIN_STEP: Final = 1.0  # seconds; a smaller difference is no step


def _read_boot_id() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


# Names this run of this machine, "" if unknown: only within it two readings of the steady clock can be compared.
BOOT: Final = _read_boot_id()
_BOOTTIME: Final = getattr(time, "CLOCK_BOOTTIME", None)


def read_uptime() -> float:
    """Return seconds since the machine booted, the same for all of its processes."""
    return time.monotonic() if _BOOTTIME is None else time.clock_gettime(_BOOTTIME)


def measure_clock_step(then: float, then_steady: float | None, boot: str, now: float, now_steady: float) -> float:
    """Return by how many seconds the wall clock stepped since a record was written; 0 if unknown."""
    if then_steady is None or not boot or boot != BOOT:
        return 0.0
    step = (now - then) - (now_steady - then_steady)
    return step if abs(step) > MIN_STEP else 0.0


class Runner(Protocol):
    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class ProcessContext:
    """Clocks, threads and tasks: `write` does blocking work, one after the other, `read` several at once.

    `now`: seconds since 1970; `steady` does not step. Tasks are of one event loop. What belonged to an earlier loop is
    forgotten, by the functions in `on_new_loop` too.
    """

    def __init__(
        self, write: Runner, read: Runner, now: Callable[[], float] = time.time, steady: Callable[[], float] = read_uptime
    ) -> None:
        self.write = write
        self.read = read
        self.now = now
        self.steady = steady
        self.on_new_loop: list[Callable[[], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def reset_on_new_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._tasks.clear()
            for forget in self.on_new_loop:
                forget()

    def start_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def cancel_tasks(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Batcher(Generic[Q, A]):
    """Work that is cheaper for many than for one: what comes during a batch is the next batch. `work` keeps the order."""

    def __init__(self, work: Callable[[Sequence[Q]], Awaitable[Sequence[A]]], context: ProcessContext) -> None:
        self._work = work
        self._context = context
        self._reset()
        context.on_new_loop.append(self._reset)

    def _reset(self) -> None:
        self._lock = asyncio.Lock()
        self._next: tuple[list[Q], asyncio.Future[Sequence[A]]] | None = None

    async def run_in_batch(self, item: Q) -> A:
        if self._next is None:
            self._next = [], asyncio.get_running_loop().create_future()
            self._context.start_task(self._run_batch(*self._next))
        items, answers = self._next
        items.append(item)
        place = len(items) - 1
        return (await asyncio.shield(answers))[place]

    async def _run_batch(self, items: list[Q], answers: "asyncio.Future[Sequence[A]]") -> None:
        try:
            async with self._lock:  # the batch before is done
                self._next = None
                answers.set_result(await self._work(items))
        except Exception as error:
            answers.set_exception(error)
            answers.exception()  # looked at: whoever asked may have left
        finally:
            if not answers.done():  # this task was cancelled
                self._next = None
                answers.cancel()
