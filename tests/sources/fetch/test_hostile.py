"""Servers that lie, stall, babble or hang up cost one failure each, in bounded time, and hurt nobody else."""

from urllib.parse import quote

import pytest

from sources.fetch import Ask, Failed, Fetched, fetch_all
from tests.feedserver import FeedServer
from tests.sources.fetch.fetching import codes, every, failed, fetched, policy, robots_known

OK = b"HTTP/1.1 200 OK\r\n"
RAW = {
    "nothing": b"",
    "one byte": b"H",
    "not HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "binary": bytes(range(256)) * 40,
    "zeros": b"\0" * 200_000,
    "a page without head": b"<html><body>Hello</body></html>\r\n\r\n",
    **{f"status {status}": b"HTTP/1.1 %b\r\n\r\n" % status.encode() for status in ("OK", "2000 OK", "abc OK")},
    "head without end": OK + b"A: b\r\n",
    "header without colon": OK + b"nonsense\r\n\r\n",
    "header with NUL": OK + b"A: b\0c\r\n\r\n",
    "folded to hide": OK + b"A: b\r\n c\r\nContent-Length: x\r\n\r\n",
    "twenty thousand headers": OK + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\n",
    "a header of a megabyte": OK + b"X: " + b"y" * 1_000_000 + b"\r\n\r\n",
    "a header name of a megabyte": OK + b"y" * 1_000_000 + b": x\r\n\r\n",
    "a status line of a megabyte": b"HTTP/1.1 200 " + b"O" * 1_000_000 + b"\r\n\r\n",
    **{f"length {length}": OK + b"Content-Length: %b\r\n\r\nabc" % length.encode() for length in ("-1", "many", "500")},
    "two lengths": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    **{f"chunk {size}": OK + b"Transfer-Encoding: chunked\r\n\r\n%b\r\nabc\r\n" % size.encode() for size in ("zz", "f" * 100, "3")},
    "unknown transfer coding": OK + b"Transfer-Encoding: gzip\r\n\r\nabc",
    "only interim answers": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50,
    "switching protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
}


@pytest.mark.filterwarnings("error")
def test_what_is_no_complete_http_answer_is_a_broken_answer(server: FeedServer) -> None:
    for name, raw in RAW.items():
        server.route(f"/{quote(name)}", raw=raw)
    server.route("/dropped", drop=True)
    names = [*RAW, "dropped"]
    assert codes({name: server.url(f"/{quote(name)}") for name in names}, deadline=30.0) == every(names, "broken_answer")


def test_a_port_where_nobody_listens_is_a_failure_to_connect() -> None:
    with FeedServer(hosts=1) as server:
        url = server.url("/feed.xml")
    assert failed(url).code == "connect"


@pytest.mark.slow
def test_a_feed_that_drips_or_stops_is_ended_by_the_deadline_and_a_silent_one_by_a_timeout(server: FeedServer) -> None:
    server.route("/feed.xml", drip=1.0, host="127.0.0.1")
    server.route("/feed.xml", body=b"x" * (2 << 20), headers={"Content-Length": str(3 << 20)}, host="127.0.0.2")
    server.route("/feed.xml", delay=30.0, host="127.0.0.3")
    urls = {host: server.url("/feed.xml", host) for host in ("127.0.0.1", "127.0.0.2")}
    assert codes(urls, deadline=0.5, read_timeout=5.0) == every(urls, "too_slow")
    assert failed(server.url("/feed.xml", "127.0.0.3"), read_timeout=0.1).code == "timeout"


@pytest.mark.slow
def test_redirects_that_drip_share_one_deadline(server: FeedServer) -> None:
    for step in range(5):
        server.route(f"/{step}", status=302, headers={"Location": f"/{step + 1}"}, delay=0.15)
    assert failed(server.url("/0"), deadline=0.4).code == "too_slow"
    assert len(server.requests) <= 4  # robots.txt and three steps


@pytest.mark.slow
def test_interim_answers_without_end_are_ended_by_the_deadline(server: FeedServer) -> None:
    server.route("/feed.xml", body=[b"HTTP/1.1 103 Early Hints\r\n\r\n"] * 200, status=103, drip=0.001)
    assert failed(server.url("/feed.xml"), deadline=0.3).code in {"too_slow", "broken_answer"}


@pytest.mark.slow
def test_a_hostile_server_does_not_hold_up_the_others(server: FeedServer) -> None:
    server.route("*")
    server.route("*", host="127.0.0.2", drip=0.1)
    server.route("*", host="127.0.0.3", drop=True)
    server.route("*", host="127.0.0.4", raw=b"\0" * 1000)
    hosts = robots_known(*(f"127.0.0.{n}:{server.port}" for n in range(1, 25)))
    asks = [Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 25)]
    outcomes = {ask.key: outcome for ask, outcome in fetch_all(asks, policy(deadline=0.8), hosts)}
    failures = {key: outcome.code for key, outcome in outcomes.items() if isinstance(outcome, Failed)}
    assert failures == {2: "too_slow", 3: "broken_answer", 4: "broken_answer"}
    assert sum(isinstance(outcome, Fetched) for outcome in outcomes.values()) == 21


def test_a_location_in_any_bytes_harms_nobody(server: FeedServer) -> None:
    server.route("/feed.xml", raw=b"HTTP/1.1 302 F\r\nLocation: /n\xe4u \xf0\x9f\x98\x80.xml\r\nContent-Length: 0\r\n\r\n")
    server.route("*")
    assert fetched(server.url("/feed.xml")).url.isascii()
