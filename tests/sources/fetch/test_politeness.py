"""One request at a time, a pause after each, and robots.txt (RFC 9309) before all."""

import asyncio
import datetime as dt
from itertools import accumulate, pairwise
from typing import Any

import pytest

from sources.fetch import Ask, Failed, Fetched, HostNote, Outcome, client, fetch_all
from sources.fetch.results import LONGEST_WAIT
from sources.fetch.robots import Rules
from tests.feedserver import FeedServer, Reply, Request
from tests.sources.fetch.fetching import codes, failed, fetch_each, fetched, policy, robots_known

ROBOTS = "/robots.txt"


def _run(asks: list[Ask], hosts: dict[str, HostNote] | None = None, **changes: Any) -> dict[int, Outcome]:
    return {ask.key: outcome for ask, outcome in fetch_all(asks, policy(**changes), {} if hosts is None else hosts)}


def _text(server: FeedServer, text: str, **reply: Any) -> None:
    server.route(ROBOTS, body=text.encode(), content_type="text/plain", **reply)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of more than a second, on a clock that stands still; none is waited for."""
    kept, sleep = list[float](), asyncio.sleep

    async def pause(seconds: float) -> None:
        kept.extend([seconds] if seconds > 1 else [])
        await sleep(0 if seconds > 1 else seconds)

    monkeypatch.setattr(client, "_clock", lambda: 1000.0)
    monkeypatch.setattr(asyncio, "sleep", pause)
    return kept


def one_at_a_time(requests: list[Request]) -> bool:
    return all(later.at >= sooner.ended for sooner, later in pairwise(requests))


def under_way(requests: list[Request]) -> int:
    """The most that were answered at the same time."""
    moments = sorted([(request.at, 1) for request in requests] + [(request.ended, -1) for request in requests])
    return max(accumulate(step for _, step in moments))


def test_one_host_is_asked_one_request_at_a_time_with_a_pause_after_each(server: FeedServer, pauses: list[float]) -> None:
    server.route("*", delay=0.05)
    server.route("/2.xml", status=302, headers={"Location": "/new.xml"})
    outcomes = _run([Ask(n, server.url(f"/{n}.xml")) for n in range(3)], gap=7.5)
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values())
    assert [request.path for request in server.requests] == [ROBOTS, "/0.xml", "/1.xml", "/2.xml", "/new.xml"]
    assert pauses == [7.5] * 4
    assert one_at_a_time(server.requests)


def test_a_crawl_delay_longer_than_the_gap_is_kept(server: FeedServer, pauses: list[float]) -> None:
    server.route("*")
    _text(server, "User-agent: *\nCrawl-delay: 9\n")
    _run([Ask(n, server.url(f"/{n}.xml")) for n in range(2)], gap=7.5)
    assert pauses == [9.0] * 2


@pytest.mark.slow
def test_many_redirects_to_one_host_take_turns_there(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/hub.xml", "127.0.0.30")})
    server.route("/hub.xml", delay=0.03)
    _run([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 7)], gap=0.02)
    hub = [request for request in server.requests if request.host == "127.0.0.30"]
    assert len(hub) == 7  # robots.txt once, then each of the six
    assert one_at_a_time(hub)


@pytest.mark.slow
def test_waiting_for_ones_turn_is_not_being_slow(server: FeedServer) -> None:
    server.route("*", delay=0.1)
    outcomes = _run([Ask(n, server.url(f"/{n}.xml")) for n in range(4)], gap=0.05, deadline=0.25)
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values()), outcomes


@pytest.mark.parametrize(("policy", "least", "most"), [({}, 4, 24), ({"concurrency": 3}, 2, 3)])
@pytest.mark.slow
def test_hosts_are_asked_at_the_same_time_but_no_more_than_the_policy_says(
    server: FeedServer, policy: dict[str, Any], least: int, most: int
) -> None:
    server.route("*", delay=0.2)
    outcomes = _run([Ask(n, server.url("/feed.xml", f"127.0.0.{n}")) for n in range(1, 13)], **policy)
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values())
    assert least <= under_way(server.requests) <= most


def test_a_forbidden_address_is_not_asked(server: FeedServer) -> None:
    server.route("/private/feed.xml")
    server.route("/feed.xml")
    _text(server, "User-agent: *\nDisallow: /private/\n")
    outcomes = _run([Ask(1, server.url("/private/feed.xml")), Ask(2, server.url("/feed.xml"))])
    assert getattr(outcomes[1], "code", "") == "robots"
    assert isinstance(outcomes[2], Fetched)
    assert len(server.seen(ROBOTS)) == 1
    assert server.seen("/private/feed.xml") == []


RULES = {
    "User-agent: *\nDisallow: /": False,
    "User-agent: ChatbotNewsBot\nDisallow: /": False,
    "user-agent:chatbotnewsbot\ndisallow:/feed": False,
    "User-agent: GPTBot\nDisallow: /": True,
    "User-agent: GPTBot\nUser-agent: *\nDisallow: /": False,
    "User-agent: *\nDisallow: /\n\nUser-agent: ChatbotNewsBot\nAllow: /": True,
    "User-agent: *\nDisallow: /*.xml$": False,
    "User-agent: *\nDisallow: /*.xml$\nAllow: /feed.xml": True,
    "User-agent: *\nDisallow: /feed*x*l": False,
    "User-agent: *\nDisallow: /other": True,
    "User-agent: *\nDisallow:": True,
    "<!DOCTYPE html><html><body>Not found</body></html>": True,
    "": True,
    "\ufeffUser-agent: *\nDisallow: /": False,
    "\0\1\2 \ud7ff": True,
    "User-agent: *\nDisallow: /other\n" + "# filler\n" * 70_000 + "Disallow: /\n": True,  # its end is beyond the cap
}


def test_the_rules_decide_and_what_a_robots_txt_says_beyond_its_cap_is_not_read(server: FeedServer) -> None:
    server.route("/feed.xml")
    for n, text in enumerate(RULES, start=1):
        _text(server, text, host=f"127.0.0.{n}")
    urls = {text: server.url("/feed.xml", f"127.0.0.{n}") for n, text in enumerate(RULES, start=1)}
    assert codes(urls) == {text: "" if allowed else "robots" for text, allowed in RULES.items()}


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
    *({"status": 500}, {"status": 503}, {"status": 429}, {"drop": True}, {"delay": 1.0}, {"drip": 0.2}),
    *({"raw": b"garbage\r\n\r\n"}, {"headers": {"Content-Encoding": "br"}, "body": b"\x0b\x02\x80abc\x03"}),
    {"status": 302, "headers": {"Location": "ftp://127.0.0.1/robots.txt"}},
]


@pytest.mark.slow
def test_a_host_whose_rules_cannot_be_read_is_not_asked(server: FeedServer) -> None:
    server.route("/feed.xml")
    for n, reply in enumerate(UNREADABLE, start=1):
        server.route(ROBOTS, **reply, host=f"127.0.0.{n}")
    urls = {f"127.0.0.{n}:{server.port}": server.url("/feed.xml", f"127.0.0.{n}") for n, _ in enumerate(UNREADABLE, start=1)}
    hosts: dict[str, HostNote] = {}
    for host, outcome in fetch_each(urls, hosts=hosts, read_timeout=0.3, deadline=0.5).items():
        assert isinstance(outcome, Failed)
        assert outcome.code == "robots", host
        assert "robots.txt" in outcome.message
        assert hosts[host].robots_failed
    assert server.seen("/feed.xml") == []


@pytest.mark.parametrize(("text", "code"), [("", ""), ("User-agent: *\nDisallow: /", "robots")])
def test_rules_known_from_before_hold_when_new_ones_cannot_be_read(server: FeedServer, text: str, code: str) -> None:
    server.route(ROBOTS, status=500)
    server.route("/feed.xml")
    hosts = {f"127.0.0.1:{server.port}": HostNote(text, dt.datetime.now(dt.UTC) - dt.timedelta(days=9))}
    assert codes({"": server.url("/feed.xml")}, hosts=hosts) == {"": code}
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
    assert set(codes({name: server.url("/feed.xml") for name in "abc"}, hosts=hosts).values()) == {"robots"}
    assert len(server.seen(ROBOTS)) == 1
    server.route(ROBOTS, status=404)
    assert fetched(server.url("/feed.xml"), hosts=hosts).body
    assert not hosts[f"127.0.0.1:{server.port}"].robots_failed
    assert len(server.seen(ROBOTS)) == 2


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


@pytest.mark.parametrize(("redirects", "code"), [(5, "robots"), (6, "")])
def test_a_robots_txt_is_looked_for_behind_five_redirects(server: FeedServer, redirects: int, code: str) -> None:
    def onward(request: Request) -> Reply:
        step = int(request.path.removeprefix("/robots").removesuffix(".txt") or 0)
        if step == redirects:
            return Reply(b"User-agent: *\nDisallow: /feed")
        return Reply(b"", 302, headers={"Location": f"/robots{step + 1}.txt"})

    server.route("*", onward)
    server.route(ROBOTS, onward)
    server.route("/feed.xml")
    assert codes({"": server.url("/feed.xml")}, max_redirects=0) == {"": code}


def test_a_crawl_delay_has_bounds() -> None:
    for said, seconds in {"5": 5.0, "86400": 30.0, "inf": 0.0, "-3": 0.0, "soon": 0.0}.items():
        assert Rules(f"User-agent: *\nCrawl-delay: {said}", "ChatbotNewsBot").delay == seconds, said


@pytest.mark.slow
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
    """Some 200 ms each. Without the bounds they take minutes or all memory, and the timeout of a test ends them."""
    assert Rules(text[: 512 << 10], "ChatbotNewsBot").allow("http://a.example/" + "a" * 4000)
