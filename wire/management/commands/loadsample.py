from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.db.models import Max

from config.command_base import WireCommand
from config.plugins import list_plugins
from wire.models import Story, StoryVector, WireState
from wire.ops.archive.reader import load_items
from wire.publishing.publish import publish_pending
from wire.search.vectors import load_embedder

SAMPLE = Path(settings.BASE_DIR) / "fixtures" / "sample"
VECTORS = SAMPLE / "vectors.npz"
"""The model, and the vector of each id: they ship because making them takes longer than all the rest."""


class Command(WireCommand):
    help = "Load the fictional sample wire into an empty database and mark it as such for good. Running it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        what = "migrate first, and open the first account with the password on standard input, as `serve` does at each start"
        parser.add_argument("--prepare", action="store_true", help=what)

    def handle(self, *, prepare: bool, **_options: Any) -> None:
        if prepare:
            call_command("migrate", verbosity=0)
        with transaction.atomic():
            state = WireState.lock()
            if not state.is_sample and Story.objects.exists():
                raise CommandError("This database holds real news; the sample wire needs a WIRE_DATA_DIR of its own.")
            WireState.objects.update(is_sample=True)
        for file in sorted(SAMPLE.glob("*.ndjson")):
            load_items(file, {})
        _store_vectors()
        publish_pending()
        for plugin in list_plugins():
            if plugin.sample_command:
                call_command(*plugin.sample_command.split(), stdout=self.stdout)
        self.stdout.write(f"The sample wire is ready: {Story.objects.count()} fictional stories.")
        if prepare:
            call_command("firstaccount", stdout=self.stdout)


def _store_vectors() -> None:
    """Store the vectors that ship, if today's model made them."""
    shipped, model = np.load(VECTORS), load_embedder()
    if model is None or model.name != shipped["model"]:
        return
    rows = dict(zip(shipped["ids"].tolist(), shipped["rows"], strict=True))
    stories = Story.objects.filter(vector=None, chatbotnews_id__in=rows).annotate(newest=Max("revisions__revision"))
    StoryVector.objects.bulk_create(
        StoryVector(story_id=key, model=model.name, revision=newest, vector=rows[name].tobytes())
        for key, name, newest in stories.values_list("pk", "chatbotnews_id", "newest")
    )
