"""Two clients of a served wire that keep copies of it, by its log of changes alone: one polls, one listens to the stream."""

import json
import random
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final

from tests.clients.server import ROOT

PAGE: Final = 3
LONGEST_STREAM: Final = 9  # events until a client breaks its stream off, at most

Seen = tuple[int, str, str]
"""A change's number, kind and subject."""


def read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


@dataclass(slots=True)
class Copy:
    """The state of a client: each change that came, in order, and each story as it was read when the log last named it."""

    base: str
    changes: list[Seen] = field(default_factory=list)
    stories: dict[str, dict[str, Any]] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=dict)

    def take(self, change: dict[str, Any]) -> None:
        kind, subject = change["kind"], change["subject"]
        self.changes.append((change["number"], kind, subject))
        if kind.startswith("story_"):
            self.stories[subject] = read(f"{self.base}/api/stories/{subject}.json")
        elif kind == "day_published":
            self.days[subject] = change["revision"]


class Following:
    """Both at work, from `with` on. `wait_for` lets them come to the end of the log; what stopped one is raised at the end."""

    def __init__(self, base: str) -> None:
        self._base, self._stop = base, threading.Event()
        self.polled, self.streamed = Copy(base), Copy(base)
        self._broken: list[BaseException] = []
        self._threads = [threading.Thread(target=self._work, args=(work,), daemon=True) for work in (self._poll, self._listen)]

    def wait_for(self, number: int, seconds: float) -> None:
        """Until both have seen change `number`, or so many seconds have passed."""
        for _ in range(round(seconds * 10)):
            if all(copy.changes and copy.changes[-1][0] >= number for copy in (self.polled, self.streamed)) or self._broken:
                return
            self._stop.wait(0.1)

    def __enter__(self) -> "Following":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._threads[0].join(60)
        if self._broken and error is None:
            raise self._broken[0]

    def _work(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            if not self._stop.is_set():
                self._broken.append(error)

    def _page(self, cursor: str, limit: int, wait: int = 0) -> Any:
        return read(
            f"{self._base}/api/changes.json?limit={limit}&wait={wait}&{f'cursor={cursor}' if cursor else 'since=1970-01-01'}"
        )

    def _poll(self) -> None:
        cursor = ""
        while not self._stop.is_set():
            page = self._page(cursor, PAGE, wait=1)
            for change in page["changes"]:
                self.polled.take(change)
            cursor = page["next_cursor"]

    def _listen(self) -> None:
        """A stream that is broken off every few events, and taken up by Last-Event-ID."""
        chance = random.Random(3)
        first = self._page("", 1)
        for change in first["changes"]:
            self.streamed.take(change)
        seen = first["next_cursor"]
        while not self._stop.is_set():
            asked = urllib.request.Request(f"{self._base}/api/stream", headers={"Last-Event-ID": seen})  # noqa: S310
            left, at = chance.randint(1, LONGEST_STREAM), seen
            with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
                for line in answer:
                    if line.startswith(b"id: "):
                        at = line[4:].strip().decode()
                    if line.startswith(b"data: "):
                        self.streamed.take(json.loads(line[6:]))
                        seen, left = at, left - 1
                    if not left or self._stop.is_set():
                        break


def in_the_database(env: Mapping[str, str]) -> tuple[list[Seen], dict[str, dict[str, Any]]]:
    """Return every change, and every published story as it is shown: of the installation of `env`, from the database itself."""
    script = (
        "import django, json; django.setup()\n"
        "from tests.wire.changes.follower import changes, database\n"
        "print(json.dumps([changes(), database()]))"
    )
    command = [sys.executable, "-c", script]
    told = subprocess.run(command, cwd=ROOT, env=dict(env), stdout=subprocess.PIPE, text=True, check=True).stdout
    changes, stories = json.loads(told)
    return [(number, kind, subject) for number, kind, subject in changes], stories
