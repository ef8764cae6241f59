from typing import Any

from django.core.management.base import BaseCommand

from config.database import faults
from wire.publishing import signing
from wire.publishing.transparency import log


class Command(BaseCommand):
    help = (
        "Make the log's leaves, nodes and roots again from the snapshots, after `verifywire` or a publish said that the log is "
        "damaged. Signatures that are of the right root stay. Nothing changes if a checkpoint was signed over other snapshots."
    )

    def handle(self, **_options: Any) -> None:
        with faults.explaining():
            leaves, unsigned = log.rebuild()
            signing.sign_newest()
        self.stdout.write(f"Made again from the snapshots: {leaves:,} leaves.")
        if unsigned:
            self.stdout.write(f"{unsigned:,} checkpoints had a damaged signature and are unsigned now.")
