"""Fetched bytes of the last weeks, read again with today's rules: what would change, and then the change itself."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction

from sources import lease, raw
from sources.entries import Entry
from sources.models import FeedHealth, RawFetch
from sources.parse import InvalidFeed
from wire.intake import article_pages, lexicon
from wire.intake.feeds import count, read, refuse_sample
from wire.intake.match import Outcome
from wire.intake.normalise import Context, Rejected
from wire.intake.store import Prepared, prepare, store
from wire.models import Snapshot, Story, StoryAlias, StoryRevision
from wire.snapshots.publish import publish_pending
from wire.stories.identity import BadUrl, canonical_url, chatbotnews_id


@dataclass(frozen=True, slots=True)
class Change:
    """One story that today's rules tell otherwise. `was` and `becomes` map the fields that differ."""

    chatbotnews_id: str
    headline: str
    was: dict[str, object]
    becomes: dict[str, object]


@dataclass(slots=True)
class Plan:
    """What a rebuild does. `refused` were taken in once and would not be today; they stay, for an editor to withdraw."""

    fetches: int = 0
    unreadable: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    added: list[str] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


SHOWN: Final = ("headline", "author", "summary_medium", "category", "topics", "untrusted_instructions")


def plan(since: dt.date) -> Plan:
    """What `apply` would do now; writes nothing. Raises: Busy while an ingest works."""
    with lease.held() as held:
        found, again = _read_again(since)
        with transaction.atomic():
            held.renew()
            _take_in(again, found)
            transaction.set_rollback(True)
    return found


def apply(since: dt.date) -> tuple[Plan, list[Snapshot]]:
    """Take everything fetched since the UTC day `since` in again and publish: all of it, or nothing but what waited before.

    Stories that the rules now tell otherwise get a revision that says so; editors' corrections and withdrawals stand.
    """
    with lease.held() as held:
        found, again = _read_again(since)
        with transaction.atomic():
            held.renew()
            _take_in(again, found)
        return found, publish_pending(progress=lambda _day: held.renew())


@dataclass(frozen=True, slots=True)
class _Again:
    """Those entries of one fetch that no later fetch of the same feed has: what was seen last counts."""

    entries: list[Entry]
    prepared: Prepared
    context: Context


def _read_again(since: dt.date) -> tuple[Plan, list[_Again]]:
    """Every fetch since then, oldest first, parsed and cleaned; no transaction is open meanwhile."""
    refuse_sample()
    found = Plan()
    start = dt.datetime.combine(since, dt.time(), dt.UTC)
    context = Context.load(lexicon.load(), start)
    seen: set[tuple[int, str]] = set()
    again = []
    fetches = RawFetch.objects.filter(fetched_at__gte=start).select_related("feed__publication")
    for fetched in fetches.order_by("-fetched_at", "-id").iterator(100):
        found.fetches += 1
        try:
            entries = _entries(fetched)
        except (InvalidFeed, OSError) as error:
            found.unreadable.append(f"{fetched}: {error}")
            continue
        unseen = []
        for entry in entries:
            key = (fetched.feed_id, _canonical(entry) or entry.url)
            if key not in seen:
                seen.add(key)
                unseen.append(entry)
        here = context.seen_in(fetched.feed, fetched.fetched_at, by_newer_rules=True)
        again.append(_Again(unseen, prepare(unseen, here), here))
    return found, again[::-1]


def _take_in(again: list[_Again], found: Plan) -> None:
    """Store what was read again, and note in `found` what that changes."""
    before = StoryRevision.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    for fetch in again:
        outcomes = store(fetch.prepared, fetch.context)
        found.counts += count(outcomes)
        found.refused += _once_taken(fetch.entries, outcomes)
    for revision in StoryRevision.objects.filter(pk__gt=before).select_related("story").order_by("pk"):
        if revision.revision == 1:
            found.added.append(revision.headline)
            continue
        old = StoryRevision.objects.get(story=revision.story_id, revision=revision.revision - 1)
        differs = [name for name in SHOWN if getattr(old, name) != getattr(revision, name)]
        was, becomes = ({name: getattr(row, name) for name in differs} for row in (old, revision))
        found.changed.append(Change(revision.story.chatbotnews_id, revision.headline, was, becomes))


def _entries(fetched: RawFetch) -> list[Entry]:
    body = raw.read(fetched.sha256)
    if fetched.is_page:
        return article_pages.article(fetched.feed, body, fetched.content_type, fetched.url)
    entries = read(fetched.feed, body, fetched.content_type, fetched.url).entries
    return article_pages.titled(fetched.feed, FeedHealth(), entries)  # a bare address would stand before what its page says


def _once_taken(entries: list[Entry], outcomes: list[Outcome | Rejected]) -> list[tuple[str, str]]:
    """Stories that are known by an address which is refused today, with the reason."""
    refusals = [(_canonical(e), o.message) for e, o in zip(entries, outcomes, strict=True) if isinstance(o, Rejected)]
    refused = {url: why for url, why in refusals if url}
    known = Story.objects.filter(chatbotnews_id__in=map(chatbotnews_id, refused)).values_list("original_url", "chatbotnews_id")
    aliased = StoryAlias.objects.filter(url__in=refused).values_list("url", "story__chatbotnews_id")
    return [(story_id, refused[url]) for url, story_id in [*known, *aliased]]


def _canonical(entry: Entry) -> str | None:
    try:
        return canonical_url(entry.url)
    except BadUrl:
        return None
