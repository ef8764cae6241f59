"""Feeds for the local server, pointed at by the roster, and runs of ingest over them."""

import datetime as dt
from typing import Any

from django.utils import timezone

from sources.choices import FeedType
from sources.models import Feed, Publication
from wire.ingest.run import Run, run_ingest


def item(number: int, title: str = "", **fields: str) -> str:
    when = timezone.now() - dt.timedelta(hours=number)
    told = {
        "guid": f"g{number}",
        "pubDate": f"{when:%a, %d %b %Y %H:%M:%S} GMT",
        "description": f"Story {number} in full.",
    } | fields
    rest = "".join(f"<{name}>{value}</{name}>" for name, value in told.items())
    return (
        f"<item><title>{title or f'AI story number {number}'}</title><link>https://publisher.example/{number}</link>{rest}</item>"
    )


def rss(*items: str) -> bytes:
    return f"<rss version='2.0'><channel><title>A feed</title>{''.join(items)}</channel></rss>".encode()


def feed_at(url: str, slug: str = "techcrunch", **fields: Any) -> Feed:
    """The publication's one feed, at this address."""
    publication = Publication.objects.get(slug=slug)
    publication.feeds.all().delete()
    fields = {"feed_type": FeedType.RSS, "ai_only": True} | fields
    return Feed.objects.create(publication=publication, url=url, **fields)


def run(*feeds: Feed, by_hand: bool = True) -> Run:
    """Like the command, with rows as they now are."""
    return run_ingest(
        list(Feed.objects.filter(pk__in=[f.pk for f in feeds]).select_related("publication", "health")), by_hand=by_hand
    )
