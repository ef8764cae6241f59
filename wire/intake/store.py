"""Entries in, drafts of revisions out: normalise, identify, classify and store one batch in one transaction.

Nothing here is public yet; `wire.snapshots.publish` makes it so.
"""

from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from sources.entries import Entry
from wire.intake.match import SAME_NEWS, Known, Outcome, follows, news, same_article, same_news
from wire.intake.normalise import NEWS_LINK, Context, Draft, Rejected, normalise
from wire.models import Story, StoryAlias, StoryRevision, WireState
from wire.models.inserted import insert_all
from wire.stories.identity import headline_key
from wire.stories.provenance import digest, story_content
from wire.stories.vocabulary import NEWER_RULES, Status

CHUNK: Final = 500
"""Entries looked up at once; databases bound the parameters of a query."""


Prepared = list[Draft | Rejected]


def take_in(entries: Sequence[Entry], context: Context) -> list[Outcome | Rejected]:
    """What became of each entry, in order. A refused one never stops the others.

    Idempotent: entries that were taken in before change nothing, not even a timestamp.
    """
    return store(prepare(entries, context), context)


def prepare(entries: Sequence[Entry], context: Context) -> Prepared:
    """Each entry as a draft, or why it is refused. Takes the time that cleaning takes, so it is done outside of transactions."""
    return [_normalised(entry, context) for entry in entries]


@transaction.atomic
def store(prepared: Prepared, context: Context) -> list[Outcome | Rejected]:
    """The second half of `take_in`: compare with what is known and write, all of it or nothing."""
    WireState.lock()
    results: list[Outcome | Rejected] = []
    seen: set[str] = set()
    for start in range(0, len(prepared), CHUNK):
        chunk = prepared[start : start + CHUNK]
        batch = _Batch([draft for draft in chunk if isinstance(draft, Draft)], context, seen)
        results += [draft if isinstance(draft, Rejected) else _taken(batch, draft) for draft in chunk]
        batch.store()
    return results


def _normalised(entry: Entry, context: Context) -> Draft | Rejected:
    try:
        return normalise(entry, context)
    except Rejected as refusal:
        return refusal


def _taken(batch: "_Batch", draft: Draft) -> Outcome | Rejected:
    try:
        return batch.take(draft)
    except Rejected as refusal:
        return refusal


class _Batch:
    """What is known of a batch's stories, and what will be written; the batch may speak of one story several times."""

    def __init__(self, drafts: Sequence[Draft], context: Context, seen: set[str]) -> None:
        self._context = context
        self._seen_at = context.now.replace(microsecond=0)
        self._now = timezone.now().replace(microsecond=0) if context.by_newer_rules else self._seen_at
        self._new_stories: list[Story] = []
        self._new_revisions: list[StoryRevision] = []
        self._new_aliases: list[StoryAlias] = []
        self._revised: list[Story] = []
        self._handed_on: list[Story] = []
        self._seen = seen
        urls = {draft.original_url for draft in drafts}
        aliases = dict(StoryAlias.objects.filter(url__in=urls).values_list("url", "story__chatbotnews_id"))
        ids = {draft.chatbotnews_id for draft in drafts} | set(aliases.values())
        guids = {draft.guid for draft in drafts if draft.guid}
        told = Story.objects.prefetch_related("revisions", "aliases")
        stories = list(told.filter(chatbotnews_id__in=ids))
        publications = {draft.publication.pk for draft in drafts}
        stories += told.filter(publication__in=publications, guid__in=guids).exclude(pk__in=[s.pk for s in stories])
        self._by_id = {story.chatbotnews_id: _known(story) for story in stories}
        self._by_url = {known.story.original_url: known for known in self._by_id.values()}
        self._by_url |= {url: self._by_id[story_id] for url, story_id in aliases.items()}
        self._by_guid: dict[tuple[int, str], list[Known]] = {}
        for known in self._by_id.values():
            self._remember_guid(known)
        self._by_headline: dict[tuple[int, str], list[Known]] = {}
        for known in [*self._by_id.values(), *self._news_links([d for d in drafts if d.original_url not in self._by_url])]:
            self._remember_headline(known)

    def take(self, draft: Draft) -> Outcome:
        """Raises: Rejected."""
        known = self._find(draft)
        if known is None:
            self._found(draft)
            return Outcome.ACCEPTED
        story = known.story
        if story.publication_id != draft.publication.pk:
            raise Rejected("url_of_another_publication", f"{story.chatbotnews_id} has this address under another publisher.")
        if known.latest.status == Status.WITHDRAWN or self._was_seen(story):
            return Outcome.DUPLICATE
        changes = news(draft, known, self._context)
        if self._context.feed and story.feed_id != self._context.feed.pk and follows(draft, known, self._context):
            story.feed = self._context.feed
            self._handed_on.append(story)
        if not changes:
            return Outcome.DUPLICATE
        if self._context.by_newer_rules:
            changes["reason"] = NEWER_RULES
        self._add(known, next_revision(story, known.latest, **changes))
        self._revised.append(story)
        return Outcome.REVISED

    def _was_seen(self, story: Story) -> bool:
        """Whether a feed shows the story a second time: its first item counts, or two headlines would take turns for ever."""
        seen = story.chatbotnews_id in self._seen
        self._seen.add(story.chatbotnews_id)
        return seen and self._context.feed is not None

    def _news_links(self, drafts: Sequence[Draft]) -> list[Known]:
        """Stored stories that may be the same news as `drafts`, told directly by the one and by Google News by the other."""
        if not drafts:
            return []
        days = [draft.published_at for draft in drafts]
        near = Story.objects.filter(published_at__range=(min(days) - SAME_NEWS, max(days) + SAME_NEWS))
        near = near.exclude(chatbotnews_id__in=self._by_id)
        by_news, direct = ({d.publication.pk for d in drafts if d.by_google_news == told} for told in (True, False))
        stories = near.filter(
            Q(publication__in=direct, original_url__startswith=NEWS_LINK)
            | (Q(publication__in=by_news) & ~Q(original_url__startswith=NEWS_LINK))
        )
        return [_known(story) for story in stories.prefetch_related("revisions", "aliases")]

    def store(self) -> None:
        insert_all(self._new_stories)
        keys = dict(
            Story.objects.filter(chatbotnews_id__in=[story.chatbotnews_id for story in self._new_stories]).values_list(
                "chatbotnews_id", "pk"
            )
        )
        for story in self._new_stories:
            story.pk = keys[story.chatbotnews_id]
        of_new: list[StoryRevision | StoryAlias] = [*self._new_revisions, *self._new_aliases]
        for row in of_new:
            row.story_id = row.story.pk
        insert_all(self._new_revisions)
        insert_all(self._new_aliases)
        Story.objects.filter(pk__in=[story.pk for story in self._revised]).update(pending=True)
        Story.objects.filter(pk__in=[story.pk for story in self._handed_on if story.pk]).update(feed=self._context.feed)

    def _find(self, draft: Draft) -> Known | None:
        """By address, by GUID with the same headline, or by what Google News and the publisher both tell."""
        if known := self._by_url.get(draft.original_url):
            return known
        shared = self._by_guid.get((draft.publication.pk, draft.guid), ()) if draft.guid else ()
        known = next((candidate for candidate in shared if same_article(draft, candidate)), None)
        known = known or same_news(draft, self._by_headline.get((draft.publication.pk, headline_key(draft.headline)), ()))
        if known:
            self._new_aliases.append(StoryAlias(url=draft.original_url, story=known.story))
            known.aliases.add(draft.original_url)
            self._by_url[draft.original_url] = known
        return known

    def _found(self, draft: Draft) -> None:
        story = Story(
            chatbotnews_id=draft.chatbotnews_id,
            original_url=draft.original_url,
            publication=draft.publication,
            guid=draft.guid,
            feed=self._context.feed,
            image_url=draft.image_url,
            wire_date=draft.published_at.date(),
            first_seen_at=self._seen_at,
            status=Status.LIVE,
            category=draft.category,
            tier=draft.publication.tier,
            published_at=draft.published_at,
        )
        revision = StoryRevision(
            story=story,
            revision=1,
            status=Status.LIVE,
            headline=draft.headline,
            author=draft.author,
            summary_short=draft.summary_short,
            summary_medium=draft.summary_medium,
            category=draft.category,
            topics=draft.topics,
            original_publisher=draft.publication.name,
            original_publisher_tier=draft.publication.tier,
            via=draft.via,
            credited_source=draft.credited_source,
            published_at=draft.published_at,
            published_at_estimated=draft.published_at_estimated,
            language=draft.language,
            untrusted_instructions=draft.untrusted_instructions,
        )
        known = Known(story, [])
        self._new_stories.append(story)
        self._by_id[draft.chatbotnews_id] = self._by_url[draft.original_url] = known
        self._add(known, revision)
        self._remember_guid(known)
        self._remember_headline(known)
        self._seen.add(story.chatbotnews_id)

    def _add(self, known: Known, revision: StoryRevision) -> None:
        hash_content(known.story, revision)
        revision.recorded_at = self._now
        known.revisions.append(revision)
        self._new_revisions.append(revision)

    def _remember_guid(self, known: Known) -> None:
        if known.story.guid:
            self._by_guid.setdefault((known.story.publication_id, known.story.guid), []).append(known)

    def _remember_headline(self, known: Known) -> None:
        for key in known.headline_keys:
            self._by_headline.setdefault((known.story.publication_id, key), []).append(known)


def _known(story: Story) -> Known:
    return Known(story, list(story.revisions.all()), {alias.url for alias in story.aliases.all()})


def next_revision(story: Story, latest: StoryRevision, **changes: object) -> StoryRevision:
    """A revision after `latest` with `changes`, neither hashed nor saved."""
    kept = {
        f.attname: getattr(latest, f.attname)
        for f in StoryRevision._meta.concrete_fields
        if f.name not in {"id", "story", "reason"}
    }
    return StoryRevision(**(kept | {"story": story, "revision": latest.revision + 1} | changes))


def hash_content(story: Story, revision: StoryRevision) -> None:
    """Write the revision's own hash into it."""
    revision.story_sha256 = digest(story_content(story.chatbotnews_id, story.original_url, revision))
