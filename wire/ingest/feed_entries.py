"""Feeds of the roster and their entries, as ingest, replay and rebuild need them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from config.errors import InvalidArgument, NotFound
from sources.entries import Entry
from sources.fetch import Policy
from sources.models import Feed
from sources.parse import Parsed, parse, search_url
from wire.ingest.match import Outcome
from wire.ingest.normalise import Rejected
from wire.ingest.skip_reasons import name_outcome
from wire.models import WireState
from wire.text.identity import BadUrl, canonical_url


def list_feeds(publication: str | None = None) -> list[Feed]:
    """Return the roster's active feeds, or those of one publication by its slug. Raises: NotFound."""
    feeds = Feed.objects.filter(active=True, publication__seat__isnull=False).select_related("publication", "health")
    if publication is not None:
        feeds = feeds.filter(publication__slug=publication)
        if not feeds:
            message = f"No publication of the roster with an active feed has the slug {publication!r}."
            raise NotFound(message, "See /api/sources.json.")
    return list(feeds.order_by("publication__seat", "id"))


def address(feed: Feed) -> str:
    """Return the address that a feed is fetched from; a search is a feed of Google News."""
    return feed.url or search_url(feed.query)


def policy() -> Policy:
    """Return how this installation fetches; the user agent says who asks, and where to complain."""
    return Policy(user_agent=f"ChatbotNewsWire/1.0 (+{settings.WIRE_SITE_URL})", allow=settings.WIRE_FETCH_ALLOW)


def read(feed: Feed, body: bytes, content_type: str = "", url: str = "") -> Parsed:
    """Parse a feed's body, its entries under its publication's name. Raises: InvalidFeed."""
    parsed = parse(body, content_type=content_type, url=url)
    return replace(parsed, entries=[entry.by(feed.publication.name) for entry in parsed.entries])


def canonical_address(entry: Entry) -> str | None:
    """Return the entry's address as stories are known by it; None for one that cannot be used."""
    try:
        return canonical_url(entry.url)
    except BadUrl:
        return None


def count(outcomes: Sequence[Outcome | Rejected]) -> Counter[str]:
    """Count outcomes: `accepted`, `revised`, `duplicate`, `rejected:{reason}`."""
    return Counter(map(name_outcome, outcomes))


def refuse_sample() -> None:
    """Raises: InvalidArgument on the sample wire, which never takes real news."""
    if WireState.objects.filter(is_sample=True).exists():
        raise InvalidArgument("This database holds the sample wire and never takes real news.", "Use another WIRE_DATA_DIR.")
