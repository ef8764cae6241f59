"""Make the index of fact-checks anew."""

from typing import Any

from django.core.management.base import BaseCommand

from config.database import faults
from wire.corpora.factchecks import store


class Command(BaseCommand):
    help = (
        "Make the index by which fact-checks are found anew: after FACTCHECKS_STATUSES was changed. Searches find less until it is "
        "done; run it again if it is killed."
    )

    def handle(self, **_options: Any) -> None:
        with faults.explaining():
            done = store.reindex()
            store.announce()
        self.stdout.write(f"Indexed {done:,} claims.")
