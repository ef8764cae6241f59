"""Check of tables that repeat the record for speed and that no dump holds: each is recomputed from the record."""

from collections import Counter
from typing import Final

from wire.models import SearchDocument, Story, StoryRevision, StoryTopic, WireState
from wire.models.search import place
from wire.ops.archive.dump import CHUNK, Broken
from wire.publishing import story_json
from wire.publishing.indexing import document
from wire.text.vocabulary import Status

# columns of a story, and the column of its published revision that each repeats
REPEATED: Final = {"status": "status", "category": "category", "tier": "original_publisher_tier", "published_at": "published_at"}
# more stories than ever have the same second and ids that begin alike
CROWD: Final = 50


def check() -> None:
    """Check all of them inside of `dump.one_moment`, on a verified record. Raises: Broken, naming the first that differs."""
    if list(WireState.objects.values_list("pk", flat=True)) != [1]:
        raise Broken("the state of the wire: it is not one row with the id 1.")
    found: Counter[str] = Counter()
    published = Story.objects.published().select_related("current", "json", "search_document").prefetch_related("story_topics")
    for story in published.order_by("pk").iterator(CHUNK):
        if story.current is None or story.current.story_id != story.pk:
            raise Broken(f"story {story}: the revision that it shows is another story's.")
        revision = story.current
        if any(getattr(story, column) != getattr(revision, source) for column, source in REPEATED.items()):
            raise Broken(f"story {story}: {', '.join(REPEATED)} are not those of its published revision.")
        is_withdrawn = revision.status == Status.WITHDRAWN
        topics = [] if is_withdrawn else [(topic, story.published_at) for topic in sorted(revision.topics)]
        if sorted((row.topic, row.published_at) for row in story.story_topics.all()) != topics:
            raise Broken(f"story {story}: the lists of topics do not have it as its revision does.")
        found["topics"] += len(topics)
        found["documents"] += _check_document(story, revision)
        if not story_json.matches_revision(story):
            raise Broken(f"story {story}: the JSON kept of it is not what its revision says; manage.py renderwire makes it anew.")
    for what, rows in (("topics", StoryTopic.objects.count()), ("documents", SearchDocument.objects.count())):
        if rows != found[what]:
            raise Broken(f"lists and search: {rows:,} {what} are stored, the live stories have {found[what]:,}.")


def _check_document(story: Story, revision: StoryRevision) -> int:
    """Check the search document of a story; return the number of its documents."""
    stored: SearchDocument | None = getattr(story, "search_document", None)
    if (stored is None) != (revision.status == Status.WITHDRAWN):
        raise Broken(f"story {story}: search {'does not have it' if stored is None else 'has it although it was withdrawn'}.")
    if stored is None:
        return 0
    expected = document(story, revision)
    below = place(story.published_at, story.chatbotnews_id) - stored.place  # as many as others of the same second lay above it
    if any(getattr(stored, name) != value for name, value in expected.items()) or not 0 <= below < CROWD:
        raise Broken(f"story {story}: search has other words of it than its revision, or has it in another place.")
    return 1
