"""What is not stored is read from its page at once, within the time, on the publisher's own hosts, and stored."""

import ipaddress
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import OperationalError, connections

from config.database import routing
from config.errors import InvalidArgument, NotFound, UpstreamFailed
from tests.feedserver import Reply
from tests.wire.corpora.articles.site import NOW, Site, html, item, paragraph
from wire.corpora.articles import page_fetch, queries, store
from wire.corpora.articles.models import Article, ArticleAlias, Publisher
from wire.corpora.articles.page_fetch import get_or_fetch_article
from wire.corpora.articles.store import ArticleDraft
from wire.ingest import feed_entries

LIVE = Article.State.LIVE


def test_a_page_that_a_source_named_is_read_stored_and_not_asked_again(site: Site) -> None:
    site.page("/a", "Koogle")
    url = site.named("/a?utm_source=agent").partition("?")[0]
    found = queries.buy_article("koogle", f"{url}?utm_source=agent#part")[0]
    assert (found.title, found.author, found.url) == ("Koogle", "A. Cook", f"{url}?utm_source=agent")
    assert "part three" in found.text
    assert site.articles() == {"/a?utm_source=agent": LIVE}
    site.server.requests.clear()
    assert get_or_fetch_article(site.publisher, f"{url}?utm_source=agent").title == "Koogle"
    assert not site.server.requests


def test_a_page_that_no_source_named_is_answered_and_listed_nowhere(site: Site) -> None:
    url = site.page("/results", "Results for buy pills")
    assert get_or_fetch_article(site.publisher, url).title == "Results for buy pills"
    assert not Article.objects.filter(publisher=site.publisher).exists()


def test_a_page_cannot_speak_for_another_article(site: Site) -> None:
    site.page("/important", "What was said")
    get_or_fetch_article(site.publisher, site.named("/important"))
    body = html("Something else").replace(b"<head>", f'<head><link rel="canonical" href="{site.url("/important")}">'.encode())
    site.server.route("/comments/9", body=body, content_type="text/html")
    for url in (site.url("/comments/9"), site.named("/comments/9")):
        get_or_fetch_article(site.publisher, url)
        assert get_or_fetch_article(site.publisher, site.url("/important")).title == "What was said"
    assert site.articles() == {"/important": LIVE, "/comments/9": LIVE}


def test_a_page_that_says_that_it_is_not_there_is_no_article(site: Site) -> None:
    body = b"<title>Page not found</title><article><h1>Page not found</h1><p>Try the search.</p></article>"
    site.server.route("/gone", body=body, content_type="text/html")
    with pytest.raises(NotFound, match="says that it does not exist"):
        get_or_fetch_article(site.publisher, site.url("/gone"))


def test_an_edit_is_stored_also_where_the_page_names_another_address_of_its_own(site: Site) -> None:
    site.page("/new", "First")
    get_or_fetch_article(site.publisher, site.named("/new"))
    article = Article.objects.get(publisher=site.publisher)
    store.add_alias(site.publisher, article, site.url("/old"))
    assert store.move_article(site.publisher, article, ArticleDraft(site.url("/old"), site.url("/old"), "Second", markdown="New."))


@pytest.mark.parametrize(
    "path",
    [
        *("/%70rivate/a", "/x/../private/a", "/x/%2e%2E/private/a", "/./private/a", "//private/a", "/private/../private/a?b=/c"),
        *("/private;x=1/a", "/private/;x=1", "/%2570rivate/a", "/%25252570rivate/a", "/x\\..\\private\\a", "/private%5ca"),
        *("/private%2fa", "/private%2Fa", "/x%2f..%2fprivate/a", "/private/a#b", "/private./a", "/private%20/a", "/PRIVATE/a"),
        *(
            "/x/..;/private/a",
            "/x%3f/../private/a",
            "/private%00/a",
            "/x/%c0%ae%c0%ae/private",
            "/%u0070rivate/a",
            "/private%2f..%2fx",
        ),
        *("/\uff50rivate/a", "/private"),
    ],
)
def test_what_is_left_out_is_so_however_it_is_spelled(site: Site, path: str) -> None:
    with pytest.raises(InvalidArgument):
        get_or_fetch_article(site.publisher, site.url(path))
    assert not site.server.requests


@pytest.mark.parametrize("path", ["/privateer", "/x/private/", "/caf%E9", "/100%25", "/a;b=1", "/x?y=/private/", "/a..b/c."])
def test_what_only_looks_like_a_path_that_is_left_out_is_read(site: Site, path: str) -> None:
    assert site.publisher.has_address(site.url(path))


def test_a_redirect_by_way_of_what_is_left_out_ends_before_it(site: Site) -> None:
    site.page("/c", "Plums")
    site.server.route("/private%2fb", status=302, headers={"Location": site.url("/c")})
    site.server.route("/a", status=302, headers={"Location": "/private%2fb"})
    with pytest.raises(UpstreamFailed, match="is left out"):
        get_or_fetch_article(site.publisher, site.url("/a"))
    site.named("/a")
    site.index()
    assert "is left out" in site.article("/a").error
    assert {request.path for request in site.server.requests} == {"/robots.txt", "/a"}


def test_a_page_that_says_it_is_one_that_is_left_out_is_not_given(site: Site) -> None:
    head = f'<link rel="canonical" href="{site.url("/private/plums")}"></head>'
    body = html("Plums").replace(b"</head>", head.encode())
    site.server.route("/print/plums", body=body, content_type="text/html; charset=utf-8")
    with pytest.raises(UpstreamFailed, match="not one that is indexed"):
        get_or_fetch_article(site.publisher, site.url("/print/plums"))


def test_of_a_public_suffix_nothing_is_read_and_nothing_is_forgotten(site: Site) -> None:
    site.named("/a")
    Publisher.objects.update(domains=["co.uk", "github.io"])
    site.publisher.refresh_from_db()
    with pytest.raises(InvalidArgument):
        get_or_fetch_article(site.publisher, "https://stranger.github.io/a")
    with pytest.raises(InvalidArgument, match=r"co\.uk is a public suffix"):
        site.index()
    assert len(site.articles()) == 1
    assert not site.server.requests


@pytest.mark.slow
def test_a_name_that_waits_is_read_and_found_by_searches(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "From the feed"))
    assert site.index(most_pages=0).counts["listed"] == 1
    assert queries.search_content("koogle", "from the feed", 5).articles[0].snippet == "About From the feed."
    assert not queries.search_content("koogle", "koogle", 5).articles
    site.server.route("/a", body=html("Koogle").replace(b"A. Cook", b""), content_type="text/html")
    found = get_or_fetch_article(site.publisher, site.url("/a"))
    assert (found.state, found.title, found.author) == (LIVE, "Koogle", "Chef Name")
    assert queries.search_content("koogle", "koogle", 5).articles
    assert not queries.search_content("koogle", "feed", 5).articles
    assert not found.revisions.exists()


def test_an_address_that_leads_to_another_of_the_site_is_the_same_article(site: Site) -> None:
    site.page("/new", "Koogle")
    site.server.route("/old", status=302, headers={"Location": "/new"})
    site.named("/old")
    assert get_or_fetch_article(site.publisher, site.url("/old")).url == site.url("/new")
    assert get_or_fetch_article(site.publisher, site.url("/old")).url == site.url("/new")
    assert len(site.server.seen("/old")) == 1
    assert ArticleAlias.objects.get().key == site.url("/old")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.2/a", "file:///etc/passwd", "http://user@127.0.0.1/", "nonsense", "", "http://127.0.0.1:1/"]
)
def test_nothing_is_asked_that_is_not_the_publishers(site: Site, url: str) -> None:
    with pytest.raises(InvalidArgument, match="url is not an article of Koogle Kitchen"):
        get_or_fetch_article(site.publisher, url)
    with pytest.raises(InvalidArgument):
        get_or_fetch_article(site.publisher, site.url("/private/a"))
    assert not site.server.requests


def test_a_redirect_to_another_host_is_not_followed(site: Site) -> None:
    site.server.route("/a", status=302, headers={"Location": site.url("/a", "127.0.0.2")}, host="127.0.0.1")
    site.server.route("/a", body=html("Theirs"), host="127.0.0.2")
    with pytest.raises(UpstreamFailed, match="not the publisher's"):
        get_or_fetch_article(site.publisher, site.url("/a"))
    assert not site.server.seen("/a", "127.0.0.2")


def test_a_private_address_is_not_dialled_though_the_host_is_the_publishers(site: Site) -> None:
    site.publisher.domains.append(f"127.0.0.2:{site.server.port}")
    how = replace(feed_entries.get_fetch_policy(), allow=(ipaddress.ip_network("127.0.0.1/32"),))
    site.server.route("/a", status=302, headers={"Location": site.url("/a", "127.0.0.2")}, host="127.0.0.1")
    with pytest.raises(UpstreamFailed, match="private network"):
        get_or_fetch_article(site.publisher, site.url("/a"), how=how)
    assert not site.server.seen("/a", "127.0.0.2")


def _refusals(site: Site) -> Iterator[tuple[str, type[Exception], str]]:
    serve = site.server.route
    page: dict[str, Any] = {"content_type": "text/html"}
    serve("/robots.txt", body=b"User-agent: *\nDisallow: /forbidden", content_type="text/plain")
    serve("/404", status=404)
    yield "/404", NotFound, "no page at this address"
    serve("/410", status=410)
    yield "/410", NotFound, "for good"
    serve("/402", status=402)
    yield "/402", UpstreamFailed, r"asks for payment \(402\)"
    serve("/401", status=401)
    yield "/401", UpstreamFailed, "login"
    serve("/500", status=500)
    yield "/500", UpstreamFailed, "answers with status 500"
    serve("/pdf", body=b"%PDF-1.7 ...", content_type="application/pdf")
    yield "/pdf", UpstreamFailed, "application/pdf"
    serve("/login", body=b"<html><body><form>Log in<input type='password'></form></body></html>", **page)
    yield "/login", UpstreamFailed, "password"
    serve("/empty", body=b"<html><body></body></html>", **page)
    yield "/empty", UpstreamFailed, "no text"
    serve("/bytes", body=b"", **page)
    yield "/bytes", UpstreamFailed, "empty"
    serve("/tags", body=b"<a>" * 60_000, **page)
    yield "/tags", UpstreamFailed, "tags"
    serve("/large", body=b"x" * (50 << 20), **page)
    yield "/large", UpstreamFailed, "larger than 5 MB"
    serve("/endless", body=(b"x" * (1 << 20) for _ in range(50)), **page)
    yield "/endless", UpstreamFailed, "larger than 5 MB"
    serve("/front", status=302, headers={"Location": "/"})
    serve("/", body=html("Home"), **page)
    yield "/front", NotFound, "front page"
    serve("/left-out", status=302, headers={"Location": "/private/a"})
    serve("/private/a", body=html("Private"), **page)
    yield "/left-out", UpstreamFailed, "a path that is left out of this publisher's index"
    yield "/forbidden", UpstreamFailed, "robots.txt"


@pytest.mark.slow
def test_each_refusal_is_named_and_nothing_is_stored(site: Site) -> None:
    for path, error, words in _refusals(site):
        with pytest.raises(error, match=words) as raised:
            get_or_fetch_article(site.publisher, site.url(path))
        assert raised.value.args[0].endswith((".", "!"))
    assert not site.articles()


@pytest.mark.slow
def test_broken_html_is_read_as_browsers_do(site: Site) -> None:
    text = "".join(f"<p>{paragraph(topic)}" for topic in ("eggs", "noodles", "plums", "flour"))
    site.server.route(
        "/a", body=f"<html><title>Koogle</title><body><article>{text}</i></div><table><tr>".encode(), content_type="text/html"
    )
    assert "eggs" in get_or_fetch_article(site.publisher, site.url("/a")).markdown


@pytest.mark.slow
@pytest.mark.parametrize("part", ["robots", "body", "head", "redirects"])
def test_it_takes_no_longer_than_it_may_whatever_is_slow(site: Site, part: str) -> None:
    slow: dict[str, Any] = {"body": b"x" * 1_000, "drip": 0.05}
    site.server.route("/robots.txt", body=b"", content_type="text/plain")
    site.page("/a", "Koogle")
    match part:
        case "robots":
            site.server.route("/robots.txt", **slow)
        case "body":
            site.server.route("/a", **slow)
        case "head":
            site.server.route("/a", delay=30.0)
        case _:
            site.server.route("/a", lambda _request: Reply(status=302, headers={"Location": f"/a?{time.monotonic()}"}, delay=0.2))
    started = time.monotonic()
    with pytest.raises(UpstreamFailed, match="in time"):
        get_or_fetch_article(site.publisher, site.url("/a"), seconds=0.4)
    assert time.monotonic() - started < 1.0
    assert not site.articles()


@pytest.mark.slow
def test_a_name_that_hangs_costs_no_more(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()
    monkeypatch.setattr("sources.fetch.transport.system_resolver", lambda _host, _port: answer.wait() and [])
    site.publisher.domains.append("koogle.example")
    started = time.monotonic()
    with pytest.raises(UpstreamFailed, match="in time"):
        get_or_fetch_article(site.publisher, "http://koogle.example/a", seconds=0.4)
    assert time.monotonic() - started < 1.0
    answer.set()


@pytest.mark.slow
def test_a_page_that_came_but_takes_long_to_be_understood_is_given_up(site: Site) -> None:
    site.server.route("/a", body=b"<p>" + b"<a>word " * 49_000, content_type="text/html")
    started = time.monotonic()
    with pytest.raises(UpstreamFailed):
        get_or_fetch_article(site.publisher, site.url("/a"), seconds=0.4)
    assert time.monotonic() - started < 1.5


@pytest.mark.slow
def test_two_pages_of_one_publisher_are_read_one_after_the_other_with_the_pause_between(site: Site) -> None:
    how = replace(feed_entries.get_fetch_policy(), gap=0.3)
    for path in ("/a", "/b"):
        get_or_fetch_article(site.publisher, site.page(path, path), how=how)
    (first,), (second,) = (site.server.seen(path) for path in ("/a", "/b"))
    assert second.at - first.ended >= 0.3
    with pytest.raises(UpstreamFailed, match="a moment ago"):
        get_or_fetch_article(site.publisher, site.page("/c", "C"), how=how, seconds=0.1)
    assert not site.server.seen("/c")


def test_while_the_store_is_closed_the_article_is_answered_all_the_same(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object) -> None:
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(store, "store_drafts", closed)
    found = get_or_fetch_article(site.publisher, site.page("/a", "Koogle"))
    assert found.title == "Koogle"
    assert not Article.objects.exists()


def test_inside_of_a_reading_for_the_public_it_is_the_primary_that_is_written(site: Site) -> None:
    site.page("/a", "Koogle")
    url = site.named("/a")
    assert routing.run_query(lambda: get_or_fetch_article(site.publisher, url)).title == "Koogle"
    assert site.articles() == {"/a": LIVE}


def test_the_wires_own_pages_and_front_pages_are_never_asked(site: Site) -> None:
    own = Publisher.objects.get(slug="wire")
    with pytest.raises(NotFound):
        get_or_fetch_article(own, f"{own.homepage}nothing")
    with pytest.raises(NotFound):
        get_or_fetch_article(site.publisher, site.url("/"))
    assert not site.server.requests


def _wait_for_both(publisher: Publisher) -> None:
    """Until two callers are counted, one of whom reads and one waits; no pause is long enough on a busy machine."""
    ends = time.monotonic() + 30
    while (publisher.pk not in page_fetch._lanes or page_fetch._lanes[publisher.pk].callers._value) and time.monotonic() < ends:
        time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_two_askers_at_once_fetch_once_and_a_third_is_not_kept_waiting(site: Site) -> None:
    site.page("/a", "Koogle", delay=1.0)
    url = site.named("/a")
    told: list[object] = []

    def ask() -> None:
        try:
            told.append(get_or_fetch_article(site.publisher, url).title)
        except UpstreamFailed as error:
            told.append(error.message)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    _wait_for_both(site.publisher)
    ask()
    for thread in threads:
        thread.join()
    assert told == ["Other pages are being read at this moment, so this one was not fetched.", "Koogle", "Koogle"]
    assert len(site.server.seen("/a")) == 1
    assert page_fetch.OF_ONE == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_slow_publisher_does_not_hold_up_the_others(site: Site) -> None:
    slow = site.publisher
    site.page("/a", "Slow", delay=1.0)

    def ask() -> None:
        get_or_fetch_article(slow, site.url("/a"))
        connections.close_all()

    held, waits = threading.Thread(target=ask), threading.Thread(target=ask)
    other = Publisher.objects.create(
        slug="other", name="Other", homepage=slow.homepage, domains=slow.domains, consented_on=slow.consented_on
    )
    held.start()
    waits.start()
    _wait_for_both(slow)
    with pytest.raises(UpstreamFailed, match="Other pages"):
        get_or_fetch_article(slow, site.page("/b", "Refused"))
    assert get_or_fetch_article(other, site.page("/c", "Quick")).title == "Quick"
    assert held.is_alive()
    held.join()
    waits.join()


@pytest.mark.slow
def test_between_pages_that_agents_ask_for_the_crawl_delay_is_kept(site: Site) -> None:
    site.server.route("/robots.txt", body=b"User-agent: *\nCrawl-delay: 2\n", content_type="text/plain")
    get_or_fetch_article(site.publisher, site.page("/a", "First"))
    with pytest.raises(UpstreamFailed, match="a moment ago") as refused:
        get_or_fetch_article(site.publisher, site.page("/b", "Second"), seconds=1.0)
    assert refused.value.hint.startswith("Try again in 2 seconds.")
    assert not site.server.seen("/b")


def test_times_are_utc(site: Site) -> None:
    assert get_or_fetch_article(site.publisher, site.page("/a", "Koogle")).published_at == NOW.replace(day=15, hour=10)
