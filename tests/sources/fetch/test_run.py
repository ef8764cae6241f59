"""Many feeds at once: every ask comes out once, nothing piles up, and closing ends it."""

import gc
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from sources.fetch import Ask, Failed, Fetched, HostNote, Unchanged, fetch_all
from tests.feedserver import FeedServer
from tests.sources.fetch.fetching import failed, policy, robots_known

MB = 1 << 20


@contextmanager
def serving(directory: Path, *options: str) -> Iterator[int]:
    """The port of a feed server in a process of its own, so that its memory is not counted here."""
    command = [sys.executable, "-m", "tests.feedserver", str(directory), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def test_nothing_asked_is_nothing_answered() -> None:
    assert list(fetch_all([], policy(), {})) == []


def test_every_ask_comes_out_once(server: FeedServer) -> None:
    server.route("/feed.xml")
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n % 20 + 1}")) for n in range(60)] + [Ask(60, "nonsense")]
    assert sorted(ask.key for ask, _ in fetch_all(asks, policy(), {})) == list(range(61))


def test_outcomes_come_as_they_are_ready(server: FeedServer) -> None:
    server.route("/feed.xml", delay=0.4, host="127.0.0.1")
    server.route("/feed.xml")
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in (1, 2)]
    assert [ask.key for ask, _ in fetch_all(asks, policy(), {})] == [2, 1]


def test_a_warm_run_over_24_hosts_is_quick(server: FeedServer) -> None:
    server.route("/feed.xml", etag='"v1"')
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n}"), '"v1"') for n in range(1, 25)]
    hosts = robots_known(*(f"127.0.0.{n}:{server.port}" for n in range(1, 25)))
    list(fetch_all(asks, policy(gap=1.0), hosts))
    started = time.process_time()
    assert all(isinstance(outcome, Unchanged) for _, outcome in fetch_all(asks, policy(gap=1.0), hosts))
    assert time.process_time() - started < 0.4


def test_hosts_are_noted_for_the_next_run(server: FeedServer) -> None:
    server.route("/feed.xml")
    server.route("/robots.txt", body=b"User-agent: *\nDisallow: /x")
    hosts: dict[str, HostNote] = {}
    list(fetch_all([Ask(1, server.url("/feed.xml"))], policy(), hosts))
    assert list(hosts) == [f"127.0.0.1:{server.port}"]
    assert hosts[f"127.0.0.1:{server.port}"].robots == "User-agent: *\nDisallow: /x"
    list(fetch_all([Ask(1, server.url("/feed.xml"))], policy(), hosts))
    assert len(server.seen("/robots.txt")) == 1


def test_closing_ends_what_is_under_way(server: FeedServer) -> None:
    server.route("/feed.xml", host="127.0.0.1")
    server.route("/feed.xml", delay=30.0)
    run = fetch_all([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 25)], policy(deadline=60.0), {})
    assert next(run)[0].key == 1
    started = time.monotonic()
    run.close()
    assert time.monotonic() - started < 1.0
    assert not [thread for thread in threading.enumerate() if thread.name == "fetch"]


def test_closing_does_not_wait_for_a_name_that_hangs(server: FeedServer) -> None:
    answer = threading.Event()

    def resolver(_host: str, _port: int) -> Sequence[str]:
        answer.wait(10)
        return ["127.0.0.1"]

    server.route("/feed.xml")
    asks = [Ask(1, server.url("/feed.xml")), Ask(2, server.url("/feed.xml", "slow.example"))]
    run = fetch_all(asks, policy(), {}, resolver=resolver)
    next(run)
    started = time.monotonic()
    run.close()
    assert time.monotonic() - started < 1.0
    answer.set()


def test_a_name_that_hangs_is_a_dns_failure_in_time() -> None:
    answer = threading.Event()

    def resolver(_host: str, _port: int) -> Sequence[str]:
        answer.wait(10)
        return []

    started = time.monotonic()
    assert failed("http://slow.example/", resolver=resolver, connect_timeout=0.2).code == "dns"
    assert time.monotonic() - started < 1.0
    answer.set()


def test_a_failure_of_the_run_itself_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no network at all")

    monkeypatch.setattr("sources.fetch.transport.Network.__init__", broken)
    with pytest.raises(RuntimeError, match="no network at all"):
        list(fetch_all([Ask(1, "http://127.0.0.1/")], policy(), {}))


def test_a_slow_caller_slows_the_fetching_down(server: FeedServer) -> None:
    server.route("*")
    hosts = robots_known(*(f"127.0.0.{n}:{server.port}" for n in range(1, 25)))
    asks = [Ask(n, server.url(f"/{n}.xml", f"127.0.0.{n % 24 + 1}")) for n in range(240)]
    run = fetch_all(asks, policy(concurrency=4), hosts)
    next(run)
    time.sleep(0.5)
    assert len(server.requests) <= 1 + 4 + 2 + 1  # taken, under way, ready, and one that was let in
    run.close()


def test_big_bodies_do_not_pile_up_behind_a_slow_caller(tmp_path: Path) -> None:
    (tmp_path / "feed.xml").write_bytes(b"x" * (4 * MB))
    with serving(tmp_path) as port:
        asks = [Ask(n, f"http://127.0.0.{n}:{port}/feed.xml") for n in range(1, 25)]
        gc.collect()
        tracemalloc.start()
        try:
            for _, outcome in fetch_all(asks, policy(), {}):
                assert isinstance(outcome, Fetched), outcome
                time.sleep(0.02)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 70 * MB  # all 24 at once: 96 MB and more


def test_the_server_fails_at_random_as_told(tmp_path: Path) -> None:
    (tmp_path / "feed.xml").write_bytes(b"<rss/>" * 1000)
    with serving(tmp_path, "--faults", "0.5", "--seed", "1") as port:
        asks = [Ask(n, f"http://127.0.0.{n}:{port}/feed.xml") for n in range(1, 31)]
        outcomes = [outcome for _, outcome in fetch_all(asks, policy(), {})]
    assert any(isinstance(outcome, Fetched) for outcome in outcomes)
    assert len({outcome.code for outcome in outcomes if isinstance(outcome, Failed)}) >= 2


def test_importing_the_package_imports_no_network_library() -> None:
    code = "import sys, sources.fetch; print(sorted({'httpcore2', 'asyncio', 'ssl', 'protego', 'h2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
