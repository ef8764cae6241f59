"""A publisher with a site on loopback, for tests: feeds, sitemaps and pages as real ones are."""

import datetime as dt
from collections.abc import Iterable
from html import escape
from typing import Any

from tests.feedserver import FeedServer
from wire.corpora.articles.indexer import RunReport, index_publisher
from wire.corpora.articles.models import Article, Publisher, Source
from wire.corpora.articles.store import ArticleDraft, store_drafts
from wire.corpora.articles.url_keys import build_url_key

NOW = dt.datetime(2026, 3, 20, 12, 0, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


class Site:
    """`publisher` owns 127.0.0.1 alone; the server also answers on 127.0.0.2 and others, which are strangers'."""

    def __init__(self, server: FeedServer) -> None:
        self.server = server
        self.publisher = Publisher.objects.create(
            slug="koogle",
            name="Koogle Kitchen",
            homepage=server.url("/"),
            domains=[f"127.0.0.1:{server.port}"],
            consent_note="By letter.",
            consented_on=dt.date(2026, 3, 1),
            left_out=["/private/"],
        )

    def feed(self, path: str, *items: str, **reply: Any) -> Source:
        """Serve a feed of these items, and have it for a source."""
        self.server.route(path, **{"body": rss(items), "content_type": "application/rss+xml"} | reply)
        return self._source(Source.Type.FEED, path)

    def sitemap(self, path: str, *urls: str, **reply: Any) -> Source:
        """Serve a sitemap of these entries, and have it for a source."""
        self.server.route(path, body=urlset(urls), content_type="application/xml", **reply)
        return self._source(Source.Type.SITEMAP, path)

    def page(self, path: str, title: str, *, text: str = "", **reply: Any) -> str:
        """Serve an article; its address."""
        self.server.route(path, body=html(title, text), content_type="text/html; charset=utf-8", **reply)
        return self.url(path)

    def named(self, path: str) -> str:
        """Have a source name an address, and nothing of its page; the address."""
        store_drafts(self.publisher, [ArticleDraft(self.url(path), build_url_key(self.url(path)))], NOW)
        return self.url(path)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return self.server.url(path, host)

    def index(self, now: dt.datetime = NOW, **options: Any) -> RunReport:
        self.publisher.refresh_from_db()
        return index_publisher(self.publisher, now=now, **options)

    def articles(self) -> dict[str, str]:
        """State of each, by path."""
        start = len(self.url(""))
        return {url[start:]: state for url, state in Article.objects.filter(publisher=self.publisher).values_list("url", "state")}

    def article(self, path: str) -> Article:
        return Article.objects.get(publisher=self.publisher, url=self.url(path))

    def _source(self, kind: Source.Type, path: str) -> Source:
        return Source.objects.get_or_create(publisher=self.publisher, url=self.url(path), defaults={"kind": kind})[0]


def paragraph(topic: str) -> str:
    return (
        f"The kitchen looked into {topic} for a whole week, and wrote down what every cook should know of it before the first pot "
        f"is on the stove. Nobody was surprised more than the cooks themselves, who had taken {topic} for a matter of course."
    )


def html(title: str, text: str = "") -> bytes:
    """A page with an article, and around it what pages have."""
    body = "".join(f"<p>{paragraph(f'{title}, part {part}')}</p>" for part in ("one", "two", "three"))
    return f"""<!doctype html><html lang="en"><head><title>{escape(title)}</title>
<meta name="description" content="All about {escape(title)}."><meta name="author" content="A. Cook">
<meta property="article:published_time" content="2026-03-15T10:00:00Z"></head>
<body><nav><a href="/">Home</a></nav><article><h1>{escape(title)}</h1>{body}<p>{text}</p></article>
<footer>All rights reserved</footer></body></html>""".encode()


def item(url: str, title: str, text: str | None = None, more: str = "") -> str:
    """An item of a feed, with its full text if one is given."""
    content = f"<content:encoded><![CDATA[<p>{text}</p>]]></content:encoded>" if text is not None else ""
    return (
        f"<item><title>{escape(title)}</title><link>{url}</link><description>About {escape(title)}.</description>"
        f"<pubDate>Sun, 15 Mar 2026 10:00:00 GMT</pubDate><dc:creator>Chef Name</dc:creator>{content}{more}</item>"
    )


def rss(items: Iterable[str]) -> bytes:
    return f"""<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Koogle</title>{"".join(items)}</channel></rss>""".encode()


def urlset(urls: Iterable[str]) -> bytes:
    """Of addresses; behind a space may stand the last change."""
    rows = ((url.partition(" ")[0], url.partition(" ")[2]) for url in urls)
    told = "".join(f"<url><loc>{url}</loc>{f'<lastmod>{change}</lastmod>' if change else ''}</url>" for url, change in rows)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{told}</urlset>'.encode()


def sitemapindex(*urls: str) -> bytes:
    told = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{told}</sitemapindex>'.encode()
