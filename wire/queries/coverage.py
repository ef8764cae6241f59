"""Who else reports it."""

from typing import Final

from config.errors import InvalidArgument
from wire import cluster, consensus, search
from wire.models import Story
from wire.models.search import newest_places
from wire.queries.stories import published_story
from wire.schemas import ConsensusOut, FirstReport, SiblingOut

CANDIDATES: Final = 500  # newest stories that share a word with the headline asked about
MOST: Final = 500  # stories of one event that are weighed; no event of 24 publications comes near


def get_consensus(story_id: str | None = None, headline: str | None = None) -> ConsensusOut:
    """Consensus about a story, or about the happening that a headline tells of; `story_id` wins over `headline`.

    Raises: InvalidArgument without either; NotFound for an unknown story.
    """
    if story_id is not None:
        return _of(published_story(story_id))
    if headline is None or not headline.strip():
        raise InvalidArgument("Neither story_id nor headline was given.", "Give one of them; story_id wins when both are given.")
    matched = _nearest(headline)
    if matched is None:
        return ConsensusOut(
            consensus_score=0.0,
            cross_source_count=0,
            siblings=[],
            sibling_details=[],
            first_reported=None,
            maker_among_them=False,
            story_id=None,
            event_id=None,
            notes="No coverage found: no story of the wire is like enough to this headline. That does not make it untrue.",
        )
    return _of(matched)


def _nearest(headline: str) -> Story | None:
    terms = [search.Term((token,)) for token in dict.fromkeys(search.tokens(headline)) if token not in cluster.STOP_WORDS]
    if not terms:
        return None
    places = newest_places(terms[: search.MAX_QUERY_TOKENS], every=False, limit=CANDIDATES)
    rows = Story.objects.live().filter(search_document__in=places).newest_first()
    items = [cluster.Item(*row) for row in rows.values_list("chatbotnews_id", "current__headline", "published_at", "event_id")]
    found = cluster.nearest(headline, items)
    return Story.objects.live().with_text().get(chatbotnews_id=found.chatbotnews_id) if found else None


def _of(story: Story) -> ConsensusOut:
    """The figures are those of the story's day; siblings are all that are public now, later ones too."""
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    event = Story.objects.live().filter(event=story.event_id).exclude(pk=story.pk).with_text().newest_first()[:MOST]
    others = [consensus.witness(other.chatbotnews_id, other.current) for other in event if other.current]
    found = consensus.weigh(consensus.witness(story.chatbotnews_id, story.current), others)
    return ConsensusOut(
        consensus_score=story.consensus_score,
        cross_source_count=story.cross_source_count,
        siblings=[sibling.witness.chatbotnews_id for sibling in found.siblings],
        sibling_details=[
            SiblingOut(
                chatbotnews_id=sibling.witness.chatbotnews_id,
                headline=sibling.witness.headline,
                original_publisher=sibling.witness.publisher,
                original_publisher_tier=sibling.witness.tier,
                published_at=sibling.witness.published_at,
                similarity=sibling.similarity,
                independent=sibling.independent,
                is_copy=sibling.is_copy,
            )
            for sibling in found.siblings
        ],
        first_reported=FirstReport(
            chatbotnews_id=found.first.chatbotnews_id,
            original_publisher=found.first.publisher,
            published_at=found.first.published_at,
        ),
        maker_among_them=found.has_maker,
        story_id=story.chatbotnews_id,
        event_id=story.event_id,
        notes=_notes(story, found),
    )


def _notes(story: Story, found: consensus.Consensus) -> str:
    if not found.siblings:
        return "No other publication of the roster has reported this so far."
    if story.cross_source_count == 1:
        text = "No independent witness besides this story's own was counted."
    else:
        text = f"Reported by {story.cross_source_count} independent witnesses of the roster, this story's own included."
    copies = sum(sibling.is_copy for sibling in found.siblings)
    second = sum(not sibling.independent and not sibling.is_copy for sibling in found.siblings)
    late = found.count - story.cross_source_count
    text += f" Copies of a text already counted: {copies}." if copies else ""
    text += f" Second stories of a publication already counted: {second}." if second else ""
    text += " The maker's own blog is among them; it announces rather than reports." if found.has_maker else ""
    return text + (f" Independent, but later than the day's last snapshot and not counted: {late}." if late > 0 else "")
