"""Loads files of claims as jobs: in batches, resumable behind the last one, canceled on demand."""

import datetime as dt
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from wire.corpora.factchecks import file_formats, store
from wire.corpora.factchecks.file_formats import Entry, Unreadable
from wire.corpora.factchecks.models import LoadJob
from wire.corpora.factchecks.parsers import ClaimDraft, RefusedClaim

MOST_MESSAGES: Final = 20  # errors of a job that are kept in its row
MOST_CHARACTERS: Final = 5_000_000  # of the texts of one batch
MOST_AT_ONCE: Final = 30_000  # the same where seconds are counted
ANNOUNCED: Final = 5.0  # seconds after which readers see what was loaded so far
SILENT: Final = dt.timedelta(minutes=10)  # after which a job that is marked as running counts as killed

_PID: Final = "process "  # begins the message that says who runs a job

Progress = Callable[[LoadJob], None]
_DONE: Final = (LoadJob.Status.DONE, LoadJob.Status.CANCELED)


def job_for(file: Path, language: str) -> LoadJob:
    """Return the job of this file: one that stopped half-way goes on, else a new one. Raises: Unreadable while it is running."""
    fingerprint = file_formats.fingerprint(file, language)
    with transaction.atomic():
        job = LoadJob.objects.select_for_update().filter(fingerprint=fingerprint).exclude(status__in=_DONE).first()
        if job is None:
            job = LoadJob(source=file.name[:500], fingerprint=fingerprint, language=language)
        elif job.status == LoadJob.Status.RUNNING and job.beat_at and timezone.now() - job.beat_at < SILENT and _is_alive(job):
            raise Unreadable(f"{file.name} is being loaded by another process (job {job.pk})")
        job.status, job.beat_at, job.cancel_requested = LoadJob.Status.RUNNING, timezone.now(), False
        job.messages = [*_without_pid(job), f"{_PID}{os.getpid()}"]
        job.save()
    return job


def _is_alive(job: LoadJob) -> bool:
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
    job: LoadJob,
    file: Path,
    progress: Progress = lambda _job: None,
    on_error: Callable[[int, str], None] = lambda _number, _why: None,
    *,
    seconds: float | None = None,
    most_bytes: int | None = None,
) -> None:
    """Store every claim behind those that the job has done, for at most so many seconds of CPU: then the job waits for the next
    load of the same file. Raises: Unreadable, after noting it in the job.
    """
    try:
        _load(job, file_formats.entries(file, job.language, most_bytes), progress, on_error, seconds)
    except BaseException as error:
        LoadJob.objects.filter(pk=job.pk).update(
            status=LoadJob.Status.FAILED, finished_at=timezone.now(), messages=[*_without_pid(job), f"{error}"[:500]]
        )
        store.announce()
        raise


def _load(
    job: LoadJob,
    entries: Iterator[Entry],
    progress: Progress,
    on_error: Callable[[int, str], None],
    seconds: float | None,
) -> None:
    announced, begun = time.monotonic(), None
    for batch in _batches(islice(entries, job.processed, None), MOST_CHARACTERS if seconds is None else MOST_AT_ONCE):
        begun = begun or time.thread_time()  # what was done by earlier loads is read again, and does not count
        with transaction.atomic():
            _store_batch(job, batch, on_error)
            if time.monotonic() - announced > ANNOUNCED:
                store.announce()
                announced = time.monotonic()
        progress(job)
        if LoadJob.objects.filter(pk=job.pk, cancel_requested=True).exists():
            return _end(job, LoadJob.Status.CANCELED)
        if seconds is not None and time.thread_time() - begun > seconds:
            return _end(job, LoadJob.Status.PENDING)
    return _end(job, LoadJob.Status.DONE)


def _store_batch(job: LoadJob, batch: Sequence[Entry], on_error: Callable[[int, str], None]) -> None:
    now = timezone.now()
    drafts = {number: entry for number, entry in enumerate(batch, job.processed + 1) if isinstance(entry, ClaimDraft)}
    stored, numbers = store.store(list(drafts.values()), now), list(drafts)
    refused = {number: str(entry) for number, entry in enumerate(batch, job.processed + 1) if isinstance(entry, RefusedClaim)}
    refused |= {numbers[place]: f"{drafts[numbers[place]].name}: {why}" for place, why in stored.refused.items()}
    remarks = {numbers[place]: f"{drafts[numbers[place]].name}: {what}" for place, what in stored.remarks.items()}
    for number, why in sorted((refused | remarks).items()):
        on_error(number, why)
        if len(job.messages) <= MOST_MESSAGES:
            job.messages.append(f"Entry {number}: {why}"[:500])
    job.errors, job.processed, job.beat_at = job.errors + len(refused), job.processed + len(batch), now
    for name in ("created", "updated", "skipped"):
        setattr(job, name, getattr(job, name) + getattr(stored, name))
    job.save(update_fields=["processed", "created", "updated", "skipped", "errors", "messages", "beat_at"])


def _end(job: LoadJob, status: LoadJob.Status) -> None:
    job.status, job.messages = status, _without_pid(job)
    job.finished_at = None if status == LoadJob.Status.PENDING else timezone.now()
    job.total = job.processed if status == LoadJob.Status.DONE else job.total
    job.save(update_fields=["status", "finished_at", "messages", "total"])
    store.announce()


def _without_pid(job: LoadJob) -> list[str]:
    return [one for one in job.messages if not one.startswith(_PID)]


def cancel(job: LoadJob) -> bool:
    """Ask a job to end after the batch at hand; False for one that is over."""
    running = LoadJob.objects.filter(pk=job.pk, status__in=(LoadJob.Status.PENDING, LoadJob.Status.RUNNING))
    return bool(running.update(cancel_requested=True))


def _batches(entries: Iterator[Entry], most_characters: int) -> Iterator[list[Entry]]:
    """Yield up to BATCH entries at a time, fewer where they are long. What was read before a file breaks off is a batch, too."""
    batch, size, broken = list[Entry](), 0, None
    try:
        for entry in entries:
            batch.append(entry)
            size += entry.size if isinstance(entry, ClaimDraft) else 0
            if len(batch) >= store.BATCH or size > most_characters:
                yield batch
                batch, size = [], 0
    except Unreadable as error:
        broken = error
    if batch:
        yield batch
    if broken:
        raise broken
