from typing import Any

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.publishing import signing
from wire.publishing.transparency import log


class Command(WireCommand):
    help = (
        "Rebuild the log's leaves, nodes and roots from the snapshots, after `verifywire` or a publish said that the log is "
        "damaged. Signatures of the right root are kept. Nothing changes if a checkpoint was signed over other snapshots."
    )

    def handle(self, **_options: Any) -> None:
        with fault_explanations.explain_errors():
            leaves, unsigned = log.rebuild_log()
            signing.sign_newest_checkpoint()
        self.stdout.write(f"Rebuilt from the snapshots: {leaves:,} leaves.")
        if unsigned:
            self.stdout.write(f"{unsigned:,} checkpoints had a damaged signature and are unsigned now.")
