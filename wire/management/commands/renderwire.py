from typing import Any

from django.core.management.base import BaseCommand

from config.database import faults
from wire.publishing import story_json


class Command(BaseCommand):
    help = (
        "Make the kept JSON of stories anew where it does not fit any more: after WIRE_SITE_URL changed, or after an upgrade that "
        "says so. Never needed for right answers, only for quick ones; safe to stop and to run again, also while serving."
    )

    def handle(self, **_options: Any) -> None:
        with faults.explaining():
            number = story_json.render_outdated(lambda done: self.stdout.write(f"{done:,} stories"))
        self.stdout.write(f"Made anew: {number:,}. All others were as they should be.")
