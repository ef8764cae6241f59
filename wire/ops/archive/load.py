"""Items into stories: batch by batch, resumable, and published once at the end."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from django.db import transaction
from django.utils import timezone

from sources.entries import Entry
from wire.ingest import lexicon
from wire.ingest.feed_entries import name_outcome
from wire.ingest.normalise import Context, Rejected
from wire.ingest.save import save_entries
from wire.models import Load
from wire.ops.archive import reader

BATCH: Final = 500


@dataclass(slots=True)
class LoadReport:
    """Number of records by outcome; rejections by reason. `resumed_at` is the line it went on from."""

    counts: Counter[str] = field(default_factory=Counter)
    resumed_at: int = 0


def load_items(
    file: Path,
    names: Mapping[str, str],
    *,
    context: Context | None = None,
    on_rejected: Callable[[int, Rejected], None] = lambda _number, _why: None,
    on_progress: Callable[[int], None] = lambda _number: None,
) -> LoadReport:
    """Store every item of a file; nothing is published yet. Killed at any point, a further call goes on after the last batch that
    was stored. `on_rejected` gets line (or item) number and reason, `on_progress` the last number dealt with.
    """
    digest = reader.digest(file, names)
    load, _ = Load.objects.get_or_create(digest=digest, defaults={"name": file.name})
    report = LoadReport(Counter(load.counts), resumed_at=load.line)
    context = context or Context.load(lexicon.load(), timezone.now())
    waiting = ((number, value) for number, value in reader.records(file, names) if number > load.line)
    while batch := list(islice(waiting, BATCH)):
        with transaction.atomic():
            outcomes = iter(save_entries([value for _, value in batch if isinstance(value, Entry)], context))
            for number, value in batch:
                outcome = next(outcomes) if isinstance(value, Entry) else value
                if isinstance(outcome, Rejected):
                    on_rejected(number, outcome)
                report.counts[name_outcome(outcome)] += 1
            Load.objects.filter(pk=load.pk).update(line=number, counts=dict(report.counts))
        on_progress(number)
    load.delete()
    return report
