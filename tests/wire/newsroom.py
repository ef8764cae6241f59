"""Publishers whose feeds grow, and runs of ingest over them that may be killed; needs no Django in the process that uses it."""

import datetime as dt
import importlib.util
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import IO, Any, Final

from tests.clients.server import ROOT
from tests.feedserver import FeedServer, Reply, Request

FEEDS: Final = 5
FAULTS: Final = 0.3
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

    def whole(self, rows: list[tuple[Any, ...]]) -> bool:
        """Whether `rows` (ROWS) hold every story once, as it was last told, each wording at most once in a row; nothing waits."""
        latest: dict[str, str] = {}
        fits = True
        for url, number, headline, pending, is_current in rows:
            of_story = [row[1] for row in rows if row[0] == url]
            fits &= latest.get(url) != headline and not pending and bool(is_current) == (number == max(of_story))
            fits &= number == sum(1 for one in of_story if one <= number)
            latest[url] = headline
        return fits and latest == {self.url(f, n): self.headline(f, n) for f in range(FEEDS) for n in self.numbers()}


ROWS: Final = (
    "SELECT original_url, revision, headline, pending, current_id = r.id FROM wire_storyrevision r "
    "JOIN wire_story s ON s.id = r.story_id ORDER BY 1, 2"
)
"""Every revision that an installation holds, for `Newsroom.whole`."""


def point_at(server: FeedServer, env: Mapping[str, str]) -> None:
    """Migrate the installation of `env`, and let its roster's first five ask this server and nobody else."""
    script = (
        "from sources.models import Feed, Publication; Feed.objects.all().delete()\n"
        f"for n, p in enumerate(Publication.objects.order_by('seat')[:{FEEDS}], start=1):\n"
        f"    Feed.objects.create(publication=p, feed_type='rss', ai_only=True, url='{server.url('/feed.xml', 'HOST')}'"
        ".replace('HOST', f'127.0.0.{n}'))"
    )
    for arguments in (["migrate", "-v0"], ["shell", "--no-imports", "-c", script]):
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=dict(env), check=True)


@contextmanager
def forks(env: Mapping[str, str], log: IO[bytes] | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A process that forks runs of ingest: see `run`. Its log goes where ours does, or to `log`."""
    command = [sys.executable, "-m", "tests.wire.ingest_forks"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=dict(env), cwd=ROOT, stdin=pipe, stdout=pipe, stderr=log, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def run(forking: "subprocess.Popen[str]", kill_after: float | None = None, *, work: str = "run") -> int:
    """The exit status of one run, or of other `work`; negative is the signal that ended it. `kill_after` is in seconds."""
    assert forking.stdin is not None
    assert forking.stdout is not None
    forking.stdin.write(f"{work}\n")
    forking.stdin.flush()
    pid = int(forking.stdout.readline())
    if kill_after is not None and not select.select([forking.stdout], [], [], kill_after)[0]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return int(forking.stdout.readline())


@lru_cache(maxsize=1)
def verifier() -> ModuleType:
    """docs/verify_day.py, the verifier that is published."""
    spec = importlib.util.spec_from_file_location("verify_day", ROOT / "docs" / "verify_day.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def manifest_of(day: Mapping[str, Any]) -> dict[str, Any]:
    """What a served day's wire_sha256 is the hash of."""
    return {
        "v": 1,
        "wire_date": day["wire_date"],
        "revision": day["provenance"]["revision"],
        "previous_sha256": day["provenance"]["previous_sha256"],
        "roster_sha256": day["source_integrity"]["roster_sha256"],
        "editor_take": day["editor_take"],
        "stories": [{name: story[name] for name in verifier().LINE} for story in day["stories"]],
    }
