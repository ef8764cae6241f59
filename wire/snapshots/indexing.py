"""Keeps what lists and search look up in step with what is published."""

from collections.abc import Sequence
from typing import Any

from wire.models import SearchDocument, Story, StoryRevision, StoryTopic, StoryVector
from wire.models.inserted import insert
from wire.models.search import marks, place
from wire.stories.tokens import pairs, tokens
from wire.stories.vocabulary import Status


def index(published: Sequence[tuple[Story, StoryRevision]]) -> None:
    """Replace topics and search words of stories whose published revision changed, and drop their vectors, which
    `wire.vectors.stored.fill` makes anew. A withdrawn story keeps none.
    """
    ids = [story.pk for story, revision in published if revision.revision > 1]
    StoryTopic.objects.filter(story__in=ids).delete()
    SearchDocument.objects.filter(story__in=ids).delete()
    StoryVector.objects.filter(story__in=ids).delete()
    shown = [(story, revision) for story, revision in published if revision.status != Status.WITHDRAWN]
    topics = [(story.pk, topic, story.published_at) for story, revision in shown for topic in revision.topics]
    insert(StoryTopic, ("story_id", "topic", "published_at"), topics)
    places = free_places([story for story, _ in shown])
    # The greatest place first: FTS5 writes to disk whenever it is told of a newer one.
    documents = sorted(((at, *document(*told).values()) for at, told in zip(places, shown, strict=True)), reverse=True)
    insert(SearchDocument, ("place", "story_id", "tokens", "headline_length", "marks"), documents)


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
