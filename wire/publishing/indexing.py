"""Keep what lists and search look up in step with what is published."""

from collections.abc import Sequence
from typing import Any

from wire.models import SearchDocument, Story, StoryEntity, StoryRevision, StoryTopic, StoryVector
from wire.models.search import encode_filters, get_position
from wire.publishing.entity_links import build_links
from wire.text.choices import Status
from wire.text.tokens import encode_pairs, list_run_tokens, tokenize


def index_stories(published: Sequence[tuple[Story, StoryRevision]]) -> None:
    """Replace topics, names and search words of stories whose published revision changed, and drop vectors of older texts."""
    ids = [story.pk for story, revision in published if revision.revision > 1]
    StoryTopic.objects.filter(story__in=ids).delete()
    StoryEntity.objects.filter(story__in=ids).delete()
    SearchDocument.objects.filter(story__in=ids).delete()
    shown = [(story, revision) for story, revision in published if revision.status != Status.WITHDRAWN]
    current = {(story.pk, revision.revision) for story, revision in shown}
    vectors = StoryVector.objects.filter(story__in=ids).values_list("story_id", "revision")
    StoryVector.objects.filter(story__in=[story for story, revision in vectors if (story, revision) not in current]).delete()
    StoryTopic.objects.bulk_create(
        StoryTopic(story=story, topic=topic, published_at=story.published_at)
        for story, revision in shown
        for topic in revision.topics
    )
    StoryEntity.objects.bulk_create(build_links(shown))
    positions = find_free_positions([story for story, _ in shown])
    documents = [SearchDocument(place=at, **build_document(*row)) for at, row in zip(positions, shown, strict=True)]
    # The greatest position first: FTS5 writes to disk whenever it is told of a newer one.
    SearchDocument.objects.bulk_create(sorted(documents, key=lambda row: -row.place))


def find_free_positions(stories: Sequence[Story]) -> list[int]:
    """Return a position of its own for each story that has no document; two that fall on one, which is rare, lie side by side."""
    wanted = [get_position(story.published_at, story.chatbotnews_id) for story in stories]
    taken = set(SearchDocument.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    positions: list[int] = []
    for at in wanted:
        free = at
        while free in taken or (free != at and SearchDocument.objects.filter(pk=free).exists()):
            free -= 1
        taken.add(free)
        positions.append(free)
    return positions


def build_document(story: Story, revision: StoryRevision) -> dict[str, Any]:
    headline, summary = tokenize(revision.headline), tokenize(revision.summary_medium)
    in_runs = [*list_run_tokens(revision.headline), *list_run_tokens(revision.summary_medium)]
    filters = encode_filters(revision.category, revision.topics, story.publication_id, story.tier)
    return {
        "story_id": story.pk,
        "tokens": " ".join(headline + summary),
        "headline_length": len(headline),
        "marks": " ".join(dict.fromkeys([*filters, *encode_pairs(headline), *encode_pairs(summary), *in_runs])),
    }
