"""Response times of searches on a large wire: `python -m benchmarks.search [STORIES] [--times N] [--rounds N]`.

Asks the wire that `benchmarks.growth` fills, on SQLite and on the Postgres of TEST_DATABASE_URL: by words alone, and with meaning.
Beside it stand FTS5's ranking of any word, and the nearest vectors alone. Vectors are drawn, not made, for making them takes
hours; a search costs as much by them. Every round is a process of its own, so that no answer is known yet.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from benchmarks import postgres, report
from benchmarks.growth import ROOT, build_query_source, wire_folder

STORIES: Final = 100_000
WAYS: Final = {
    "words": "words only",
    "meaning": "with meaning",
    "fts5": "FTS5 alone, any word, bm25",
    "dense": "the nearest vectors alone",
}
COMPARED: Final = ("fts5", "dense")  # measured on SQLite only


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description="Measure searches on a large wire.")
    parser.add_argument("stories", nargs="?", type=int, default=STORIES)
    parser.add_argument("--times", type=int, default=300, help="questions (default: 300)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the shortest time of each question counts (default: 3)")
    parser.add_argument("--inside", choices=WAYS, help="in a process of its own: asks and prints the seconds of each question")
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(options.inside, options.stories, options.times)))
        return
    with ExitStack() as stack:
        databases = {"SQLite": ""}
        if server := postgres.find_server():
            databases["Postgres"] = stack.enter_context(postgres.temporary_database(server, "search_bench"))
        rows = [
            [WAYS[way], name, *_measure_in_rounds(way, url, options)]
            for name, url in databases.items()
            for way in WAYS
            if not (url and way in COMPARED)
        ]
    command = f"python -m benchmarks.search {options.stories} --times {options.times} --rounds {options.rounds}"
    report.write("search", command, report.table(["way", "database", "p50, ms", "p99, ms"], rows), report.page("quality.md"))


def _measure_in_rounds(way: str, url: str, options: argparse.Namespace) -> list[str]:
    folder = wire_folder(options.stories)
    folder.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"WIRE_DATA_DIR": str(folder), "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
    env["WIRE_VECTORS"] = "0" if way == "words" else "1"
    command = [sys.executable, "-m", "benchmarks.search", str(options.stories), "--times", str(options.times), "--inside", way]
    rounds = [
        json.loads(subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
        for _ in range(options.rounds)
    ]
    seconds = sorted(map(min, zip(*rounds, strict=True)))
    return [f"{statistics.median(seconds) * 1000:.1f}", f"{seconds[int(len(seconds) * 0.99)] * 1000:.1f}"]


def measure(way: str, stories: int, times: int) -> list[float]:
    """Return the seconds of each question, asked for the first time; what a process reads once is read before."""
    import django

    django.setup()
    from benchmarks import growth

    growth.fill_if_empty(stories)
    draw_vectors()
    ask, seconds = _choose_way(way), []
    ask("something that no story tells of, to be ready")
    for question in list_questions(times):
        started = time.perf_counter()
        ask(question)
        seconds.append(time.perf_counter() - started)
    return seconds


def list_questions(number: int) -> list[str]:
    """Return questions of a few words, such as people type into a box, and whole ones, such as agents ask; half of each."""
    from benchmarks import wires

    dice, any_words, known, words = random.Random(21), build_query_source(), wires.KNOWN[:12], wires.Words()

    def whole() -> str:
        return f"What did {dice.choice(known)} say about {' '.join(words.draw(dice, 2))} and {dice.choice(words.all[:3_000])}?"

    return [whole() if turn % 2 else any_words(dice) for turn in range(number)]


def draw_vectors() -> None:
    """Give each story that has none a vector near a common mean, as the model's are."""
    import numpy as np
    from django.utils import timezone

    from wire.models import Change, Story, StoryVector
    from wire.search.vectors import E5, HALF
    from wire.text.choices import ChangeKind

    missing = list(Story.objects.filter(vector=None).values_list("pk", flat=True))
    dice = np.random.default_rng(4)
    mean = dice.normal(size=E5.dimensions)
    for begin in range(0, len(missing), 5_000):
        some = missing[begin : begin + 5_000]
        drawn = 2 * mean + dice.normal(size=(len(some), E5.dimensions))
        halves = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(HALF)
        StoryVector.objects.bulk_create(
            [StoryVector(story_id=pk, model=E5.name, vector=row.tobytes()) for pk, row in zip(some, halves, strict=True)]
        )
    if not Change.objects.exists():  # searches read vectors when the log of changes says that there is news
        Change.objects.create(number=1, kind=ChangeKind.DAY_PUBLISHED, subject="2026-10-31", at=timezone.now())


def _choose_way(way: str) -> Callable[[str], object]:
    from django.db import connection

    from wire import queries
    from wire.search.nearest import find_nearest_stories

    def rank_by_fts5(question: str) -> object:
        any_word = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        with connection.cursor() as cursor:
            cursor.execute("SELECT rowid FROM bench_fts WHERE bench_fts MATCH %s ORDER BY rank LIMIT 10", [any_word])
            return cursor.fetchall()

    if way == "fts5":
        _index_by_fts5()
        return rank_by_fts5
    if way == "dense":
        return lambda question: find_nearest_stories(question, 10, None, None, ())
    return queries.search_wire


def _index_by_fts5() -> None:
    """Put headlines and summaries into an FTS5 table with the Porter stemmer, for as long as this process lives."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("CREATE VIRTUAL TABLE temp.bench_fts USING fts5(headline, summary, tokenize='porter')")
        cursor.execute(
            "INSERT INTO bench_fts(rowid, headline, summary) "
            "SELECT s.id, r.headline, r.summary_medium FROM wire_story s JOIN wire_storyrevision r ON r.id = s.current_id"
        )


if __name__ == "__main__":
    main()
