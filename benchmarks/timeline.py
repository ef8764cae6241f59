"""Measure import and search of timeline corpora, and how search grows: `python -m benchmarks.timeline [--reports N] [--calls N]`.

Searches run over 1,000 and over N reports; tools are called through the ASGI application without its cache, in one process.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from benchmarks import report

SMALL: Final = 1_000
WARM: Final = 20
MOTIFS: Final = 40
_SYLLABLES: Final = "ka lo mi ren sta vor ul ni pel tra gos har bin dru es fo quin mar".split()


def vocabulary(rng: random.Random, size: int = 20_000) -> list[str]:
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(size)]


def write(directory: Path, number: int, seed: int = 7) -> None:
    """Write a corpus of `number` reports in invented words, as unevenly frequent as those of a language."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))

    def text(length: int) -> str:
        return " ".join(rng.choices(words, cum_weights=weights, k=length)).capitalize() + "."

    motifs = [f"motif-{place}" for place in range(MOTIFS)]
    directory.mkdir(parents=True, exist_ok=True)
    grades = ["firsthand", "reported", "interpretive", "symbolic"]
    reports = [
        {
            "id": f"r-{place}",
            "title": text(6),
            "summary": text(20),
            "long_summary": text(40),
            "phenomenon_type": rng.choice(["mandela-effect", "timeline-shift", "synchronicity", "dream-vision"]),
            "date_observed": f"{rng.randint(2000, 2025)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "date_added": "2026-01-01",
            "source": {
                "source_type": rng.choice(["forum-thread", "social-post", "article"]),
                "author_policy": "unknown",
                "language": "en",
            },
            "evidence_grade": rng.choice(grades),
            "stance": rng.choice(["belief", "neutral", "skeptical", "mixed"]),
            "motifs": rng.sample(motifs, 3),
            "claims": [{"text": text(12), "claim_type": "community-interpretation", "status": "reported"}],
        }
        for place in range(number)
    ]
    rows: dict[str, Any] = {
        "corpus": {"slug": f"bench-{number}", "name": "Invented"},
        "sources": {"source_families": []},
        "motifs": {
            "motifs": [
                {"id": one, "label": one, "short_definition": "Invented.", "family": "time", "aliases": []} for one in motifs
            ],
            "edges": [],
        },
        "events": {"events": []},
        "reports": {"reports": reports},
        "mandela-items": {"items": []},
        "story-threads": {"threads": []},
    }
    for name, content in rows.items():
        (directory / f"{name}.json").write_text(json.dumps(content))


def questions(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield arguments of searches: words, filters, dates, nothing at all."""
    words = vocabulary(random.Random(7))
    while True:
        kind = rng.random()
        if kind < 0.5:
            yield {"query": " ".join(rng.sample(words[:2_000], rng.randint(1, 2)))}
        elif kind < 0.7:
            yield {"motifs": [f"motif-{rng.randrange(MOTIFS)}"], "evidence_grade": "reported"}
        elif kind < 0.85:
            yield {"query": rng.choice(words[:200]), "date_start": "2015-01-01", "stance": "skeptical"}
        elif kind < 0.95:
            yield {"phenomenon_types": ["dream-vision", "synchronicity"], "date_end": "2010-01-01"}
        else:
            yield {}


def time_calls(call: Callable[[dict[str, Any]], object], number: int) -> tuple[list[float], list[float]]:
    """Return the wall-clock and CPU seconds of each call, sorted; the first calls only warm up."""
    asked = questions(random.Random(3))
    seconds, busy = [], []
    for place in range(number + WARM):
        question = next(asked)
        start, used = time.perf_counter(), time.process_time()
        call(question)
        if place >= WARM:
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - used)
    return sorted(seconds), sorted(busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wire-bench-") as scratch:
        os.environ |= {
            "WIRE_DATA_DIR": f"{scratch}/wire", "DATABASE_URL": "", "WIRE_RATE_LIMIT": "off",
            "WIRE_INGEST": "off", "WIRE_CACHE_MB": "0", "DJANGO_SETTINGS_MODULE": "config.settings",
        }  # fmt: skip
        rows = list(measure(Path(scratch), given.reports, given.calls))
    command = f"python -m benchmarks.timeline --reports {given.reports} --calls {given.calls}"
    report.publish("timeline", command, report.table(("what", "figure"), rows))


def measure(scratch: Path, number: int, calls: int) -> Iterator[tuple[str, str]]:
    import django

    django.setup()
    from django.core.management import call_command

    from wire.corpora.timeline.load import load_directory

    call_command("migrate", verbosity=0)
    p99 = {}
    for size in (SMALL, number):
        write(scratch / str(size), size)
        start, used = time.perf_counter(), time.process_time()
        load_directory(scratch / str(size))
        spent, busy = time.perf_counter() - start, time.process_time() - used
        yield f"import of {size:,} reports", f"{size / spent:,.0f} a second, {size / busy:,.0f} a second of CPU time"
        seconds, used_seconds = time_calls(partial(_search, f"bench-{size}"), calls)
        p99[size] = used_seconds[int(0.99 * len(used_seconds))]
        p50 = statistics.median(seconds) * 1e3
        figures = f"p50 {p50:.2f} ms, p99 {seconds[int(0.99 * len(seconds))] * 1e3:.2f} ms; CPU time p99 {p99[size] * 1e3:.2f} ms"
        yield f"search over {size:,} reports", figures
    yield "growth of the p99 of CPU time", f"{p99[number] / p99[SMALL]:.2f} ×"
    yield from asyncio.run(measure_tools(calls))


def _search(slug: str, question: dict[str, Any]) -> object:
    from wire.corpora.timeline import queries

    return queries.search_reports(slug, **question)


async def measure_tools(calls: int) -> list[tuple[str, str]]:
    from config.asgi import application

    tools = {"timeline_search_reports": {"query": "karen", "limit": 10}, "timeline_get_report": {"id": "r-5"}}
    rows = []
    for tool, arguments in tools.items():
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        body = json.dumps(message).encode()
        start = time.perf_counter()
        for _ in range(calls):
            await _post(application, f"/mcp/timeline/bench-{SMALL}", body)
        spent = (time.perf_counter() - start) / calls
        rows.append(
            (f"`{tool}` over {SMALL:,} reports, not cached", f"{1 / spent:,.0f} calls a second, {spent * 1e6:,.0f} µs each")
        )
    return rows


async def _post(application: Any, path: str, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"accept", b"application/json"), (b"host", b"localhost:8000")]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers, "client": ("127.0.0.1", 1),
        "server": ("localhost", 8000),
    }  # fmt: skip
    status = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        status.append(message.get("status"))

    await application(scope, receive, send)
    if status[0] != 200:
        raise SystemExit(f"the call returned HTTP {status[0]}")


if __name__ == "__main__":
    main()
