"""A cluster under load: its hosts, readers and publisher, the periods in which something was broken, and the verdict at the end."""

import asyncio
import json
import random
import shutil
import statistics
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tests.cluster import network
from tests.cluster.hosts import Cluster, until
from tests.cluster.load import ALLOWED, SHARES, Readers
from tests.faults.soak.outcome import Held, none
from tests.faults.soak.questions import Asked, ask_about
from tests.feedserver import FeedServer
from tests.wire.newsroom import FEEDS, ROWS, Newsroom, point_at

T = TypeVar("T")

CLIENTS: Final = 40
THINK: Final = (0.8, 2.5)  # seconds between two questions of one client
ROUND: Final = 6.0  # seconds between two changes of the feeds
WEBS: Final = ("web-1", "web-2")
DATABASES: Final = ("db-1", "db-2")
CALM: Final = 6.0  # seconds until the next is broken
SAYING: Final = (
    "counts cannot be written",
    "The database cannot be read",
    "Reading from the primary",
    "Service Unavailable",
    "Cancel ",
)
HEADER: Final = ("", "fresh", "stale, marked", "503", "faults", "median, ms", "worst, ms", "fresh again after")


@dataclass(frozen=True, slots=True)
class Period:
    """From when something broke until all had been well for a while. Moments of `time.monotonic()`."""

    name: str
    began: float
    mended: float
    ended: float


@dataclass(slots=True)
class Trial:
    """A cluster with readers and a publisher at work. `is_short` for a continuous integration that has three minutes."""

    is_short: bool
    cluster: Cluster = field(default_factory=lambda: Cluster({"WIRE_VECTORS": "0", "WIRE_FETCH_ALLOW": "127.0.0.0/8"}))
    readers: Readers = field(default_factory=Readers)
    newsroom: Newsroom = field(default_factory=lambda: Newsroom(random.Random(500), honest=True))
    periods: list[Period] = field(default_factory=list)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Build everything; readers read and ingest publishes inside. Raises: TimeoutError with the end of each log."""
        network.build()
        feeds = FeedServer()
        feeds.route("/feed.xml", self.newsroom.answer)
        with network.entered("ingest"):
            feeds.__enter__()
        try:
            await asyncio.to_thread(self._set_up, feeds)
            asked = await asyncio.to_thread(self._find_questions)
            clients = self.readers.readers(CLIENTS, asked, THINK, SHARES)
            async with self.readers.going_on(clients, self.readers.watch_publishing(), self._change_feeds()):
                yield
            await asyncio.to_thread(self.cluster.hosts["ingest"].stop)
            await asyncio.to_thread(self.cluster.manage, "ingest")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.cluster.quote_logs()}\n{self.readers.failed[-5:]}") from error
        finally:
            feeds.__exit__()

    @asynccontextmanager
    async def period(self, name: str) -> AsyncIterator[Callable[[], None]]:
        """Break something inside; call what is given when it is mended. Ends when all is well. Raises: TimeoutError."""
        began, mended = time.monotonic(), list[float]()
        yield lambda: mended.append(time.monotonic())
        await asyncio.sleep(CALM)
        await self._be_well()
        self.periods.append(Period(name, began, mended[0] if mended else began, time.monotonic()))

    def choose(self, whole: float, short: float) -> float:
        return short if self.is_short else whole

    async def do(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.to_thread(work, *arguments)

    async def _be_well(self) -> None:
        """Wait until both web hosts serve, all answers were fresh for two seconds, and a snapshot came. Raises: TimeoutError."""
        began, published = time.monotonic(), len(self.readers.published)

        def is_well() -> bool:
            if not all(self.cluster.is_served(host) for host in WEBS):
                return False
            recent = [one for one in self.readers.seen if one.told > time.monotonic() - 2.0 and one.at > began]
            return len(recent) > 10 and {one.result for one in recent} == {"fresh"} and len(self.readers.published) > published

        await asyncio.to_thread(until, is_well)

    async def _change_feeds(self) -> None:
        while not await self.readers.pause(ROUND):
            self.newsroom.go_on()

    def _set_up(self, feeds: FeedServer) -> None:
        for _ in range(8):  # several days of news
            self.newsroom.go_on()
        cluster = self.cluster
        cluster.start_redis()
        cluster.start_caddy()
        cluster.make_primary("db-1")
        cluster.make_replica("db-2", "db-1")
        cluster.directory("ingest").mkdir()
        point_at(feeds, cluster.environment("ingest", "ingest.conf"))
        cluster.manage("ingest")
        for host in WEBS:
            cluster.directory(host).mkdir()
            shutil.copytree(cluster.directory("ingest") / "keys", cluster.directory(host) / "keys")
            cluster.start_wire(host)
        cluster.start_wire("ingest")

    def _find_questions(self) -> list[Asked]:
        def fetch(path: str) -> Any:
            with urllib.request.urlopen(f"https://{network.PUBLIC}{path}", timeout=10, context=self.readers.tls) as answer:
                return json.load(answer)

        def is_served() -> bool:
            try:
                return bool(fetch("/api/today.json"))
            except OSError:
                return False

        until(is_served)
        return ask_about(fetch("/api/archive.json"), fetch("/api/today.json"))

    def judge(self) -> list[Held]:
        """Return what must hold after all of it."""
        cluster, readers = self.cluster, self.readers
        rows: list[Any] = cluster.ask(cluster.find_primary(), ROWS, database="wire")
        chain = cluster.chain()
        verified = cluster.manage("verifywire", check=False)
        links = {sequence: sha256 for sequence, sha256, _ in chain.links}
        lost = [f"snapshot {one.sequence}" for one in readers.published.values() if links.get(one.sequence) != one.sha256]
        worst, too_old = readers.find_too_old(readers.seen)
        sorts = ", ".join(f"{number:,} {result}" for result, number in Counter(one.result for one in readers.seen).most_common())
        logs = [line for host in (*WEBS, "ingest") for line in list_log_faults(cluster.hosts[host].log.read_text(errors="replace"))]
        words = (verified.stdout + verified.stderr).strip().replace("database: ", "")
        unknown = [fault for fault in readers.checker.against(chain) if not fault.endswith("was never seen")]
        felt = sum(one.result in ("stale", "refused") for one in readers.seen)
        return [
            none("readers get an answer, or a 503 that says when to ask again", readers.failed, f"faults among {sorts}"),
            Held(felt > 0, "readers notice: some answers are marked stale, or 503", f"{felt:,}"),
            none("every body matches its hash and its ETag", readers.checker.wrong, f"of {readers.checker.looked:,}"),
            none(f"no answer is {ALLOWED:.0f} s older than it says", too_old, f"; the worst was {worst:.1f} s older"),
            none("nothing was served that was never published", unknown),
            none("no snapshot that was seen is lost or replaced", lost, f"of {len(readers.published)}"),
            none("no story is lost or duplicated", find_story_faults(rows, self.newsroom), f"of {len({row[0] for row in rows})}"),
            Held(verified.returncode == 0 and chain.is_one, "there is one chain and `verifywire` passes", words),
            none("no other error in the logs of web hosts and ingest", logs),
        ]

    def describe(self, period: Period) -> tuple[str, ...]:
        """Return a row below HEADER."""
        seen = [one for one in self.readers.seen if period.began <= one.told <= period.ended]
        counts = Counter(one.result for one in seen)
        last = max((one.told for one in seen if one.result != "fresh"), default=period.mended)
        times = [1_000 * one.seconds for one in seen]
        numbers = (f"{counts[result]:,}" for result in ("fresh", "stale", "refused", "failed"))
        again = max(0.0, last - period.mended)
        return (period.name, *numbers, f"{statistics.median(times):,.0f}", f"{max(times):,.0f}", f"{again:.1f} s")


def list_log_faults(log: str) -> list[str]:
    """Return the lines of errors, but for those that say what is away."""
    errors = (line for line in log.splitlines() if '"level": "ERROR"' in line or line.startswith("Traceback"))
    return [line for line in errors if not any(f'"message": "{words}' in line for words in SAYING)]


def find_story_faults(rows: Sequence[Any], newsroom: Newsroom) -> list[str]:
    """Return a line for each story that the feeds have and `rows` (ROWS) have not, for each other one, and for what waits."""
    expected = {newsroom.url(feed, number) for feed in range(FEEDS) for number in newsroom.numbers()}
    found = [f"{url} is missing" for url in expected - {row[0] for row in rows}]
    found += [f"{url} is nobody's" for url in {row[0] for row in rows} - expected]
    found += [f"{url} revision {number} waits" for url, number, _, pending, _ in rows if pending]
    current = Counter(row[0] for row in rows if row[4])
    numbers = Counter((row[0], row[1]) for row in rows)
    return (
        found
        + [f"{url} is there {n} times" for url, n in current.items() if n > 1]
        + [f"{key}" for key, n in numbers.items() if n > 1]
    )
