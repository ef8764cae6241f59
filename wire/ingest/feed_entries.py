"""Feeds of the roster and their entries, as ingest, replay and rebuild need them; and what became of each in words."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings

from config.errors import InvalidArgument, NotFound
from config.url_secrets import mask_address, mask_addresses
from sources.entries import Entry
from sources.fetch import Policy
from sources.models import Feed
from sources.parse import Parsed, build_search_url, parse_feed
from sources.parse.dates import read_date
from wire.ingest.draft_comparison import Outcome
from wire.ingest.normalise import MAX_HEADLINE, Rejected
from wire.models import WireState
from wire.text.identity import BadUrl, canonical_url
from wire.text.plain_text import plain_line, plain_text

RECENT: Final = 3  # items of each outcome that feed health has
SHORT: Final = 80  # characters of each of their texts; feed health has all feeds in one answer
ALLOW_LOOPBACK: Final = (  # for fetches that failed as `private_address`
    "Only a site on this machine can be allowed: set WIRE_FETCH_ALLOW=127.0.0.0/8 for this command and the server."
)
_LONG: Final = 2_048
_REASONS: Final[Mapping[Outcome, str]] = {
    Outcome.MERGED: "Another address of a known story.",
    Outcome.REPEATED: "The feed lists it twice; the first counts.",
    Outcome.POSTPONED: "Changed again within the hour, or changed back within a day; checked later.",
    Outcome.READ_DIFFERENTLY: "Unchanged by its publisher, but read differently by today's rules; the story stays.",
    Outcome.FINAL_DAY: "Its story belongs to a final day and stays as it is.",
}


def list_feeds(publication: str | None = None) -> list[Feed]:
    """Return the roster's active feeds, or those of one publication by its slug. Raises: NotFound."""
    feeds = Feed.objects.filter(active=True, publication__seat__isnull=False).select_related("publication", "health")
    if publication is not None:
        feeds = feeds.filter(publication__slug=publication)
        if not feeds:
            message = f"No publication of the roster with an active feed has the slug {publication!r}."
            raise NotFound(message, "See /api/sources.json.")
    return list(feeds.order_by("publication__seat", "id"))


def get_feed_address(feed: Feed) -> str:
    return feed.url or build_search_url(feed.query)


def get_fetch_policy() -> Policy:
    """Return how this installation fetches; the user agent says who asks, and where to complain."""
    return Policy(user_agent=f"ChatbotNewsWire/1.0 (+{settings.WIRE_SITE_URL})", allow=settings.WIRE_FETCH_ALLOW)


def parse_feed_body(feed: Feed, body: bytes, content_type: str = "", url: str = "") -> Parsed:
    """Parse a feed's body, its entries under its publication's name. Raises: InvalidFeed."""
    parsed = parse_feed(body, content_type=content_type, url=url)
    return replace(parsed, entries=[entry.with_publisher(feed.publication.name) for entry in parsed.entries])


def try_canonical_url(url: str) -> str | None:
    try:
        return canonical_url(url)
    except BadUrl:
        return None


def count_outcomes(outcomes: Sequence[Outcome | Rejected]) -> Counter[str]:
    """Count outcomes: `accepted`, `revised`, `duplicate`, `rejected:{reason}`."""
    return Counter(map(name_outcome, outcomes))


def refuse_sample() -> None:
    """Raises: InvalidArgument on the sample wire, which never takes real news."""
    if WireState.objects.filter(is_sample=True).exists():
        raise InvalidArgument("This database holds the sample wire and never takes real news.", "Use another WIRE_DATA_DIR.")


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item as its feed shows it, and what became of it, named as in counts. `date` is in UTC, empty if it cannot be read."""

    outcome: str
    date: str
    headline: str
    address: str
    reason: str


def name_outcome(outcome: Outcome | Rejected) -> str:
    return f"rejected:{outcome.code}" if isinstance(outcome, Rejected) else str(outcome)


def describe_item(entry: Entry, outcome: Outcome | Rejected) -> ItemOutcome:
    reason = outcome.message if isinstance(outcome, Rejected) else _REASONS.get(outcome, "")
    moment, date = entry.published_at, ""
    moment = read_date(moment[:64]) if isinstance(moment, str) else moment
    if moment is not None:
        with suppress(OverflowError):
            date = (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC).isoformat(" ", "minutes")[:16]
    headline = plain_text(entry.title, MAX_HEADLINE)
    return ItemOutcome(name_outcome(outcome), date, headline, plain_line(entry.url, _LONG), plain_line(reason, _LONG))


def merge_recent_items(
    recent: Mapping[str, Sequence[Mapping[str, Any]]],
    entries: Sequence[Entry],
    outcomes: Sequence[Outcome | Rejected],
    now: dt.datetime,
) -> dict[str, list[Mapping[str, Any]]]:
    """Return the last items of each outcome, of a document seen at `now` and of those before, as JSON; addresses are masked."""
    merged: dict[str, list[Mapping[str, Any]]] = {}
    for entry, outcome in zip(entries, outcomes, strict=True):
        items = merged.setdefault(name_outcome(outcome), [])
        if len(items) < RECENT:
            item = describe_item(entry, outcome)
            texts = {"headline": item.headline, "address": mask_address(item.address), "why": mask_addresses(item.reason)}
            items.append({name: plain_line(text, SHORT) for name, text in texts.items()} | {"at": now.isoformat()})
    for name, before in recent.items():
        items = merged.setdefault(name, [])
        shown = {(new["headline"], new["address"]) for new in items}
        items += [old for old in before if (old["headline"], old["address"]) not in shown][: RECENT - len(items)]
    return merged
