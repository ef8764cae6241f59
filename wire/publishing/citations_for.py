"""The seam to `citations`: what a published revision gives them to cite."""

from django.conf import settings

from citations.format.claim_text import StatementKind
from citations.format.formats import Citable, CitationFormat, cite
from wire.models import Story, StoryRevision


def permalink(chatbotnews_id: str) -> str:
    return f"{settings.WIRE_SITE_URL}/story/{chatbotnews_id}"


def citable(story: Story, revision: StoryRevision) -> Citable:
    """Everything in it is of the revision and the wire date, so a citation never depends on when it is asked for."""
    return Citable(
        chatbotnews_id=story.chatbotnews_id,
        headline=revision.headline,
        summary_short=revision.summary_short,
        author=revision.author,
        publisher=revision.original_publisher,
        tier=revision.original_publisher_tier,
        credited_source=revision.credited_source,
        original_url=story.original_url,
        permalink=permalink(story.chatbotnews_id),
        site=settings.WIRE_SITE_URL,
        wire_date=story.wire_date,
        corrected_on=revision.corrected_on,
    )


def says_more(story: Story, revision: StoryRevision) -> bool:
    return citable(story, revision).statement.kind != StatementKind.HEADLINE


def cite_layered(story: Story, revision: StoryRevision) -> str:
    return cite(citable(story, revision), CitationFormat.LAYERED)
