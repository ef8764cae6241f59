"""Rebuild the search index of fact-checks."""

from typing import Any

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.corpora.factchecks import store


class Command(WireCommand):
    help = (
        "Rebuild the search index of fact-checks after a change of FACTCHECKS_STATUSES. Until it is done, searches find "
        "fewer claims; run it again if it is killed."
    )

    def handle(self, **_options: Any) -> None:
        with fault_explanations.explain_errors():
            done = store.reindex_claims()
            store.invalidate_caches()
        self.stdout.write(f"Indexed {done:,} claims.")
