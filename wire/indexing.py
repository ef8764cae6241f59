"""Keeps what lists and search look up in step with what is published."""

from collections.abc import Sequence

from wire.models import SearchDocument, Story, StoryRevision, StoryTopic
from wire.search import tokens
from wire.vocabulary import Status


def index(published: Sequence[tuple[Story, StoryRevision]]) -> None:
    """Replace topics and search words of stories whose published revision changed. A withdrawn story keeps none."""
    ids = [story.pk for story, revision in published if revision.revision > 1]
    StoryTopic.objects.filter(story__in=ids).delete()
    SearchDocument.objects.filter(story__in=ids).delete()
    shown = [(story, revision) for story, revision in published if revision.status != Status.WITHDRAWN]
    StoryTopic.objects.bulk_create(
        [
            StoryTopic(story=story, topic=topic, published_at=story.published_at)
            for story, revision in shown
            for topic in revision.topics
        ],
        batch_size=500,
    )
    SearchDocument.objects.bulk_create([_document(story, revision) for story, revision in shown], batch_size=500)


def _document(story: Story, revision: StoryRevision) -> SearchDocument:
    headline = tokens(revision.headline)
    return SearchDocument(story=story, tokens=" ".join(headline + tokens(revision.summary_medium)), headline_length=len(headline))
