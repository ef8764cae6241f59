"""The threads in which the public side asks the database, and which keep their connections."""

import threading

from django.db import connections

from config.database import threads
from mcpserver.gateway import runtime


def close_query_threads() -> None:
    """Let go of all of their connections, for whoever needs the database for itself."""
    together = threading.Barrier(2 * threads.THREADS)  # so that every thread gets one of the calls

    def close() -> None:
        together.wait(10)
        connections.close_all()

    pools = (threads._pool, threads._outside)
    for closed in [pool.submit(close) for pool in pools for _ in range(threads.THREADS)]:
        closed.result(10)
    runtime._writer.submit(connections.close_all).result(10)
