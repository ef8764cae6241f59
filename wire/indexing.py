"""Keeps what lists and search look up in step with what is published."""

from collections.abc import Sequence
from typing import Any

from wire.models import SearchDocument, Story, StoryRevision, StoryTopic
from wire.models.search import marks, place
from wire.search import pairs, tokens
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
    places = free_places([story for story, _ in shown])
    documents = [SearchDocument(place=at, **document(*told)) for at, told in zip(places, shown, strict=True)]
    documents.sort(key=lambda one: one.place, reverse=True)  # FTS5 writes to disk whenever it is told of a newer one
    SearchDocument.objects.bulk_create(documents, batch_size=500)


def free_places(stories: Sequence[Story]) -> list[int]:
    """A place of its own for each story that has no document; two that fall on one, which is rare, come to lie side by side."""
    wanted = [place(story.published_at, story.chatbotnews_id) for story in stories]
    taken = set(SearchDocument.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    places = []
    for at in wanted:
        free = at
        while free in taken or (free != at and SearchDocument.objects.filter(pk=free).exists()):
            free -= 1
        taken.add(free)
        places.append(free)
    return places


def document(story: Story, revision: StoryRevision) -> dict[str, Any]:
    """The fields of a story's document but its place."""
    headline, summary = tokens(revision.headline), tokens(revision.summary_medium)
    told = marks(revision.category, revision.topics, story.publication_id, story.tier)
    return {
        "story_id": story.pk,
        "tokens": " ".join(headline + summary),
        "headline_length": len(headline),
        "marks": " ".join(dict.fromkeys([*told, *pairs(headline), *pairs(summary)])),
    }
