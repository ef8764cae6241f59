"""Search, indexing and cached answers of publisher content: `python -m benchmarks.articles [ARTICLES] [PAGES] [ROUNDS]`.

Searches among ARTICLES (50,000) that no cache has; a site of PAGES (1,000) on loopback, indexed; cached answers beside the wire's,
ROUNDS (25) times by turns. On SQLite in a temporary directory; with TEST_DATABASE_URL the searches on that Postgres, too.
"""

import datetime as dt
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
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import postgres, report

SEARCHES = 600
VISIT = 0.3  # seconds: short and by turns, so that whatever else the machine does meets both alike
SLUG = "bench"


def main(articles: int = 50_000, pages: int = 1_000, rounds: int = 25) -> None:
    rows = _run("sqlite", articles, pages, rounds)
    if server := postgres.find_server():
        with postgres.temporary_database(server, "bench_articles") as url:
            rows += _run(url, articles, 0, 0)
    table = report.table(("what", "figure"), [(what, figure) for what, figure in rows])
    report.publish("articles", f"python -m benchmarks.articles {articles} {pages} {rounds}", table)


def _run(database: str, articles: int, pages: int, rounds: int) -> list[list[str]]:
    """Return the figures of one database, measured by a process of its own: memory is a process's."""
    with tempfile.TemporaryDirectory() as data:
        url = "" if database == "sqlite" else database
        env = os.environ | {"WIRE_DATA_DIR": data, "DATABASE_URL": url, "WIRE_RATE_LIMIT": "off", "WIRE_FETCH_ALLOW": "127.0.0.0/8"}
        env |= {"DJANGO_SETTINGS_MODULE": "config.settings", "WIRE_VECTORS": "0"}
        command = [sys.executable, "-m", "benchmarks.articles", "--measure", str(articles), str(pages), str(rounds)]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
        found: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
        return found


def measure(articles: int, pages: int, rounds: int) -> Iterator[tuple[str, str]]:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from wire.corpora.articles import queries

    call_command("migrate", verbosity=0)
    on = "Postgres" if connection.vendor == "postgresql" else "SQLite"
    words, dice = _fill(articles), random.Random(9)
    asked = [" ".join(words.draw(dice, dice.choice((1, 2, 3, 4)))) for _ in range(SEARCHES)]
    took = sorted(_milliseconds(partial(queries.search_content, SLUG, query, 20)) for query in asked)
    middle, slow = statistics.median(took), took[int(0.99 * len(took))]
    yield f"search of {articles:,} articles, {on}, not cached", f"median {middle:.1f} ms, p99 {slow:.1f} ms"
    if pages:
        yield from _index_site(pages)
        yield "cached answers a second: a publisher's, the wire's, ratio", _compare_cached_answers(rounds)


def _fill(articles: int) -> Any:
    """Store a publisher with so many articles of nine and 22 words, drawn as in news."""
    from benchmarks.wires import Words
    from wire.corpora.articles import store
    from wire.corpora.articles.models import Publisher

    words, dice, now = Words(), random.Random(5), dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
    home = f"https://{SLUG}.example/"
    consent = {"consent_note": "A benchmark.", "consented_on": now.date()}
    owner = Publisher.objects.create(slug=SLUG, name="Bench", homepage=home, domains=[f"{SLUG}.example"], **consent)
    for start in range(0, articles, store.BATCH):
        batch = []
        for number in range(start, min(start + store.BATCH, articles)):
            title, description = (" ".join(words.draw(dice, length)) for length in (9, 22))
            published = now - dt.timedelta(minutes=dice.randrange(3_000_000)) if number % 50 else None
            url, text = f"{home}{number}", f"{description}.\n\n{title}."
            batch.append(store.ArticleDraft(url, url, title, "A B", published, description, "en", text))
        store.store_drafts(owner, batch, now)
    store.invalidate_caches()
    return words


def _compare_cached_answers(rounds: int) -> str:
    """Ask both servers by turns over HTTP, as agents do: eight connections, the server on a core of its own."""
    from django.core.management import call_command

    from benchmarks.doors import client, servers
    from benchmarks.doors.questions import FIRST_NUMBER, MODERN, tool

    call_command("loadsample", verbosity=0)
    port = servers.free_port()
    own = tool(MODERN, "search-content", query="openai model", limit=5).at(f"/mcp/articles/{SLUG}")
    wires = tool(MODERN, "search_wire", query="robot", limit=5, detail="brief")
    log = Path(os.environ["WIRE_DATA_DIR"]) / "serve.log"
    env = os.environ | {"PORT": str(port), "HOST": servers.HOST, "WIRE_INGEST": "off"}
    command = [sys.executable, str(servers.ROOT / "manage.py"), "serve"]
    rates: list[list[float]] = [[], []]
    with servers.serving("wire", command, env, port, own, log) as server:
        for question in (own, wires):
            if server.ask(question).status != 200:
                raise SystemExit(f"{question.path} was not answered")
        for number in range(rounds):
            for question, found in zip((own, wires), rates, strict=True):
                told = client.run(
                    servers.HOST, port, question.raw(f"{servers.HOST}:{port}"), FIRST_NUMBER + number * 1_000_000, VISIT, 8, None
                )
                if told["failed"]:
                    raise SystemExit(f"{question.path}: {told['failed']} failed")
                found.append(told["requests"] / told["seconds"])
    ratio = statistics.median(one / other for one, other in zip(*rates, strict=True))
    publishers, wire = map(statistics.median, rates)
    return f"{publishers:,.0f}, {wire:,.0f}, {ratio:.2f}"


def _index_site(pages: int) -> Iterator[tuple[str, str]]:
    from tests.feedserver import FeedServer
    from tests.wire.corpora.articles.site import Site, html
    from wire.ingest.feed_entries import get_fetch_policy

    with FeedServer() as server:
        site = Site(server)
        paths = [f"/article-{number}" for number in range(pages)]
        for path in paths:
            server.route(path, body=html(f"Cake {path}", "Stir the flour into the milk. " * 150), content_type="text/html")
        site.sitemap("/sitemap.xml", *map(site.url, paths))
        before = _memory()
        started = time.perf_counter()
        told = site.index(how=replace(get_fetch_policy(), gap=0.0))
        took = time.perf_counter() - started
    live = sum(state == "live" for state in site.articles().values())
    if live != pages:
        raise SystemExit(f"{live} of {pages} pages were stored: {told}")
    yield f"indexing {pages:,} pages of 5 KB from loopback, without pauses", f"{pages / took:,.0f} pages a second"
    yield "memory of the indexing process: before, and at its peak", f"{before:,.0f} MB, {_memory():,.0f} MB"


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _milliseconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(list(measure(*map(int, sys.argv[2:])))))
    else:
        main(*map(int, sys.argv[1:]))
