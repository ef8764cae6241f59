"""One at work at a time, over all machines that share a database: a lease row, which its holder keeps renewing."""

import datetime as dt
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from config.errors import Busy
from sources.models import IngestLease

TERM: Final = dt.timedelta(minutes=2)
"""How long a lease holds unless it is renewed; a holder that died elsewhere is waited for as long. One that ends much later was
written before the clock was set back, and holds nothing: whoever wrote it notices when it is renewed.
"""

Row = QuerySet[Any]  # of one row, which is a `sources.models.Leased`


class Lease:
    """A lease that is held. Not for sharing between threads."""

    def __init__(self, row: Row, holder: str, work: str) -> None:
        self.holder = holder
        self._row = row
        self._work = work

    def renew(self) -> None:
        """Hold on for another term. Inside a transaction it also keeps anybody else from taking over until the commit.

        Raises: Busy when the lease ran out and another holds it: what this transaction did must not stand.
        """
        if not self._row.filter(holder=self.holder).update(expires_at=timezone.now() + TERM):
            raise Busy(f"The lease of this {self._work} ran out and another took over.", "Nothing is lost: it goes on from here.")


@contextmanager
def held(row: Row | None = None, work: str = "ingest") -> Iterator[Lease]:
    """The lease of a row, else the wire's ingest; returned at the end. `work` is what it is for, in words.

    Raises: Busy while another holds it; one that died on this machine holds nothing.
    """
    if row is None:
        IngestLease.objects.get_or_create(pk=1)
        row = IngestLease.objects.filter(pk=1)
    lease = _take(row, work)
    try:
        yield lease
    finally:
        with suppress(Exception):  # a database that is gone keeps it until it runs out
            row.filter(holder=lease.holder).update(holder="", expires_at=None)


@transaction.atomic
def _take(rows: Row, work: str) -> Lease:
    row = rows.select_for_update().get()
    now = timezone.now()
    if row.holder and row.expires_at and now < row.expires_at < now + 2 * TERM and not _died_here(row.holder):
        raise Busy(
            f"Another {work} is at work (process {row.holder.split('/')[-2]} on {row.holder.split(' ')[0]}).",
            f"Let it finish, or try again after {row.expires_at:%H:%M:%S} UTC if it died on another machine.",
        )
    row.holder, row.expires_at = f"{_here()}/{os.getpid()}/{secrets.token_hex(4)}", now + TERM
    row.save(update_fields=["holder", "expires_at"])
    return Lease(rows, row.holder, work)


def _here() -> str:
    """This machine, or this container: where a process number means something."""
    boot = namespace = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()  # clones of a machine share its name
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()[:60]} {boot} {namespace}"


def _died_here(holder: str) -> bool:
    where, pid, _ = holder.rsplit("/", 2)
    if where != _here():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it lives, as somebody else's
    return False
