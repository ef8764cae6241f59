"""Ingest is killed again and again while its feeds fail at random; in the end nothing is lost, doubled or half done."""

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
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import ROOT
from tests.examples import KILLS
from tests.feedserver import FeedServer
from tests.wire.archives import MANAGE, own_environment
from tests.wire.installation import install_sqlite
from tests.wire.newsroom import ROWS, Newsroom, forks, manifest_of, point_at, run, verifier

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files"),
]


@dataclass(slots=True)
class Readers:
    """Somebody who reads the served day all the while and checks its hashes with the verifier that is published."""

    base: str
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
        check = verifier()
        for story in day["stories"]:
            if check.sha256({"v": 1, **{name: story[name] for name in check.CONTENT}}) != story["story_sha256"]:
                self.wrong.append(story["chatbotnews_id"])
        if check.sha256(manifest_of(day)) != day["provenance"]["wire_sha256"]:
            self.wrong.append(f"{day['wire_date']} revision {day['provenance']['revision']}")
        self.checked += 1


@pytest.mark.usefixtures("django_db_setup")
def test_kills_and_failing_feeds_lose_and_double_nothing(tmp_path: Path) -> None:
    newsroom = Newsroom(random.Random(50))
    with FeedServer() as server:
        server.route("/feed.xml", newsroom.answer)
        env = own_environment(tmp_path)
        install_sqlite(tmp_path)
        point_at(server, env)
        with _served(env) as readers, forks(env) as forking:
            assert run(forking) == 0
            killed = 0
            while killed < KILLS:
                newsroom.go_on()
                killed += run(forking, kill_after=newsroom.chance.uniform(0.0, 1.2)) == -signal.SIGKILL
            newsroom.honest = True
            assert run(forking) == 0
            before = _rows(tmp_path)
            assert run(forking) == 0
    assert _rows(tmp_path) == before
    assert readers.checked > 10
    assert readers.wrong == []
    assert newsroom.whole(before)
    verified = subprocess.run([sys.executable, str(MANAGE), "verifywire"], env=env, capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _rows(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "wire.sqlite3")) as connection:
        return connection.execute(ROWS).fetchall()


@contextmanager
def _served(env: dict[str, str]) -> Iterator[Readers]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(port), "--log-level", "error"]
    with subprocess.Popen(command, env=env | {"WIRE_RATE_LIMIT": "off"}, cwd=ROOT) as process:
        readers = Readers(f"http://127.0.0.1:{port}")
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
