"""The limit of a client over several workers: real limiters over a real store, with a clock that tests turn where time matters."""

import asyncio
import contextlib
import os
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from config import limit, shared_limit
from config.limit import Limiter
from config.limit_redis import RedisStore
from config.limit_sqlite import SQLiteStore
from config.shared_limit import Grant, SharedLimiter, SharedTries, Store
from tests.config.test_limit import Clock

WORKERS: Final = 4
REDIS: Final = os.environ.get("TEST_REDIS_URL", "")
redis_too = pytest.mark.parametrize(
    "kind",
    [
        "sqlite",
        pytest.param("redis", marks=[pytest.mark.services, pytest.mark.skipif(not REDIS, reason="TEST_REDIS_URL is not set")]),
    ],
)


@contextlib.asynccontextmanager
async def running(
    *stores: Store, rate: str = "60/m", clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[list[SharedLimiter]]:
    """A worker for each store, met with it unless it is away."""
    secret = uuid.uuid4().hex
    workers = [SharedLimiter(Limiter(rate, clock), store, secret, clock) for store in stores]
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    for worker in workers:
        await worker.tried.wait()
    yield workers
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def stores(kind: str, directory: Path, rate: str = "60/m", clock: Callable[[], float] = time.monotonic) -> list[Store]:
    limiter = Limiter(rate, clock)
    if kind == "redis":
        return [RedisStore(limiter, REDIS) for _ in range(WORKERS)]
    return [SQLiteStore(limiter, directory / "limit.sqlite3", clock) for _ in range(WORKERS)]


def test_of_six_hundred_in_a_minute_sixty_pass_whichever_worker_they_meet(tmp_path: Path) -> None:
    async def passed(choose: Callable[[int], int]) -> int:
        clock = Clock()
        async with running(*stores("sqlite", tmp_path, clock=clock), clock=clock) as workers:
            count = 0
            for number in range(600):
                count += not await workers[choose(number)].wait("a")
                clock.now += 0.1
            return count

    dice = random.Random(7)
    assert asyncio.run(passed(lambda number: number % WORKERS)) == 60
    assert asyncio.run(passed(lambda _: 2)) == 60
    assert asyncio.run(passed(lambda _: dice.randrange(WORKERS))) == 60


@redis_too
def test_of_six_hundred_at_once_sixty_pass_and_all_others_are_told_when_to_return(kind: str, tmp_path: Path) -> None:
    async def answers() -> list[int]:
        async with running(*stores(kind, tmp_path)) as workers:
            return await asyncio.gather(*(workers[number % WORKERS].wait("a") for number in range(600)))

    said = asyncio.run(answers())
    assert said.count(0) == 60
    assert {wait for wait in said if wait} == {60}


def test_workers_that_start_at_once_all_count_in_a_store_that_was_not_there(tmp_path: Path) -> None:
    for number in range(50):
        started, beginning = stores("sqlite", tmp_path / str(number)), threading.Barrier(WORKERS)

        def take(store: Store, beginning: threading.Barrier = beginning) -> int:
            beginning.wait()
            return store.take({"a": 30})[0].requests

        with ThreadPoolExecutor(WORKERS) as pool:
            assert sum(pool.map(take, started)) == 60
        for store in started:
            store.close()


@redis_too
def test_a_high_limit_is_shared_as_well(kind: str, tmp_path: Path) -> None:
    async def passed() -> int:
        async with running(*stores(kind, tmp_path, "6000/m"), rate="6000/m") as workers:
            return (await asyncio.gather(*(workers[number % WORKERS].wait("a") for number in range(9_000)))).count(0)

    assert asyncio.run(passed()) == 6_000


def test_no_minute_ever_has_more_than_sixty_over_all_workers(tmp_path: Path) -> None:
    async def served() -> list[float]:
        clock, dice, times = Clock(), random.Random(7), []
        async with running(*stores("sqlite", tmp_path, clock=clock), clock=clock) as workers:
            for _ in range(1_500):
                clock.now += dice.choice((0, 0, 0.01, 0.5, 2, 20))
                if not await dice.choice(workers).wait("a"):
                    times.append(clock.now)
        return times

    times = asyncio.run(served())
    assert len(times) > 300
    assert all(later - first >= 60 for first, later in zip(times, times[60:], strict=False))


def test_whoever_waits_as_long_as_told_is_let_in_by_any_worker(tmp_path: Path) -> None:
    async def refused(trials: int) -> int:
        clock, dice, failed = Clock(), random.Random(7), 0
        async with running(*stores("sqlite", tmp_path, "5/m", clock), rate="5/m", clock=clock) as workers:
            while trials:
                clock.now += dice.expovariate(1)
                wait = await dice.choice(workers).wait("a")
                if wait:
                    clock.now += wait
                    failed += bool(await dice.choice(workers).wait("a"))
                    trials -= 1
        return failed

    assert asyncio.run(refused(10_000)) == 0


@redis_too
def test_in_real_time_too(kind: str, tmp_path: Path) -> None:
    async def refused() -> list[int]:
        async with running(*stores(kind, tmp_path, "20/s"), rate="20/s") as workers:
            waits = await asyncio.gather(*(workers[number % WORKERS].wait("a") for number in range(100)))
            await asyncio.sleep(max(waits))
            return [await worker.wait("a") for worker in workers]

    assert asyncio.run(refused()) == [0] * WORKERS


def test_strangers_push_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "MOST_CLIENTS", 100)

    async def play() -> None:
        clock = Clock()
        async with running(*stores("sqlite", tmp_path, clock=clock), clock=clock) as workers:
            assert [await workers[0].wait("victim") for _ in range(60)] == [0] * 60
            assert await workers[1].wait("victim") == 60
            for stranger in range(400):
                await workers[stranger % 2].wait(f"stranger {stranger}")
            assert [await worker.wait("victim") for worker in workers] == [60] * WORKERS
            assert all(len(worker._local._clients) <= 101 and len(worker._closed_until) <= 101 for worker in workers)

    asyncio.run(play())


def test_it_keeps_no_address(tmp_path: Path) -> None:
    async def kept() -> bytes:
        async with running(*stores("sqlite", tmp_path)) as workers:
            await workers[0].wait("192.0.2.77")
            return b"".join(file.read_bytes() for file in tmp_path.iterdir())

    written = asyncio.run(kept())
    assert written
    assert b"192.0.2.77" not in written


def test_nobody_is_left_waiting_when_it_ends(tmp_path: Path) -> None:
    async def end() -> list[int]:
        async with running(*stores("sqlite", tmp_path)) as (worker, *_):
            asking = [asyncio.ensure_future(worker.wait("a")) for _ in range(70)]
            await asyncio.sleep(0)
        return await asyncio.wait_for(asyncio.gather(*asking), 1)

    assert asyncio.run(end()).count(0) == 60


PROCESS: Final = """
import asyncio, sys
from pathlib import Path
from config.limit import Limiter
from config.limit_sqlite import SQLiteStore
from config.shared_limit import SharedLimiter

async def main():
    limiter = Limiter("60/m")
    shared = SharedLimiter(limiter, SQLiteStore(limiter, Path(sys.argv[1])), "secret")
    task = asyncio.create_task(shared.run())
    await shared.tried.wait()
    print("ready", flush=True)
    sys.stdin.readline()
    print([await shared.wait("a") for _ in range(150)].count(0))
    task.cancel()

asyncio.run(main())
"""


def test_four_processes_let_sixty_pass(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROCESS, str(tmp_path / "limit.sqlite3")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(subprocess.Popen(command, **pipes)) for _ in range(WORKERS)]  # type: ignore[call-overload]
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        passed = [int(process.stdout.readline()) for process in processes]
    assert sum(passed) == 60


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Takes connections and says nothing: what a frozen Redis looks like."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.fixture
def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.mark.parametrize("where", ["silent_server", "nobody"])
def test_a_redis_that_is_away_makes_nobody_wait_and_is_reported_once(
    where: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shared_limit, "RETRY", 0.02)
    faults = shared_limit.faults["Redis"]

    async def play() -> tuple[int, float]:
        async with running(RedisStore(Limiter("60/m"), request.getfixturevalue(where))) as (worker,):
            began = time.perf_counter()
            passed = [await worker.wait("a") for _ in range(600)].count(0)
            took = time.perf_counter() - began
            await asyncio.sleep(0.2)
            return passed, took

    passed, took = asyncio.run(play())
    assert passed == 60
    assert took < 0.05
    assert [record.message.partition(":")[0] for record in caplog.records if record.name == shared_limit.__name__] == [
        "each worker counts the limit alone, since Redis is away"
    ]
    assert shared_limit.faults["Redis"] >= faults + 2


@pytest.mark.parametrize("steps", range(5))
def test_it_ends_however_close_the_end_and_the_stores_answer_are(tmp_path: Path, steps: int) -> None:
    asked, released = threading.Event(), threading.Event()

    class Slow(SQLiteStore):
        def take(self, asked_for: Mapping[str, int]) -> list[Grant]:
            asked.set()
            released.wait()
            raise sqlite3.OperationalError(f"locked for {asked_for}")

    async def play() -> None:
        limiter = Limiter("60/m")
        running = asyncio.create_task(SharedLimiter(limiter, Slow(limiter, tmp_path / "limit.sqlite3"), "secret").run())
        await asyncio.to_thread(asked.wait)
        released.set()
        time.sleep(0.05)  # the answer is there, and the loop does not know it yet
        for _ in range(steps):
            await asyncio.sleep(0)
        running.cancel()
        ended, _ = await asyncio.wait([running], timeout=2)
        assert ended == {running}

    asyncio.run(play())


def test_one_that_hangs_costs_one_pause_and_counting_together_goes_on_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shared_limit, "RETRY", 0.05)
    monkeypatch.setattr(SQLiteStore, "patience", 0.05)

    async def play() -> tuple[float, int, int]:
        clock = Clock()
        async with running(*stores("sqlite", tmp_path, clock=clock), clock=clock) as (first, second, *_):
            assert [await first.wait("a") for _ in range(40)] == [0] * 40
            with contextlib.closing(sqlite3.connect(tmp_path / "limit.sqlite3", isolation_level=None)) as blocking:
                blocking.execute("BEGIN IMMEDIATE")
                began = time.perf_counter()
                alone = [await first.wait("a") for _ in range(40)].count(0)
                took = time.perf_counter() - began
            while first.away:
                await asyncio.sleep(0.01)
            return took, alone, [await second.wait("a") for _ in range(40)].count(0)

    took, alone, together = asyncio.run(play())
    assert took < 0.2
    assert (alone, together) == (20, 20)
    assert [record.message for record in caplog.records][-1] == "SQLite is back: the limit is counted together again"


@redis_too
def test_tries_are_counted_together_and_those_given_back_are_free_again(kind: str, tmp_path: Path) -> None:
    secret = uuid.uuid4().hex
    first, second, *_ = (SharedTries(Limiter("10/5m"), store, secret) for store in stores(kind, tmp_path, "10/5m"))
    second.give_back("a")  # of nothing
    assert [tries.wait("a") for tries in (first, second) * 5] == [0] * 10
    assert [300 <= tries.wait("a") <= 301 for tries in (first, second)] == [True, True]
    for _ in range(3):
        second.give_back("a")
    assert [bool(tries.wait("a")) for tries in (first, second, first, second)] == [False, False, False, True]
    assert first.wait("b") == 0


def test_tries_are_counted_alone_while_the_store_is_away(nobody: str, caplog: pytest.LogCaptureFixture) -> None:
    limiter = Limiter("10/5m")
    tries = SharedTries(limiter, RedisStore(limiter, nobody), "secret")
    assert [bool(tries.wait("a")) for _ in range(12)] == [False] * 10 + [True] * 2
    tries.give_back("a")
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "each process counts tries alone, since Redis is away"
    ]
