"""One of many publishers: `python -m tests.faults.soak.publisher take FILE` takes an archive in and publishes nothing of it;
`… publish SEED` says `ready`, waits for a line, publishes every day there is, in an order of its own, and says how many it made.
"""

import random
import sys
from pathlib import Path

import django

django.setup()

from wire.archive.load import load_items  # noqa: E402
from wire.models import Story  # noqa: E402
from wire.publish import publish  # noqa: E402


def main(what: str, argument: str) -> None:
    if what == "take":
        load_items(Path(argument), {})
        return
    days = list(Story.objects.values_list("wire_date", flat=True).distinct().order_by("wire_date"))
    random.Random(int(argument)).shuffle(days)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(f"{sum(publish(day) is not None for day in days)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
