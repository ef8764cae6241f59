"""Fetched bytes of the last weeks, read again with today's rules: a preview, and the change itself."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction

from sources import job_lock, raw_store
from sources.entries import Entry
from sources.models import FeedHealth, RawFetch
from sources.parse import InvalidFeed
from wire.ingest import article_pages, classifier_terms
from wire.ingest.evidence import list_address_forms
from wire.ingest.feed_entries import count_outcomes, parse_feed_body, refuse_sample, try_canonical_url
from wire.ingest.normalise import Context, Rejected, StoryDraft
from wire.ingest.save import Prepared, normalise_entries, store_drafts
from wire.models import Snapshot, Story, StoryAlias, StoryRevision
from wire.publishing.publish import publish_pending
from wire.text.identity import chatbotnews_id, headline_key


@dataclass(frozen=True, slots=True)
class StoryChange:
    """A story that today's rules read otherwise. `was` and `becomes` map the fields that differ."""

    chatbotnews_id: str
    headline: str
    was: dict[str, object]
    becomes: dict[str, object]


@dataclass(slots=True)
class Plan:
    """Effect of a rebuild. `refused` were accepted once and would not be today; they stay, for an editor to withdraw."""

    fetches: int = 0
    unseen: int = 0  # live stories of these days that no stored fetch has
    unreadable: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    added: list[str] = field(default_factory=list)
    changed: list[StoryChange] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


SHOWN: Final = ("headline", "author", "summary_medium", "category", "topics", "untrusted_instructions")


def plan_rebuild(since: dt.date, *, final_days: bool = False) -> Plan:
    """Return what `rebuild_days` would do now; writes nothing. Raises: Busy while an ingest works."""
    return rebuild_days(since, final_days=final_days, dry_run=True)[0]


def rebuild_days(since: dt.date, *, final_days: bool = False, dry_run: bool = False) -> tuple[Plan, list[Snapshot]]:
    """Read everything fetched since the UTC day `since` again and publish, all or nothing. What editors did stands."""
    with job_lock.acquire() as lease:
        found, again = _read_fetches_again(since, final_days)
        with transaction.atomic():
            lease.renew()
            _store_entries_again(again, found)
            found.unseen = _count_unseen(again, since)
            transaction.set_rollback(dry_run)
        return found, [] if dry_run else publish_pending(progress=lambda _day: lease.renew())


# Entries of one fetch whose item no later fetch of the same feed has: what was seen last counts.
_Again = tuple[list[Entry], Prepared, Context]


class _Items:
    """The items of a feed that were read so far, by address; a page may show several."""

    def __init__(self) -> None:
        self._marks: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._shared: set[str] = set()

    def add(self, entries: Sequence[Entry]) -> list[Entry]:
        """Add the entries of a document, and return those whose item was not there yet."""
        guids = Counter(entry.guid for entry in entries)  # one that several items of a document share identifies none of them
        shown: dict[str, list[tuple[tuple[str, str], Entry]]] = defaultdict(list)
        for entry in entries:
            mark = (entry.guid if guids[entry.guid] == 1 else "", headline_key(entry.title))
            shown[try_canonical_url(entry.url) or entry.url].append((mark, entry))
        self._shared |= {url for url, items in shown.items() if len({mark for mark, _ in items}) > 1}
        unseen = {id(entry) for url, items in shown.items() for mark, entry in items if not self._has_item(url, mark)}
        for url, items in shown.items():
            self._marks[url] |= {mark for mark, _ in items}
        return [entry for entry in entries if id(entry) in unseen]

    def _has_item(self, url: str, mark: tuple[str, str]) -> bool:
        is_shared, (guid, headline) = url in self._shared, mark
        return any(
            guid == other_guid or (headline == other_headline and not is_shared)
            if guid and other_guid
            else headline == other_headline or not is_shared
            for other_guid, other_headline in self._marks[url]
        )


def _read_fetches_again(since: dt.date, final_days: bool) -> tuple[Plan, list[_Again]]:
    """Return every fetch since then, oldest first, parsed and cleaned; no transaction is open meanwhile."""
    refuse_sample()
    found = Plan()
    start = dt.datetime.combine(since, dt.time(), dt.UTC)
    context = Context.load(classifier_terms.load_lexicon(), start)
    newer_items: dict[int, _Items] = defaultdict(_Items)
    again = []
    fetches = RawFetch.objects.filter(fetched_at__gte=start).select_related("feed__publication")
    for fetched in fetches.order_by("-fetched_at", "-id").iterator(100):
        found.fetches += 1
        try:
            body = raw_store.read(fetched.sha256)
            if fetched.is_page:
                entries = article_pages.parse_article_page(fetched.feed, body, fetched.content_type, fetched.url)
            else:  # a bare address would stand before what its page says
                parsed = parse_feed_body(fetched.feed, body, fetched.content_type, fetched.url)
                entries = article_pages.split_off_untitled(fetched.feed, FeedHealth(), parsed.entries)
        except (InvalidFeed, OSError) as error:
            found.unreadable.append(f"{fetched}: {error}")
            continue
        unseen = newer_items[fetched.feed_id].add(entries)
        here = context.bind_feed(fetched.feed, fetched.fetched_at, by_newer_rules=True, final_days=final_days)
        again.append((unseen, normalise_entries(unseen, here), here))
    return found, again[::-1]


def _store_entries_again(again: list[_Again], found: Plan) -> None:
    before = StoryRevision.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    for entries, prepared, context in again:
        outcomes = store_drafts(prepared, context)
        found.counts += count_outcomes(outcomes)
        pairs = ((try_canonical_url(e.url), o.message) for e, o in zip(entries, outcomes, strict=True) if isinstance(o, Rejected))
        refused = {url: why for url, why in pairs if url}  # of stories that are known by an address that is refused today
        known = Story.objects.filter(chatbotnews_id__in=map(chatbotnews_id, refused)).values_list("original_url", "chatbotnews_id")
        aliased = StoryAlias.objects.filter(url__in=refused).values_list("url", "story__chatbotnews_id")
        found.refused += [(story_id, refused[url]) for url, story_id in [*known, *aliased]]
    for revision in StoryRevision.objects.filter(pk__gt=before).select_related("story").order_by("pk"):
        if revision.revision == 1:
            found.added.append(revision.headline)
            continue
        old = StoryRevision.objects.get(story=revision.story_id, revision=revision.revision - 1)
        differs = [name for name in SHOWN if getattr(old, name) != getattr(revision, name)]
        was, becomes = ({name: getattr(row, name) for name in differs} for row in (old, revision))
        found.changed.append(StoryChange(revision.story.chatbotnews_id, revision.headline, was, becomes))


def _count_unseen(again: list[_Again], since: dt.date) -> int:
    drafts = (draft for _, prepared, _ in again for draft in prepared if isinstance(draft, StoryDraft))
    seen = {url for draft in drafts for url in (draft.page_url, *(form.original_url for form in list_address_forms(draft)))}
    rows = list(Story.objects.live().filter(wire_date__gte=since).values_list("pk", "original_url", "aliases__url"))
    return len({pk for pk, *_ in rows} - {pk for pk, *urls in rows if not seen.isdisjoint(urls)})
