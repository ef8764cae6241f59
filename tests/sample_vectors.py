"""Make the vectors that ship with the sample wire, after a change of its texts or the model: `python -m tests.sample_vectors`."""

import os
import tempfile
from pathlib import Path

import numpy as np


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.environ |= {"WIRE_DATA_DIR": directory, "WIRE_VECTORS": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django
        from django.core.management import call_command

        django.setup()
        from wire.management.commands import loadsample
        from wire.models import StoryVector
        from wire.ops.archive.reader import load_items
        from wire.search.vectors import HALF, fill, load_embedder

        call_command("migrate", verbosity=0)
        for file in sorted(loadsample.SAMPLE.glob("*.ndjson")):
            load_items(file, {})
        fill()
        made = dict(StoryVector.objects.order_by("story__chatbotnews_id").values_list("story__chatbotnews_id", "vector"))
        rows = np.stack([np.frombuffer(row, HALF) for row in made.values()])
        model = load_embedder()
        assert model is not None, "needs the model"
        np.savez(Path(loadsample.VECTORS), model=np.array(model.name), ids=np.array(list(made)), rows=rows)


if __name__ == "__main__":
    main()
