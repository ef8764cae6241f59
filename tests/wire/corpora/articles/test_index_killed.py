"""Indexing that is killed without warning, many times, ends as if nothing had happened."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.examples import KILLS
from tests.feedserver import FeedServer
from tests.wire.archives import MANAGE, own_environment
from tests.wire.corpora.articles.site import html, item, paragraph, rss, urlset
from tests.wire.installation import install_sqlite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3_000),
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files"),
]

FEEDS: Final = 6
ITEMS: Final = 110  # of each feed, more than a batch; every tenth has the address of the one before
HOSTS: Final = 24
PAGES: Final = 96  # over all hosts, of which each is asked once a second
# Everything that is public or decides what becomes public; only times, keys and numbers may differ between two runs.
TABLES: Final = {
    "article": "SELECT key, url, state, title, author, published_at, place, description, language, markdown, content_sha256, "
    "listed_change, failures, error FROM articles_article ORDER BY key",
    "alias": "SELECT l.key, a.key FROM articles_articlealias l JOIN articles_article a ON a.id = l.article_id ORDER BY 1, 2",
    "revision": "SELECT a.key, r.content_sha256 FROM articles_articlerevision r JOIN articles_article a ON a.id = r.article_id",
    "source": "SELECT url, found, refused, failures, error FROM articles_source ORDER BY url",
}
ANSWERS: Final = """
import json
from wire.corpora.articles import queries
def every(ask, *given):
    found, cursor = [], None
    while True:
        page = ask("koogle", *given, cursor)
        found += [(one.url, one.snippet) for one in page.articles]
        cursor = page.next_cursor
        if cursor is None:
            return sorted(found)
print(json.dumps([every(queries.search_content, "dumpling page", 20), every(queries.list_recent, 50)]))
"""


@dataclass(slots=True)
class Wire:
    """A wire of its own, in its own directory."""

    directory: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = own_environment(self.directory) | {"WIRE_FETCH_ALLOW": "127.0.0.0/8"}
        command = [sys.executable, str(MANAGE), *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> str:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.directory / 'wire.sqlite3'}?mode=ro", uri=True, timeout=20)) as database:
            return database.execute(query).fetchall()

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        return {table: self.rows(query) for table, query in TABLES.items()}

    def count_articles(self) -> tuple[int, int]:
        """Of all, and of those whose text was read."""
        ((every, read),) = self.rows("SELECT count(*), coalesce(sum(content_sha256 <> ''), 0) FROM articles_article")
        return every, read


def fill(server: FeedServer) -> None:
    """Feeds with texts, a sitemap whose pages lie on many hosts; a third of the pages names another's address as its own."""
    for name in range(FEEDS):
        items = (
            item(server.url(f"/{name}/{number - (number % 10 == 9)}"), f"Dumpling {name} {number}", paragraph(f"{name} {number}"))
            for number in range(ITEMS)
        )
        server.route(f"/{name}.xml", body=rss(items), content_type="application/rss+xml")
    urls = [server.url(f"/page/{number}", f"127.0.0.{2 + number % HOSTS}") for number in range(PAGES)]
    server.route("/map", body=urlset(urls), content_type="application/xml")
    for number, url in enumerate(urls):
        canonical = f"{url}/moved" if number % 3 == 0 else url
        body = html(f"Page {number}").replace(b"</head>", f'<link rel="canonical" href="{canonical}"></head>'.encode())
        server.route(f"/page/{number}", body=body, content_type="text/html; charset=utf-8")


def kill_once(wire: Wire, server: FeedServer, chance: random.Random) -> None:
    """SIGKILL, after some more articles were stored, or some time after the first request."""
    server.requests.clear()
    _, before = wire.count_articles()
    more, seconds = (chance.randrange(1, 100), 60.0) if chance.random() < 0.5 else (ITEMS * FEEDS, chance.uniform(0, 4))
    with wire.start("publishers", "index", "koogle") as process:
        deadline = time.monotonic() + 120
        while not server.requests:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and process.poll() is None and wire.count_articles()[1] - before < more:
            time.sleep(0.01)
        process.kill()
        process.communicate()


@pytest.mark.usefixtures("django_db_setup")
def test_killed_many_times_while_indexing_nothing_is_lost_and_nothing_doubled(tmp_path: Path, server: FeedServer) -> None:
    fill(server)
    whole = Wire(tmp_path / "whole")
    install_sqlite(whole.directory)
    hosts = [word for number in range(1, HOSTS + 2) for word in ("--domain", f"127.0.0.{number}:{server.port}")]
    sources = [word for name in range(FEEDS) for word in ("--feed", server.url(f"/{name}.xml"))]
    consent = ("--consent-note", "By letter.", "--consented-on", "2026-03-01")
    named = ("--homepage", server.url("/"), *hosts, *sources, "--sitemap", server.url("/map"), *consent)
    whole.run("publishers", "add", "koogle", "Koogle Kitchen", *named)
    blank = shutil.copytree(whole.directory, tmp_path / "blank")
    assert "all pages are read" in whole.run("publishers", "index", "koogle")
    expected = whole.everything()
    total = FEEDS * ITEMS * 9 // 10 + PAGES
    assert len(expected["article"]) == total

    chance, kills, wires, states = random.Random(35), 0, list[Wire](), set[tuple[int, int]]()
    while kills < KILLS:
        killed = Wire(Path(shutil.copytree(blank, tmp_path / f"killed-{len(wires)}")))
        wires.append(killed)
        while kills < KILLS and killed.count_articles() != (total, total):
            kill_once(killed, server, chance)
            kills += 1
            states.add(killed.count_articles())
        assert "all pages are read" in killed.run("publishers", "index", "koogle")
        assert killed.everything() == expected
        numbers = [number for (number,) in killed.rows("SELECT number FROM articles_article ORDER BY number")]
        assert numbers == list(range(total))
        assert killed.rows("SELECT next_number FROM articles_publisher WHERE slug = 'koogle'") == [(total,)]
    assert len(states) > KILLS // 2, states  # they were killed in the midst of it

    refused = {url: json.loads(told) for url, _, told, *_ in expected["source"]}
    assert refused[server.url("/0.xml")]["same address"]["count"] == ITEMS // 10
    answers = json.loads(wires[0].run("shell", "-v", "0", "-c", ANSWERS))
    assert answers == json.loads(whole.run("shell", "-v", "0", "-c", ANSWERS))
    assert [len(listed) for listed in answers] == [total] * 2
    assert not [row for row in wires[0].run("publishers", "index", "koogle").splitlines() if "new" in row or "edited" in row]
