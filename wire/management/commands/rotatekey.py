from typing import Any

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.publishing import signing


class Command(WireCommand):
    help = "Make a new signing key and retire the one in force. Days signed by the old key still verify."

    def handle(self, **_options: Any) -> None:
        with fault_explanations.explain_errors():
            key = signing.rotate_key()
        self.stdout.write(
            f"Snapshots are signed by {key.key_id} from now on. Every machine that publishes needs {signing.key_file()}; "
            "make a backup, since older ones hold the old key."
        )
