"""Items into stories: batch by batch, resumable, and published once at the end."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from sources.entries import Entry
from wire.archive import reading
from wire.archive.reading import Numbered
from wire.intake import lexicon
from wire.intake.normalise import Context, Rejected
from wire.intake.store import take_in
from wire.models import Load

BATCH: Final = 500


@dataclass(slots=True)
class Report:
    """What became of an input's records, by outcome; rejections by reason. `resumed_at` is the line it went on from."""

    counts: Counter[str] = field(default_factory=Counter)
    resumed_at: int = 0

    @property
    def rejected(self) -> dict[str, int]:
        return {name.removeprefix("rejected:"): n for name, n in self.counts.items() if name.startswith("rejected:")}


def load_items(
    file: Path,
    names: Mapping[str, str],
    *,
    context: Context | None = None,
    on_rejected: Callable[[int, Rejected], None] = lambda _number, _why: None,
    on_progress: Callable[[int], None] = lambda _number: None,
) -> Report:
    """Take in every item of a file; nothing is published yet.

    Killed at any point, a further call goes on behind the last batch that was stored; run again after the end, everything
    is a duplicate. `context` is read from the database unless the loader of many files has it already. `on_rejected` gets
    line (or item) number and reason, `on_progress` the last number dealt with.
    """
    digest = reading.digest(file, names)
    load, _ = Load.objects.get_or_create(digest=digest, defaults={"name": file.name})
    report = Report(Counter(load.counts), resumed_at=load.line)
    context = context or Context.load(lexicon.load(), timezone.now())
    waiting = (record for record in reading.records(file, names) if record.number > load.line)
    for batch in _batches(waiting):
        with transaction.atomic():
            for record, refusal in _take(batch, context, report):
                on_rejected(record.number, refusal)
            Load.objects.filter(pk=load.pk).update(line=batch[-1].number, counts=dict(report.counts))
        on_progress(batch[-1].number)
    load.delete()
    return report


def _take(batch: list[Numbered], context: Context, report: Report) -> list[tuple[Numbered, Rejected]]:
    entries = [record.value for record in batch if isinstance(record.value, Entry)]
    outcomes = iter(take_in(entries, context))
    refused = []
    for record in batch:
        outcome = next(outcomes) if isinstance(record.value, Entry) else record.value
        if isinstance(outcome, Rejected):
            refused.append((record, outcome))
            report.counts[f"rejected:{outcome.code}"] += 1
        else:
            report.counts[str(outcome)] += 1
    return refused


def _batches(records: Iterator[Numbered]) -> Iterator[list[Numbered]]:
    while batch := list(islice(records, BATCH)):
        yield batch
