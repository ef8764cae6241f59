"""`manage.py publishers`: what an operator types, and what is said when it cannot be done."""

import io
import json
import shlex
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from sources import job_lock
from tests.feedserver import FeedServer
from tests.wire.corpora.articles.site import Site, item, paragraph
from wire.corpora.articles import queries
from wire.corpora.articles.models import Article, IndexLease, Publisher, Source
from wire.ingest import feed_entries
from wire.models import Postings, WireState


def publishers(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("publishers", *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def add(server: FeedServer, *more: str, slug: str = "cooks") -> str:
    where = ("--homepage", server.url("/"), "--domain", f"127.0.0.1:{server.port}")
    consent = ("--consent-note", "By letter.", "--consented-on", "2026-03-01")
    return publishers("add", slug, "Cooks Daily", *where, *consent, *more)


def test_added_indexed_listed_and_removed(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    site.page("/b", "Dumplings")
    site.sitemap("/map", site.url("/b"))
    Source.objects.all().delete()
    told = add(
        site.server, "--feed", site.url("/feed"), "--sitemap", site.url("/map"), "--licence", "CC BY 4.0", "--excerpt", "300"
    )
    assert "Cooks Daily is served at /mcp/articles/cooks" in told
    cooks = Publisher.objects.get(slug="cooks")
    assert (cooks.full_text, cooks.excerpt_length, cooks.licence_kind, cooks.may_answer, cooks.may_train) == (
        False,
        300,
        "text",
        True,
        False,
    )
    assert "never indexed" in publishers("list")
    told = publishers("index", "cooks")
    assert "cooks: 1 asked" not in told
    assert "2 asked, 2 new, 1 pages, 1 queued; all pages are read (" in told
    told = publishers("list")
    assert "cooks: Cooks Daily, 2 live; indexed " in told
    assert f"  feed {site.url('/feed')}: named 1" in told
    assert len(queries.list_recent("cooks", 10).articles) == 2
    before = WireState.objects.get().version
    assert "removed, with 2 articles" in publishers("remove", "cooks")
    assert (Article.objects.filter(publisher=cooks).count(), Postings.objects.filter(index=f"articles {cooks.pk}").count()) == (
        0,
        0,
    )
    assert WireState.objects.get().version > before
    assert "cooks: Cooks Daily, removed on " in publishers("list")
    with pytest.raises(CommandError, match="was removed, and its slug stays reserved"):
        add(site.server, "--feed", site.url("/feed"))


def test_an_address_is_enough_to_add_and_index_a_publisher(site: Site) -> None:
    home = (
        b'<html lang="en"><head><title>Home | Cooks Daily</title><meta property="og:site_name" content="Cooks Daily">'
        b'<link rel="alternate" type="application/rss+xml" title="Comments" href="/comments/feed">'
        b'<link rel="alternate" type="application/rss+xml" href="/news.xml"></head><body><p>Welcome.</p></body></html>'
    )
    site.server.route("/", body=home, content_type="text/html")
    site.server.route("/robots.txt", body=f"Sitemap: {site.url('/map')}\n".encode(), content_type="text/plain")
    site.feed("/news.xml", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    site.page("/b", "Dumplings")
    site.sitemap("/map", site.url("/b"))
    told = publishers("add", site.url("/"), "--i-am-the-publisher", "--slug", "cooks")
    assert f"{site.url('/')} is Cooks Daily, in en. Found: {site.url('/news.xml')}, {site.url('/map')}" in told
    assert "2 asked, 2 new, 1 pages" in told
    cooks = Publisher.objects.get(slug="cooks")
    assert f"People read Cooks Daily at {cooks.page}, agents at {cooks.mcp}; " in told
    assert (cooks.name, cooks.homepage, cooks.domains) == ("Cooks Daily", site.url("/"), [f"127.0.0.1:{site.server.port}"])
    assert (cooks.consent_note, cooks.consented_on) == ("The publisher runs this installation.", timezone.now().date())
    command = shlex.split(told[told.index("curl ") :].replace("\\\n", ""))
    assert command[1] == cooks.mcp
    arguments = json.loads(command[-1])["params"]["arguments"]
    assert {one.title for one in queries.list_recent("cooks", **arguments).articles} == {"Koogle", "Dumplings"}
    with pytest.raises(CommandError, match="already exists"):
        publishers("add", site.url("/"), "--i-am-the-publisher", "--slug", "cooks")


def test_a_site_that_declares_nothing_is_looked_for_where_sites_have_it(site: Site) -> None:
    site.server.route("/", body=b"<title>The daily plum | Plums</title><p>Welcome.</p>", content_type="text/html")
    site.feed("/feed", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    told = publishers("add", site.url("/"), "--consent", "By letter.")
    plums = Publisher.objects.get(slug=f"127-0-0-1-{site.server.port}")
    assert (plums.name, plums.consent_note) == ("Plums", "By letter.")
    assert [(source.kind, source.url) for source in plums.sources.all()] == [("feed", site.url("/feed"))]
    assert "1 asked, 1 new" in told


def test_a_feed_is_an_address_of_its_site(site: Site) -> None:
    site.feed("/news.xml", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    publishers("add", site.url("/news.xml"), "--consent", "By letter.", "--slug", "cooks")
    cooks = Publisher.objects.get(slug="cooks")
    assert (cooks.name, cooks.homepage, [source.url for source in cooks.sources.all()]) == (
        *("Koogle", site.url("/")),
        [site.url("/news.xml")],
    )


def test_an_item_elsewhere_is_refused_as_on_another_host(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "Koogle", paragraph("Koogle")), item("https://plums.example/b", "Plums", "Plums."))
    told = publishers("add", site.url("/feed"), "--i-am-the-publisher", "--slug", "cooks")
    assert "1 new, 1 on another host; all pages are read" in told
    assert "refused: 1 on another host, such as “Plums” https://plums.example/b" in told


def test_a_site_on_this_machine_is_refused_with_the_setting_that_allows_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = replace(feed_entries.get_fetch_policy(), allow=())
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: nowhere)
    with pytest.raises(CommandError, match=r"not a public address.*WIRE_FETCH_ALLOW=127\.0\.0\.0/8"):
        publishers("add", site.url("/"), "--i-am-the-publisher")


def test_an_address_that_leads_to_nothing_adds_nothing(site: Site) -> None:
    site.server.route("/", body=b"<title>Plums</title>", content_type="text/html")
    site.server.route("/away", status=302, headers={"Location": site.url("/", "127.0.0.2")})
    for address, words in (
        (site.url("/"), "has no feed and no sitemap.*Nothing was changed. Name one with --feed or --sitemap"),
        (site.url("/gone"), "does not answer"),
        (site.url("/away"), "leads to .*Give that address if it is the publisher's"),
        ("http://user:pass@x.example/", "cannot be fetched: it contains a user name"),
    ):
        with pytest.raises(CommandError, match=words):
            publishers("add", address, "--i-am-the-publisher")
    site.feed("/deep/news", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    assert "1 asked, 1 new" in publishers(
        "add", site.url("/"), "--i-am-the-publisher", "--slug", "plums", "--feed", site.url("/deep/news")
    )
    with pytest.raises(CommandError, match="Who agreed"):
        publishers("add", site.url("/"))
    with pytest.raises(CommandError, match="name and homepage and domain must be given"):
        publishers("add", "cooks", "--i-am-the-publisher")
    assert set(Publisher.objects.values_list("slug", flat=True)) == {"koogle", "plums", "wire"}


def test_what_cannot_be_added_says_why_and_changes_nothing(site: Site) -> None:
    feed = site.url("/feed")
    for more, words in (
        ((), "Name at least one --feed or --sitemap"),
        (("--feed", site.url("/feed", "127.0.0.2")), "add --domain 127.0.0.2"),
        (("--feed", "file:///etc/passwd"), "cannot be fetched: it is not an http or https address"),
        (("--feed", feed, "--domain", "not a host"), "is not a host name"),
        (("--feed", feed, "--domain", "com"), "whole top-level domain"),
        (("--feed", feed, "--domain", "co.uk"), "“co.uk” is a public suffix.*Name the publisher's own host"),
        (("--feed", feed, "--price", "{}}"), "invalid _json value"),
        (("--feed", feed, "--price", '{"amount": 5}'), "“scheme” is missing"),
        (("--feed", feed, "--per-minute", "0"), "per_minute"),
        (("--feed", feed, "--leave-out", "private"), "is not a path prefix. Start it with a slash"),
        (("--feed", feed, "--excerpt", "9999999"), "excerpt_length"),
        (("--feed", feed, "--consented-on", "tomorrow"), "invalid _day value"),
    ):
        with pytest.raises(CommandError, match=words):
            add(site.server, *more)
    for slug, words in (("No Slug", "slug"), ("publishers", "is an address of the API")):
        with pytest.raises(CommandError, match=words):
            add(site.server, "--feed", feed, slug=slug)
    with pytest.raises(CommandError, match="already exists"):
        add(site.server, "--feed", feed, slug="koogle")
    with pytest.raises(CommandError, match="--consent-note"):
        publishers("add", "cooks", "Cooks", "--homepage", site.url("/"), "--domain", "x.example", "--consented-on", "2026-03-01")
    assert set(Publisher.objects.values_list("slug", flat=True)) == {"koogle", "wire"}


def test_all_are_indexed_and_one_that_fails_keeps_no_other_from_its_turn(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    add(site.server, "--feed", site.url("/gone"), slug="a-first")
    with pytest.raises(CommandError, match=r"No source of a-first answered: .*/gone.* What was indexed stays"):
        publishers("index")
    assert Article.objects.filter(publisher=site.publisher, state=Article.State.LIVE).count() == 1
    assert publishers("index", "koogle")  # others are left alone
    with pytest.raises(CommandError, match="There is no publisher nobody"):
        publishers("index", "koogle", "nobody")


@pytest.mark.slow
def test_pages_and_time_have_a_limit(site: Site) -> None:
    site.sitemap("/map", *(site.page(f"/{number}", f"Page {number}") for number in range(4)))
    assert "; 3 pages are left for the next run (" in publishers("index", "koogle", "--pages", "1")
    assert publishers("index", "koogle", "--seconds", "0") == ""
    assert publishers("index", "koogle", stop=lambda: True) == ""
    assert "; all pages are read (" in publishers("index", "koogle")


def test_a_publisher_that_another_process_indexes_is_left_to_it(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    IndexLease.objects.create(publisher=site.publisher)
    with job_lock.acquire(IndexLease.objects.filter(publisher=site.publisher), "indexing of koogle"):
        for command in ("index", "remove"):
            with pytest.raises(CommandError, match="Another indexing of koogle is running") as refused:
                publishers(command, "koogle")
            assert refused.value.returncode == 75
        assert "Another indexing of koogle" in publishers("index")
    assert publishers("index", "koogle")


def test_the_wires_own_cannot_be_removed(db: None) -> None:  # noqa: ARG001
    with pytest.raises(CommandError, match="own content"):
        publishers("remove", "wire")


def test_ingest_indexes_publishers_after_the_wires_feeds_and_does_not_fail_with_them(site: Site) -> None:
    site.feed("/feed", item(site.url("/a"), "Koogle", paragraph("Koogle")))
    add(site.server, "--feed", site.url("/gone"), slug="a-first")
    from sources.models import Feed

    Feed.objects.update(active=False)
    out, errors = io.StringIO(), io.StringIO()
    call_command("ingest", stdout=out, stderr=errors)
    assert "koogle: 1 asked, 1 new" in out.getvalue()
    assert "No source of a-first answered" in errors.getvalue()


def test_what_was_not_taken_is_named_by_reason_in_the_result_and_in_the_list(site: Site) -> None:
    items = [item(site.url("/a"), title, paragraph(title)) for title in ("First", "Second")]
    site.feed("/feed", *items, item(site.url("/private/x"), "Hidden"))
    words = f"refused: 1 left out, such as “Hidden” {site.url('/private/x')}; 1 same address, such as “Second” {site.url('/a')}"
    assert words in publishers("index", "koogle")
    assert words in publishers("list")


def test_why_pages_were_not_read_is_listed_by_reason_and_page(site: Site) -> None:
    site.server.route("/login", status=401)
    pages = [site.url("/login"), *(site.url(f"/short-{number}") for number in range(2))]
    for number in range(2):
        site.server.route(f"/short-{number}", body=b"<html><title>Short</title><p>Soon.</p></html>", content_type="text/html")
    site.sitemap("/map", *pages)
    publishers("index", "koogle")
    told = publishers("list")
    assert f"  2 not read, such as {pages[1]}: The page has no text that looks like an article." in told
    assert f"  1 not read, such as {pages[0]}: The publisher's server asks for a login (401)." in told
