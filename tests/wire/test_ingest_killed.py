"""Ingest is killed again and again while its feeds fail at random; in the end nothing is lost, doubled or half done."""

import datetime as dt
import importlib.util
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.feedserver import FeedServer, Reply, Request
from tests.wire.archives import MANAGE, own_environment

pytestmark = pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files")

KILLS: Final = 50
FEEDS: Final = 5
FAULTS: Final = 0.3
ROOT: Final = MANAGE.parent
START: Final = dt.datetime.now(dt.UTC).replace(microsecond=0) - dt.timedelta(hours=6)


@dataclass(slots=True)
class Newsroom:
    """Feeds that grow and are edited with every round, and answer as badly as they like until `honest`."""

    chance: random.Random
    round: int = 0
    honest: bool = False
    edits: dict[tuple[int, int], int] = field(default_factory=dict)

    def headline(self, feed: int, number: int) -> str:
        return f"Model {number} of maker {feed} passes trial {feed * 1000 + number} edition {self.edits.get((feed, number), 0)}"

    def url(self, feed: int, number: int) -> str:
        return f"https://publisher-{feed}.example/{number}"

    def numbers(self) -> range:
        return range(3 + self.round)

    def go_on(self) -> None:
        self.round += 1
        for feed in range(FEEDS):
            place = (feed, self.chance.randrange(3 + self.round))
            self.edits[place] = self.edits.get(place, 0) + 1

    def answer(self, request: Request) -> Reply:
        feed = int(request.host.rpartition(".")[2]) - 1
        rows = "".join(
            f"<item><title>{self.headline(feed, n)}</title><link>{self.url(feed, n)}</link><guid>{n}</guid>"
            f"<pubDate>{START - dt.timedelta(hours=n % 40):%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
            for n in self.numbers()
        )
        body = f"<rss version='2.0'><channel><title>Feed {feed}</title>{rows}</channel></rss>".encode()
        if self.honest or self.chance.random() > FAULTS:
            return Reply(body=body, etag=f'"{hash(body)}"')
        faults = (
            Reply(status=503),
            Reply(status=500),
            Reply(drop=True),
            Reply(body=body, cut=len(body) // 2),
            Reply(body=body[: len(body) // 2]),
            Reply(body=b"<html>moved</html>", content_type="text/html"),
            Reply(body=b"<rss><channel></channel></rss>"),
            Reply(body=body, delay=0.3),
        )
        return self.chance.choice(faults)


@dataclass(slots=True)
class Readers:
    """Somebody who reads the served day all the while and checks its hashes with the verifier that is published."""

    base: str
    verifier: ModuleType
    checked: int = 0
    wrong: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        while not self.stop.wait(0.05):
            try:
                with urllib.request.urlopen(f"{self.base}/api/today.json", timeout=20) as answer:  # noqa: S310
                    self.check(json.load(answer))
            except urllib.error.HTTPError as error:
                if error.code != 503 or self.checked:  # nothing is published yet
                    self.wrong.append(f"HTTP {error.code}")

    def check(self, day: dict[str, Any]) -> None:
        for story in day["stories"]:
            content = {"v": 1, **{name: story[name] for name in self.verifier.CONTENT}}
            if self.verifier.sha256(content) != story["story_sha256"]:
                self.wrong.append(story["chatbotnews_id"])
        manifest = {
            "v": 1,
            "wire_date": day["wire_date"],
            "revision": day["provenance"]["revision"],
            "previous_sha256": day["provenance"]["previous_sha256"],
            "roster_sha256": day["source_integrity"]["roster_sha256"],
            "editor_take": day["editor_take"],
            "stories": [{name: story[name] for name in self.verifier.LINE} for story in day["stories"]],
        }
        if self.verifier.sha256(manifest) != day["provenance"]["wire_sha256"]:
            self.wrong.append(f"{day['wire_date']} revision {day['provenance']['revision']}")
        self.checked += 1


def test_fifty_kills_and_failing_feeds_lose_and_double_nothing(tmp_path: Path) -> None:
    newsroom = Newsroom(random.Random(50))
    with FeedServer() as server:
        server.route("/feed.xml", newsroom.answer)
        env = own_environment(tmp_path)
        _point_at(env, server)
        with _served(env) as readers, _forks(env) as forks:
            assert _run(forks) == 0
            killed = 0
            while killed < KILLS:
                newsroom.go_on()
                killed += _run(forks, kill_after=newsroom.chance.uniform(0.0, 1.2)) == -signal.SIGKILL
            newsroom.honest = True
            assert _run(forks) == 0
            before = _rows(tmp_path)
            assert _run(forks) == 0
    assert _rows(tmp_path) == before
    assert readers.checked > 10
    assert readers.wrong == []
    _is_whole(before, newsroom)
    verified = subprocess.run([sys.executable, str(MANAGE), "verifywire"], env=env, capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _is_whole(rows: list[tuple[Any, ...]], newsroom: Newsroom) -> None:
    """Every story once, as it was last told, with each wording at most once in a row; nothing waits."""
    latest: dict[str, str] = {}
    for url, number, headline, pending, is_current in rows:
        assert latest.get(url) != headline
        assert number == sum(1 for row in rows if row[0] == url and row[1] <= number)
        assert not pending
        latest[url] = headline
        assert bool(is_current) == (number == max(row[1] for row in rows if row[0] == url))
    told = {newsroom.url(f, n): newsroom.headline(f, n) for f in range(FEEDS) for n in newsroom.numbers()}
    assert latest == told


def _rows(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "wire.sqlite3")) as connection:
        return connection.execute(
            "SELECT original_url, revision, headline, pending, current_id = r.id FROM wire_storyrevision r "
            "JOIN wire_story s ON s.id = r.story_id ORDER BY 1, 2"
        ).fetchall()


def _run(forks: "subprocess.Popen[str]", kill_after: float | None = None) -> int:
    """One run's exit status; negative is the signal that ended it."""
    assert forks.stdin is not None
    assert forks.stdout is not None
    forks.stdin.write("run\n")
    forks.stdin.flush()
    pid = int(forks.stdout.readline())
    if kill_after is not None:
        time.sleep(kill_after)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return int(forks.stdout.readline())


def _point_at(env: dict[str, str], server: FeedServer) -> None:
    script = (
        "from sources.models import Feed, Publication; Feed.objects.all().delete()\n"
        f"for n, p in enumerate(Publication.objects.order_by('seat')[:{FEEDS}], start=1):\n"
        f"    Feed.objects.create(publication=p, feed_type='rss', ai_only=True, url='{server.url('/feed.xml', 'HOST')}'"
        ".replace('HOST', f'127.0.0.{n}'))"
    )
    for arguments in (["migrate", "-v0"], ["shell", "--no-imports", "-c", script]):
        subprocess.run([sys.executable, str(MANAGE), *arguments], env=env, check=True)


@contextmanager
def _forks(env: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.wire.ingest_forks"]
    with subprocess.Popen(command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _served(env: dict[str, str]) -> Iterator[Readers]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spec = importlib.util.spec_from_file_location("verify_day", ROOT / "docs" / "verify_day.py")
    assert spec is not None
    assert spec.loader is not None
    verifier = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verifier)
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(port), "--log-level", "error"]
    with subprocess.Popen(command, env=env | {"WIRE_RATE_LIMIT": "off"}, cwd=ROOT) as process:
        readers = Readers(f"http://127.0.0.1:{port}", verifier)
        _wait_for(f"{readers.base}/healthz")
        reading = threading.Thread(target=readers.read)
        reading.start()
        try:
            yield readers
        finally:
            readers.stop.set()
            reading.join()
            process.terminate()


def _wait_for(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} never answered")
