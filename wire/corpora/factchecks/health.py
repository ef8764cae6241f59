"""Checks of fact-checks: keys, the model and the store that search them, and claims that are missing."""

import datetime as dt
from collections.abc import Iterator

from django.conf import settings

from wire.corpora.factchecks import api_keys, embedding
from wire.corpora.factchecks.load_jobs import SILENT
from wire.corpora.factchecks.models import Claim, FactcheckState, LoadJob
from wire.corpora.factchecks.vector_store import VectorStore
from wire.ops.doctor.finding import Finding, ok, warn

NAME = "fact-checks"


def check_factchecks(now: dt.datetime) -> Iterator[Finding]:
    closed = [surface for surface in ("mcp", "api") if (rule := api_keys.read_key_rule(surface)).is_required and not rule.hashes]
    if closed:
        found = f"Keys are required and none is valid: nobody can ask ({' and '.join(closed)})."
        yield warn(NAME, found, "Hand out a key at the desk, or set FACTCHECKS_KEYS=off to open fact-checks to everybody.")
    if settings.FACTCHECKS_KEYS == "off" and any(api_keys.read_key_rule(surface).hashes for surface in ("mcp", "api")):
        yield warn(NAME, "There are keys, but everybody may ask without one.", "Set FACTCHECKS_KEYS=auto to require them.")
    state = FactcheckState.objects.get(pk=1)
    if not state.found:
        yield ok(NAME, "None are loaded.")
        return
    model = embedding.get_model()
    if model is None:
        found = f"{state.found:,} are found by words alone: no model makes vectors here."
        yield warn(NAME, found, "See FACTCHECKS_EMBEDDING in docs/settings.md.")
    else:
        lacking = embedding.select_unembedded(model.name).count()
        found = f"{state.found:,} are found by words and meaning; vectors by {model.name}, searched by {VectorStore.name}."
        if lacking:
            yield warn(NAME, f"{found} {lacking:,} lack vectors.", "Run manage.py embedfactchecks, or let ingest make them.")
        else:
            yield ok(NAME, found)
    silent = LoadJob.objects.filter(status=LoadJob.Status.RUNNING, beat_at__lt=now - SILENT)
    if stuck := silent.count():
        yield warn(NAME, f"{stuck} loads stopped half-way.", "Run manage.py loadfactchecks with the same file: it continues.")


def list_lost_claims() -> Iterator[str]:
    """Yield a sentence if claims are gone: none is ever deleted, and seals cover what the stored ones say."""
    given, stored = FactcheckState.objects.get(pk=1).next_number, Claim.objects.count()
    if given != stored:
        yield f"factchecks_claim: {given:,} claims were stored, but {stored:,} are there."
