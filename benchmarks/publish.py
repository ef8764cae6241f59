"""Time that publishing takes as a day fills: `python -m benchmarks.publish [STORIES] [A_DAY] [TIMES]`.

Two weeks of A_DAY (100) stories a day with a vocabulary like that of news, the last day of STORIES (400); then TIMES (15) times one
more story. Each publish groups the events of all days that are not final again, beside ten final ones.
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

BEFORE = 13  # days before the last one


def main(stories: int = 400, a_day: int = 100, times: int = 15) -> None:
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"WIRE_DATA_DIR": data, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django

        django.setup()
        rows = [
            (what, f"{seconds * 1000:.0f} ms", f"{cpu * 1000:.0f} ms")
            for what, seconds, cpu in measure(Path(data), stories, a_day, times)
        ]
    report.publish(
        "publish",
        f"python -m benchmarks.publish {stories} {a_day} {times}",
        report.table(("publish", "time", "processor time"), rows),
    )


def measure(data: Path, stories: int, a_day: int, times: int) -> Iterator[tuple[str, float, float]]:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    today = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
    items = Items()
    for day in range(BEFORE):
        take_in(data, items.of(today - dt.timedelta(days=BEFORE - day), a_day))
    publish()
    take_in(data, items.of(today, stories))
    yield f"{stories} new stories of a day", *publish()
    one = []
    for _ in range(times):
        take_in(data, items.of(today, 1))
        one.append(publish())
    seconds, cpu = (statistics.median(column) for column in zip(*one, strict=True))
    yield f"one more story of that day (median of {times})", seconds, cpu
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
    from wire.ops.archive.reader import load_items

    file = data / f"{time.monotonic_ns()}.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    taken = load_items(file, {}).counts["accepted"]
    if taken != len(items):
        raise SystemExit(f"{taken} of {len(items)} items were accepted.")


def publish() -> tuple[float, float]:
    """Publish, and return wall-clock and processor time in seconds."""
    from wire.publishing.publish import publish_pending

    began, cpu = time.perf_counter(), time.process_time()
    publish_pending()
    return time.perf_counter() - began, time.process_time() - cpu


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
