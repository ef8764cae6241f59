from typing import Any

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.publishing import story_json


class Command(WireCommand):
    help = (
        "Render the stored JSON of stories again where it is out of date: after WIRE_SITE_URL changed, or after an upgrade that "
        "says so. Answers are correct without it, only slower; safe to stop and to run again, also while serving."
    )

    def handle(self, **_options: Any) -> None:
        with fault_explanations.explain_errors():
            number = story_json.render_outdated_json(lambda done: self.stdout.write(f"{done:,} stories"))
        self.stdout.write(f"Rendered again: {number:,}. All others were up to date.")
