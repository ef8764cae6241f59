"""Memory of a worker that serves a large wire: `python -m benchmarks.memory [STORIES] [SECONDS]` (100,000 and 30).

Serves the wire of `benchmarks.growth STORIES`, by one worker with the settings of a new installation but no limit. Eight
threads ask it for searches over MCP and REST, pages of 50, and for whole days, nearly none of which are cached. Linux only.
"""

import os
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from benchmarks import report
from benchmarks.doors import ourwire
from benchmarks.doors.questions import MODERN, Question, get, rpc
from benchmarks.doors.servers import Server
from benchmarks.growth import Wire, wire_folder

THREADS: Final = 8
EVERY: Final = 0.25  # seconds between looks


def main(stories: int = 100_000, seconds: int = 30) -> None:
    data = wire_folder(stories)
    if not (data / "wire.sqlite3").exists():
        with Wire(stories, "") as wire:
            wire.ask("queries")  # it answers once the wire is filled
    os.environ |= {"WIRE_DATA_DIR": str(data), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
    import django

    django.setup()
    with ourwire.serve_wire("the wire", data, limit="off") as server:
        began = server.resident()
        asked, seen = under_load(server, questions(), seconds)
    rows = [(f"{stories:,}", f"{began:.0f} MB", f"{max(seen):.0f} MB", f"{seen[-1]:.0f} MB", f"{asked:,}")]
    body = report.table(("stories", "at the start", "at most", f"after {seconds} s", "answers"), rows)
    report.publish("memory", f"python -m benchmarks.memory {stories} {seconds}", body)


def questions() -> Callable[[random.Random], Question]:
    from benchmarks import wires
    from wire.models import Snapshot

    words, days = wires.Words(), [day.isoformat() for day in Snapshot.objects.values_list("wire_date", flat=True)]

    def draw_question(dice: random.Random) -> Question:
        query = " ".join(words.draw(dice, dice.randint(1, 3)))
        kind = dice.randrange(5)
        if kind == 0:
            return get(f"/api/archive/{dice.choice(days)}.json", accept_encoding="gzip")
        if kind < 3:
            return get(f"/api/search.json?limit=50&query={quote(query)}", accept_encoding="gzip")
        return rpc(MODERN, "tools/call", {"name": "search_wire", "arguments": {"query": query, "limit": 50}}, "search_wire")

    return draw_question


def under_load(server: Server, drawn: Callable[[random.Random], Question], seconds: int) -> tuple[int, list[float]]:
    """Return the number of answers and the resident megabytes at every look. Raises: SystemExit if a status is not 200."""
    ends = time.monotonic() + seconds
    answers, wrong, seen = [0] * THREADS, list[str](), list[float]()

    def ask(number: int) -> None:
        dice = random.Random(number)
        while time.monotonic() < ends and not wrong:
            question = drawn(dice)
            reply = server.ask(question)
            if reply.status != 200:
                wrong.append(f"{question.method} {question.path} {question.body}: {reply.status} {reply.body[:300]!r}")
            answers[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(EVERY)
        seen.append(server.resident())
    if wrong:
        raise SystemExit(wrong[0])
    return sum(answers), seen


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
