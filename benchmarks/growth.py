"""What a wire of more stories costs: `python -m benchmarks.growth [STORIES…] [--database postgres://…/] [--agree]`.

Fills a wire for each number of stories (10,000, 100,000 and 1,000,000 unless told), once: it stays in var/bench, or in databases
named growth_…. Then asks every question of `wire.queries` many times, of each wire in turns, for the next minute may be another
machine. `--agree` compares the answers of both databases to 5,000 searches instead. Writes its table into docs/benchmarks.md when
--write is given.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final, Self

from benchmarks import report

ROOT: Final = Path(__file__).resolve().parent.parent
SIZES: Final = (10_000, 100_000, 1_000_000)
SEARCHES: Final = 5_000
TIMES: Final = 200
ROUNDS: Final = 5
Call = Callable[[random.Random], object]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stories", nargs="*", type=int, default=SIZES)
    parser.add_argument("--database", help="A Postgres server: postgres://user@host:port/")
    parser.add_argument("--agree", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", help="Questions whose name holds this.")
    parser.add_argument("--inside", action="store_true", help="In a process of its own: one wire, asked by standard input.")
    told = parser.parse_args()
    if told.inside:
        inside(told.stories[0])
    elif told.agree:
        agree(told.stories, told.database)
    else:
        body = _table(told.stories, compared(told.stories, told.database, told.only))
        command = " ".join(["python -m benchmarks.growth", *(["--database postgres://…"] if told.database else [])])
        if told.write:
            report.write("growth-postgres" if told.database else "growth-sqlite", command, body)
        else:
            sys.stdout.write(body + "\n")


def agree(sizes: list[int], database: str | None) -> None:
    """Whether both databases answer 5,000 searches alike; exit 1 if not."""
    for stories in sizes:
        with Wire(stories, None) as first, Wire(stories, database) as second:
            one, two = (wire.ask("searches") for wire in (first, second))
        wrong = [question for question in one if one[question] != two[question]]
        sys.stdout.write(f"{stories:,} stories: {len(one) - len(wrong):,} of {len(one):,} searches answered alike\n")
        for question in wrong[:10]:
            sys.stdout.write(f"  {question!r}: {one[question]} and {two[question]}\n")
        if wrong:
            sys.exit(1)


def compared(sizes: list[int], database: str | None, only: str) -> dict[str, list[list[float]]]:
    """For each question and size: median and p99 of it, of its time in the database (ms), and the median number of queries.

    Of each time that something is asked the shortest round counts: what is measured is the wire, not what else the machine does.
    """
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(stories, database)) for stories in sizes]
        found = {}
        for name in wires[0].ask("questions"):
            if only in name:
                rounds = [[wire.ask(name) for wire in wires] for _ in range(ROUNDS)]
                found[name] = [_shortest(of_one) for of_one in zip(*rounds, strict=True)]
        return found


def _shortest(rounds: Sequence[dict[str, list[float]]]) -> list[float]:
    whole, database = ([min(times) for times in zip(*(one[what] for one in rounds), strict=True)] for what in ("whole", "database"))
    return [*_ms(whole), *_ms(database), statistics.median(rounds[0]["queries"])]


class Wire:
    """One wire, in a process of its own, since Django's settings are of one database."""

    def __init__(self, stories: int, database: str | None) -> None:
        data = ROOT / "var" / "bench" / f"growth-{stories}"
        data.mkdir(parents=True, exist_ok=True)
        url = _database(database, f"growth_{stories}") if database else ""
        env = os.environ | {"WIRE_DATA_DIR": str(data), "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        command = [sys.executable, "-m", "benchmarks.growth", str(stories), "--inside"]
        self._process = subprocess.Popen(command, env=env, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)

    def ask(self, question: str) -> Any:
        """`questions`, `searches`, or one of the questions. Raises: JSONDecodeError when the process has died."""
        print(question, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())  # type: ignore[union-attr]  # it is a pipe

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.terminate()
        self._process.wait()


def _database(server: str, name: str) -> str:
    import psycopg

    with psycopg.connect(f"{server.rstrip('/')}/postgres", autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            connection.execute(f"CREATE DATABASE {name}")
    return f"{server.rstrip('/')}/{name}"


def inside(stories: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks import wires
    from wire.models import Story

    call_command("migrate", verbosity=0)
    if not Story.objects.exists():
        started = time.monotonic()
        wires.fill(stories)
        sys.stderr.write(f"filled {stories:,} stories in {time.monotonic() - started:.0f} s\n")
    questions = calls(stories)
    for line in sys.stdin:
        match line.rstrip("\n"):
            case "questions":
                found: Any = list(questions)
            case "searches":
                found = searched()
            case name:
                found = measure(questions[name])
        print(json.dumps(found), flush=True)


def searched() -> dict[str, list[Any]]:
    """What each of 5,000 searches finds: ids of the first page, their number, and how they are ranked."""
    from wire import queries

    found: dict[str, list[Any]] = {}
    dice, any_words = random.Random(5), _asked()
    while len(found) < SEARCHES:
        query = any_words(dice)
        answer = queries.search_wire(query)
        found[query] = [answer.total, answer.ranking, answer.suggestion, *(story.chatbotnews_id for story in answer.stories)]
    return found


def measure(call: Call) -> dict[str, list[float]]:
    """Seconds that each call takes, those of its queries by themselves, and how many these are; the same calls in each round."""
    dice = random.Random(11)
    whole, database, numbers = list[float](), list[float](), list[float]()
    for _ in range(int(os.environ.get("GROWTH_TIMES", TIMES))):
        with _captured() as asked:
            started = time.perf_counter()
            call(dice)
            whole.append(time.perf_counter() - started)
        database.append(_again(asked))
        numbers.append(len(asked))
    return {"whole": whole, "database": database, "queries": numbers}


def _ms(seconds: list[float]) -> tuple[float, float]:
    by_length = sorted(seconds)
    return statistics.median(by_length) * 1000, by_length[int(len(by_length) * 0.99)] * 1000


@contextmanager
def _captured() -> Iterator[list[tuple[str, Any, bool]]]:
    """SQL, parameters, and whether its values come by a cursor that is not Django's own."""
    from django.db import connection

    asked: list[tuple[str, Any, bool]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params, type(context["cursor"].cursor).__name__ == "Binary"))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield asked


def _again(asked: list[tuple[str, Any, bool]]) -> float:
    """Seconds that the same queries take by themselves, every row read: SQLite works while rows are fetched."""
    from django.db import connection

    from wire.models.compiled import quick_cursor

    started = time.perf_counter()
    with connection.cursor() as usual, quick_cursor() as quick:
        for sql, params, is_quick in asked:
            cursor = quick if is_quick else usual
            cursor.execute(sql, params)
            cursor.fetchall()
    return time.perf_counter() - started


def calls(stories: int) -> dict[str, Call]:
    """Every question, asked of a place chosen by the dice."""
    from benchmarks import wires
    from wire import queries
    from wire.models import Story
    from wire.search.cursor import encode, encode_place
    from wire.stories.vocabulary import Category, Topic

    dice = random.Random(3)
    rows = Story.objects.filter(pk__in=dice.sample(range(1, stories + 1), 300)).select_related("current")
    some = [(s.chatbotnews_id, s.published_at, s.wire_date, str(s.event_id), s.current.headline, s.current.summary_medium)
            for s in rows if s.current]  # fmt: skip
    known, any_words = wires.KNOWN[:12], _asked()
    first_year = queries.calendar().years[-1]

    def place(dice: random.Random, name: str) -> str:
        story_id, published_at, *_ = dice.choice(some)
        return encode(name, encode_place((published_at, story_id)))

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
        "list_days": lambda _: queries.list_days(),
        "list_days, deep": lambda d: queries.list_days(cursor=encode("days", d.choice(some)[2].isoformat())),
        "get_archive": lambda d: queries.get_archive(d.choice(some)[2]),
        "get_provenance": lambda d: queries.get_provenance(d.choice(some)[2]),
        "latest_takes": lambda _: queries.latest_takes(20),
        "todays_stories": lambda _: queries.todays_stories(),
        "get_event": lambda d: queries.get_event(d.choice(some)[3]),
        "corrections": lambda _: queries.corrections(2),
        "corrections, deep": lambda d: queries.corrections(2, d.randrange(stories // 2, stories)),
        "calendar, its first year": lambda _: queries.calendar(first_year),
        "calendar, a year that fills": lambda _: queries.calendar(),
        "neighbours": lambda d: queries.neighbours(d.choice(some)[2]),
        "sitemap_stories": lambda d: queries.sitemap_stories(d.randrange(stories // 10_000), 1_000),
    }


def _asked() -> Callable[[random.Random], str]:
    """One to three words, common ones and rare ones; one time in four the last is unfinished."""
    from benchmarks import wires

    words = wires.Words()

    def ask(dice: random.Random) -> str:
        drawn = [words.draw(dice, 1)[0] if dice.random() < 0.7 else dice.choice(words.all) for _ in range(dice.randint(1, 3))]
        if dice.random() < 0.25:
            drawn[-1] = drawn[-1][: dice.randint(3, 6)]
        return " ".join(drawn)

    return ask


def _table(sizes: list[int], found: dict[str, list[list[float]]]) -> str:
    """A row for each question: median / p99 ms of each size, of it in the database, queries, and growth from first to last."""
    header = ["question", *(f"{size:,}: median / p99 ms (database)" for size in sizes), "queries", "growth"]
    lines = []
    for name, of_sizes in found.items():
        cells = [f"{one[0]:.2f} / {one[1]:.2f} ({one[2]:.2f} / {one[3]:.2f})" for one in of_sizes]
        lines.append([name, *cells, f"{of_sizes[-1][4]:g}", f"{of_sizes[-1][0] / of_sizes[0][0]:.2f}"])
    return report.table(header, lines)


if __name__ == "__main__":
    main()
