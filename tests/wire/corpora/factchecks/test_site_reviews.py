"""A publisher's own site is read by its sitemaps: politely, only where it is the publisher's, and on from where a run ended."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from tests import claims
from tests.feedserver import FeedServer
from tests.wire.corpora.factchecks.test_parsers import REVIEW
from wire.corpora.factchecks import queries, site_reviews
from wire.corpora.factchecks.file_formats import Unreadable
from wire.corpora.factchecks.models import Claim, LoadJob
from wire.ingest import feed_entries

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_pause(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    quick = replace(feed_entries.get_fetch_policy(), gap=0.0, deadline=5.0, connect_timeout=1.0)
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: quick)


def serve_page(server: FeedServer, path: str, claim: str = "", **more: Any) -> None:
    """Serve a page; with a claim it carries a review, whose address is left to the page."""
    review = json.dumps({**REVIEW, "url": None, "claimReviewed": claim} | more)
    script = f'<script type="application/ld+json">{review}</script>' if claim else ""
    server.route(path, body=f"<!doctype html><title>x</title>{script}<p>text</p>".encode(), content_type="text/html")


def serve_sitemap(server: FeedServer, path: str, urls: Iterable[tuple[str, str]]) -> None:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>{day}</lastmod></url>" for url, day in urls)
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    server.route(path, body=body.encode(), content_type="application/xml")


@pytest.fixture
def site(server: FeedServer) -> FeedServer:
    """A front page, three checks and an article, in a sitemap that robots.txt names; and a page of somebody else."""
    serve_page(server, "/")
    for number in range(3):
        serve_page(server, f"/check/{number}", f"Bees paint the pier {number}")
    serve_page(server, "/news/1")
    server.route(
        "/robots.txt",
        body=f"User-agent: *\nDisallow: /secret\nSitemap: {server.url('/map.xml')}\n".encode(),
        content_type="text/plain",
    )
    urls = [(server.url(f"/check/{number}"), f"2026-01-0{number + 1}") for number in range(3)]
    others = [
        (server.url("/news/1"), "2025-01-01"),
        ("https://other.example/check", "2026-01-01"),
        (server.url("/secret"), "2024-01-01"),
    ]
    serve_sitemap(server, "/map.xml", [*urls, *others])
    return server


def load(address: str, *options: str) -> None:
    call_command("loadfactchecks", address, "--no-vectors", *options)
    claims.forget()


def test_a_site_is_loaded_and_searchable_by_one_command(site: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    load(site.url("/"))
    out, err = capsys.readouterr()
    assert "4 pages read, 3 with reviews, 1 left" in out
    assert "1 pages were not read" in err
    assert "robots.txt" in err
    assert "/mcp/factchecks" in out
    assert "curl" in out
    (found, *_) = queries.search_claims("bees paint the pier 2", halves=["words"]).claims
    assert (found.synopsis, found.url, found.rating) == ("Bees paint the pier 2", site.url("/check/2"), "false")
    assert not site.seen("/secret")


def test_pages_that_changed_are_read_again_and_no_others(site: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    load(site.url("/"))
    serve_page(site, "/check/1", "Bees paint the pier 1", reviewRating={"alternateName": "True"})
    serve_sitemap(site, "/map.xml", [(site.url(f"/check/{number}"), f"2026-02-0{number % 2 + 1}") for number in (1,)])
    site.requests.clear()
    load(site.url("/"))
    assert "1 pages read" in capsys.readouterr().out
    assert not site.seen("/check/0")
    assert queries.search_claims("pier 1", halves=["words"]).claims[0].rating == "true"
    assert Claim.objects.count() == 3


def test_a_run_that_ended_early_goes_on_with_the_newest_first(site: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    load(site.url("/"), "--pages", "2")
    assert "2 pages read, 2 with reviews, 3 left" in capsys.readouterr().out
    assert set(Claim.objects.values_list("synopsis", flat=True)) == {"Bees paint the pier 1", "Bees paint the pier 2"}
    (file,) = (settings.WIRE_DATA_DIR / "factchecks").iterdir()
    file.write_bytes(file.read_bytes() + b'{"@type":"DataFeedItem","url":"http')  # as a killed run leaves it
    load(site.url("/"))
    assert "2 pages read, 1 with reviews" in capsys.readouterr().out
    assert Claim.objects.count() == 3
    assert not LoadJob.objects.exclude(errors=0)


def test_only_pages_below_the_address_are_read(site: FeedServer) -> None:
    serve_page(site, "/check/")
    load(site.url("/check/"))
    assert (Claim.objects.count(), site.seen("/news/1")) == (3, [])


def test_a_site_without_reviews_is_told_what_it_lacks(site: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    serve_page(site, "/news/")
    load(site.url("/news/"))
    assert "None of them has a ClaimReview" in capsys.readouterr().out
    assert Claim.objects.count() == 0


def test_one_page_a_feed_and_a_file_are_read_as_what_they_are(server: FeedServer) -> None:
    serve_page(server, "/check/1", "Owls drive the tram")
    load(server.url("/check/1"))
    serve_page(server, "/check/2", "Snails vote")
    item = f"<item><title>S</title><link>{server.url('/check/2')}</link></item>"
    server.route("/feed", body=f"<rss version='2.0'><channel><title>C</title>{item}</channel></rss>".encode())
    load(server.url("/feed"))
    server.route("/export", body=b"claim;rating\nCows sleep in trees;False\n", content_type="text/csv")
    load(server.url("/export?token=abc"))
    assert not LoadJob.objects.filter(source__contains="abc")
    assert set(Claim.objects.values_list("synopsis", flat=True)) == {"Owls drive the tram", "Snails vote", "Cows sleep in trees"}


def test_sitemaps_of_an_index_are_followed_and_strangers_left_out(site: FeedServer) -> None:
    index = f"<sitemapindex><sitemap><loc>{site.url('/map.xml')}</loc></sitemap><sitemap><loc>https://x.example/m.xml</loc></sitemap></sitemapindex>"
    site.route("/index.xml", body=index.encode(), content_type="application/xml")
    load(site.url("/index.xml"))
    assert Claim.objects.count() == 3


def test_a_server_that_fails_again_and_again_is_left_alone(server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    serve_page(server, "/")
    serve_sitemap(server, "/sitemap.xml", [(server.url(f"/check/{number}"), "2026-01-01") for number in range(20)])
    server.route("*", status=500)
    load(server.url("/"))
    out, err = capsys.readouterr()
    assert "0 pages read, 0 with reviews, 20 left" in out
    assert "reported an error (500)" in err
    assert len([one for one in server.requests if one.path.startswith("/check/")]) <= site_reviews.MOST_TROUBLE + 3


def test_a_site_on_this_machine_is_refused_with_the_setting_that_allows_it(
    server: FeedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = replace(feed_entries.get_fetch_policy(), allow=())
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: nowhere)
    with pytest.raises(CommandError, match=r"not a public address.*WIRE_FETCH_ALLOW=127\.0\.0\.0/8"):
        load(server.url("/"))


@pytest.mark.parametrize(
    ("path", "why"), [("/", "leads to no page of its own"), ("/none", "404"), ("/empty.xml", "leads to no page of its own")]
)
def test_what_leads_to_nothing_is_said_and_nothing_is_loaded(server: FeedServer, path: str, why: str) -> None:
    serve_page(server, "/")
    serve_sitemap(server, "/empty.xml", [])
    with pytest.raises(CommandError, match=why) as refused:
        load(server.url(path))
    assert ".." not in str(refused.value)
    assert not LoadJob.objects.exists()


def test_no_address_of_a_private_network_is_asked(server: FeedServer) -> None:
    with pytest.raises(Unreadable, match=r"private|public"):
        site_reviews.collect_reviews(server.url("/"), how=replace(feed_entries.get_fetch_policy(), allow=()))
    assert not server.requests


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("example.org", "https://example.org/"),
        ("www.example.org/", "https://www.example.org/"),
        ("https://example.org/checks/", "https://example.org/checks/"),
        ("claims.json", None),
        ("claims.csv.gz", None),
        ("export/claims", None),
        ("claims", None),
        ("ftp://example.org/", None),
        ("https://", None),
    ],
)
def test_a_domain_or_an_address_is_told_from_the_name_of_a_file(given: str, address: str | None) -> None:
    assert site_reviews.parse_address(given) == address
