"""Loads files of claims as jobs: in batches, resumable behind the last one, canceled on demand."""

import datetime as dt
import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from wire.corpora.factchecks import file_formats, store
from wire.corpora.factchecks.claim_parsers import ClaimDraft
from wire.corpora.factchecks.file_formats import Entry, Unreadable
from wire.corpora.factchecks.models import LoadJob

MOST_MESSAGES: Final = 200  # refusals of a job that are stored in its row, and as many remarks
MOST_CHARACTERS: Final = 5_000_000  # of the texts of one batch
SILENT: Final = dt.timedelta(minutes=10)  # after which a job that is marked as running counts as killed


def get_or_create_job(file: Path, language: str) -> LoadJob:
    """Return the job of this file: one that stopped half-way goes on, else a new one. A pending request to cancel stays."""
    fingerprint = file_formats.hash_load(file, language)
    with transaction.atomic():
        job = LoadJob.objects.select_for_update().filter(fingerprint=fingerprint).exclude(status__in=("done", "canceled")).first()
        job = job or LoadJob(source=file.name[:500], fingerprint=fingerprint, language=language)
        may_run = job.status == LoadJob.Status.RUNNING and job.beat_at and timezone.now() - job.beat_at < SILENT
        job.cancel_requested = bool(may_run and job.cancel_requested)
        job.status, job.beat_at = LoadJob.Status.RUNNING, timezone.now()
        job.save()
    return job


def run_job(
    job: LoadJob, file: Path, progress: Callable[[LoadJob], None] = lambda _job: None, *, most_bytes: int | None = None
) -> None:
    """Store every claim behind those that the job has done. Raises: Unreadable, also while another process loads the file."""
    announced = time.monotonic()
    with lock_file(file):
        try:
            if _is_cancel_requested(job):
                return _end_job(job, LoadJob.Status.CANCELED)
            entries = islice(file_formats.read_entries(file, job.language, most_bytes), job.processed, None)
            for batch in _batch_entries(entries):
                with transaction.atomic():
                    _store_batch(job, batch)
                    if time.monotonic() - announced > 5.0:  # seconds
                        store.invalidate_caches()
                        announced = time.monotonic()
                progress(job)
                if _is_cancel_requested(job):
                    return _end_job(job, LoadJob.Status.CANCELED)
            job.total = job.processed
            _end_job(job, LoadJob.Status.DONE)
        except BaseException as error:
            job.messages = [*job.messages, f"{error}"[:500]]
            _end_job(job, LoadJob.Status.FAILED)
            raise


def _is_cancel_requested(job: LoadJob) -> bool:
    return LoadJob.objects.filter(pk=job.pk, cancel_requested=True).exists()


@contextmanager
def lock_file(file: Path) -> Iterator[None]:
    """Hold a lock of the operating system on the file, which ends with the process. Raises: Unreadable if another has it."""
    with file.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unreadable(f"{file.name} is being loaded by another process") from error
        except OSError:  # as of a file system without locks
            pass
        yield


def _store_batch(job: LoadJob, batch: Sequence[Entry]) -> None:
    now = timezone.now()
    stored = store.store_claims(batch, now)
    # Remarks leave room for refusals, which may come later.
    listed = min(job.errors, MOST_MESSAGES)
    refused = sorted(stored.refused.items())[: MOST_MESSAGES - listed]
    remarks = sorted(stored.remarks.items())[: max(MOST_MESSAGES - (len(job.messages) - listed), 0)]
    for place, why in sorted([*refused, *remarks]):
        row = batch[place].row
        job.messages.append(f"{f'Row {row}' if row else f'Entry {job.processed + place + 1}'}: {why}"[:1_000])
    job.errors, job.processed, job.beat_at = job.errors + len(stored.refused), job.processed + len(batch), now
    counted = ("created", "updated", "skipped")
    for name in counted:
        setattr(job, name, getattr(job, name) + getattr(stored, name))
    job.save(update_fields=["processed", *counted, "errors", "messages", "beat_at"])


def _end_job(job: LoadJob, status: LoadJob.Status) -> None:
    job.status, job.finished_at = status, timezone.now()
    job.save(update_fields=["status", "finished_at", "messages", "total"])
    store.invalidate_caches()


def format_remark_count(job: LoadJob) -> str:
    """Count the remarks of a job; where there may be more than are listed, say so."""
    entries = sum(message.startswith(("Row ", "Entry ")) for message in job.messages)
    counted = entries - min(job.errors, MOST_MESSAGES)
    return f"{counted} or more" if counted >= MOST_MESSAGES else str(counted)


def request_cancel(job: LoadJob, *, is_dead: bool = False) -> bool:
    """Ask a job to end after the batch at hand, or end one whose process is gone; False for one that is over."""
    unfinished = LoadJob.objects.filter(pk=job.pk, status__in=(LoadJob.Status.PENDING, LoadJob.Status.RUNNING))
    now = {"status": LoadJob.Status.CANCELED, "finished_at": timezone.now()} if is_dead else {}
    return bool(unfinished.update(cancel_requested=True, **now))


def _batch_entries(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    """Yield up to BATCH entries at a time, fewer where they are long. What was read before a file breaks off is a batch, too."""
    batch, size, broken = list[Entry](), 0, None
    try:
        for entry in entries:
            batch.append(entry)
            size += entry.size if isinstance(entry, ClaimDraft) else 0
            if len(batch) >= store.BATCH or size > MOST_CHARACTERS:
                yield batch
                batch, size = [], 0
    except Unreadable as error:
        broken = error
    if batch:
        yield batch
    if broken:
        raise broken
