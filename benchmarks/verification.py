"""CPU time that verifying a citation takes: `python -m benchmarks.verification [STORIES…]`, on the wires of `benchmarks.growth`.

Each story is cited once, with twenty citations in a text.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from typing import Final

from benchmarks import report
from benchmarks.growth import ROOT, wire_folder

SIZES: Final = (10_000, 100_000)
TEXTS: Final = 20
CITATIONS: Final = 20


def main() -> None:
    if "--inside" in sys.argv:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    sizes = list(map(int, sys.argv[1:])) or SIZES
    columns: list[dict[str, str]] = []
    for stories in sizes:
        data = wire_folder(stories)
        data.mkdir(parents=True, exist_ok=True)
        env = os.environ | {"WIRE_DATA_DIR": str(data), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
        command = [sys.executable, "-m", "benchmarks.verification", str(stories), "--inside"]
        done = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE)
        columns.append(json.loads(done.stdout.splitlines()[-1]))
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    table = report.table(("citation", *(f"{stories:,} stories" for stories in sizes)), rows)
    report.publish("verification", f"python -m benchmarks.verification {' '.join(map(str, sizes))}", table)


def measure(stories: int) -> dict[str, str]:
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks import wires
    from citations.format.formats import CitationFormat, cite_story
    from wire import queries
    from wire.models import Story
    from wire.publishing.story_json import to_citable

    call_command("migrate", verbosity=0)
    if not Story.objects.exists():
        wires.fill(stories)
    dice = random.Random(5)
    chosen = dice.sample(range(1, stories + 1), TEXTS * CITATIONS)
    rows = list(Story.objects.filter(pk__in=chosen).select_related("current", "publication"))
    dice.shuffle(rows)
    forms = list(CitationFormat)

    def exact(number: int, story: Story) -> str:
        return cite_story(to_citable(story, story.current), forms[number % len(forms)])  # type: ignore[arg-type]

    def drop_word(number: int, story: Story) -> str:
        words = exact(number, story).split(" ")
        words[len(words) // 3 : len(words) // 3 + 1] = []
        return " ".join(words)

    def without_id(number: int, story: Story) -> str:
        form = (CitationFormat.LAYERED, CitationFormat.INLINE)[number % 2]
        words = cite_story(to_citable(story, story.current), form).split(" Source:")[0]  # type: ignore[arg-type]
        return words.split(" (http")[0].replace(story.chatbotnews_id, "")

    figures = {}
    for name, write in (("word for word", exact), ("a word left out", drop_word), ("without an id", without_id)):
        times = []
        for begin in range(0, len(rows), CITATIONS):
            some = rows[begin : begin + CITATIONS]
            text = "\n\n".join(
                f"It was in the news. {write(number, story)}\n\nMore of it below." for number, story in enumerate(some)
            )
            started = time.process_time()
            for at in range(0, len(text), 20_000):
                queries.verify_citation(text[at : at + 20_000])
            times.append(1000 * (time.process_time() - started) / CITATIONS)
        figures[name] = f"{statistics.median(times):.2f} / {max(times):.2f} ms"
    return figures


if __name__ == "__main__":
    main()
