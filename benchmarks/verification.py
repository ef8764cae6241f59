"""What verifying one citation costs: `python -m benchmarks.verification [STORIES…]`.

Wires are those of `benchmarks.growth`. CPU seconds of the process, each story cited once, twenty citations a text.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SIZES: Final = (10_000, 100_000)
TEXTS: Final = 20
CITATIONS: Final = 20


def main() -> None:
    if "--inside" in sys.argv:
        inside(int(sys.argv[1]))
        return
    for stories in list(map(int, sys.argv[1:])) or SIZES:
        data = ROOT / "var" / "bench" / f"growth-{stories}"
        data.mkdir(parents=True, exist_ok=True)
        env = os.environ | {"WIRE_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}
        subprocess.run([sys.executable, "-m", "benchmarks.verification", str(stories), "--inside"], env=env, cwd=ROOT, check=True)


def inside(stories: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks import wires
    from citations.formats import CitationFormat, cite
    from wire import queries
    from wire.models import Story
    from wire.snapshots.citing import citable

    call_command("migrate", verbosity=0)
    if not Story.objects.exists():
        wires.fill(stories)
    dice = random.Random(5)
    chosen = dice.sample(range(1, stories + 1), TEXTS * CITATIONS)
    rows = list(Story.objects.filter(pk__in=chosen).select_related("current", "publication"))
    dice.shuffle(rows)
    forms = list(CitationFormat)

    def exact(number: int, story: Story) -> str:
        return cite(citable(story, story.current), forms[number % len(forms)])  # type: ignore[arg-type]

    def reworded(number: int, story: Story) -> str:
        words = exact(number, story).split(" ")
        words[len(words) // 3 : len(words) // 3 + 1] = []
        return " ".join(words)

    def without_id(number: int, story: Story) -> str:
        form = (CitationFormat.LAYERED, CitationFormat.INLINE)[number % 2]
        return cite(citable(story, story.current), form).split(" Source:")[0].split(" (http")[0].replace(story.chatbotnews_id, "")  # type: ignore[arg-type]

    for name, write in (("word for word", exact), ("a word left out", reworded), ("without an id", without_id)):
        times, verdicts = [], dict[str, int]()
        for begin in range(0, len(rows), CITATIONS):
            some = rows[begin : begin + CITATIONS]
            text = "\n\n".join(
                f"It was in the news. {write(number, story)}\n\nMore of it below." for number, story in enumerate(some)
            )
            started = time.process_time()
            parts = [queries.verify_citation(text[at : at + 20_000]) for at in range(0, len(text), 20_000)]
            times.append(1000 * (time.process_time() - started) / CITATIONS)
            for part in parts:
                for citation in part.citations:
                    verdicts[citation.verdict] = verdicts.get(citation.verdict, 0) + 1
        said = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
        print(
            f"{stories:,} stories, {name}: median {statistics.median(times):.2f} ms, most {max(times):.2f} ms ({said})", flush=True
        )


if __name__ == "__main__":
    main()
