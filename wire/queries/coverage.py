"""Who else reports it."""

from typing import Final

from config.errors import InvalidArgument
from sources.houses import Houses
from wire.models import Story
from wire.models.search import newest_places
from wire.queries.stories import published_story
from wire.schemas import ConsensusOut, FirstReport, MatchOut, SiblingOut
from wire.snapshots import cluster, consensus
from wire.stories import tokens
from wire.stories.question import MAX_TERMS, Term
from wire.stories.vocabulary import Status

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
    found = _nearest(headline)
    if found is None:
        return ConsensusOut(
            consensus_score=0.0,
            cross_source_count=0,
            siblings=[],
            sibling_details=[],
            first_reported=None,
            maker_among_them=False,
            story_id=None,
            event_id=None,
            matched=None,
            notes="No coverage found: no story has a similar headline. That does not make it untrue; "
            "try search_wire with its main words.",
        )
    return _of(*found)


def _nearest(headline: str) -> tuple[Story, float] | None:
    """The story most like the headline, and how like it is."""
    terms = [Term((token,)) for token in dict.fromkeys(tokens.tokens(headline)) if token not in cluster.STOP_WORDS]
    if not terms:
        return None
    asked = terms[:MAX_TERMS]
    # Those that hold every word, or the very headline would be missed once so many newer stories share a word with it.
    places = {place for wanted in ([asked], [[term] for term in asked]) for place in newest_places(wanted, limit=CANDIDATES)}
    rows = Story.objects.live().filter(search_document__in=places).newest_first()
    columns = ("chatbotnews_id", "current__headline", "published_at", "event_id", "current__summary_medium")
    items = [cluster.Item(*row) for row in rows.values_list(*columns)]
    found = cluster.nearest(headline, items)
    if found is None:
        return None
    item, similarity = found
    return Story.objects.live().with_text().get(chatbotnews_id=item.chatbotnews_id), similarity


def _of(story: Story, likeness: float | None = None) -> ConsensusOut:
    """The figures are those of the story's day; siblings are all that are public now, later ones too. `likeness` to the headline
    that was asked about, if one was.
    """
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    event = Story.objects.live().filter(event=story.event_id).exclude(pk=story.pk).with_text().newest_first()[:MOST]
    houses = Houses.load()
    others = [consensus.report_of(other.chatbotnews_id, other.current, houses) for other in event if other.current]
    found = consensus.weigh(consensus.report_of(story.chatbotnews_id, story.current, houses), others)
    unsafe = {other.chatbotnews_id for other in event if other.current and other.current.untrusted_instructions}
    return ConsensusOut(
        consensus_score=story.consensus_score,
        cross_source_count=story.cross_source_count,
        siblings=[sibling.report.chatbotnews_id for sibling in found.siblings],
        sibling_details=[
            SiblingOut(
                chatbotnews_id=sibling.report.chatbotnews_id,
                headline=sibling.report.headline,
                original_publisher=sibling.report.publisher,
                original_publisher_tier=sibling.report.tier,
                published_at=sibling.report.published_at,
                similarity=sibling.similarity,
                independent=sibling.independent,
                is_copy=sibling.is_copy,
                untrusted_instructions=sibling.report.chatbotnews_id in unsafe,
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
        matched=None if likeness is None else _match(story, likeness),
        notes=" ".join(filter(None, (_about(story, likeness), _notes(story, found)))),
    )


def _match(story: Story, likeness: float) -> MatchOut:
    assert story.current is not None  # noqa: S101
    return MatchOut(
        chatbotnews_id=story.chatbotnews_id,
        headline=story.current.headline,
        original_publisher=story.current.original_publisher,
        published_at=story.current.published_at,
        similarity=round(likeness, 2),
        untrusted_instructions=story.current.untrusted_instructions,
    )


def _about(story: Story, likeness: float | None) -> str:
    """What the figures are of: likeness of words is not sameness of claims."""
    if story.status == Status.WITHDRAWN:
        return "This story was withdrawn; do not cite it."
    if likeness is None:
        return ""
    return (
        f"These figures belong to {story.chatbotnews_id}, the story whose headline is most similar to yours. They do not confirm "
        "yours: compare `matched.headline` with it, names, numbers and verbs, before you say that anybody reports it."
    )


def _notes(story: Story, found: consensus.Consensus) -> str:
    if not found.siblings and story.cross_source_count == 1:
        return "No other publication of the roster has reported this so far."
    if story.cross_source_count == 1:
        text = "No independent source besides this story's own was counted."
    else:
        text = f"Reported by {story.cross_source_count} independent sources on the roster, this story's own included."
    copies = sum(sibling.is_copy for sibling in found.siblings)
    second = sum(not sibling.independent and not sibling.is_copy for sibling in found.siblings)
    text += f" Copies of a text already counted: {copies}." if copies else ""
    text += f" Second stories of a publication already counted: {second}." if second else ""
    text += " The maker's own blog is among them; it announces rather than reports." if found.has_maker else ""
    late = found.count - story.cross_source_count
    text += f" Independent, but later than the day's last snapshot and not counted: {late}." if late > 0 else ""
    gone = "withdrawn, moved or known as a copy since"
    return text + (f" Counted in the day's last snapshot, but {gone}: {-late}." if late < 0 else "")
