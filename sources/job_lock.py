"""Leases, so that one process works at a time over all machines that share a database: a row that its holder keeps renewing."""

import datetime as dt
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from config.errors import Busy
from sources.models import IngestLease

# How long a lease holds unless it is renewed; a holder that died elsewhere is waited for as long. One that ends much later was
# written before the clock was set back, and holds nothing: whoever wrote it notices when it is renewed.
TERM: Final = dt.timedelta(minutes=2)

Row = QuerySet[Any]  # of one row, which is a `sources.models.Leased`


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that is held. Not for sharing between threads."""

    row: Row
    holder: str
    work: str

    def renew(self) -> None:
        """Hold on for another term; in a transaction, until the commit. Raises: Busy if another took over."""
        if not self.row.filter(holder=self.holder).update(expires_at=timezone.now() + TERM):
            raise Busy(f"The lease of this {self.work} ran out and another took over.", "Nothing is lost: the other continues.")


@contextmanager
def acquire(row: Row | None = None, work: str = "ingest") -> Iterator[Lease]:
    """Hold the lease of a row, else the ingest's; `work` is what it is for. Raises: Busy while another holds it."""
    if row is None:
        IngestLease.objects.get_or_create(pk=1)
        row = IngestLease.objects.filter(pk=1)
    lease = _take_lease(row, work)
    try:
        yield lease
    finally:
        with suppress(Exception):  # a database that is gone keeps it until it runs out
            row.filter(holder=lease.holder).update(holder="", expires_at=None)


@transaction.atomic
def _take_lease(rows: Row, work: str) -> Lease:
    row = rows.select_for_update().get()
    now, here = timezone.now(), _identify_machine()
    if row.holder and row.expires_at and now < row.expires_at < now + 2 * TERM:
        where, pid, _ = row.holder.rsplit("/", 2)
        if where != here or _is_running(int(pid)):
            hint = f"Let it finish, or try again after {row.expires_at:%H:%M:%S} UTC if it died on another machine."
            raise Busy(f"Another {work} is running (process {pid} on {where.split(' ')[0]}).", hint)
    row.holder, row.expires_at = f"{here}/{os.getpid()}/{secrets.token_hex(4)}", now + TERM
    row.save(update_fields=["holder", "expires_at"])
    return Lease(rows, row.holder, work)


def _identify_machine() -> str:
    """Return this machine, or this container: where a process number means something."""
    boot = namespace = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()  # clones of a machine share its name
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()[:60]} {boot} {namespace}"


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, as somebody else's
    return True
