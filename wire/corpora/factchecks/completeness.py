"""Claims that are missing. What the stored ones say is covered by their seals."""

from collections.abc import Iterator

from wire.corpora.factchecks.models import Claim, FactcheckState


def list_faults() -> Iterator[str]:
    """Yield a sentence if claims are gone: none is ever deleted, a withdrawn one stays and says so."""
    given, stored = FactcheckState.objects.get(pk=1).next_number, Claim.objects.count()
    if given != stored:
        yield f"factchecks_claim: {given:,} claims were stored and {stored:,} are there."
