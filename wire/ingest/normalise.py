"""Cleaning of untrusted entries into drafts that are safe to store, or refusals with a code."""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

from citations.format.bylines import clean_byline
from sources.choices import FeedType, Tier
from sources.entries import Entry
from sources.models import Feed, Publication
from sources.parse.dates import read_date
from sources.publication_names import Name, resolve_name
from wire.ingest.classify import Lexicon
from wire.text.filters import is_caption, is_test_item, repeats_headline, strip_headline
from wire.text.identity import BadUrl, canonical_url, chatbotnews_id
from wire.text.plain_text import SHORT, addresses_model, cut_text, extract_author, extract_summary, find_forbidden, plain_text

EARLIEST: Final = dt.datetime(1990, 1, 1, tzinfo=dt.UTC)  # before it a date is a slip: year 1, the Unix epoch
TOLERANCE: Final = dt.timedelta(days=1)  # clocks and time zones differ; further ahead is a mistake
MAX_HEADLINE: Final = 1000
GOOGLE_NEWS: Final = "Google News"
NEWS_LINK: Final = "https://news.google.com/"
MAX_RAW: Final = 1_000_000  # characters of any field that are looked at
_LANGUAGE: Final = re.compile(r"(?=.{2,35}\Z)[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")  # RFC 5646 §2.1, §4.4.1


class Rejected(Exception):
    """Refusal of an entry, with a message for the editor. `subject` is the publisher's name when that is the reason."""

    def __init__(self, code: str, message: str, subject: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.subject = code, message, subject


@dataclass(frozen=True, slots=True)
class StoryDraft:
    chatbotnews_id: str
    original_url: str
    guid: str
    publication: Publication
    headline: str
    author: str | None
    summary_short: str
    summary_medium: str
    category: str
    topics: list[str]
    via: str | None
    credited_source: str | None
    published_at: dt.datetime
    published_at_estimated: bool
    language: str
    image_url: str
    untrusted_instructions: bool
    digest: str  # `Entry.digest`
    fragment: str = ""  # what follows the `#` of the item's address; no part of `original_url`
    page_url: str = ""  # the page's address, of an item that got one of its own because others share it (`wire.ingest.evidence`)

    @property
    def is_by_google_news(self) -> bool:
        """True if the address leads over Google News, so that the publisher's own is not known."""
        return is_google_news(self.original_url)


# Fields that a draft shares with a `StoryRevision`.
SHARED_FIELDS: Final = (
    *("headline", "author", "summary_short", "summary_medium", "category", "topics", "via", "credited_source", "published_at"),
    *("published_at_estimated", "language", "untrusted_instructions"),
)


@dataclass(frozen=True, slots=True)
class Context:
    """State of the wire that entries are read in; loaded once for many entries.

    `feed` is where they were seen at `now`; archives have none. `by_newer_rules`: what the rules now say differently is news, on
    final days only with `final_days`. `previous` gives digests by canonical address, of the items of `feed` the time before.
    """

    names: Sequence[Name]
    publications: Mapping[str, Publication]
    lexicon: Lexicon
    now: dt.datetime
    active_feeds: Mapping[int, Feed] = field(default_factory=dict)
    feed: Feed | None = None
    by_newer_rules: bool = False
    final_days: bool = False
    previous: Callable[[], Mapping[str, str]] = dict

    @classmethod
    def load(cls, lexicon: Lexicon, now: dt.datetime) -> "Context":
        publications = list(Publication.objects.all())
        active = Feed.objects.filter(active=True).in_bulk()
        return cls([p.as_name() for p in publications], {p.name: p for p in publications}, lexicon, now, active)

    def bind_feed(self, feed: Feed, now: dt.datetime, **more: Any) -> "Context":
        """Return the same wire for entries that `feed` showed at `now`; `more` are further fields."""
        return replace(self, feed=feed, now=now, **more)


def is_google_news(url: str) -> bool:
    """Return whether an address is a redirect of Google News, which is never followed."""
    return url.startswith((NEWS_LINK, NEWS_LINK.replace("https:", "http:")))


def normalise_entry(entry: Entry, context: Context) -> StoryDraft:
    """Raises: Rejected."""
    _refuse_forbidden_texts(entry)
    if entry.is_not_found:
        raise Rejected("not_found_page", "The page says that it does not exist, though its server answers as if it did.")
    headline = plain_text(entry.title, MAX_HEADLINE)
    if not headline:
        raise Rejected("no_headline", "The item has no title.")
    if is_test_item(headline, plain_text(entry.summary, SHORT)):
        raise Rejected("test_item", f"{headline[:80]!r} is a publishing test, not a story.")
    publication, via, credited = _attribute_entry(entry, context)
    try:
        url = canonical_url(entry.url)
    except BadUrl as error:
        raise Rejected("bad_url", f"The address cannot be used: {error}.") from error
    owner = None if is_google_news(url) else resolve_name(url, context.names)
    if owner is not None and owner.canonical != publication.name:
        raise Rejected("url_of_another_publication", f"The address belongs to {owner.canonical}, not to {publication.name}.")
    published_at, estimated = _read_published_at(entry, context)
    medium = choose_summary(entry, headline, of_maker=publication.tier == Tier.CORPORATE)
    author = clean_byline(extract_author(entry.author), publication.name, *publication.aliases)
    if context.feed and not context.feed.ai_only and not context.lexicon.is_about_ai(headline, medium):
        raise Rejected("not_about_ai", f"{headline[:80]!r} is not about AI, and {context.feed} carries all kinds of news.")
    language, image = entry.language.strip().replace("_", "-"), entry.image
    is_image = len(image) <= 2048 and re.fullmatch(r"https?://[!-~]+", image) and not set(image) & set("<>\"'")
    return StoryDraft(
        chatbotnews_id=chatbotnews_id(url),
        original_url=url,
        guid=plain_text(entry.guid, 500),
        publication=publication,
        headline=headline,
        author=author,
        summary_short=cut_text(medium, SHORT),
        summary_medium=medium,
        category=context.lexicon.category(headline, medium),
        topics=[str(topic) for topic in context.lexicon.topics(headline, medium, publication.name)],
        via=via,
        credited_source=credited,
        published_at=published_at,
        published_at_estimated=estimated,
        language=language if _LANGUAGE.fullmatch(language) else "en",  # most of the roster writes English and does not say so
        image_url=image if is_image else "",
        untrusted_instructions=any(map(addresses_model, filter(None, (headline, medium, author, credited)))),
        digest=entry.digest,
        fragment=plain_text(entry.url.partition("#")[2], 200),
    )


def _refuse_forbidden_texts(entry: Entry) -> None:
    texts = (entry.title, entry.url, entry.summary, entry.author, entry.guid, entry.publisher, entry.credited_source)
    for value in (*texts, *entry.other_summaries, str(entry.published_at)):
        reason = find_forbidden(value)
        if reason:
            raise Rejected(reason, f"A field contains a {reason.replace('_', ' ')}.")
        if len(value) > MAX_RAW:
            raise Rejected("field_too_long", f"A field has {len(value):,} characters; the limit is {MAX_RAW:,}.")


def _attribute_entry(entry: Entry, context: Context) -> tuple[Publication, str | None, str | None]:
    """Return publication, `via` and `credited_source`. No story ever names a publisher outside the roster. Raises: Rejected."""
    known = resolve_name(entry.publisher, context.names)
    if known is None:
        name = plain_text(entry.publisher, 80)
        raise Rejected("not_in_roster", f"Publisher {name!r} is not one of the 24 publications.", subject=name)
    publication = context.publications[known.canonical]
    credited = plain_text(entry.credited_source, 200) or None
    if publication.tier == Tier.CATEGORY and credited:
        outlet = resolve_name(entry.credited_source, context.names)
        if entry.source_url:  # where there is an address too, both must mean the same one
            by_address = resolve_name(entry.source_url, context.names)
            outlet = by_address if outlet in (None, by_address) else None
        if outlet is not None:
            return context.publications[outlet.canonical], publication.name, None
        return publication, None, credited
    if context.feed and context.feed.feed_type == FeedType.QUERY and is_google_news(entry.url):
        if not _is_credited_to(publication, entry, context):
            whose = f"is by {credited!r}" if credited else "names no source"
            raise Rejected("source_not_this_publication", f"The search is for {publication.name}, but the item {whose}.")
        return publication, GOOGLE_NEWS, None
    if context.feed is None and credited and not _is_credited_to(publication, entry, context):
        raise Rejected("source_not_this_publication", f"The item is attributed to {publication.name}, but credits {credited!r}.")
    return publication, None, None


def _is_credited_to(publication: Publication, entry: Entry, context: Context) -> bool:
    """Return whether the source that an item credits is this publication: a house may share its host with others."""
    if entry.source_url:
        host = (urlsplit(entry.source_url).hostname or "").removeprefix("www.")
        return host in {domain.partition("/")[0] for domain in publication.domains}
    outlet = resolve_name(entry.credited_source, context.names)
    return outlet is not None and outlet.canonical == publication.name


def choose_summary(entry: Entry, headline: str, *, of_maker: bool) -> str:
    """Return the publisher's first summary that says more than the headline and describes no picture; empty if none does."""
    for raw in (entry.summary, *entry.other_summaries):
        text = strip_headline(headline, extract_summary(raw))
        if text and not is_caption(text, of_maker=of_maker) and not repeats_headline(headline, text):
            return text
    return ""


def _read_published_at(entry: Entry, context: Context) -> tuple[dt.datetime, bool]:
    """Return UTC, whole seconds, and whether it is an estimate: of a feed's missing or absurd date. Raises: Rejected."""
    now = context.now.replace(microsecond=0)
    try:
        moment = _parse_date(entry.published_at)
        if moment > now + TOLERANCE:
            raise Rejected("future_date", f"The item is dated {moment:%Y-%m-%d %H:%M} UTC, in the future.")
        if moment < EARLIEST:
            raise Rejected("date_too_old", f"The item is dated {moment:%Y-%m-%d}, before {EARLIEST:%Y}.")
    except Rejected:
        if context.feed is None:
            raise
        return now, True
    if context.feed and moment < now - dt.timedelta(days=3653):
        raise Rejected("date_too_old", f"The item is dated {moment:%Y-%m-%d}, more than ten years ago.")
    return min(moment, now), entry.published_at_estimated or moment > now


def _parse_date(raw: dt.datetime | str | None) -> dt.datetime:
    if raw is None or raw == "":
        raise Rejected("no_date", "The item has no date.")
    if isinstance(raw, str):
        text = raw.strip()[:64]
        try:
            raw = dt.datetime.fromisoformat(text)
        except ValueError:
            raw = read_date(text)
        if raw is None:
            raise Rejected("bad_date", f"The date {text!r} cannot be read.")
    if raw.tzinfo is None:
        raw = raw.replace(tzinfo=dt.UTC)
    try:
        return raw.astimezone(dt.UTC).replace(microsecond=0)
    except OverflowError as error:
        raise Rejected("bad_date", f"The date {raw} cannot be expressed in UTC.") from error
