"""What publishing costs as a day fills: `python -m benchmarks.publish [STORIES]`.

A fortnight of 100 stories a day with a vocabulary like that of news, the last day of STORIES (400); then one more story at a time.
Each publish tells the events of all unsealed days anew, beside ten sealed ones. Writes its table into docs/benchmarks.md.
"""

import datetime as dt
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import archive, report

BEFORE = 13  # days of A_DAY stories before the last one
A_DAY = 100
TIMES = 15


def main(stories: int = 400) -> None:
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"WIRE_DATA_DIR": data, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django

        django.setup()
        rows = [(what, f"{seconds * 1000:.0f} ms", f"{cpu * 1000:.0f} ms") for what, seconds, cpu in measured(Path(data), stories)]
    report.write("publish", f"python -m benchmarks.publish {stories}", report.table(("publish", "time", "of it processor"), rows))


def measured(data: Path, stories: int) -> Iterator[tuple[str, float, float]]:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    today = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
    items = Items()
    for day in range(BEFORE):
        take_in(data, items.of(today - dt.timedelta(days=BEFORE - day), A_DAY))
    publish()
    take_in(data, items.of(today, stories))
    yield f"{stories} new stories of a day", *publish()
    one = []
    for _ in range(TIMES):
        take_in(data, items.of(today, 1))
        one.append(publish())
    seconds, cpu = (statistics.median(column) for column in zip(*one, strict=True))
    yield f"one more story of that day (median of {TIMES})", seconds, cpu
    yield "nothing new", *publish()


class Items:
    """Items of an archive whose headlines have the vocabulary of news, the same at each run; a third tell of one happening."""

    def __init__(self) -> None:
        self._dice = random.Random(1)
        from benchmarks import wires

        self._words = wires.Words()

    def of(self, day: dt.date, number: int) -> list[dict[str, Any]]:
        archive.FIRST_DAY = day
        happenings = [self._words.draw(self._dice, 8) for _ in range(number // 6 + 1)]
        return [item | {"title": self._title(happenings)} for item in self._items(number)]

    def _items(self, number: int) -> list[dict[str, str]]:
        return list(archive.items(1, max(number, 2), self._dice.randrange(10**9)))[:number]

    def _title(self, happenings: list[list[str]]) -> str:
        if self._dice.random() < 0.67:
            return " ".join(self._words.draw(self._dice, 9))
        return " ".join(self._dice.sample(self._dice.choice(happenings), 7) + self._words.draw(self._dice, 2))


def take_in(data: Path, items: list[dict[str, Any]]) -> None:
    from wire.archive.load import load_items

    file = data / f"{time.monotonic_ns()}.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    taken = load_items(file, {}).counts["accepted"]
    if taken != len(items):
        raise SystemExit(f"{taken} of {len(items)} items were accepted.")


def publish() -> tuple[float, float]:
    """Wall and processor time, in seconds."""
    from wire.snapshots.publish import publish_pending

    began, cpu = time.perf_counter(), time.process_time()
    publish_pending()
    return time.perf_counter() - began, time.process_time() - cpu


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
