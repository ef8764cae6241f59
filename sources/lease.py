"""One ingest at a time, over all machines that share a database: a lease row, which its holder keeps renewing."""

import datetime as dt
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from config.errors import Busy
from sources.models import IngestLease

TERM: Final = dt.timedelta(minutes=2)
"""How long a lease holds unless it is renewed; a holder that died elsewhere is waited for as long. One that ends much later was
written before the clock was set back, and holds nothing: whoever wrote it notices when it is renewed.
"""


class Lease:
    """A lease that is held. Not for sharing between threads."""

    def __init__(self, holder: str) -> None:
        self.holder = holder

    def renew(self) -> None:
        """Hold on for another term. Inside a transaction it also keeps anybody else from taking over until the commit.

        Raises: Busy when the lease ran out and another holds it: what this transaction did must not stand.
        """
        mine = IngestLease.objects.filter(pk=1, holder=self.holder)
        if not mine.update(expires_at=timezone.now() + TERM):
            raise Busy("The ingest lease ran out and another ingest took over.", "Nothing is lost: it goes on from here.")


@contextmanager
def held() -> Iterator[Lease]:
    """The lease, returned at the end. Raises: Busy while another holds it; one that died on this machine holds nothing."""
    lease = _take()
    try:
        yield lease
    finally:
        with suppress(Exception):  # a database that is gone keeps it until it runs out
            IngestLease.objects.filter(pk=1, holder=lease.holder).update(holder="", expires_at=None)


@transaction.atomic
def _take() -> Lease:
    IngestLease.objects.get_or_create(pk=1)
    row = IngestLease.objects.select_for_update().get(pk=1)
    now = timezone.now()
    if row.holder and row.expires_at and now < row.expires_at < now + 2 * TERM and not _died_here(row.holder):
        raise Busy(
            f"Another ingest is at work (process {row.holder.split('/')[-2]} on {row.holder.split(' ')[0]}).",
            f"Let it finish, or try again after {row.expires_at:%H:%M:%S} UTC if it died on another machine.",
        )
    row.holder, row.expires_at = f"{_here()}/{os.getpid()}/{secrets.token_hex(4)}", now + TERM
    row.save()
    return Lease(row.holder)


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
