"""Threads that read for the public and keep their database connections: to open one takes longer than most queries."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from config.database import routing

T = TypeVar("T")

THREADS: Final = 4  # queries of one process that may wait for the database at the same time
_pool: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="query")
_outside: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="outside")  # waits for somebody else's server


async def run_in_thread(work: Callable[[], T], *, goes_outside: bool = False) -> T:
    """Do `work` in such a thread, in the caller's context. Raises: what it raises."""
    context = contextvars.copy_context()

    def run() -> T:
        routing.recycle_connection()
        return work()

    return await asyncio.get_running_loop().run_in_executor(_outside if goes_outside else _pool, context.run, run)
