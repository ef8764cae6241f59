"""Entries in, drafts of revisions out: normalise, identify, classify and store one batch in one transaction.

Nothing here is public yet; `wire.publish` makes it so.
"""

from collections.abc import Sequence

from django.db import transaction

from sources.entries import Entry
from wire.identify import Known, Outcome, merged, same_article, says_something_new
from wire.models import Story, StoryAlias, StoryRevision, WireState
from wire.normalise import Context, Draft, Rejected, normalise
from wire.provenance import digest, story_content
from wire.vocabulary import Status


@transaction.atomic
def take_in(entries: Sequence[Entry], context: Context) -> list[Outcome | Rejected]:
    """What became of each entry, in order. A refused one never stops the others.

    Idempotent: entries that were taken in before change nothing, not even a timestamp.
    """
    WireState.lock()
    results: list[Outcome | Rejected] = []
    drafts: list[tuple[int, Draft]] = []
    for position, entry in enumerate(entries):
        try:
            drafts.append((position, normalise(entry, context)))
            results.append(Outcome.DUPLICATE)
        except Rejected as refusal:
            results.append(refusal)
    batch = _Batch([draft for _, draft in drafts], context)
    for position, draft in drafts:
        try:
            results[position] = batch.take(draft)
        except Rejected as refusal:
            results[position] = refusal
    batch.store()
    return results


class _Batch:
    """What is known of a batch's stories, and what will be written; the batch may speak of one story several times."""

    def __init__(self, drafts: Sequence[Draft], context: Context) -> None:
        self._now = context.now.replace(microsecond=0)
        self._new_stories: list[Story] = []
        self._new_revisions: list[StoryRevision] = []
        self._new_aliases: list[StoryAlias] = []
        self._revised: list[Story] = []
        urls = {draft.original_url for draft in drafts}
        aliases = dict(StoryAlias.objects.filter(url__in=urls).values_list("url", "story__chatbotnews_id"))
        ids = {draft.chatbotnews_id for draft in drafts} | set(aliases.values())
        guids = {draft.guid for draft in drafts if draft.guid}
        stories = list(Story.objects.filter(chatbotnews_id__in=ids).prefetch_related("revisions"))
        stories += Story.objects.filter(guid__in=guids).exclude(pk__in=[s.pk for s in stories]).prefetch_related("revisions")
        self._by_id = {story.chatbotnews_id: Known(story, list(story.revisions.all())) for story in stories}
        self._by_url = {known.story.original_url: known for known in self._by_id.values()}
        self._by_url |= {url: self._by_id[story_id] for url, story_id in aliases.items()}
        self._by_guid: dict[tuple[int, str], list[Known]] = {}
        for known in self._by_id.values():
            self._remember_guid(known)

    def take(self, draft: Draft) -> Outcome:
        """Raises: Rejected."""
        known = self._find(draft)
        if known is None:
            self._found(draft)
            return Outcome.ACCEPTED
        if known.story.publication_id != draft.publication.pk:
            raise Rejected("url_of_another_publication", f"{known.story.chatbotnews_id} has this address under another publisher.")
        if known.latest.status == Status.WITHDRAWN or not says_something_new(draft, known):
            return Outcome.DUPLICATE
        self._revise(draft, known)
        return Outcome.REVISED

    def store(self) -> None:
        Story.objects.bulk_create(self._new_stories, batch_size=500)
        StoryRevision.objects.bulk_create(self._new_revisions, batch_size=500)
        StoryAlias.objects.bulk_create(self._new_aliases, batch_size=500)
        Story.objects.filter(pk__in=[story.pk for story in self._revised]).update(pending=True)

    def _find(self, draft: Draft) -> Known | None:
        known = self._by_url.get(draft.original_url)
        if known is not None or not draft.guid:
            return known
        for candidate in self._by_guid.get((draft.publication.pk, draft.guid), ()):
            if same_article(draft, candidate):
                self._new_aliases.append(StoryAlias(url=draft.original_url, story=candidate.story))
                self._by_url[draft.original_url] = candidate
                return candidate
        return None

    def _found(self, draft: Draft) -> None:
        story = Story(
            chatbotnews_id=draft.chatbotnews_id,
            original_url=draft.original_url,
            publication=draft.publication,
            guid=draft.guid,
            wire_date=draft.published_at.date(),
            first_seen_at=self._now,
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

    def _revise(self, draft: Draft, known: Known) -> None:
        fields = merged(draft, known.latest)
        if known.story.editor_category:
            fields["category"] = known.story.editor_category
        if known.story.editor_topics is not None:
            fields["topics"] = known.story.editor_topics
        self._add(known, next_revision(known.story, known.latest, **fields))
        self._revised.append(known.story)

    def _add(self, known: Known, revision: StoryRevision) -> None:
        seal(known.story, revision)
        revision.recorded_at = self._now
        known.revisions.append(revision)
        self._new_revisions.append(revision)

    def _remember_guid(self, known: Known) -> None:
        if known.story.guid:
            self._by_guid.setdefault((known.story.publication_id, known.story.guid), []).append(known)


def next_revision(story: Story, latest: StoryRevision, **changes: object) -> StoryRevision:
    """A revision after `latest` with `changes`, neither hashed nor saved."""
    kept = {
        f.attname: getattr(latest, f.attname)
        for f in StoryRevision._meta.concrete_fields
        if f.name not in {"id", "story", "reason"}
    }
    return StoryRevision(**(kept | {"story": story, "revision": latest.revision + 1} | changes))


def seal(story: Story, revision: StoryRevision) -> None:
    """Write the revision's own hash into it."""
    revision.story_sha256 = digest(story_content(story.chatbotnews_id, story.original_url, revision))
