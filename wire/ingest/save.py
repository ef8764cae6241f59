"""Storing of entries: normalise, identify, classify and write one batch in one transaction. Publishing comes later."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from sources.entries import Entry
from wire.ingest import draft_comparison
from wire.ingest.draft_comparison import Known, Outcome, follows_feed
from wire.ingest.evidence import find_known_story, is_other_item, is_same_guid_item, is_twin, list_address_forms, separate_items
from wire.ingest.item_digests import ARCHIVE, FEED, write_first_input
from wire.ingest.normalise import NEWS_LINK, SHARED_FIELDS, Context, Rejected, StoryDraft, normalise_entry
from wire.models import Story, StoryAlias, StoryRevision, WireState
from wire.models.snapshot import is_sealed
from wire.text.choices import NEWER_RULES, Status
from wire.text.identity import chatbotnews_id, headline_key
from wire.text.provenance_manifest import build_story_content, hash_json

CHUNK: Final = 500  # entries looked up at once; databases bound the parameters of a query
Prepared = list[StoryDraft | Rejected]


def save_entries(entries: Sequence[Entry], context: Context) -> list[Outcome | Rejected]:
    """Store entries and return the outcome of each, in order. Idempotent; a refused one never stops the others."""
    return store_drafts(normalise_entries(entries, context), context)


def normalise_entries(entries: Sequence[Entry], context: Context) -> Prepared:
    """Return each entry as a draft, or why it is refused. It takes time, so it is done outside of transactions."""
    prepared: Prepared = []
    for entry in entries:
        try:
            prepared.append(normalise_entry(entry, context))
        except Rejected as refusal:
            prepared.append(refusal)
    return prepared


@transaction.atomic
def store_drafts(prepared: Prepared, context: Context) -> list[Outcome | Rejected]:
    """Compare drafts with what is known and write, all of it or nothing; the second half of `save_entries`."""
    WireState.lock()
    if context.feed is not None:  # a batch of an archive is no document
        prepared = separate_items(prepared)
    results: list[Outcome | Rejected] = []
    seen: set[str] = set()
    urls = {draft.original_url for draft in prepared if isinstance(draft, StoryDraft)} if context.feed is not None else set()
    for start in range(0, len(prepared), CHUNK):
        chunk = prepared[start : start + CHUNK]
        batch = _Batch([draft for draft in chunk if isinstance(draft, StoryDraft)], context, seen, urls)
        for draft in chunk:
            try:
                results.append(draft if isinstance(draft, Rejected) else batch.add(draft))
            except Rejected as refusal:
                results.append(refusal)
        batch.store()
    return results


class _Batch:
    """Known stories of a batch, and the rows to be written; the batch may speak of one story several times."""

    def __init__(self, drafts: Sequence[StoryDraft], context: Context, seen: set[str], document_urls: Collection[str]) -> None:
        self._context = context
        self._document_urls = document_urls
        self._seen_at = context.now.replace(microsecond=0)
        self._now = timezone.now().replace(microsecond=0) if context.by_newer_rules else self._seen_at
        self._new_stories: list[Story] = []
        self._new_revisions: list[StoryRevision] = []
        self._new_aliases: list[StoryAlias] = []
        self._revised: list[Story] = []
        self._handed_on: list[Story] = []
        self._read_again: dict[str, Story] = {}
        self._seen = seen
        forms = [form for draft in drafts for form in list_address_forms(draft)]
        urls = {form.original_url for form in forms} | {draft.page_url for draft in drafts}
        rows = StoryAlias.objects.filter(url__in=urls).order_by(F("seen_at").desc(nulls_last=True), "-pk")
        aliases = list(rows.values_list("url", "story__chatbotnews_id"))
        ids = {form.chatbotnews_id for form in forms} | {story_id for _, story_id in aliases}
        ids |= {chatbotnews_id(draft.page_url) for draft in drafts if draft.page_url}
        guids = {draft.guid for draft in drafts if draft.guid}
        told = Story.objects.prefetch_related("revisions", "aliases")
        stories = list(told.filter(chatbotnews_id__in=ids))
        publications = {draft.publication.pk for draft in drafts}
        stories += told.filter(publication__in=publications, guid__in=guids).exclude(pk__in=[s.pk for s in stories])
        self._by_id = {story.chatbotnews_id: Known.from_row(story) for story in stories}
        # Of a story that was merged the address leads to the one that stands, and earlier led to itself: the newest first.
        self._by_url: dict[str, list[Known]] = {}
        for url, story_id in (*aliases, *((known.story.original_url, story_id) for story_id, known in self._by_id.items())):
            self._by_url.setdefault(url, []).append(self._by_id[story_id])
        self._by_guid: dict[tuple[int, str], list[Known]] = defaultdict(list)
        self._by_headline: dict[tuple[int, str], list[Known]] = defaultdict(list)
        strangers = [draft for draft in drafts if draft.original_url not in self._by_url]
        for known in [*self._by_id.values(), *self._load_namesakes(strangers)]:
            self._index_story(known)

    def add(self, draft: StoryDraft) -> Outcome:
        """Raises: Rejected."""
        draft, known = self._find_story(draft)
        if known is None:
            return self._add_story(draft)
        story = known.story
        is_alias = draft.original_url not in self._by_url
        if is_alias:
            self._new_aliases.append(StoryAlias(url=draft.original_url, story=story, seen_at=self._now))
            known.aliases[draft.original_url] = self._now
            self._by_url[draft.original_url] = [known]
        if story.publication_id != draft.publication.pk:
            raise Rejected("url_of_another_publication", f"{story.chatbotnews_id} has this address under another publisher.")
        # The document also shows the story under its first address, where its texts are read; or it shows the story a second time:
        # its first item counts, or two headlines would take turns for ever.
        is_shown_elsewhere = draft.original_url != story.original_url and story.original_url in self._document_urls
        if is_shown_elsewhere or (story.chatbotnews_id in self._seen and self._context.feed is not None):
            return Outcome.MERGED if is_alias else Outcome.REPEATED
        self._seen.add(story.chatbotnews_id)
        if known.latest.status == Status.WITHDRAWN:
            return Outcome.DUPLICATE
        context = self._context
        changes = draft_comparison.find_changes(draft, known, context)
        is_ours = bool(changes) and not context.by_newer_rules and draft_comparison.is_same_input(draft, known, context)
        if is_ours and "published_at" in changes:  # the digest of an item does not cover its date
            is_ours, changes = False, {name: value for name, value in changes.items() if name in draft_comparison.DATE}
        if context.feed and story.feed_id != context.feed.pk and follows_feed(draft, known, context):
            story.feed = context.feed
            self._handed_on.append(story)
        if changes and self._must_keep_final_day(story):
            return Outcome.FINAL_DAY
        is_revised = bool(changes) and not is_ours
        if is_revised and draft_comparison.is_change_postponed(changes, known, context):
            return Outcome.POSTPONED
        if is_revised:
            reason = {"reason": NEWER_RULES} if context.by_newer_rules else {}
            self._add_revision(known, build_next_revision(story, known.latest, **changes, **reason))
            self._revised.append(story)
        if draft_comparison.record_input(draft, known, context, is_revised=is_revised):
            self._read_again[story.chatbotnews_id] = story
        unchanged = Outcome.READ_DIFFERENTLY if is_ours else Outcome.MERGED if is_alias else Outcome.DUPLICATE
        return Outcome.REVISED if is_revised else unchanged

    def _must_keep_final_day(self, story: Story) -> bool:
        context = self._context
        return context.by_newer_rules and not context.final_days and is_sealed(story.wire_date, self._now)

    def _load_namesakes(self, drafts: Sequence[StoryDraft]) -> list[Known]:
        """Return stored stories that may be the articles of `drafts`: near in time, with one headline or brought by Google News."""
        if not drafts:
            return []
        days = [draft.published_at for draft in drafts]
        span = (min(days) - draft_comparison.SAME_NEWS, max(days) + draft_comparison.SAME_NEWS)
        near = Story.objects.filter(merged_into=None, published_at__range=span).exclude(chatbotnews_id__in=self._by_id)
        by_news, direct = ({d.publication.pk for d in drafts if d.is_by_google_news == told} for told in (True, False))
        headlines = {draft.headline for draft in drafts}
        stories = near.filter(
            Q(publication__in=direct, original_url__startswith=NEWS_LINK)
            | (Q(publication__in=by_news) & ~Q(original_url__startswith=NEWS_LINK))
            | Q(publication__in=direct, revisions__headline__in=headlines)
        )
        return [Known.from_row(story) for story in stories.distinct().prefetch_related("revisions", "aliases")]

    def store(self) -> None:
        read_again = [story for story in self._read_again.values() if story.pk]
        Story.objects.bulk_create(self._new_stories)
        of_new: list[StoryRevision | StoryAlias] = [*self._new_revisions, *self._new_aliases]
        for row in of_new:
            row.story_id = row.story.pk
        StoryRevision.objects.bulk_create(self._new_revisions)
        StoryAlias.objects.bulk_create(self._new_aliases)
        Story.objects.all().write(read_again, ["inputs"])
        Story.objects.filter(pk__in=[story.pk for story in self._revised]).update(pending=True)
        Story.objects.filter(pk__in=[story.pk for story in self._handed_on if story.pk]).update(feed=self._context.feed)

    def _find_story(self, draft: StoryDraft) -> tuple[StoryDraft, Known | None]:
        """Return the story of a draft, and the draft under the address that it is known by, or will be. Raises: Rejected."""
        forms = list_address_forms(draft)
        page = [replace(draft, original_url=draft.page_url)] if draft.page_url else []  # from before the page was shared
        feed_id = self._context.feed.pk if self._context.feed else None
        # As the wire was before this document, then what the document recorded, then as it is now: so a recording that is replayed
        # finds the same stories.
        before, now = self._seen_at - dt.timedelta.resolution, dt.datetime.max.replace(tzinfo=dt.UTC)
        for moment in (before, self._seen_at, now):
            known_forms = [(form, past) for form in (*forms, *page) if (past := self._find_past_story(form.original_url, moment))]
            found = None
            if moment == self._seen_at and self._context.feed:
                known_forms = [pair for pair in known_forms if not self._find_past_story(pair[0].original_url, before)]
                own = (pair for pair in known_forms if pair[0] is forms[0] and not is_other_item(draft, pair[1], feed_id))
                found = next(own, None)  # the item's likeliest address was recorded for this item
            found = found or find_known_story(draft, known_forms, feed_id)
            if found:
                form, past = found
                return form, next(known for known in self._by_url[form.original_url] if known.story is past.story)
        twin = self._find_twin(draft)
        for form in forms:
            if form.original_url not in self._by_url:
                return form, twin
        raise Rejected("address_of_others", f"{draft.original_url} and every address derived from it belong to other stories.")

    def _find_past_story(self, url: str, moment: dt.datetime) -> Known | None:
        past_stories = (past for known in self._by_url.get(url, ()) if (past := known.as_of(moment)))
        return next((past for past in past_stories if past.has_address(url)), None)

    def _find_twin(self, draft: StoryDraft) -> Known | None:
        """Return a story by GUID, or by headline, each with more that agrees; or by what Google News and the publisher both say."""
        by_guid = self._by_guid.get((draft.publication.pk, draft.guid), ()) if draft.guid else ()
        namesakes = self._by_headline.get((draft.publication.pk, headline_key(draft.headline)), ())
        direct = [] if draft.is_by_google_news else [known for known in namesakes if not known.is_by_google_news]
        same = chain((k for k in by_guid if is_same_guid_item(draft, k)), (k for k in direct if is_twin(draft, k)))
        return next(same, None) or draft_comparison.find_same_news(draft, namesakes)

    def _add_story(self, draft: StoryDraft) -> Outcome:
        shared = ("chatbotnews_id", "original_url", "publication", "guid", "image_url", "category", "published_at")
        story = Story(
            **{name: getattr(draft, name) for name in shared},
            guid_feed=self._context.feed,
            feed=self._context.feed,
            inputs=write_first_input(FEED if self._context.feed else ARCHIVE, draft.digest),
            wire_date=draft.published_at.date(),
            first_seen_at=self._seen_at,
            status=Status.LIVE,
            tier=draft.publication.tier,
        )
        revision = StoryRevision(
            story=story,
            revision=1,
            status=Status.LIVE,
            original_publisher=draft.publication.name,
            original_publisher_tier=draft.publication.tier,
            **{name: getattr(draft, name) for name in SHARED_FIELDS},
        )
        if self._must_keep_final_day(story):
            return Outcome.FINAL_DAY
        known = Known(story, [])
        self._new_stories.append(story)
        self._by_id[draft.chatbotnews_id], self._by_url[draft.original_url] = known, [known]
        self._add_revision(known, revision)
        self._index_story(known)
        self._seen.add(story.chatbotnews_id)
        return Outcome.ACCEPTED

    def _add_revision(self, known: Known, revision: StoryRevision) -> None:
        set_content_hash(known.story, revision)
        revision.recorded_at = self._now
        known.revisions.append(revision)
        self._new_revisions.append(revision)

    def _index_story(self, known: Known) -> None:
        if not known.story.merged_into:
            self._by_guid[known.story.publication_id, known.story.guid].append(known)
            for key in known.headline_keys:
                self._by_headline[known.story.publication_id, key].append(known)


def build_next_revision(story: Story, latest: StoryRevision, **changes: object) -> StoryRevision:
    """Return a revision after `latest` with `changes`, neither hashed nor saved."""
    fields = [field for field in StoryRevision._meta.concrete_fields if field.name not in {"id", "story", "reason"}]
    values = {field.attname: getattr(latest, field.attname) for field in fields}
    return StoryRevision(**(values | {"story": story, "revision": latest.revision + 1} | changes))


def set_content_hash(story: Story, revision: StoryRevision) -> None:
    revision.story_sha256 = hash_json(build_story_content(story.chatbotnews_id, story.original_url, revision))
