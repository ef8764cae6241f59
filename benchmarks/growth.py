"""Response times of every query on a small and a large wire: `python -m benchmarks.growth [STORIES…] [--times N] [--rounds N]`.

Fills a wire of each number of stories (10,000 and 100,000): on SQLite once, in var/bench or below BENCH_DATA; with
TEST_DATABASE_URL also on that Postgres, in databases that are dropped at the end. The wires take turns, for the next minute may be
another machine. At last the largest wires of both databases are asked the same searches, and must give the same answers.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final, Self

from benchmarks import postgres, report

ROOT: Final = Path(__file__).resolve().parent.parent
SIZES: Final = (10_000, 100_000)
GROWS: Final = 1.5  # times from the smallest to the largest wire; below it a query is only summed up
Call = Callable[[random.Random], object]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="Measure queries on wires of several sizes.")
    parser.add_argument("stories", nargs="*", type=int, default=SIZES)
    parser.add_argument("--times", type=int, default=100, help="calls of each query in a round (default: 100)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the shortest time of each call counts (default: 3)")
    parser.add_argument("--searches", type=int, default=5_000, help="searches whose answers are compared (default: 5,000)")
    parser.add_argument("--only", default="", help="only queries whose name contains this text")
    parser.add_argument("--inside", action="store_true", help="in a process of its own: one wire, asked by standard input")
    options = parser.parse_args()
    if options.inside:
        answer_lines(options.stories[0])
        return
    with ExitStack() as stack:
        wires = {"SQLite": [stack.enter_context(Wire(stories, "")) for stories in options.stories]}
        if server := postgres.find_server():
            urls = [stack.enter_context(postgres.temporary_database(server, f"growth_{stories}")) for stories in options.stories]
            pairs = zip(options.stories, urls, strict=True)
            wires["Postgres"] = [stack.enter_context(Wire(stories, url)) for stories, url in pairs]
        times = measure_queries(wires, options.only, options.times, options.rounds)
        body = "\n\n".join([_table(options.stories, times), compare_searches(wires, options.stories[-1], options.searches)])
    sizes = " ".join(map(str, options.stories))
    report.publish("growth", f"python -m benchmarks.growth {sizes} --times {options.times} --rounds {options.rounds}", body)


def wire_folder(stories: int) -> Path:
    """Return the data directory of the wire of so many stories."""
    return Path(os.environ.get("BENCH_DATA", ROOT / "var" / "bench")) / f"growth-{stories}"


class Wire:
    """A wire in a process of its own, since Django's settings are of one database."""

    def __init__(self, stories: int, url: str) -> None:
        data = wire_folder(stories)
        data.mkdir(parents=True, exist_ok=True)
        env = os.environ | {"WIRE_DATA_DIR": str(data), "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        command = [sys.executable, "-m", "benchmarks.growth", str(stories), "--inside"]
        self._process = subprocess.Popen(command, env=env, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)

    def ask(self, question: str, number: int = 0) -> Any:
        """Return the answer to `queries`, `searches N`, or a query's name N times. Raises: JSONDecodeError if the process died."""
        print(json.dumps([question, number]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())  # type: ignore[union-attr]  # it is a pipe

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.terminate()
        self._process.wait()


def measure_queries(wires: dict[str, list[Wire]], only: str, times: int, rounds: int) -> "dict[str, Figures]":
    """Return the figures of each query.

    Of the rounds of each call the shortest time counts: the wire is measured, not what else the machine does.
    """
    measured = {}
    for name in wires["SQLite"][0].ask("queries"):
        if only in name:
            seconds = [{on: [wire.ask(name, times) for wire in some] for on, some in wires.items()} for _ in range(rounds)]
            measured[name] = {
                on: [_median_and_p99(list(map(min, zip(*each, strict=True)))) for each in _by_size(seconds, on)] for on in wires
            }
    return measured


def _by_size(rounds: Sequence[dict[str, list[list[float]]]], on: str) -> list[list[list[float]]]:
    """Return for each size the seconds of its calls in every round."""
    return [list(of_size) for of_size in zip(*(one[on] for one in rounds), strict=True)]


def _median_and_p99(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.99)] * 1000


def compare_searches(wires: dict[str, list[Wire]], stories: int, number: int) -> str:
    """Ask both databases the same searches and say how many were answered alike. Raises: SystemExit unless all were."""
    if "Postgres" not in wires:
        return "Postgres was not measured, since TEST_DATABASE_URL names no server that answers."
    sqlite, other = (wires[on][-1].ask("searches", number) for on in ("SQLite", "Postgres"))
    differing = [query for query in sqlite if sqlite[query] != other[query]]
    if differing:
        shown = [f"{query!r}: {sqlite[query]} and {other[query]}" for query in differing[:10]]
        raise SystemExit("\n".join([f"SQLite and Postgres answer {len(differing)} of {len(sqlite)} searches differently:", *shown]))
    return (
        f"Both databases of {stories:,} stories were asked the same {number:,} searches of one to three words, one in four with an "
        "unfinished word: all gave the same ids in the same order."
    )


def answer_lines(stories: int) -> None:
    """Fill the wire if it is empty, then answer each line of standard input in one line of JSON."""
    import django

    django.setup()
    fill_if_empty(stories)
    queries = calls(stories)
    for line in sys.stdin:
        answer: Any
        match json.loads(line):
            case ["queries", _]:
                answer = list(queries)
            case ["searches", number]:
                answer = search_results(number)
            case [name, times]:
                answer = measure(queries[name], times)
        print(json.dumps(answer), flush=True)


def fill_if_empty(stories: int) -> None:
    """Migrate the wire of this process and give it so many stories, unless it has any."""
    from django.core.management import call_command

    from benchmarks import wires
    from wire.models import Story

    call_command("migrate", verbosity=0)
    if not Story.objects.exists():
        started = time.monotonic()
        wires.fill(stories)
        sys.stderr.write(f"filled {stories:,} stories in {time.monotonic() - started:.0f} s\n")


def search_results(number: int) -> dict[str, list[Any]]:
    """Return what each search finds: the ids of the first page, their number, and how they are ranked."""
    from wire import queries

    found: dict[str, list[Any]] = {}
    dice, any_words = random.Random(5), build_query_source()
    while len(found) < number:
        query = any_words(dice)
        answer = queries.search_wire(query)
        found[query] = [answer.total, answer.ranking, answer.suggestion, *(story.chatbotnews_id for story in answer.stories)]
    return found


def measure(call: Call, times: int) -> list[float]:
    """Return the seconds of each call; the calls are the same in each round."""
    dice, seconds = random.Random(11), []
    for _ in range(times):
        started = time.perf_counter()
        call(dice)
        seconds.append(time.perf_counter() - started)
    return seconds


def calls(stories: int) -> dict[str, Call]:
    """Return every query; the dice choose its arguments."""
    from benchmarks import wires
    from wire import queries
    from wire.models import Story
    from wire.search.cursor import encode_cursor, encode_position
    from wire.text.choices import Category, Topic

    dice = random.Random(3)
    rows = Story.objects.filter(pk__in=dice.sample(range(1, stories + 1), min(300, stories))).select_related("current")
    some = [(s.chatbotnews_id, s.published_at, s.wire_date, str(s.event_id), s.current.headline, s.current.summary_medium)
            for s in rows if s.current]  # fmt: skip
    known, any_words = wires.KNOWN[:12], build_query_source()
    first_year = queries.get_calendar()[1][-1]

    def place(dice: random.Random, name: str) -> str:
        story_id, published_at, *_ = dice.choice(some)
        return encode_cursor(name, encode_position((published_at, story_id)))

    def phrase(dice: random.Random) -> str:
        said = dice.choice(some)[5].rstrip(".").split()
        begin = dice.randrange(len(said) - 2)
        return f'"{" ".join(said[begin : begin + 2])}"'

    def old(dice: random.Random) -> str:
        return " ".join(dice.sample(dice.choice(some)[5].rstrip(".").split(), 3))

    def common(dice: random.Random) -> str:
        return " ".join(dice.sample(known, dice.randint(1, 3)))

    def coverage(cursor: str | None = None) -> object:
        return queries.get_topic_coverage(Topic.OPENAI, cursor=cursor)

    return {
        "search_wire, common words": lambda d: queries.search_wire(common(d)),
        "search_wire, any words": lambda d: queries.search_wire(any_words(d)),
        "search_wire, three words of a story": lambda d: queries.search_wire(old(d)),
        "search_wire, common phrase": lambda d: queries.search_wire(f'"{" ".join(d.sample(known[:6], 2))}"'),
        "search_wire, phrase of a story": lambda d: queries.search_wire(phrase(d)),
        "search_wire, unfinished word": lambda d: queries.search_wire(d.choice(known)[: d.randint(3, 6)]),
        "search_wire, filters": lambda d: queries.search_wire(common(d), category=Category.ANALYSIS, source="Reuters"),
        "search_wire, of one month": lambda d: queries.search_wire(common(d), until=d.choice(some)[1]),
        "search_wire, nothing found": lambda d: queries.search_wire("qqqq " + common(d)),
        "get_story": lambda d: queries.get_story_json(d.choice(some)[0]),
        "get_consensus, by id": lambda d: queries.get_consensus(d.choice(some)[0]),
        "get_consensus, by headline": lambda d: queries.get_consensus(headline=d.choice(some)[4]),
        "list_stories": lambda _: queries.list_stories(),
        "list_stories, deep": lambda d: queries.list_stories(cursor=place(d, "stories")),
        "get_category": lambda _: queries.get_category(Category.FUNDING),
        "get_category, deep": lambda d: queries.get_category(Category.FUNDING, cursor=place(d, "category funding")),
        "get_topic_coverage": lambda _: coverage(),
        "get_topic_coverage, deep": lambda d: coverage(place(d, "topic openai")),
        "list_days": lambda _: queries.list_published_days(),
        "list_days, deep": lambda d: queries.list_published_days(cursor=encode_cursor("days", d.choice(some)[2].isoformat())),
        "get_archive": lambda d: queries.get_archived_day(d.choice(some)[2]),
        "get_provenance": lambda d: queries.get_provenance(d.choice(some)[2]),
        "latest_takes": lambda _: queries.list_takes_of_newest_days(20),
        "todays_stories": lambda _: queries.list_todays_stories(),
        "get_event": lambda d: queries.get_event(d.choice(some)[3]),
        "corrections": lambda _: queries.list_corrections(2),
        "corrections, deep": lambda d: queries.list_corrections(2, d.randrange(stories // 2, stories)),
        "calendar, its first year": lambda _: queries.get_calendar(first_year),
        "calendar, a growing year": lambda _: queries.get_calendar(),
        "neighbours": lambda d: queries.list_neighbours(d.choice(some)[2]),
        "sitemap_stories": lambda d: queries.list_sitemap_stories(d.randrange(max(1, stories // 10_000)), 1_000),
    }


def build_query_source() -> Callable[[random.Random], str]:
    """Return what draws one to three words, common ones and rare ones; one time in four the last is unfinished."""
    from benchmarks import wires

    words = wires.Words()

    def ask(dice: random.Random) -> str:
        drawn = [words.draw(dice, 1)[0] if dice.random() < 0.7 else dice.choice(words.all) for _ in range(dice.randint(1, 3))]
        if dice.random() < 0.25:
            drawn[-1] = drawn[-1][: dice.randint(3, 6)]
        return " ".join(drawn)

    return ask


Figures = dict[str, list[tuple[float, float]]]
"""Median and p99 in ms of each size, by database."""


def _table(sizes: Sequence[int], times: dict[str, Figures]) -> str:
    """Return a row for each query that grows with the wire, and one of the most that the others take."""
    databases = list(next(iter(times.values())))
    growing = [name for name, figures in times.items() if any(_growth(figures[on]) > GROWS for on in databases)]
    others = [times[name] for name in times if name not in growing]
    lines = [_line(name, times[name]) for name in growing]
    if others:
        most = {on: [_slowest(of_size) for of_size in zip(*(figures[on] for figures in others), strict=True)] for on in databases}
        lines.append(_line(f"the other {len(others)} queries, each at most × {GROWS}: the slowest", most))
    header = ["query"]
    for on in databases:
        header += [*(f"{on}, {size:,}" for size in sizes), "×"]
    return report.table(header, lines)


def _line(name: str, figures: Figures) -> list[str]:
    cells = []
    for of_sizes in figures.values():
        cells += [*(f"{median:.2f} / {p99:.2f}" for median, p99 in of_sizes), f"{_growth(of_sizes):.2f}"]
    return [name, *cells]


def _slowest(figures: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(median for median, _ in figures), max(p99 for _, p99 in figures)


def _growth(of_sizes: Sequence[tuple[float, float]]) -> float:
    return of_sizes[-1][0] / of_sizes[0][0]


if __name__ == "__main__":
    main()
