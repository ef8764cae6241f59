"""What an answer means: content, nothing new, somewhere else, or a failure with words for an editor."""

import datetime as dt
from email.utils import format_datetime
from typing import Any

import pytest

from sources.fetch import Failed, Fetched, HostNote
from tests.feedserver import FEED, FeedServer, Reply, Request
from tests.sources.fetch.fetching import AGENT, failed, fetched, unchanged

YESTERDAY = "Fri, 20 Nov 2026 10:00:00 GMT"


def test_a_feed_comes_with_all_that_its_next_request_needs(server: FeedServer) -> None:
    server.route("/feed.xml", content_type="application/atom+xml; charset=utf-8", etag='W/"a b"', last_modified=YESTERDAY)
    url = server.url("/feed.xml")
    assert fetched(url) == Fetched(FEED, "application/atom+xml; charset=utf-8", 'W/"a b"', YESTERDAY, url, "")


def test_a_request_says_who_asks_and_what_is_understood(server: FeedServer) -> None:
    server.route("/feed.xml")
    fetched(server.url("/feed.xml?a=1&b=%20c d#part"))
    (request,) = [request for request in server.requests if request.path != "/robots.txt"]
    assert request.path == "/feed.xml?a=1&b=%20c%20d"
    assert request.headers["user-agent"] == AGENT
    assert request.headers["accept-encoding"] == "gzip, deflate"
    assert "application/rss+xml" in request.headers["accept"]
    assert not {"cookie", "referer", "authorization", "if-none-match", "if-modified-since"} & set(request.headers)


def test_cookies_are_forgotten(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Set-Cookie": "a=b; Path=/", "Location": "/moved.xml"})
    server.route("/moved.xml")
    fetched(server.url("/feed.xml"))
    assert all("cookie" not in request.headers for request in server.requests)


@pytest.mark.parametrize("kept", [{"etag": '"v1"'}, {"last_modified": YESTERDAY}, {"etag": '"v1"', "last_modified": YESTERDAY}])
def test_a_feed_that_has_not_changed_is_not_sent_again(server: FeedServer, kept: dict[str, str]) -> None:
    server.route("/feed.xml", etag='"v1"', last_modified=YESTERDAY)
    outcome = unchanged(server.url("/feed.xml"), **kept)
    assert (outcome.etag, outcome.last_modified) == ('"v1"', YESTERDAY)


def test_validators_that_a_304_leaves_out_stay(server: FeedServer) -> None:
    server.route("/feed.xml", status=304, body=b"")
    outcome = unchanged(server.url("/feed.xml"), etag='"v1"', last_modified=YESTERDAY)
    assert (outcome.etag, outcome.last_modified) == ('"v1"', YESTERDAY)


def test_a_feed_that_has_changed_is_sent(server: FeedServer) -> None:
    server.route("/feed.xml", etag='"v2"')
    assert fetched(server.url("/feed.xml"), etag='"v1"').etag == '"v2"'


def test_a_304_that_nobody_asked_for_is_a_failure(server: FeedServer) -> None:
    server.route("/feed.xml", status=304, body=b"")
    assert failed(server.url("/feed.xml")).code == "broken_answer"


@pytest.mark.parametrize("etag", ['"a"\r\nX-Injected: 1', '"ä"', "x" * 600])
def test_a_validator_that_could_be_no_header_is_not_sent(server: FeedServer, etag: str) -> None:
    server.route("/feed.xml")
    fetched(server.url("/feed.xml"), etag=etag)
    assert "if-none-match" not in server.seen("/feed.xml")[0].headers


def test_a_page_instead_of_a_feed_is_simply_fetched(server: FeedServer) -> None:
    server.route("/feed.xml", body=b"<!DOCTYPE html><p>Hello", content_type="text/html")
    assert fetched(server.url("/feed.xml")).content_type == "text/html"


def test_an_empty_body_is_simply_fetched(server: FeedServer) -> None:
    server.route("/feed.xml", body=b"")
    assert fetched(server.url("/feed.xml")).body == b""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/new/feed.xml", "new/feed.xml", "{host}/new/feed.xml", "./x/../new/feed.xml#top"])
def test_a_redirect_is_followed(server: FeedServer, status: int, location: str) -> None:
    server.route("/feed.xml", status=status, headers={"Location": location.format(host=server.url("")).removeprefix("http:")})
    server.route("/new/feed.xml")
    outcome = fetched(server.url("/feed.xml"))
    assert outcome.url == server.url("/new/feed.xml")
    assert outcome.moved_to == (outcome.url if status in {301, 308} else "")


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


def test_a_redirect_in_a_circle_ends(server: FeedServer) -> None:
    server.route("/a", status=302, headers={"Location": "/b"})
    server.route("/b", status=302, headers={"Location": "/a"})
    assert failed(server.url("/a")).code == "redirect_loop"
    assert len(server.seen("/a")) == 1


@pytest.mark.parametrize(("most", "code"), [(3, None), (2, "redirect_loop")])
def test_redirects_are_counted(server: FeedServer, most: int, code: str | None) -> None:
    def onward(request: Request) -> Reply:
        step = int(request.path[1:])
        return Reply(status=302, headers={"Location": f"/{step + 1}"}) if step < 3 else Reply()

    server.route("*", onward)
    if code:
        assert failed(server.url("/0"), max_redirects=most).code == code
    else:
        assert fetched(server.url("/0"), max_redirects=most).url == server.url("/3")


NO_WEB = ["file:///etc/passwd", "javascript:alert(1)", "ftp://127.0.0.1/", "https:///", "http://a@127.0.0.1/", "http://[", "a\x7fb"]


@pytest.mark.parametrize("location", NO_WEB)
def test_a_redirect_to_no_web_address_is_refused(server: FeedServer, location: str) -> None:
    server.route("/feed.xml", raw=f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
    assert failed(server.url("/feed.xml")).code in {"bad_redirect", "broken_answer"}  # h11 refuses some such headers itself


def test_a_redirect_to_nowhere_is_refused(server: FeedServer) -> None:
    server.route("/feed.xml", status=301, body=b"")
    assert failed(server.url("/feed.xml")).code == "bad_redirect"


@pytest.mark.parametrize(
    ("status", "code"),
    [(410, "gone"), *((n, f"http_{n}") for n in (204, 206, 300, 400, 401, 403, 404, 418, 429, 500, 503, 599))],
)
def test_a_refusal_is_named_by_its_status(server: FeedServer, status: int, code: str) -> None:
    server.route("/feed.xml", status=status, body=b"")
    outcome = failed(server.url("/feed.xml"))
    assert (outcome.code, outcome.gone, outcome.retry_after) == (code, status == 410, None)


def _in(**period: float) -> str:
    return format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(**period), usegmt=True)


RETRY_AFTER: list[tuple[Any, float | None]] = [
    ("120", 120),
    (" 0 ", 0),
    ("99999999999999999999", 7 * 86_400),
    (lambda: _in(hours=2), 7200),
    (lambda: _in(days=-2), 0),
    (lambda: _in(days=900), 7 * 86_400),
    ("-5", None),
    ("soon", None),
    ("Fri, 99 Foo 2026 99:99:99 GMT", None),
    ("٣", None),
]


@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_that_the_server_asks_for_is_read(server: FeedServer, status: int, value: Any, seconds: float | None) -> None:
    sent = value() if callable(value) else value
    server.route("/feed.xml", raw=f"HTTP/1.1 {status} No\r\nRetry-After: {sent}\r\nContent-Length: 0\r\n\r\n".encode())
    waits = failed(server.url("/feed.xml")).retry_after
    assert (waits is None) == (seconds is None)
    if waits is not None and seconds is not None:
        assert waits.total_seconds() == pytest.approx(seconds, abs=5)


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


def test_a_redirect_to_a_host_that_asked_to_wait_is_not_followed(server: FeedServer) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/feed.xml", "127.0.0.2")}, host="127.0.0.1")
    later = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5)
    assert failed(server.url("/feed.xml"), hosts={f"127.0.0.2:{server.port}": HostNote(not_before=later)}).code == "not_yet"
    assert {request.host for request in server.requests} == {"127.0.0.1"}


def test_a_host_is_asked_again_once_the_wait_is_over(server: FeedServer) -> None:
    server.route("/feed.xml")
    earlier = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1)
    assert fetched(server.url("/feed.xml"), hosts={f"127.0.0.1:{server.port}": HostNote(not_before=earlier)}).body


def test_every_failure_is_one_sentence_for_an_editor(server: FeedServer) -> None:
    messages = []
    for status in (204, 304, 403, 404, 410, 429, 500):
        server.route("/feed.xml", status=status, body=b"")
        messages.append(failed(server.url("/feed.xml")).message)
    assert all(message[0].isupper() and message.endswith(".") and ". " not in message for message in messages), messages


def test_a_fault_of_ours_is_logged_and_costs_only_its_own_ask(
    server: FeedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.route("/feed.xml")
    monkeypatch.setattr("sources.fetch.client._outcome", len)
    outcome = failed(server.url("/feed.xml"))
    assert outcome == Failed("internal_error", "Something failed on our side; it was logged.")
    assert "TypeError" in caplog.text
