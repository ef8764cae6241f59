"""The threads in which the MCP door asks the database, and which keep their connections."""

import threading

from django.db import connections

from mcpserver import seam


def close_query_threads() -> None:
    """Let go of all of their connections, for whoever needs the database for itself."""
    together = threading.Barrier(seam.THREADS)  # so that every thread gets one of the calls

    def close() -> None:
        together.wait(10)
        connections.close_all()

    for closed in [seam._POOL.submit(close) for _ in range(seam.THREADS)]:
        closed.result(10)
