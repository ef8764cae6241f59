"""Sitemaps (sitemaps.org) and news sitemaps (Google's namespace) as entries."""

from typing import Final

from sources.entries import Entry
from sources.parse.dates import read_date
from sources.parse.links import resolve, web
from sources.parse.markup import Node
from sources.parse.results import InvalidFeed

_NAMED: Final = 5  # child_address sitemaps that a refusal tells


def entry(url: Node) -> Entry:
    """Return an address as an entry. `lastmod` only bounds the publication; a plain sitemap has no title: the page tells both."""
    news = next(iter(url.all("news:news")), Node("", {}, "", ""))
    publication = next(iter(news.all("news:publication")), Node("", {}, "", ""))
    published = read_date(news.text("news:publication_date"))
    changed = read_date(url.text("lastmod"))
    location = resolve(url.base, url.text("loc"))
    images = (web(url.base, image.text("image:loc")) for image in url.all("image:image"))
    return Entry(
        publisher=publication.text("news:name"),
        title=news.text("news:title"),
        url=location,
        published_at=published or changed,
        guid=location,
        language=publication.text("news:language")[:35],
        image=next(filter(None, images), ""),
        published_at_estimated=published is None and changed is not None,
        changed_at=changed,
    )


def child_address(sitemap: Node) -> str:
    return resolve(sitemap.base, sitemap.text("loc"))


def refuse_index(root: Node) -> InvalidFeed:
    children = [child_address(sitemap) for sitemap in root.all("sitemap")]
    more = f" and {len(children) - _NAMED:,} more" if len(children) > _NAMED else ""
    return InvalidFeed(f"The address answers with an index of sitemaps, not a sitemap: {', '.join(children[:_NAMED])}{more}.")
