"""Two followers of a wire whose ingest is killed again and again, one by polling and one by stream, end with what it has."""

import json
import os
import random
import signal
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.feedserver import FeedServer
from tests.wire.archives import own_environment
from tests.wire.intake.test_ingest_killed import KILLS, _served
from tests.wire.newsroom import Newsroom, forks, point_at, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files"),
]


def read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


class Following:
    """The numbers and subjects of every change that came, in order."""

    def __init__(self, base: str) -> None:
        self.base, self.stop = base, threading.Event()
        self.polled: list[tuple[int, str]] = []
        self.streamed: list[tuple[int, str]] = []
        self.threads = [threading.Thread(target=work) for work in (self.poll, self.stream)]

    def poll(self) -> None:
        cursor = ""
        while True:
            is_last = self.stop.is_set()
            page = read(f"{self.base}/api/changes.json?limit=3&wait=1" + (f"&cursor={cursor}" if cursor else ""))
            self.polled += [(change["number"], change["subject"]) for change in page["changes"]]
            cursor = page["next_cursor"]
            if is_last and not page["has_more"]:
                return

    def stream(self) -> None:
        """Broken off every few events, and taken up by Last-Event-ID."""
        chance, seen = random.Random(3), read(f"{self.base}/api/changes.json?limit=1")["next_cursor"]
        first = read(f"{self.base}/api/changes.json?limit=1")["changes"]
        self.streamed += [(change["number"], change["subject"]) for change in first]
        while not self.stop.is_set():
            asked = urllib.request.Request(f"{self.base}/api/stream", headers={"Last-Event-ID": seen})  # noqa: S310
            left = chance.randint(1, 9)
            with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
                at = seen
                for line in answer:
                    if line.startswith(b"id: "):
                        at = line[4:].strip().decode()
                    if line.startswith(b"data: "):
                        change = json.loads(line[6:])
                        self.streamed.append((change["number"], change["subject"]))
                        seen, left = at, left - 1
                    if not left or self.stop.is_set():
                        break

    def __enter__(self) -> "Following":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.threads[0].join()


def test_followers_agree_with_a_wire_whose_ingest_is_killed_fifty_times(tmp_path: Path) -> None:
    newsroom = Newsroom(random.Random(51))
    with FeedServer() as server:
        server.route("/feed.xml", newsroom.answer)
        env = own_environment(tmp_path)
        point_at(server, env)
        with forks(env) as forking:
            assert run(forking) == 0
            with _served(env) as readers, Following(readers.base) as following:
                killed = 0
                while killed < KILLS:
                    newsroom.go_on()
                    killed += run(forking, kill_after=newsroom.chance.uniform(0.0, 1.2)) == -signal.SIGKILL
                newsroom.honest = True
                assert run(forking) == 0
                whole = []
                cursor, more = "", True
                while more:
                    page = read(f"{readers.base}/api/changes.json?limit=500" + (f"&cursor={cursor}" if cursor else ""))
                    whole += [(change["number"], change["subject"]) for change in page["changes"]]
                    cursor, more = page["next_cursor"], page["has_more"]
                following.stop.wait(8)
                streamed = list(following.streamed)
                following.stop.set()
    assert [number for number, _ in whole] == [*range(1, len(whole) + 1)]
    assert following.polled == whole
    assert streamed == whole
