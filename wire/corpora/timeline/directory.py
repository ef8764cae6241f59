"""Corpora as their servers and the directories of servers describe them, all at once."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.db.models import F

from config.errors import NotFound
from wire.corpora.common.directory import list_served
from wire.corpora.common.server_card import describe_server
from wire.corpora.timeline.corpus_config import CorpusFile, parse_corpus
from wire.corpora.timeline.models import CorpusRelease

LISTED: Final = f"All corpora are listed at {settings.WIRE_SITE_URL}/api/timeline/corpora.json."


def list_members() -> Mapping[str, CorpusFile | NotFound]:
    """Return every corpus by its slug, as its newest release describes it."""
    newest = CorpusRelease.objects.filter(number=F("corpus__release")).select_related("corpus").order_by("corpus__slug")
    return {release.corpus.slug: parse_corpus(release.written) for release in newest}


def list_cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield how the card of each corpus's server differs from the wire's, and what a list of servers says beside it."""
    for member in list_served(list_members()):
        card = f"{settings.WIRE_SITE_URL}/mcp/timeline/{member.slug}/server-card"
        yield describe(member), {"server_card": card, "licence": member.licence}


def describe(member: CorpusFile) -> dict[str, Any]:
    """Return how the card of a corpus's server differs from the wire's."""
    return describe_server(
        f"timeline-{member.slug}",
        member.name,
        f"{member.name}: dated reports with evidence grades, claims, motifs, threads and events.",
        f"{settings.WIRE_SITE_URL}/timeline/{member.slug}/",
        f"{settings.WIRE_MCP_URL}/timeline/{member.slug}",
        {"licence": member.licence, "authentication": "none"},
    )
