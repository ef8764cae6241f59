"""A plain sitemap names addresses only: titles and dates come from the articles' own pages."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sources.choices import FeedType
from sources.entries import Entry
from sources.models import Feed, FeedHealth, Publication, RawFetch
from tests.feedserver import FeedServer, Reply, Request
from tests.wire.ingesting import feed_at, run
from wire.ingest import article_pages, rebuild
from wire.ingest import run as collecting
from wire.models import Story, StoryRevision

pytestmark = pytest.mark.django_db

DATED = "2026-01-15T09:00:00Z"
NEWS = "https://www.anthropic.com/news/"


@pytest.fixture
def section(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Anthropic's sitemap on the local server, whose articles are below the homepage's path. Addresses of stories need a name."""
    feed = feed_at(server.url("/sitemap.xml"), "anthropic-blog", feed_type=FeedType.SITEMAP)
    Publication.objects.filter(slug="anthropic-blog").update(homepage=server.url("/news"))
    real = article_pages.parse_article_page

    def named(*arguments: Any) -> list[Entry]:
        return [
            replace(entry, url=f"https://www.anthropic.com/news{entry.url.partition('/news')[2]}") for entry in real(*arguments)
        ]

    monkeypatch.setattr(article_pages, "parse_article_page", named)
    return Feed.objects.select_related("publication").get(pk=feed.pk)


def offer(server: FeedServer, *paths: str) -> None:
    rows = "".join(f"<url><loc>{server.url(path)}</loc><lastmod>2026-11-{10 + n}</lastmod></url>" for n, path in enumerate(paths))
    server.route("/sitemap.xml", body=f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>".encode())


def bare(url: str) -> Entry:
    """As a plain sitemap names a page."""
    return Entry("", "", url, None)


def article(server: FeedServer, path: str, *, date: str = "", title: str = "Claude learns to whistle") -> None:
    dated = f'<meta property="article:published_time" content="{date}">' if date else ""
    body = f'<html lang="en"><head><meta property="og:title" content="{title}">{dated}</head><body>…</body></html>'
    server.route(path, body=body.encode(), content_type="text/html; charset=utf-8")


def test_a_page_gives_its_article_title_and_date_and_is_kept_for_a_rebuild(
    server: FeedServer, section: Feed, client: Client
) -> None:
    offer(server, "/news/whistle", "/careers/dentist")
    article(server, "/news/whistle", date=DATED)
    report, tried = collecting.preview_feed(section)
    assert (report.counts, tried) == ({"pages to read": 1}, [])
    assert not FeedHealth.objects.exists()
    done = run(section)
    assert done.pages == {"accepted": 1}
    (story,) = client.get("/api/archive/2026-01-15.json").json()["stories"]
    assert (story["headline"], story["published_at"]) == ("Claude learns to whistle", DATED)
    assert not story["published_at_estimated"]
    assert not server.seen("/careers/dentist")
    plan = rebuild.plan_rebuild(RawFetch.objects.get(is_page=True).fetched_at.date())
    assert (plan.fetches, plan.unreadable, plan.added, plan.changed) == (2, [], [], [])


def test_a_pages_summary_is_the_first_description_that_is_one(server: FeedServer, section: Feed) -> None:
    offer(server, "/news/whistle")
    body = f"""<meta property="og:title" content="Claude learns to whistle">
    <meta property="article:published_time" content="{DATED}">
    <meta property="og:description" content="Illustration of a whistle on a white background">
    <meta name="description" content="Claude learns to whistle">
    <article><p>Read more</p><p>Claude can whistle now, and it has learned to do so from the birds.</p></article>"""
    server.route("/news/whistle", body=body.encode(), content_type="text/html; charset=utf-8")
    run(section)
    assert StoryRevision.objects.get().summary_medium == "Claude can whistle now, and it has learned to do so from the birds."


def test_pages_without_a_date_that_were_there_before_are_no_news(server: FeedServer, section: Feed) -> None:
    offer(server, "/news/old")
    article(server, "/news/old")
    run(section)
    assert not Story.objects.exists()
    run(section)
    assert len(server.seen("/news/old")) == 1


def test_a_page_without_a_date_that_appears_later_is_dated_by_its_first_sight(server: FeedServer, section: Feed) -> None:
    offer(server)
    run(section)
    offer(server, "/news/fresh")
    run(section)  # it is named before it is there
    article(server, "/news/fresh")
    assert run(section).pages == {"accepted": 1}
    assert StoryRevision.objects.get().published_at_estimated


@pytest.mark.slow
def test_a_few_pages_a_run_are_read_the_newest_first_until_all_are(server: FeedServer, section: Feed) -> None:
    paths = [f"/news/{number}" for number in range(article_pages.A_RUN + 3)]
    offer(server, *paths)
    for path in paths:
        article(server, path, date=DATED, title=f"Claude learns trick {path[6:]}")
    run(section)
    assert Story.objects.count() == article_pages.A_RUN
    assert not server.seen(paths[0])
    run(section)
    assert Story.objects.count() == len(paths)
    run(section)
    assert all(len(server.seen(path)) == 1 for path in paths)


def test_a_page_that_fails_is_asked_again_and_one_that_is_gone_is_not(server: FeedServer, section: Feed) -> None:
    offer(server, "/news/shy", "/news/gone")
    server.route("/news/gone", status=410)
    answers = iter([Reply(status=500), Reply(body=b"<title>Claude is back</title>", content_type="text/html")])

    def shy(_request: Request) -> Reply:
        return next(answers)

    server.route("/news/shy", shy)
    run(section)
    run(section)
    assert (len(server.seen("/news/shy")), len(server.seen("/news/gone"))) == (2, 1)
    assert set(FeedHealth.objects.get(feed=section).pages.values()) == {article_pages.DONE}


def test_a_page_that_stays_missing_is_given_up_after_some_days(server: FeedServer, section: Feed) -> None:
    offer(server, "/news/missing")
    run(section)
    run(section)
    health = FeedHealth.objects.get(feed=section)
    health.pages = {url: f"{article_pages.OLD} {timezone.now() - article_pages.PATIENCE:%Y-%m-%d}" for url in health.pages}
    health.save()
    run(section)
    run(section)
    assert len(server.seen("/news/missing")) == 3
    assert set(FeedHealth.objects.get(feed=section).pages.values()) == {article_pages.DONE}


def test_a_sitemap_that_answers_with_a_web_page_is_no_article(server: FeedServer, section: Feed) -> None:
    article(server, "/sitemap.xml", date=DATED)
    assert run(section).reports[0].code == "invalid_feed"
    assert not Story.objects.exists()


def test_a_bad_day_of_the_sitemap_makes_no_news_of_old_pages(server: FeedServer, section: Feed) -> None:
    article(server, "/news/old")
    for paths in (["/news/old"], [], ["/news/old"]):
        offer(server, *paths)
        run(section)
    assert not Story.objects.exists()


def test_another_spelling_of_old_pages_is_no_news() -> None:
    feed = Feed.objects.select_related("publication").get(publication__slug="anthropic-blog")
    known = FeedHealth(feed=feed, changed_at=timezone.now(), pages={f"{NEWS}a/": article_pages.OLD, f"{NEWS}b": article_pages.DONE})
    article_pages.split_off_untitled(feed, known, [bare(f"{NEWS}{rest}") for rest in ("a", "b/?utm_source=map", "c")])
    assert known.pages == {
        f"{NEWS}a": article_pages.OLD,
        f"{NEWS}b/?utm_source=map": article_pages.DONE,
        f"{NEWS}c": article_pages.NEW,
    }


def test_the_index_of_a_section_is_none_of_its_articles() -> None:
    feed = Feed.objects.select_related("publication").get(publication__slug="anthropic-blog")
    known = FeedHealth(feed=feed)
    article_pages.split_off_untitled(feed, known, [bare(f"{NEWS}{rest}") for rest in ("", "/", "#top", "?utm_source=map", "?p=7")])
    assert known.pages == {f"{NEWS}?p=7": article_pages.OLD}
    assert article_pages.parse_article_page(feed, b"<title>News</title>", url=NEWS) == []


def test_a_page_that_leads_out_of_the_section_is_no_article_of_the_publication() -> None:
    feed = Feed.objects.select_related("publication").get(publication__slug="anthropic-blog")
    page = b"<title>Claude</title>"
    assert article_pages.parse_article_page(feed, page, url="https://www.anthropic.com/news/claude")
    for url in ("https://evil.example/news/claude", "https://www.anthropic.com/about", "https://www.anthropic.com/newsroom"):
        assert article_pages.parse_article_page(feed, page, url=url) == []


def test_a_page_that_says_that_it_is_not_there_is_counted_and_looked_at_again(server: FeedServer, section: Feed) -> None:
    """Sitemaps name pages before they exist, and some sites answer for them with 200."""
    offer(server, "/news/soft")
    body = "<html><head><title>Page not found | Anthropic</title></head><body><h1>Page not found</h1></body></html>"
    server.route("/news/soft", body=body.encode(), content_type="text/html; charset=utf-8")
    for _ in range(2):
        assert run(section).pages == {"rejected:not_found_page": 1}
    health = FeedHealth.objects.get(feed=section)
    assert [one["headline"] for one in health.recent_items["rejected:not_found_page"]] == ["Page not found | Anthropic"]
    assert not Story.objects.exists()
    assert not RawFetch.objects.filter(is_page=True).exists()
    article(server, "/news/soft", date=DATED)
    assert run(section).pages == {"accepted": 1}
    assert FeedHealth.objects.get(feed=section).pages.popitem()[1] == article_pages.DONE


def test_a_page_that_leads_to_the_sites_page_for_missing_ones_is_counted_too() -> None:
    feed = Feed.objects.select_related("publication").get(publication__slug="anthropic-blog")
    (entry,) = article_pages.parse_article_page(feed, b"<title>404 Not Found</title>", url="https://www.anthropic.com/404")
    assert entry.is_not_found
