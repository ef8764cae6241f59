from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.plugins import list_plugins
from wire.models import Story, WireState
from wire.ops.archive.reader import load_items
from wire.publishing.publish import publish_pending

SAMPLE = Path(settings.BASE_DIR) / "fixtures" / "sample"


class Command(BaseCommand):
    help = "Load the fictional sample wire into an empty database and mark it as such for ever. Again: changes nothing."

    def handle(self, **_options: Any) -> None:
        with transaction.atomic():
            state = WireState.lock()
            if not state.is_sample and Story.objects.exists():
                raise CommandError("This database holds real news; the sample wire needs a WIRE_DATA_DIR of its own.")
            WireState.objects.update(is_sample=True)
        for file in sorted(SAMPLE.glob("*.ndjson")):
            load_items(file, {})
        publish_pending()
        for plugin in list_plugins():
            if plugin.sample_command:
                call_command(*plugin.sample_command.split(), stdout=self.stdout)
        self.stdout.write(f"The sample wire is ready: {Story.objects.count()} fictional stories.")
