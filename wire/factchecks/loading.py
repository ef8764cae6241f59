"""Loads files of claims as jobs: in batches, resumable behind the last one, stopped when somebody wants it."""

import datetime as dt
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from wire.factchecks import reading, storing
from wire.factchecks.drafts import Draft, Refused
from wire.factchecks.models import LoadJob
from wire.factchecks.reading import Entry, Unreadable

TOLD: Final = 20  # errors of a job that are kept in its row
ANNOUNCED: Final = 5.0  # seconds after which readers see what was loaded so far
SILENT: Final = dt.timedelta(minutes=10)  # after which a job that is marked as running counts as killed

_PID: Final = "process "  # begins the message that says who runs a job

Progress = Callable[[LoadJob], None]
_DONE: Final = (LoadJob.Status.DONE, LoadJob.Status.CANCELED)


def job_for(file: Path, language: str) -> LoadJob:
    """The job of this file: one that stopped half-way goes on, else a new one. Raises: Unreadable for one that is running."""
    fingerprint = reading.fingerprint(file, language)
    with transaction.atomic():
        job = LoadJob.objects.select_for_update().filter(fingerprint=fingerprint).exclude(status__in=_DONE).first()
        if job is None:
            job = LoadJob(source=file.name[:500], fingerprint=fingerprint, language=language)
        elif job.status == LoadJob.Status.RUNNING and job.beat_at and timezone.now() - job.beat_at < SILENT and _lives(job):
            raise Unreadable(f"{file.name} is being loaded by another process (job {job.pk})")
        job.status, job.beat_at, job.cancel_requested = LoadJob.Status.RUNNING, timezone.now(), False
        job.messages = [one for one in job.messages if not one.startswith(_PID)] + [f"{_PID}{os.getpid()}"]
        job.save()
    return job


def _lives(job: LoadJob) -> bool:
    """Whether the process that runs it is still there, as far as this machine can tell."""
    pid = next((one.removeprefix(_PID) for one in job.messages if one.startswith(_PID)), "")
    if not pid.isdigit() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def load(
    job: LoadJob, file: Path, progress: Progress = lambda _job: None, on_error: Callable[[int, str], None] | None = None
) -> None:
    """Store every claim behind those that the job has done. Raises: Unreadable, after noting it in the job."""
    try:
        _load(job, file, progress, on_error or (lambda _number, _why: None))
    except BaseException as error:
        LoadJob.objects.filter(pk=job.pk).update(
            status=LoadJob.Status.FAILED, finished_at=timezone.now(), messages=[*_told(job), f"{error}"[:500]]
        )
        _announce()
        raise


def _load(job: LoadJob, file: Path, progress: Progress, on_error: Callable[[int, str], None]) -> None:
    announced = time.monotonic()
    waiting = islice(reading.entries(file, job.language), job.processed, None)
    for batch in _batches(waiting):
        with transaction.atomic():
            _take(job, batch, on_error)
            if time.monotonic() - announced > ANNOUNCED:
                storing.announce()
                announced = time.monotonic()
        progress(job)
        if LoadJob.objects.filter(pk=job.pk, cancel_requested=True).exists():
            _end(job, LoadJob.Status.CANCELED)
            return
    _end(job, LoadJob.Status.DONE)


def _take(job: LoadJob, batch: Sequence[Entry], on_error: Callable[[int, str], None]) -> None:
    now = timezone.now()
    stored = storing.store([entry for entry in batch if isinstance(entry, Draft)], now)
    for number, entry in enumerate(batch, job.processed + 1):
        if isinstance(entry, Refused):
            on_error(number, str(entry))
            job.errors += 1
            if len(job.messages) <= TOLD:
                job.messages.append(f"Entry {number}: {entry}"[:500])
    job.processed += len(batch)
    job.created += stored.created
    job.updated += stored.updated
    job.skipped += stored.skipped
    job.beat_at = now
    job.save(update_fields=["processed", "created", "updated", "skipped", "errors", "messages", "beat_at"])


def _end(job: LoadJob, status: LoadJob.Status) -> None:
    job.status, job.finished_at, job.messages = status, timezone.now(), _told(job)
    job.total = job.total if status == LoadJob.Status.CANCELED else job.processed
    job.save(update_fields=["status", "finished_at", "messages", "total"])
    _announce()


def _told(job: LoadJob) -> list[str]:
    return [one for one in job.messages if not one.startswith(_PID)]


def _announce() -> None:
    with transaction.atomic():
        storing.announce()


def cancel(job: LoadJob) -> bool:
    """Ask a job to end after the batch at hand; False for one that is over."""
    return bool(
        LoadJob.objects.filter(pk=job.pk, status__in=(LoadJob.Status.PENDING, LoadJob.Status.RUNNING)).update(cancel_requested=True)
    )


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while batch := list(islice(entries, storing.BATCH)):
        yield batch
