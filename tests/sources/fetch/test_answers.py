"""What an answer means: content, nothing new, somewhere else, or a failure with words for an editor."""

import datetime as dt
from email.utils import format_datetime
from typing import Any

import pytest

from sources.fetch import Failed, Fetched, HostNote
from tests.feedserver import FEED, FeedServer
from tests.sources.fetch.fetching import AGENT, failed, fetch_each, fetched, unchanged

YESTERDAY = "Fri, 20 Nov 2026 10:00:00 GMT"


def test_a_feed_comes_with_all_that_its_next_request_needs(server: FeedServer) -> None:
    server.route("/feed.xml", content_type="application/atom+xml; charset=utf-8", etag='W/"a b"', last_modified=YESTERDAY)
    url = server.url("/feed.xml")
    assert fetched(url) == Fetched(FEED, "application/atom+xml; charset=utf-8", 'W/"a b"', YESTERDAY, url, "")


def test_a_request_says_who_asks_and_what_is_understood_and_forgets_cookies(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Set-Cookie": "a=b; Path=/", "Location": "/moved.xml?a=1&b=%20c d#part"})
    server.route("/moved.xml")
    fetched(server.url("/feed.xml?a=1&b=%20c d#part"))
    requests = [request for request in server.requests if request.path != "/robots.txt"]
    assert [request.path for request in requests] == [f"/{name}.xml?a=1&b=%20c%20d" for name in ("feed", "moved")]
    for request in requests:
        assert request.headers["user-agent"] == AGENT
        assert request.headers["accept-encoding"] == "gzip, deflate"
        assert "application/rss+xml" in request.headers["accept"]
        assert not {"cookie", "referer", "authorization", "if-none-match", "if-modified-since"} & set(request.headers)


@pytest.mark.parametrize("kept", [{"etag": '"v1"'}, {"last_modified": YESTERDAY}, {"etag": '"v1"', "last_modified": YESTERDAY}])
def test_a_feed_is_sent_again_only_if_it_has_changed(server: FeedServer, kept: dict[str, str]) -> None:
    server.route("/feed.xml", etag='"v1"', last_modified=YESTERDAY)
    outcome = unchanged(server.url("/feed.xml"), **kept)
    assert (outcome.etag, outcome.last_modified) == ('"v1"', YESTERDAY)
    server.route("/bare.xml", status=304, body=b"")  # validators that a 304 leaves out stay
    outcome = unchanged(server.url("/bare.xml"), **kept)
    assert {"etag": outcome.etag, "last_modified": outcome.last_modified} == {"etag": "", "last_modified": ""} | kept
    server.route("/feed.xml", etag='"v2"', last_modified="Sat, 21 Nov 2026 10:00:00 GMT")
    assert fetched(server.url("/feed.xml"), **kept).etag == '"v2"'


@pytest.mark.parametrize("etag", ['"a"\r\nX-Injected: 1', '"ä"', "x" * 600])
def test_a_validator_that_could_be_no_header_is_not_sent(server: FeedServer, etag: str) -> None:
    server.route("/feed.xml")
    fetched(server.url("/feed.xml"), etag=etag)
    assert "if-none-match" not in server.seen("/feed.xml")[0].headers


def test_a_page_instead_of_a_feed_or_nothing_at_all_is_simply_fetched(server: FeedServer) -> None:
    server.route("/page", body=b"<!DOCTYPE html><p>Hello", content_type="text/html")
    server.route("/nothing", body=b"")
    assert fetched(server.url("/page")).content_type == "text/html"
    assert fetched(server.url("/nothing")).body == b""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(server: FeedServer, status: int) -> None:
    server.route("/new/feed.xml")
    for location in ("/new/feed.xml", "new/feed.xml", server.url("/new/feed.xml").removeprefix("http:"), "./x/../new/feed.xml#top"):
        server.route("/feed.xml", status=status, headers={"Location": location})
        outcome = fetched(server.url("/feed.xml"))
        assert outcome.url == server.url("/new/feed.xml"), location
        assert outcome.moved_to == (outcome.url if status in {301, 308} else ""), location


@pytest.mark.parametrize(("statuses", "permanent"), [((301, 308), True), ((301, 302), False), ((302, 301), False)])
def test_a_feed_has_moved_only_if_every_redirect_is_permanent(
    server: FeedServer, statuses: tuple[int, int], permanent: bool
) -> None:
    server.route("/1", status=statuses[0], headers={"Location": "/2"})
    server.route("/2", status=statuses[1], headers={"Location": "/3"})
    server.route("/3", etag='"v1"')
    moved_to = server.url("/3") if permanent else ""
    assert fetched(server.url("/1")).moved_to == moved_to
    assert unchanged(server.url("/1"), etag='"v1"').moved_to == moved_to


def test_redirects_in_a_circle_and_too_many_end(server: FeedServer) -> None:
    for step, onward in {"a": "b", "b": "a", "0": "1", "1": "2", "2": "3"}.items():
        server.route(f"/{step}", status=302, headers={"Location": f"/{onward}"})
    server.route("/3")
    assert failed(server.url("/a")).code == "redirect_loop"
    assert len(server.seen("/a")) == 1
    assert failed(server.url("/0"), max_redirects=2).code == "redirect_loop"
    assert fetched(server.url("/0"), max_redirects=3).url == server.url("/3")


NO_WEB = ["file:///etc/passwd", "javascript:alert(1)", "ftp://127.0.0.1/", "https:///", "http://a@127.0.0.1/", "http://[", "a\x7fb"]


def test_a_redirect_to_no_web_address_is_refused(server: FeedServer) -> None:
    for n, location in enumerate(NO_WEB):
        server.route(f"/{n}", raw=f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        # h11 refuses some such headers itself
        assert failed(server.url(f"/{n}")).code in {"bad_redirect", "broken_answer"}, location
    server.route("/feed.xml", status=301, body=b"")
    assert failed(server.url("/feed.xml")).code == "bad_redirect"


def test_a_refusal_is_named_by_its_status_in_one_sentence_for_an_editor(server: FeedServer) -> None:
    statuses = (204, 206, 300, 400, 401, 403, 404, 410, 418, 429, 500, 503, 599)
    for status in statuses:
        server.route(f"/{status}", status=status, body=b"")
    server.route("/304", status=304, body=b"")  # which nobody asked for
    told = fetch_each({str(status): server.url(f"/{status}") for status in (*statuses, 304)})
    named = {str(status): f"http_{status}" for status in statuses} | {"410": "gone", "304": "broken_answer"}
    for name, outcome in told.items():
        assert isinstance(outcome, Failed)
        assert (outcome.code, outcome.retry_after) == (named[name], None)
        message = outcome.message
        assert message[0].isupper()
        assert message.endswith(".")
        assert ". " not in message


def _in(**period: float) -> str:
    return format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(**period), usegmt=True)


RETRY_AFTER: list[tuple[Any, float | None]] = [
    *(("120", 120), (" 0 ", 0), ("99999999999999999999", 7 * 86_400), ("-5", None), ("soon", None), ("٣", None)),
    *((lambda: _in(hours=2), 7200), (lambda: _in(days=-2), 0), (lambda: _in(days=900), 7 * 86_400)),
    ("Fri, 99 Foo 2026 99:99:99 GMT", None),
]


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_that_the_server_asks_for_is_read(server: FeedServer, status: int) -> None:
    for n, (value, seconds) in enumerate(RETRY_AFTER, start=1):
        sent = value() if callable(value) else value
        server.route("*", raw=f"HTTP/1.1 {status} No\r\nRetry-After: {sent}\r\nContent-Length: 0\r\n\r\n".encode())
        waits = failed(server.url("/feed.xml", f"127.0.0.{n}")).retry_after
        assert (waits if waits is None else round(waits.total_seconds(), -1)) == seconds, sent


def test_a_host_that_asked_to_wait_is_left_alone_in_the_same_run_and_in_later_ones(server: FeedServer) -> None:
    server.route("/feed.xml", status=429, headers={"Retry-After": "600"})
    server.route("/other.xml")
    hosts: dict[str, HostNote] = {}
    assert failed(server.url("/feed.xml"), hosts=hosts).code == "http_429"
    before = len(server.requests)
    outcome = failed(server.url("/other.xml"), hosts=hosts)
    assert outcome.code == "not_yet"
    assert outcome.retry_after is not None
    assert 590 < outcome.retry_after.total_seconds() <= 600
    assert len(server.requests) == before


def test_a_redirect_to_a_host_that_asked_to_wait_is_not_followed_before_that_is_over(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/feed.xml", "127.0.0.2")}, host="127.0.0.1")
    server.route("/feed.xml", host="127.0.0.2")
    now = dt.datetime.now(dt.UTC)
    hosts = {f"127.0.0.2:{server.port}": HostNote(not_before=now + dt.timedelta(minutes=5))}
    assert failed(server.url("/feed.xml"), hosts=hosts).code == "not_yet"
    assert {request.host for request in server.requests} == {"127.0.0.1"}
    hosts = {f"127.0.0.2:{server.port}": HostNote(not_before=now - dt.timedelta(seconds=1))}
    assert fetched(server.url("/feed.xml"), hosts=hosts).body


def test_a_fault_of_ours_is_logged_and_costs_only_its_own_ask(
    server: FeedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.route("/feed.xml")
    monkeypatch.setattr("sources.fetch.client._build_outcome", len)
    outcome = failed(server.url("/feed.xml"))
    assert outcome == Failed("internal_error", "Something failed on our side; it was logged.")
    assert "TypeError" in caplog.text
