"""What the database repeats of the record so that answers are quick, and no dump holds: recomputed from what it repeats."""

from collections import Counter
from typing import Final

from wire.archive.dump import CHUNK, Broken
from wire.models import SearchDocument, Story, StoryRevision, StoryTopic, WireState
from wire.models.search import place
from wire.snapshots import story_json
from wire.snapshots.indexing import document
from wire.stories.vocabulary import Status

REPEATED: Final = {"status": "status", "category": "category", "tier": "original_publisher_tier", "published_at": "published_at"}
"""Columns of a story, and which one of its published revision each of them repeats."""
CROWD: Final = 50
"""Stories of one second whose ids begin alike are never this many."""


def check() -> None:
    """Call it inside of `dump.one_moment`, on a record that was found true. Raises: Broken, naming the first that differs."""
    if list(WireState.objects.values_list("pk", flat=True)) != [1]:
        raise Broken("the state of the wire: it is not one row with the id 1.")
    found: Counter[str] = Counter()
    published = Story.objects.published().select_related("current", "json", "search_document").prefetch_related("story_topics")
    for story in published.order_by("pk").iterator(CHUNK):
        if story.current is None or story.current.story_id != story.pk:
            raise Broken(f"story {story}: the revision that it shows is another story's.")
        _columns(story, story.current)
        found["topics"] += _topics(story, story.current)
        found["documents"] += _search(story, story.current)
        if not story_json.matches_revision(story):
            raise Broken(f"story {story}: the JSON kept of it is not what its revision says; manage.py renderwire makes it anew.")
    for what, rows in (("topics", StoryTopic.objects.count()), ("documents", SearchDocument.objects.count())):
        if rows != found[what]:
            raise Broken(f"lists and search: {rows:,} {what} are stored, the live stories have {found[what]:,}.")


def _columns(story: Story, revision: StoryRevision) -> None:
    if any(getattr(story, column) != getattr(revision, source) for column, source in REPEATED.items()):
        raise Broken(f"story {story}: {', '.join(REPEATED)} are not those of its published revision.")


def _topics(story: Story, revision: StoryRevision) -> int:
    """How many rows of topics the story has; a withdrawn one has none."""
    expected = [] if revision.status == Status.WITHDRAWN else [(topic, story.published_at) for topic in sorted(revision.topics)]
    if sorted((row.topic, row.published_at) for row in story.story_topics.all()) != expected:
        raise Broken(f"story {story}: the lists of topics do not have it as its revision does.")
    return len(expected)


def _search(story: Story, revision: StoryRevision) -> int:
    """How many documents search has of the story."""
    kept: SearchDocument | None = getattr(story, "search_document", None)
    if (kept is None) != (revision.status == Status.WITHDRAWN):
        raise Broken(f"story {story}: search {'does not have it' if kept is None else 'has it although it was withdrawn'}.")
    if kept is None:
        return 0
    expected = document(story, revision)
    below = place(story.published_at, story.chatbotnews_id) - kept.place  # as many as others of the same second lay above it
    if any(getattr(kept, name) != value for name, value in expected.items()) or not 0 <= below < CROWD:
        raise Broken(f"story {story}: search has other words of it than its revision, or has it in another place.")
    return 1
