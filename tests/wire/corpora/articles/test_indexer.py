"""A publisher's site, indexed: what its feeds and sitemaps name, its pages, edits, and what is gone."""

import datetime as dt
import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from config.errors import Busy, InvalidArgument, NotFound
from sources import job_lock
from sources.models import FetchHost
from tests.feedserver import Reply, Request
from tests.wire.corpora.articles.site import DAY, NOW, Site, html, item, paragraph, rss, sitemapindex, urlset
from wire.corpora.articles import indexer, normalize, queries
from wire.corpora.articles import store as storing
from wire.corpora.articles.indexer import MAX_PAGES, REREAD, try_out
from wire.corpora.articles.models import AT_ONCE, Article, ArticleAlias, IndexLease, Publisher, Source
from wire.corpora.articles.store import ArticleDraft
from wire.corpora.articles.url_keys import canonical_key
from wire.models import WireState
from wire.search import postings_index

LIVE, WAITING, FAILED, GONE = Article.State.LIVE, Article.State.WAITING, Article.State.FAILED, Article.State.GONE


def version() -> int:
    return WireState.objects.get().version


def test_a_feed_with_full_texts_is_indexed_without_asking_for_a_page(site: Site) -> None:
    site.feed("/feed", item(site.url("/koogle?utm_source=rss"), "Best <b>Koogle</b>", paragraph("Koogle")))
    before = version()
    report = site.index()
    assert (report.counts["new"], report.left, report.errors) == (1, 0, [])
    found = site.article("/koogle?utm_source=rss")
    assert (found.state, found.title, found.author) == (LIVE, "Best Koogle", "Chef Name")
    assert (found.description, found.published_at) == ("About Best Koogle.", dt.datetime(2026, 3, 15, 10, tzinfo=dt.UTC))
    assert found.markdown.startswith("The kitchen looked into Koogle")
    assert [one.title for one in queries.search_content("koogle", "koogle", 5).articles] == ["Best Koogle"]
    assert {request.path for request in site.server.requests} == {"/robots.txt", "/feed"}
    assert version() == before + 1
    site.publisher.refresh_from_db()
    assert site.publisher.indexed_at == NOW


@pytest.mark.slow
def test_an_item_without_its_text_and_a_sitemap_have_their_pages_read(site: Site) -> None:
    site.feed("/feed", item(site.page("/short", "A page title"), "Short", "Too little to be all."))
    site.sitemap(
        "/map", site.url("/"), site.page("/plain", "Plain talk"), site.url("/private/x"), site.url("/y", "127.0.0.2"), "gopher:z"
    )
    report = site.index()
    assert site.articles() == {"/short": LIVE, "/plain": LIVE}
    assert (report.counts["left out"], report.counts["foreign"], report.counts["bad address"]) == (1, 1, 1)
    plain = site.article("/plain")
    assert (plain.title, plain.author, plain.description) == ("Plain talk", "A. Cook", "All about Plain talk.")
    assert "Home" not in plain.markdown
    assert "part three" in plain.markdown
    assert site.article("/short").author == "A. Cook"
    assert not [request for request in site.server.requests if request.host != "127.0.0.1"]


@pytest.mark.slow
def test_titles_alone_are_listed_at_once_and_edited_as_the_feed_edits_them(site: Site) -> None:
    """Most feeds give no text, and pages may take days, or never be given."""
    site.feed("/feed", item(site.url("/a"), "Koogle"))
    site.server.route("/a", status=402)
    assert site.index().counts["listed"] == 1
    assert [one.url for one in queries.list_recent("koogle", 10).articles] == [site.url("/a")]
    assert (site.article("/a").state, site.article("/a").markdown, site.article("/a").failures) == (LIVE, "", 1)
    site.feed("/feed", item(site.url("/a"), "Dumplings"))
    site.index(NOW + DAY / 24)
    assert not queries.search_content("koogle", "koogle", 5).articles
    assert queries.search_content("koogle", "dumplings", 5).articles
    site.page("/a", "Dumplings with plums")
    assert site.index(NOW + DAY / 3).counts["new"] == 1
    assert queries.search_content("koogle", "plums", 5).articles
    assert not site.article("/a").revisions.exists()


@pytest.mark.slow
def test_again_nothing_is_asked_twice_and_nothing_changes(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "A", paragraph("A")), etag='"1"')
    site.sitemap("/map", site.page("/b", "B"))
    site.index()
    before = version()
    site.server.requests.clear()
    report = site.index(NOW + DAY / 24)
    assert (report.counts["unchanged"], report.changed) == (2, False)
    assert [request.path for request in site.server.requests] == ["/feed", "/map"]
    assert site.server.seen("/feed")[0].headers["if-none-match"] == '"1"'
    assert version() == before


@pytest.mark.slow
def test_an_index_of_sitemaps_is_followed_on_own_hosts_each_once_and_three_deep(site: Site) -> None:
    root = site.sitemap("/map")
    nested = [site.url("/map1"), site.url("/map"), site.url("/map", "127.0.0.2"), site.url("/pages")]
    site.server.route("/map", body=sitemapindex(*nested))
    for depth in (1, 2, 3):
        site.server.route(f"/map{depth}", body=sitemapindex(site.url(f"/map{depth + 1}"), site.url("/pages")))
    site.server.route("/map4", body=urlset([site.url("/too-deep")]))
    site.server.route("/pages", body=urlset([site.page("/a", "A")]), etag='"1"')
    report = site.index()
    assert site.articles() == {"/a": LIVE}
    assert [len(site.server.seen(path)) for path in ("/map", "/map1", "/map2", "/map3", "/map4", "/pages")] == [1, 1, 1, 1, 0, 1]
    assert not report.errors
    root.refresh_from_db()
    assert (root.found, root.failures, root.worked_at) == (1, 0, NOW)
    site.server.route("/pages", body=urlset([site.url("/a"), site.page("/b", "B")]), etag='"2"')
    site.index(NOW + DAY / 24)
    assert site.articles() == {"/a": LIVE, "/b": LIVE}
    assert site.server.seen("/pages")[1].headers["if-none-match"] == '"1"'
    root.refresh_from_db()
    assert root.found == 2


@pytest.mark.slow
def test_a_last_change_has_a_page_read_again_and_an_edit_is_a_revision(site: Site) -> None:
    url = site.page("/a", "Before")
    site.sitemap("/map", f"{url} 2026-03-19")
    site.index()
    site.page("/a", "After")
    site.index(NOW + DAY / 24)
    assert site.article("/a").title == "Before"
    site.sitemap("/map", f"{url} 2026-03-20T12:30:00Z")
    report = site.index(NOW + DAY / 12)
    assert report.counts["edited"] == 1
    found = site.article("/a")
    assert (found.title, [one.title for one in found.revisions.all()]) == ("After", ["Before"])
    assert not queries.search_content("koogle", "before", 5).articles
    assert queries.search_content("koogle", "after", 5).articles
    site.sitemap("/map", f"{url} 2036-01-01")  # no page is read for a change that is yet to come
    assert site.index(NOW + DAY).counts["pages"] == 0


@pytest.mark.slow
def test_missing_twice_a_day_apart_is_gone_and_may_come_back(site: Site) -> None:
    url = site.page("/a", "Koogle")
    site.sitemap("/map", f"{url} 2026-03-19")
    site.index()
    site.server.route("/a", status=404)
    site.sitemap("/map", f"{url} 2026-03-20T12:10:00Z")
    assert site.index(NOW + DAY / 24).counts["missing"] == 1
    assert site.index(NOW + DAY / 12).counts["pages"] == 0
    assert site.articles() == {"/a": LIVE}
    assert site.index(NOW + 2 * DAY).counts["gone"] == 1
    assert site.articles() == {"/a": GONE}
    assert not queries.search_content("koogle", "koogle", 5).articles
    with pytest.raises(NotFound, match="gone since 2026-03-22"):
        queries.buy_article("koogle", url)
    site.page("/a", "Koogle again")
    assert site.index(NOW + 3 * DAY).counts["pages"] == 0
    assert site.index(NOW + 10 * DAY).counts["new"] == 1
    assert queries.buy_article("koogle", url)[0].title == "Koogle again"


def test_a_missing_page_that_is_there_again_is_not_gone(site: Site) -> None:
    url = site.page("/a", "Koogle")
    site.sitemap("/map", url)
    site.server.route("/a", status=410)
    site.index()
    assert site.articles() == {"/a": WAITING}
    site.page("/a", "Koogle")
    site.index(NOW + 2 * DAY)
    assert site.articles() == {"/a": LIVE}
    assert site.article("/a").missing_since is None


@pytest.mark.slow
def test_what_no_source_shows_any_more_is_looked_at_once_a_week(site: Site) -> None:
    site.feed("/feed", item(site.page("/a", "A"), "A", paragraph("A")), item(site.page("/b", "B"), "B", paragraph("B")))
    site.index()
    site.feed("/feed", item(site.url("/b"), "B", paragraph("B")))
    assert site.index(NOW + 6 * DAY).counts["pages"] == 0
    site.index(NOW + 8 * DAY)
    assert [len(site.server.seen(path)) for path in ("/a", "/b")] == [1, 0]
    site.index(NOW + 9 * DAY)
    assert len(site.server.seen("/a")) == 1


@pytest.mark.slow
def test_an_unchanged_sitemap_is_read_whole_now_and_then_so_that_what_it_shows_is_not_asked(site: Site) -> None:
    site.sitemap("/map", site.page("/a", "A"), etag='"1"')
    site.index()
    for days in range(1, 20):
        site.index(NOW + days * DAY)
    assert len(site.server.seen("/a")) == 1
    assert len([one for one in site.server.seen("/map") if "if-none-match" not in one.headers]) == 1 + 19 // REREAD.days


@pytest.mark.slow
def test_pages_that_are_none_are_named_and_asked_again_later_each_time(site: Site) -> None:
    site.page("/pdf", "")
    site.server.route("/pdf", body=b"%PDF-1.7 ...", content_type="application/pdf")
    site.server.route("/login", body=b"<form><input type=password></form>" + html("")[:20], content_type="text/html")
    site.server.route("/wall", status=402)
    site.server.route("/403", status=403)
    site.server.route("/empty", body=b"<html><body></body></html>", content_type="text/html")
    site.server.route("/home", status=302, headers={"Location": "/"})
    site.server.route("/", body=html("Home"), content_type="text/html")
    site.server.route("/away", status=302, headers={"Location": site.url("/away", "127.0.0.2")})
    site.server.route("/large", body=(b"x" * (1 << 20) for _ in range(50)), content_type="text/html")
    site.server.route("/robots.txt", body=b"User-agent: *\nDisallow: /forbidden", content_type="text/plain")
    paths = ("/pdf", "/login", "/wall", "/403", "/empty", "/home", "/away", "/large", "/forbidden")
    site.sitemap("/map", *map(site.url, paths))
    report = site.index()
    assert site.articles() == dict.fromkeys(paths, FAILED)
    assert report.counts["failed"] == len(paths)
    told = {path: site.article(path).error for path in paths}
    for path, words in {
        "/pdf": "application/pdf, not with a web page",
        "/login": "password",
        "/wall": r"asks for payment (402)",
        "/403": "refuses",
        "/empty": "no text",
        "/home": "front page",
        "/away": "not the publisher's",
        "/large": "larger than 5 MB",
        "/forbidden": "robots.txt",
    }.items():
        assert words in told[path]
        assert told[path].endswith(".")
    assert not site.server.seen("/away", "127.0.0.2")
    site.server.requests.clear()
    site.index(NOW + DAY / 24)
    assert [one.path for one in site.server.requests] == ["/map"]
    site.page("/pdf", "An article after all")
    site.index(NOW + DAY / 3)
    assert site.articles()["/pdf"] == LIVE
    site.server.requests.clear()
    site.index(NOW + DAY / 3 + DAY / 4)
    assert not site.server.seen("/wall")  # twice as long this time


@pytest.mark.slow
def test_a_redirect_within_the_site_makes_one_article_of_two_addresses(site: Site) -> None:
    site.server.route("/old", status=301, headers={"Location": "/new"})
    site.page("/new", "Moved")
    site.sitemap("/map", site.url("/old"), site.url("/new"))
    site.index()
    assert site.articles() == {"/new": LIVE}
    assert list(ArticleAlias.objects.values_list("key", flat=True)) == [site.url("/old")]
    assert queries.buy_article("koogle", site.url("/old"))[0].url == site.url("/new")
    site.sitemap("/map", site.url("/old"))
    site.index(NOW + DAY)
    assert site.articles() == {"/new": LIVE}


@pytest.mark.slow
def test_a_server_in_trouble_is_left_alone_after_five_failures_and_nothing_is_lost(site: Site) -> None:
    paths = [f"/{number}" for number in range(12)]
    for path in paths:
        site.server.route(path, drop=True)
    site.sitemap("/map", *map(site.url, paths))
    report = site.index()
    asked = sum(len(site.server.seen(path)) for path in paths)
    assert 5 <= asked <= 8  # some are on their way
    assert "left alone for 10 minutes" in report.errors[0]
    assert (report.counts["failed"], report.left) == (asked, 12 - asked)
    FetchHost.objects.update(not_before=None)
    for path in paths:
        site.page(path, f"Page {path}")
    site.index(NOW + DAY)
    assert set(site.articles().values()) == {LIVE}


def test_a_source_that_fails_is_told_kept_and_asked_later_each_time(site: Site) -> None:
    source = site.feed("/feed", item(site.url("/a"), "A", paragraph("A")))
    site.index()
    site.server.route("/feed", status=500)
    for hour in (1, 2):
        report = site.index(NOW + DAY + hour * DAY / 24)
        assert report.reached_nothing
    source.refresh_from_db()
    assert (source.failures, source.error_code) == (2, "http_500")
    assert site.articles() == {"/a": LIVE}
    assert site.index(NOW + DAY + 2 * DAY / 24).counts["not due"] == 1
    site.server.route("/feed", body=b"<html>no feed</html>")
    assert "web page" in site.index(NOW + DAY + 3 * DAY / 24).errors[0]
    site.feed("/feed", item(site.url("/a"), "A", paragraph("A")))
    assert not site.index(NOW + DAY + 3 * DAY / 24, by_hand=True).errors
    source.refresh_from_db()
    assert (source.failures, source.error) == (0, "")


@pytest.mark.slow
def test_a_fault_of_ours_costs_one_document_or_page_and_no_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.feed("/one", item(site.url("/a"), "Poison", paragraph("A")))
    site.feed("/two", item(site.url("/b"), "Fine", paragraph("B")))
    site.sitemap("/map", site.page("/c", "Poison"), site.page("/d", "Fine"))

    def poisoned(make: Callable[..., ArticleDraft]) -> Callable[..., ArticleDraft]:
        def making(*arguments: Any) -> ArticleDraft:
            draft = make(*arguments)
            return draft if draft.title != "Poison" else 1 / 0  # type: ignore[return-value]

        return making

    for name in ("draft_entry", "draft_page"):
        monkeypatch.setattr(indexer, name, poisoned(getattr(indexer, name)))
    assert "An internal error; the log says why." in site.index().errors[0]
    assert site.articles() == {"/b": LIVE, "/c": FAILED, "/d": LIVE}


def test_a_source_is_tried_out_without_a_trace(site: Site) -> None:
    feed = site.feed(
        "/feed", item(site.url("/a"), "A", paragraph("A")), item(site.url("/b"), "B"), item(site.url("/c", "127.0.0.2"), "C")
    )
    told = try_out(feed)
    assert [(draft.title, draft.markdown is None) for draft in told if not isinstance(draft, str)] == [("A", False), ("B", True)]
    index = site.sitemap("/map")
    site.server.route("/map", body=sitemapindex(site.url("/x", "127.0.0.2"), site.url("/map1")))
    site.server.route("/map1", body=urlset([site.url("/d")]))
    assert len(try_out(index)) == 1
    site.server.route("/map1", body=urlset([site.url("/d", "127.0.0.2")]))
    assert "None of its addresses can be indexed: all are outside" in try_out(index)
    assert "web page" in try_out(site.feed("/none", body=b"<html>"))
    assert "404" in try_out(Source(publisher=site.publisher, kind="feed", url=site.url("/gone")))
    assert not site.articles()


@pytest.mark.slow
def test_a_run_reads_so_many_pages_and_the_next_ones_the_rest(site: Site) -> None:
    paths = [f"/{number}" for number in range(7)]
    site.sitemap("/map", *(site.page(path, f"Page {path}") for path in paths))
    assert [(report.counts["pages"], report.left) for report in (site.index(most_pages=3) for _ in range(3))] == [
        (3, 4),
        (3, 1),
        (1, 0),
    ]
    assert MAX_PAGES >= 1_000
    assert set(site.articles().values()) == {LIVE}


@pytest.mark.slow
def test_stopped_half_way_it_goes_on_from_there(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BATCH", 10)
    site.sitemap("/map", *(site.page(f"/{number}", f"Page {number}") for number in range(25)))
    stops = iter([False] * 4)
    site.index(stop=lambda: next(stops, True))
    assert 0 < len(site.articles()) < 25
    site.publisher.refresh_from_db()
    assert site.publisher.indexed_at is None
    report = site.index()
    assert (set(site.articles().values()), len(site.articles()), report.left) == ({LIVE}, 25, 0)


@pytest.mark.slow
def test_killed_in_a_transaction_nothing_is_stored_by_halves(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kill does: the batch at hand is rolled back, what was committed stays."""
    monkeypatch.setattr(storing, "BATCH", 10)
    site.sitemap("/map", *(site.page(f"/{number}", f"Page {number}") for number in range(25)))
    whole = postings_index.add
    calls = iter(range(100))

    def dying(index: str, documents: postings_index.Documents) -> None:
        whole(index, documents)
        if next(calls) == 4:  # three batches of names, one of pages
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(postings_index, "add", dying)
        with pytest.raises(KeyboardInterrupt):
            site.index()
    states = list(site.articles().values())
    assert (states.count(LIVE), states.count(WAITING)) == (10, 15)
    assert IndexLease.objects.get().holder == ""
    site.index()
    assert set(site.articles().values()) == {LIVE}
    assert len(queries.search_content("koogle", "page", 20).articles) == 20


def test_one_at_a_time_for_a_publisher(site: Site) -> None:
    site.sitemap("/map")
    IndexLease.objects.create(publisher=site.publisher)
    with (
        job_lock.acquire(IndexLease.objects.filter(publisher=site.publisher), "indexing"),
        pytest.raises(Busy, match="indexing of koogle"),
    ):
        site.index()
    with job_lock.acquire():  # the wire's own ingest is no hindrance
        site.index()


def test_a_publisher_that_was_removed_meanwhile_gets_no_article(site: Site) -> None:
    def removing(_request: Request) -> Reply:
        Publisher.objects.filter(pk=site.publisher.pk).update(removed_at=NOW)
        Source.objects.all().delete()
        return Reply(rss([item(site.url("/a"), "A", paragraph("A"))]))

    site.feed("/feed")
    site.server.route("/feed", removing)
    publisher = Publisher.objects.get(pk=site.publisher.pk)
    storing.remove(publisher, NOW)
    with pytest.raises(NotFound, match="was removed"):
        storing.store(publisher, [], NOW)


def test_the_sample_wire_takes_no_articles_of_others(site: Site) -> None:
    WireState.objects.update(is_sample=True)
    with pytest.raises(InvalidArgument, match="sample"):
        site.index()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_sitemaps(site: Site) -> None:
    """Four documents of 300 addresses need little more than one."""

    def peak(documents: int) -> int:
        Article.objects.all().delete()
        Source.objects.all().delete()
        for number in range(documents):
            site.server.route(f"/map{number}", body=urlset(site.url(f"/{number}/{page}") for page in range(300)))
        site.sitemap("/map")
        site.server.route("/map", body=sitemapindex(*(site.url(f"/map{number}") for number in range(documents))))
        gc.collect()
        tracemalloc.start()
        site.index(most_pages=0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert Article.objects.count() == documents * 300
        return most

    # What another test left to be collected, or to be remembered once, is no growth.
    few, many = (min(peak(documents) for _ in range(3)) for documents in (1, 4))
    assert many < few * 1.5


def test_of_items_with_one_address_the_first_is_stored_and_the_others_are_named(site: Site) -> None:
    several = [item(site.url(f"/live#post-{number}"), f"Post {number}", paragraph(f"post {number}")) for number in range(1, 4)]
    feed = site.feed("/feed", *several, several[0], item(site.url("/private/x"), "Hidden"), item(site.url("/"), "Home"))
    report = site.index()
    assert site.article("/live").title == "Post 1"
    assert (report.counts["new"], report.counts["edited"], report.counts["same address"], report.counts["front page"]) == (
        1,
        0,
        2,
        1,
    )
    (told,) = report.refused
    names = [f"“Post {number}” {site.url(f'/live#post-{number}')} (taken: “Post 1”)" for number in (2, 3)]
    assert told.startswith(f"{feed.url}: refused: 2 same address, such as {' and '.join(names)}; ")
    assert "1 left out, such as “Hidden”" in told
    feed.refresh_from_db()
    assert {reason: one["count"] for reason, one in feed.refusals.items()} == {"same address": 2, "left out": 1, "front page": 1}
    assert site.index(NOW + REREAD).counts["edited"] == 0
    site.feed("/feed", several[0])
    site.index(NOW + 2 * REREAD)
    feed.refresh_from_db()
    assert not feed.refusals


def test_items_with_one_address_are_known_beyond_a_batch(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BATCH", 1)
    site.feed("/feed", *(item(site.url("/live"), f"Post {number}", paragraph(f"post {number}")) for number in range(3)))
    report = site.index()
    assert (report.counts["new"], report.counts["edited"], report.counts["same address"]) == (1, 0, 2)
    assert not site.article("/live").revisions.exists()


def test_an_address_that_a_sitemap_names_twice_is_taken_with_the_later_change(site: Site) -> None:
    urls = [f"{site.url('/a')} 2026-03-01", f"{site.url('/a')} 2026-03-05", f"{site.url('/a')} 2026-03-03"]
    site.sitemap("/map", *urls)
    report = site.index(most_pages=0)
    assert site.article("/a").listed_change == dt.datetime(2026, 3, 5, tzinfo=dt.UTC)
    assert report.counts["same address"] == 0
    assert not report.refused


def test_one_odd_item_costs_no_other_of_its_feed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    draft_entry = normalize.draft_entry

    def odd(publisher: Publisher, entry: Any, now: dt.datetime) -> ArticleDraft:
        if entry.title == "Odd":
            raise ZeroDivisionError
        return draft_entry(publisher, entry, now)

    monkeypatch.setattr(indexer, "draft_entry", odd)
    site.feed("/feed", *(item(site.url(f"/{title}"), title, paragraph(title)) for title in ("One", "Odd", "Two")))
    report = site.index()
    assert (report.counts["new"], report.counts["internal error"]) == (2, 1)
    assert "1 internal error, such as “Odd”" in report.refused[0]


def test_what_a_sitemap_of_an_index_refuses_is_counted_with_its_source(site: Site) -> None:
    index = site.sitemap("/map")
    site.server.route("/map", body=sitemapindex(site.url("/map1")))
    site.server.route("/map1", body=urlset([site.url("/a"), site.url("/private/b")]))
    site.index(most_pages=0)
    index.refresh_from_db()
    assert index.refusals == {"left out": {"count": 1, "first": [site.url("/private/b")]}}


def test_sitemaps_that_lie_too_deep_are_named(site: Site) -> None:
    site.sitemap("/map0")
    for depth in range(5):
        site.server.route(f"/map{depth}", body=sitemapindex(site.url(f"/map{depth + 1}")))
    report = site.index()
    assert report.counts["too deep"] == 1
    assert report.refused == [f"{site.url('/map3')}: refused: 1 sitemaps nested more than 3 deep, such as {site.url('/map4')}"]


def test_two_articles_that_become_one_lose_no_text(site: Site) -> None:
    body = html("A").replace(b"</head>", f'<link rel="canonical" href="{site.url("/one")}"></head>'.encode())
    store = storing.store
    drafts = [
        ArticleDraft(site.url(path), canonical_key(site.url(path)), title, markdown=title * 99)
        for path, title in (("/one", "A"), ("/two", "B"))
    ]
    store(site.publisher, drafts, NOW)
    store(site.publisher, [replace(drafts[1], markdown="C" * 99)], NOW)
    Article.objects.filter(url=site.url("/two")).update(ask_at=AT_ONCE)
    site.server.route("/two", body=body, content_type="text/html")
    assert site.index().counts["merged"] == 1
    assert site.articles() == {"/one": LIVE}
    assert {one.markdown[0] for one in site.article("/one").revisions.all()} == {"B", "C"}


def naming(site: Site, title: str, path: str, text: str = "") -> bytes:
    """A page that names another address as its own."""
    return html(title, text).replace(b"</head>", f'<link rel="canonical" href="{site.url(path)}"></head>'.encode())


@pytest.mark.slow
@pytest.mark.parametrize("paths", [("/ok", "/other"), ("/other", "/ok")])
def test_a_page_that_names_the_address_of_another_article_stays_an_article_of_its_own(site: Site, paths: tuple[str, str]) -> None:
    site.page("/ok", "An oven talks")
    site.server.route("/other", body=naming(site, "Soup is back", "/ok"), content_type="text/html")
    site.sitemap("/map", *map(site.url, paths))
    report = site.index()
    assert (report.counts["new"], report.counts["merged"], report.counts["edited"]) == (2, 0, 0)
    assert {path: site.article(path).title for path in paths} == {"/ok": "An oven talks", "/other": "Soup is back"}
    assert not site.article("/ok").revisions.exists()


@pytest.mark.slow
def test_pages_of_one_article_that_name_one_address_are_one(site: Site) -> None:
    site.page("/oven", "An oven talks")
    for path in ("/a/amp", "/oven/print"):
        site.server.route(path, body=naming(site, "An oven talks", "/oven"), content_type="text/html")
    site.sitemap("/map", site.url("/a/amp"), site.url("/oven"), site.url("/oven/print"))
    assert site.index().counts["merged"] == 2
    assert site.articles() == {"/oven": LIVE}


@pytest.mark.slow
def test_pages_that_all_name_one_address_by_mistake_are_articles_of_their_own_but_for_the_first(site: Site) -> None:
    paths = [f"/{number}" for number in range(4)]
    for path in paths:
        site.server.route(path, body=naming(site, f"Post {path}", "/blog"), content_type="text/html")
    site.sitemap("/map", *map(site.url, paths))
    report = site.index()
    assert (report.counts["new"], report.counts["merged"]) == (4, 0)
    assert {article.title for article in Article.objects.filter(publisher=site.publisher)} == {f"Post {path}" for path in paths}


@pytest.mark.slow
def test_a_page_that_says_that_it_is_not_there_is_missing_whatever_its_status(site: Site) -> None:
    page = site.page("/dumplings", "Dumplings")
    site.sitemap("/map", page)
    assert site.index().counts["new"] == 1
    text = "Sorry, the page that you look for is not here any more. " * 9
    soft = f"<title>Page not found</title><article><h1>Page not found</h1><p>{text}</p></article>".encode()
    site.server.route("/dumplings", body=soft, content_type="text/html")
    site.server.route("/never", body=soft, content_type="text/html")
    site.sitemap("/map", f"{page} 2026-03-21", site.url("/never"))
    report = site.index(NOW + 2 * DAY)
    assert (report.counts["missing"], report.counts["not found page"], report.counts["edited"]) == (2, 2, 0)
    assert site.article("/dumplings").title == "Dumplings", "once may be a mistake"
    assert site.index(NOW + 4 * DAY).counts["gone"] == 2
    assert set(site.articles().values()) == {GONE}


def test_a_revision_has_the_date_that_its_hash_is_of(site: Site) -> None:
    first = ArticleDraft(site.url("/a"), canonical_key(site.url("/a")), "A", published_at=NOW, markdown="First.")
    storing.store(site.publisher, [first], NOW)
    storing.store(site.publisher, [replace(first, published_at=NOW - DAY)], NOW)
    kept = site.article("/a").revisions.get()
    assert (kept.published_at, kept.content_sha256) == (NOW, first.sha256)


def test_what_a_run_stored_that_was_broken_off_is_seen(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.feed("/feed", item(site.url("/a"), "A", paragraph("A")))
    before = version()

    def broken(*_: object) -> None:
        raise OSError("No room.")

    with monkeypatch.context() as patch:
        patch.setattr(indexer._Run, "read_pages", broken)
        with pytest.raises(OSError, match="No room"):
            site.index()
    assert (len(site.articles()), version()) == (1, before + 1)
    IndexLease.objects.update(holder="elsewhere/1/killed", expires_at=NOW)  # as a killed run leaves it
    assert not site.index(NOW + DAY / 24).changed
    assert version() == before + 2
    site.index(NOW + DAY / 12)
    assert version() == before + 2


def test_a_source_that_has_another_address_meanwhile_keeps_nothing_of_the_old_one(site: Site) -> None:
    feed = site.feed("/feed", item(site.url("/a"), "A", paragraph("A")))
    feed.worked_at = NOW
    type(feed).objects.update(url=site.url("/other"))
    indexer._save_source(feed)
    feed.refresh_from_db()
    assert feed.worked_at is None
