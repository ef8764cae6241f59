"""One request at a time, a pause after each, and robots.txt (RFC 9309) before all."""

import datetime as dt
import time
from itertools import pairwise
from typing import Any

import pytest

from sources.fetch import Ask, Fetched, HostNote, Outcome, fetch_all
from sources.fetch.outcome import LONGEST_WAIT
from sources.fetch.robots import Rules
from tests.feedserver import FeedServer, Reply, Request
from tests.sources.fetch.fetching import failed, fetched, policy, robots_known

ROBOTS = "/robots.txt"


def _run(asks: list[Ask], hosts: dict[str, HostNote] | None = None, **changes: Any) -> dict[int, Outcome]:
    return {ask.key: outcome for ask, outcome in fetch_all(asks, policy(**changes), {} if hosts is None else hosts)}


def _text(server: FeedServer, text: str, **reply: Any) -> None:
    server.route(ROBOTS, body=text.encode(), content_type="text/plain", **reply)


def test_one_host_is_asked_one_request_at_a_time_with_a_pause_after_each(server: FeedServer) -> None:
    server.route("*", delay=0.05)
    outcomes = _run([Ask(n, server.url(f"/{n}.xml")) for n in range(3)], gap=0.1)
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values())
    assert [request.path for request in server.requests] == [ROBOTS, "/0.xml", "/1.xml", "/2.xml"]
    pauses = [later.at - sooner.ended for sooner, later in pairwise(server.requests)]
    assert all(pause >= 0.095 for pause in pauses), pauses


def test_a_redirect_within_a_host_waits_for_the_pause_too(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": "/new.xml"})
    server.route("/new.xml")
    fetched(server.url("/feed.xml"), gap=0.1, hosts=robots_known(f"127.0.0.1:{server.port}"))
    first, second = server.requests
    assert second.at - first.ended >= 0.095


def test_many_redirects_to_one_host_take_turns_there(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/hub.xml", "127.0.0.30")})
    server.route("/hub.xml", delay=0.03)
    _run([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 7)], gap=0.02)
    hub = [request for request in server.requests if request.host == "127.0.0.30"]
    assert len(hub) == 7  # robots.txt once, then each of the six
    assert all(later.at >= sooner.ended + 0.015 for sooner, later in pairwise(hub))


def test_waiting_for_ones_turn_is_not_being_slow(server: FeedServer) -> None:
    server.route("*", delay=0.1)
    outcomes = _run([Ask(n, server.url(f"/{n}.xml")) for n in range(4)], gap=0.05, deadline=0.25)
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values()), outcomes


def test_hosts_are_asked_at_the_same_time(server: FeedServer) -> None:
    server.route("*", delay=0.3)
    started = time.monotonic()
    outcomes = _run([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 25)])
    assert time.monotonic() - started < 2.0  # one after the other: 7.2 s
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values())


def test_no_more_requests_are_under_way_than_the_policy_says(server: FeedServer) -> None:
    server.route("*", delay=0.05)
    _run([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 13)], concurrency=3)
    moments = [(request.at, 1) for request in server.requests] + [(request.ended, -1) for request in server.requests]
    under_way = most = 0
    for _, step in sorted(moments):
        under_way += step
        most = max(most, under_way)
    assert 2 <= most <= 3


def test_a_forbidden_address_is_not_asked(server: FeedServer) -> None:
    server.route("/private/feed.xml")
    server.route("/feed.xml")
    _text(server, "User-agent: *\nDisallow: /private/\n")
    outcomes = _run([Ask(1, server.url("/private/feed.xml")), Ask(2, server.url("/feed.xml"))])
    assert getattr(outcomes[1], "code", "") == "robots"
    assert isinstance(outcomes[2], Fetched)
    assert len(server.seen(ROBOTS)) == 1
    assert server.seen("/private/feed.xml") == []


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: ChatbotNewsBot\nDisallow: /", False),
        ("user-agent:chatbotnewsbot\ndisallow:/feed", False),
        ("User-agent: GPTBot\nDisallow: /", True),
        ("User-agent: GPTBot\nUser-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: ChatbotNewsBot\nAllow: /", True),
        ("User-agent: *\nDisallow: /*.xml$", False),
        ("User-agent: *\nDisallow: /*.xml$\nAllow: /feed.xml", True),
        ("User-agent: *\nDisallow: /feed*x*l", False),
        ("User-agent: *\nDisallow: /other", True),
        ("User-agent: *\nDisallow:", True),
        ("<!DOCTYPE html><html><body>Not found</body></html>", True),
        ("", True),
        ("\ufeffUser-agent: *\nDisallow: /", False),
        ("\0\1\2 \ud7ff", True),
    ],
)
def test_the_rules_decide(server: FeedServer, text: str, allowed: bool) -> None:
    server.route("/feed.xml")
    _text(server, text)
    if allowed:
        assert fetched(server.url("/feed.xml")).body
    else:
        assert failed(server.url("/feed.xml")).code == "robots"


def test_the_target_of_a_redirect_needs_leave_too(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/secret.xml", "127.0.0.2")}, host="127.0.0.1")
    server.route("/secret.xml")
    server.route(ROBOTS, body=b"User-agent: *\nDisallow: /secret", host="127.0.0.2")
    assert failed(server.url("/feed.xml")).code == "robots"
    assert server.seen("/secret.xml") == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_a_host_without_robots_txt_has_no_rules(server: FeedServer, status: int) -> None:
    server.route(ROBOTS, status=status, body=b"User-agent: *\nDisallow: /")
    server.route("/feed.xml")
    hosts: dict[str, HostNote] = {}
    assert fetched(server.url("/feed.xml"), hosts=hosts).body
    assert hosts[f"127.0.0.1:{server.port}"].robots == ""


UNREADABLE: list[dict[str, Any]] = [
    {"status": 500},
    {"status": 503},
    {"status": 429},
    {"drop": True},
    {"delay": 1.0},
    {"drip": 0.2},
    {"raw": b"garbage\r\n\r\n"},
    {"headers": {"Content-Encoding": "br"}},
    {"status": 302, "headers": {"Location": "ftp://127.0.0.1/robots.txt"}},
]


@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_host_whose_rules_cannot_be_read_is_not_asked(server: FeedServer, reply: dict[str, Any]) -> None:
    server.route(ROBOTS, **reply)
    server.route("/feed.xml")
    hosts: dict[str, HostNote] = {}
    outcome = failed(server.url("/feed.xml"), hosts=hosts, read_timeout=0.3, deadline=0.5)
    assert outcome.code == "robots"
    assert "robots.txt" in outcome.message
    assert server.seen("/feed.xml") == []
    assert hosts[f"127.0.0.1:{server.port}"].robots_failed


@pytest.mark.parametrize(("text", "allowed"), [("", True), ("User-agent: *\nDisallow: /", False)])
def test_rules_known_from_before_hold_when_new_ones_cannot_be_read(server: FeedServer, text: str, allowed: bool) -> None:
    server.route(ROBOTS, status=500)
    server.route("/feed.xml")
    hosts = {f"127.0.0.1:{server.port}": HostNote(text, dt.datetime.now(dt.UTC) - dt.timedelta(days=9))}
    if allowed:
        assert fetched(server.url("/feed.xml"), hosts=hosts).body
    else:
        assert failed(server.url("/feed.xml"), hosts=hosts).code == "robots"
    assert len(server.seen(ROBOTS)) == 1


@pytest.mark.parametrize(("hours", "asked"), [(23, 0), (25, 1)])
def test_rules_are_kept_for_a_day(server: FeedServer, hours: int, asked: int) -> None:
    server.route("/feed.xml")
    hosts = {f"127.0.0.1:{server.port}": HostNote("", dt.datetime.now(dt.UTC) - dt.timedelta(hours=hours))}
    fetched(server.url("/feed.xml"), hosts=hosts)
    assert len(server.seen(ROBOTS)) == asked


def test_rules_that_could_not_be_read_are_asked_for_again_in_the_next_run(server: FeedServer) -> None:
    server.route(ROBOTS, status=500)
    server.route("/feed.xml")
    hosts: dict[str, HostNote] = {}
    outcomes = _run([Ask(n, server.url("/feed.xml")) for n in range(3)], hosts)
    assert {getattr(outcome, "code", "") for outcome in outcomes.values()} == {"robots"}
    assert len(server.seen(ROBOTS)) == 1
    server.route(ROBOTS, status=404)
    assert fetched(server.url("/feed.xml"), hosts=hosts).body
    assert not hosts[f"127.0.0.1:{server.port}"].robots_failed


def test_rules_from_before_are_asked_for_anew_after_a_failure(server: FeedServer) -> None:
    server.route("/feed.xml")
    hosts = {f"127.0.0.1:{server.port}": HostNote("", dt.datetime.now(dt.UTC), robots_failed=True)}
    fetched(server.url("/feed.xml"), hosts=hosts)
    assert len(server.seen(ROBOTS)) == 1


def test_who_waits_for_a_turn_hears_that_the_host_wants_to_be_left_alone(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/hub.xml", "127.0.0.30")})
    server.route("/hub.xml", status=429, headers={"Retry-After": "60"}, delay=0.2)
    hosts = robots_known(*(f"127.0.0.{n}:{server.port}" for n in (1, 2, 3, 30)))
    outcomes = _run([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in (1, 2, 3)], hosts)
    assert sorted(getattr(outcome, "code", "") for outcome in outcomes.values()) == ["http_429", "not_yet", "not_yet"]
    assert len(server.seen("/hub.xml")) == 1


def test_a_robots_txt_that_asks_to_wait_is_heeded(server: FeedServer) -> None:
    server.route(ROBOTS, status=429, headers={"Retry-After": "60"})
    hosts: dict[str, HostNote] = {}
    outcome = failed(server.url("/feed.xml"), hosts=hosts)
    assert outcome.code == "robots"
    assert outcome.retry_after == dt.timedelta(seconds=60)
    assert failed(server.url("/feed.xml"), hosts=hosts).code == "not_yet"


def test_a_wait_that_was_noted_with_a_clock_ahead_binds_nobody(server: FeedServer) -> None:
    hosts = robots_known(f"127.0.0.1:{server.port}")
    (note,) = hosts.values()
    note.not_before = dt.datetime.now(dt.UTC) + LONGEST_WAIT
    assert failed(server.url("/feed.xml"), hosts=hosts).code == "not_yet"
    note.not_before += dt.timedelta(hours=1)
    server.route("/feed.xml")
    fetched(server.url("/feed.xml"), hosts=hosts)


@pytest.mark.parametrize(("redirects", "allowed"), [(5, False), (6, True)])
def test_a_robots_txt_is_looked_for_behind_five_redirects(server: FeedServer, redirects: int, allowed: bool) -> None:
    def onward(request: Request) -> Reply:
        step = int(request.path.removeprefix("/robots").removesuffix(".txt") or 0)
        if step == redirects:
            return Reply(b"User-agent: *\nDisallow: /feed")
        return Reply(b"", 302, headers={"Location": f"/robots{step + 1}.txt"})

    server.route("*", onward)
    server.route(ROBOTS, onward)
    server.route("/feed.xml")
    if allowed:
        assert fetched(server.url("/feed.xml"), max_redirects=0).body
    else:
        assert failed(server.url("/feed.xml"), max_redirects=0).code == "robots"


def test_what_a_robots_txt_says_beyond_its_cap_is_not_read(server: FeedServer) -> None:
    server.route("/feed.xml")
    _text(server, "User-agent: *\nDisallow: /other\n" + "# filler\n" * 70_000 + "Disallow: /\n")
    assert fetched(server.url("/feed.xml")).body


def test_a_crawl_delay_longer_than_the_gap_is_kept(server: FeedServer) -> None:
    server.route("*")
    _text(server, "User-agent: *\nCrawl-delay: 0.2\n")
    _run([Ask(n, server.url(f"/{n}.xml")) for n in range(2)])
    _, first, second = server.requests
    assert second.at - first.ended >= 0.195


@pytest.mark.parametrize(("said", "seconds"), [("5", 5.0), ("86400", 30.0), ("inf", 0.0), ("-3", 0.0), ("soon", 0.0)])
def test_a_crawl_delay_has_bounds(said: str, seconds: float) -> None:
    assert Rules(f"User-agent: *\nCrawl-delay: {said}", "ChatbotNewsBot").delay == seconds


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"User-agent: bot{n}\n" for n in range(15_000)) + "Disallow: /a\n" * 15_000,
        "".join(f"User agent bot{n}\n" for n in range(15_000)) * 2 + "Disallow: /a\n" * 1_000,
        "\u2028".join(f"useragent : b{n}" for n in range(15_000)) + "\nDisallow: /a" * 15_000,
        "User-agent: *\nDisallow: /" + "*a" * 200_000 + "b$",
        "User-agent: *\n" + "Disallow: /*a*a*a*a*b\n" * 20_000,
    ],
    ids=["robots by rules", "robots twice", "other line ends", "one long pattern", "many patterns"],
)
def test_rules_made_to_exhaust_us_cost_little(text: str) -> None:
    started = time.process_time()
    assert Rules(text[: 512 << 10], "ChatbotNewsBot").allow("http://a.example/" + "a" * 4000)
    assert time.process_time() - started < 2.0
