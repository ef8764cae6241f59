"""Many feeds at once: every ask comes out once, nothing piles up, and closing ends it."""

import datetime as dt
import gc
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence

import pytest

from sources.fetch import Ask, HostNote, Unchanged, fetch_all
from tests.feedserver import FeedServer
from tests.sources.fetch.fetching import failed, policy, robots_known


@pytest.mark.slow
def test_every_ask_comes_out_once_as_soon_as_it_is_ready(server: FeedServer) -> None:
    assert list(fetch_all([], policy(), {})) == []
    server.route("/feed.xml", delay=0.5, host="127.0.0.1")
    server.route("/feed.xml")
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n % 20 + 2}")) for n in range(60)] + [Ask(60, "nonsense")]
    found = [ask.key for ask, _ in fetch_all([Ask(61, server.url("/feed.xml")), *asks], policy(), {})]
    assert sorted(found) == list(range(62))
    assert found[0] != 61


def test_a_warm_run_over_24_hosts_asks_each_once_and_waits_for_none(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.route("/feed.xml", etag='"v1"')
    server.route("/robots.txt", body=b"User-agent: *\nDisallow: /x")
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n}"), '"v1"') for n in range(1, 25)]
    hosts: dict[str, HostNote] = {}
    list(fetch_all(asks, policy(), hosts))
    assert {note.robots for note in hosts.values()} == {"User-agent: *\nDisallow: /x"}
    server.requests.clear()
    monkeypatch.setattr("sources.fetch.client._clock", lambda: 1000.0)
    assert all(isinstance(outcome, Unchanged) for _, outcome in fetch_all(asks, policy(gap=100.0), hosts))
    assert [request.path for request in server.requests] == ["/feed.xml"] * 24


def test_closing_ends_what_is_under_way_and_waits_for_no_name_that_hangs(server: FeedServer) -> None:
    answer = threading.Event()

    def resolver(host: str, _port: int) -> Sequence[str]:
        if host == "slow.example":
            answer.wait()  # for ever, if somebody waits for it
        return [host]

    server.route("/feed.xml", host="127.0.0.1")
    server.route("/feed.xml", delay=600.0)
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 24)] + [Ask(24, server.url("/", "slow.example"))]
    run = fetch_all(asks, policy(deadline=600.0), {}, resolver=resolver)
    assert next(run)[0].key == 1
    run.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "fetch"]
    answer.set()


@pytest.mark.slow
def test_closing_while_connections_are_being_opened_leaves_nothing_half_begun(server: FeedServer) -> None:
    """A task that is cancelled before it began leaves a coroutine that nobody awaits, which Python reports whenever it finds it."""
    server.route("/feed.xml")
    urls = [server.url("/feed.xml", f"127.0.0.{n}") for n in range(1, 200)]
    hosts = {url.split("/")[2]: HostNote(robots="", robots_at=dt.datetime.now(dt.UTC)) for url in urls}
    for _ in range(10):
        run = fetch_all([Ask(n, url) for n, url in enumerate(urls)], policy(concurrency=100), hosts)
        next(run)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run.close()
            gc.collect()
        assert [str(warning.message) for warning in told] == []


def test_a_name_that_hangs_is_a_dns_failure() -> None:
    answer = threading.Event()

    def resolver(_host: str, _port: int) -> Sequence[str]:
        answer.wait()
        return []

    assert failed("http://slow.example/", resolver=resolver, connect_timeout=0.2).code == "dns"
    answer.set()


def test_a_failure_of_the_run_itself_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no network at all")

    monkeypatch.setattr("sources.fetch.transport.Network.__init__", broken)
    with pytest.raises(RuntimeError, match="no network at all"):
        list(fetch_all([Ask(1, "http://127.0.0.1/")], policy(), {}))


@pytest.mark.slow
def test_a_slow_caller_slows_the_fetching_down(server: FeedServer) -> None:
    server.route("*")
    hosts = robots_known(*(f"127.0.0.{n}:{server.port}" for n in range(1, 25)))
    run = fetch_all([Ask(n, server.url(f"/{n}.xml", f"127.0.0.{n % 24 + 1}")) for n in range(240)], policy(concurrency=4), hosts)
    next(run)
    time.sleep(0.3)
    assert len(server.requests) <= 1 + 4 + 2 + 1  # taken, under way, ready, and one that was let in
    run.close()


def test_importing_the_package_imports_no_network_library() -> None:
    code = "import sys, sources.fetch; print(sorted({'httpcore2', 'asyncio', 'ssl', 'protego', 'h2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
