"""Connections to Postgres: pooled, and never waited for without an end by whoever says how long they can wait."""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final

ENGINE: Final = "django.db.backends.postgresql"

seconds: Final[ContextVar[float | None]] = ContextVar("seconds", default=None)
"""How long one answer of a database may take; None for as long as it takes: a migration, a publisher who waits for their turn."""

# A server whose machine or network is gone says nothing. libpq's own defaults wait for it for hours.
_SOCKET: Final[Mapping[str, Any]] = {
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds
}


def build_pooled_settings(database: dict[str, Any]) -> dict[str, Any]:
    """Django's settings of a Postgres database, with a pool: CONN_MAX_AGE would leak one connection a thread under ASGI.

    The pool gives up on a connection after one more try. Left to itself it tries ever more rarely, and would find a database that
    was away for an hour minutes after it is back; as it is, whoever asks next makes it try again.
    """
    import psycopg  # a wire on SQLite need not carry it

    class Patient(psycopg.Connection[Any]):
        def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
            bound = seconds.get()
            if bound is None:
                return super().wait(gen, *args, **kwargs)
            try:
                return super().wait(gen, *args, **{"timeout": bound} | kwargs)
            except psycopg.errors._WaitTimeout:
                self.close()  # what is on its way would be taken for the answer to the next question
                raise psycopg.errors.QueryCanceled(f"the database did not answer within {bound:.0f} s") from None

    os.environ.setdefault("PGTZ", "UTC")  # set on connecting; Django would query it afterwards, without a timeout
    # Eight threads that answer the public keep theirs (config.database.threads); whoever watches, writes or edits needs one, too.
    pool = {"min_size": 1, "max_size": 12, "timeout": 2.0, "reconnect_timeout": 2.0, "connection_class": Patient}
    return database | {"OPTIONS": {**_SOCKET, **database.get("OPTIONS", {}), "pool": pool}}
