"""What the doctor says of fact-checks: which model and which store search them, and what is missing."""

import datetime as dt
from collections.abc import Iterator

from wire.doctor.finding import Finding, ok, warn
from wire.factchecks import embedding, stores
from wire.factchecks.loading import SILENT
from wire.factchecks.models import FactcheckState, LoadJob

NAME = "fact-checks"


def examine(now: dt.datetime) -> Iterator[Finding]:
    state = FactcheckState.objects.get(pk=1)
    if not state.found:
        yield ok(NAME, "None are loaded.")
        return
    model = embedding.wanted()
    if model is None:
        found = f"{state.found:,} are found by words alone: no model makes vectors here."
        yield warn(NAME, found, "See FACTCHECKS_EMBEDDING in docs/settings.md.")
    else:
        store = stores.store_for(model.name, model.dimensions).name
        lacking = embedding.missing(model.name).count()
        found = f"{state.found:,} are found by words and meaning; vectors by {model.name}, searched by {store}."
        if lacking:
            yield warn(NAME, f"{found} {lacking:,} lack theirs.", "Run manage.py embedfactchecks, or let ingest make them.")
        else:
            yield ok(NAME, found)
    silent = LoadJob.objects.filter(status=LoadJob.Status.RUNNING, beat_at__lt=now - SILENT)
    if stuck := silent.count():
        yield warn(NAME, f"{stuck} loads stopped half-way.", "Run manage.py loadfactchecks with the same file: it goes on.")
