"""One limit for several processes: real limiters over the Redis of the services run, and over ones that do not answer."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Final
from urllib.parse import urlsplit

import pytest
import redis

from config.ratelimit import redis_limiter
from config.ratelimit.limiter import Limiter
from config.ratelimit.redis_limiter import SharedLimiter
from tests.faults.machines import Line

WORKERS: Final = 4
REDIS: Final = os.environ.get("TEST_REDIS_URL", "")


def with_redis(test: object) -> object:
    """For a test that needs the real one."""
    return pytest.mark.services(pytest.mark.skipif(not REDIS, reason="TEST_REDIS_URL is not set")(test))


@contextlib.asynccontextmanager
async def limiters(number: int = WORKERS, *, rate: str = "60/m", address: str = REDIS) -> AsyncIterator[list[SharedLimiter]]:
    """As many processes have them: each with a local count of its own, and one secret, which no other test has."""
    secret = uuid.uuid4().hex
    made = [SharedLimiter(Limiter(rate), address, secret) for _ in range(number)]
    try:
        yield made
    finally:
        for limiter in made:
            await limiter.close()


async def waits(limiters: list[SharedLimiter], requests: int, client: str = "a") -> list[int]:
    """What requests are told that all come at the same time, to each limiter in turn."""
    return await asyncio.gather(*(limiters[number % len(limiters)].count_request(client) for number in range(requests)))


@with_redis
@pytest.mark.parametrize(("rate", "limit", "requests"), [("60/m", 60, 600), ("6000/m", 6_000, 9_000)])
def test_at_the_limit_all_are_refused_and_told_when_to_return(rate: str, limit: int, requests: int) -> None:
    async def scenario() -> None:
        async with limiters(rate=rate) as workers:
            told = await waits(workers, requests)
            assert told.count(0) == limit
            assert all(0 <= wait <= 60 for wait in told)
            assert await waits(workers, 1, "b") == [0]

    asyncio.run(scenario())


@with_redis
def test_whoever_waits_as_long_as_told_is_let_in_by_any_process() -> None:
    async def scenario() -> None:
        async with limiters(rate="5/s") as workers:
            for _ in range(3):
                told = await waits(workers, 30)
                assert told.count(0) == 5
                await asyncio.sleep(max(told))

    asyncio.run(scenario())


@with_redis
def test_any_process_sees_what_still_counts_without_counting() -> None:
    async def scenario() -> None:
        async with limiters(2, rate="3/s") as (one, other):
            assert other.list_request_ages("a") == []
            await one.count_request("a")
            await asyncio.sleep(0.1)
            await waits([one, other], 4)
            for limiter in (one, other, one):
                ages = limiter.list_request_ages("a")
                assert ages == sorted(ages, reverse=True)
                assert [0.1 <= age < 1 for age in ages] == [True, False, False]
            other.uncount_request("a")
            assert len(one.list_request_ages("a")) == 2
            await asyncio.sleep(1)
            assert one.list_request_ages("a") == []

    asyncio.run(scenario())


BUSY: Final = """
local function now() local clock = redis.call('TIME') return clock[1] * 1000000 + clock[2] end
local begun = now()
while now() - begun < 200000 do end
"""


@with_redis
def test_a_stall_of_the_event_loop_lets_in_exactly_as_many() -> None:
    """Redis counts during the stall, and its answer seems to come too late: who is asked about again must not count twice."""
    other = redis.Redis.from_url(REDIS).connection_pool.get_connection()

    async def scenario() -> int:
        async with limiters(1) as (limiter,):
            await limiter.count_request("somebody else")  # so that there is a connection
            other.send_command("EVAL", BUSY, 0)  # type: ignore[no-untyped-call]
            asking = asyncio.ensure_future(waits([limiter], 600))
            await asyncio.sleep(0.1)  # Redis is asked, and is busy
            time.sleep(1.2)
            other.read_response()
            return (await asking).count(0)

    assert [asyncio.run(scenario()) for _ in range(3)] == [60] * 3


@with_redis
def test_a_network_counts_as_256_clients_over_all_processes() -> None:
    async def scenario() -> None:
        async with limiters(2, rate="1/m") as workers:
            asked = [workers[number % 2].count_request(f"client {number}", network="large") for number in range(300)]
            told = await asyncio.gather(*asked)
            assert told.count(0) == 256
            assert all(0 <= wait <= 60 for wait in told)
            assert await workers[0].count_request("client 300", network="elsewhere") == 0

    asyncio.run(scenario())


PROCESS: Final = """
import asyncio, sys
from config.ratelimit.limiter import Limiter
from config.ratelimit.redis_limiter import SharedLimiter

async def main():
    limiter = SharedLimiter(Limiter("60/m"), sys.argv[1], sys.argv[2])
    print("ready", flush=True)
    sys.stdin.readline()
    print([await limiter.count_request("a") for _ in range(150)].count(0))
    await limiter.close()

asyncio.run(main())
"""


@with_redis
def test_of_six_hundred_requests_to_four_processes_sixty_pass() -> None:
    command = [sys.executable, "-c", PROCESS, REDIS, uuid.uuid4().hex]
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            for _ in range(WORKERS)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert sum(int(process.communicate()[0]) for process in processes) == 60


@with_redis
def test_a_try_that_is_given_back_is_free_again_for_every_process() -> None:
    secret = uuid.uuid4().hex
    first, second = (SharedLimiter(Limiter("10/5m"), REDIS, secret) for _ in range(2))
    second.uncount_request("a")  # of nothing
    assert [limiter.count_request_blocking("a") for limiter in (first, second) * 5] == [0] * 10
    assert [299 <= limiter.count_request_blocking("a") <= 300 for limiter in (first, second)] == [True, True]
    for _ in range(3):
        second.uncount_request("a")
    assert [bool(second.count_request_blocking("a")) for _ in range(4)] == [False, False, False, True]
    assert first.count_request_blocking("b") == 0


@with_redis
def test_redis_learns_no_address_and_forgets_who_is_gone() -> None:
    asked = redis.Redis.from_url(REDIS)
    before = set(asked.keys("wire:limit:*"))

    async def scenario() -> None:
        async with limiters(1, rate="5/s") as (limiter,):
            await limiter.count_request("192.0.2.77")
            (key,) = set(asked.keys("wire:limit:*")) - before
            assert b"192.0.2" not in key
            assert 0 < asked.pttl(key) <= 1_000

    asyncio.run(scenario())


@with_redis
def test_a_redis_that_is_back_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    """Until then each process counts alone, and does not begin at nothing."""

    async def scenario() -> None:
        line = Line(urlsplit(REDIS).port or 6379)
        async with limiters(2, address=f"redis://127.0.0.1:{line.port}/0") as (first, second):
            assert (await waits([first], 40)).count(0) == 40
            await asyncio.to_thread(line.cut)
            assert (await waits([first], 30)).count(0) == 20
            assert (await waits([second], 15)).count(0) == 15
            await asyncio.to_thread(line.up)
            assert (await waits([second], 60)).count(0) == 20, "what was counted alone is known to its process only"
        await asyncio.to_thread(line.close)

    asyncio.run(scenario())
    assert [record.message.partition(":")[0] for record in caplog.records if record.name == redis_limiter.__name__] == [
        "Redis does not answer; requests are counted by each process alone"
    ] * 2


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Accepts connections and says nothing, as a frozen Redis does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.fixture
def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.mark.parametrize("where", ["silent_server", "nobody"])
@pytest.mark.slow
def test_without_an_answer_each_process_counts_alone_and_says_so_once(
    where: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(redis_limiter, "PATIENCE", 0.02)

    async def scenario() -> None:
        async with limiters(2, address=request.getfixturevalue(where)) as workers:
            for _ in range(2):
                told = await waits(workers, 600)
            assert told.count(0) == 0
            assert all(0 < wait <= 60 for wait in told)
            assert (await waits(workers, 150, "b")).count(0) == 120
            tries = [workers[0].count_request_blocking("c") for _ in range(61)]
            assert (tries.count(0), bool(tries[-1])) == (60, True)
            workers[0].uncount_request("c")
            assert [bool(workers[0].count_request_blocking("c")) for _ in range(2)] == [False, True]

    asyncio.run(scenario())
    complaints = [record for record in caplog.records if record.name == redis_limiter.__name__]
    assert len(complaints) == 2, "one of each process"


@pytest.mark.slow
def test_who_comes_while_redis_is_silent_does_not_wait_twice(silent_server: str) -> None:
    async def scenario() -> None:
        async with limiters(1, address=silent_server) as (limiter,):
            first = asyncio.ensure_future(limiter.count_request("a"))
            await asyncio.sleep(0.05)
            second = asyncio.ensure_future(limiter.count_request("b"))
            await first
            await asyncio.sleep(0)
            assert second.done()

    asyncio.run(scenario())
