"""A stored story as it is shown."""

from citations.formats import citation_objects
from config.errors import NotFound
from sources.vocabulary import Tier
from wire.citing import citable, permalink
from wire.identity import is_story_id
from wire.models import Story, StoryRevision
from wire.schemas import CitationObjects, StoryOut
from wire.text import plain_text
from wire.vocabulary import Category, Status, Topic


def published_story(story_id: str) -> Story:
    """The story, withdrawn or not, with its text. Raises: NotFound."""
    story = None
    if is_story_id(story_id):
        story = Story.objects.published().with_text().filter(chatbotnews_id=story_id).first()
    if story is None:
        raise NotFound(
            f"There is no story {plain_text(story_id, 40)!r}.",
            "Ids look like cbn-0123456789ab; search_wire (/api/search.json) and wire://today (/api/today.json) list them.",
        )
    return story


def story_out(story: Story) -> StoryOut:
    """The story as its published revision and its day's latest snapshot have it."""
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    return revision_out(story, story.current, str(story.event_id), story.consensus_score, story.cross_source_count)


def revision_out(story: Story, revision: StoryRevision, event_id: str, score: float, count: int) -> StoryOut:
    """A story as one snapshot has it. Not validated again: everything stored was, and a day has hundreds."""
    cited = None
    if revision.status != Status.WITHDRAWN:
        cited = CitationObjects.model_construct(None, **citation_objects(citable(story, revision)))
    return StoryOut.model_construct(
        chatbotnews_id=story.chatbotnews_id,
        permalink=permalink(story.chatbotnews_id),
        headline=revision.headline,
        author=revision.author,
        category=Category(revision.category),
        topics=[Topic(topic) for topic in revision.topics],
        original_publisher=revision.original_publisher,
        original_publisher_tier=revision.original_publisher_tier,
        original_publisher_tier_label=str(Tier(revision.original_publisher_tier).label),
        original_url=story.original_url,
        via=revision.via,
        credited_source=revision.credited_source,
        published_at=revision.published_at,
        published_at_estimated=revision.published_at_estimated,
        first_seen_at=story.first_seen_at,
        updated_at=revision.recorded_at,
        summary_short=revision.summary_short,
        summary_medium=revision.summary_medium,
        language=revision.language,
        untrusted_instructions=revision.untrusted_instructions,
        consensus_score=score,
        cross_source_count=count,
        event_id=event_id,
        status=Status(revision.status),
        revision=revision.revision,
        story_sha256=revision.story_sha256,
        citation_objects=cited,
    )
