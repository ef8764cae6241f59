"""A process that writes and publishes until its standard input ends: `python -m tests.faults.soak.writer NUMBER PAUSE`.

A line for each round: `wrote`, or the fault.
"""

import datetime as dt
import random
import select
import sys

import django

django.setup()

from django.db import DatabaseError, close_old_connections  # noqa: E402

from sources.entries import Entry  # noqa: E402
from wire.ingest import classifier_terms  # noqa: E402
from wire.ingest.normalise import Context  # noqa: E402
from wire.ingest.save import save_entries  # noqa: E402
from wire.publishing.publish import publish_pending  # noqa: E402

TODAY = 0.05
PUBLISHERS = ("TechCrunch", "Wired", "Reuters", "The Register", "Engadget")


def main(number: int, pause: float) -> None:
    dice = random.Random(number)
    made = 0
    while not select.select([sys.stdin], [], [], pause)[0]:
        now = dt.datetime.now(dt.UTC).replace(microsecond=0)
        made += 1
        try:
            save_entries([_entry(dice, now, number, made, n) for n in range(3)], Context.load(classifier_terms.load_lexicon(), now))
            publish_pending(now)
            print("wrote", flush=True)  # noqa: T201
        except DatabaseError as error:
            print(repr(error), flush=True)  # noqa: T201
            close_old_connections()


def _entry(dice: random.Random, now: dt.datetime, writer: int, made: int, n: int) -> Entry:
    """Mostly of some long sealed day, now and then of today, whose every publish tells three days anew."""
    ago = dt.timedelta(minutes=dice.randint(1, 60)) if dice.random() < TODAY else dt.timedelta(days=dice.randint(5, 65))
    number = writer * 1_000_000 + made * 10 + n
    return Entry(
        publisher=dice.choice(PUBLISHERS),
        title=f"Maker {writer} ships model {number} for agents that learn trick {number * 7_919}",
        url=f"https://techcrunch.com/soak/{number}",
        published_at=(now - ago).isoformat(),
        summary=f"Model {number} learned a trick. It has {n + 2} more to learn.",
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
