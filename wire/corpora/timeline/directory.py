"""Corpora as their servers and the directories of servers describe them, all at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import F

from config.errors import NotFound
from wire.corpora.common.directory import list_served
from wire.corpora.common.server_card import describe_server
from wire.corpora.timeline.corpus_config import parse_corpus
from wire.corpora.timeline.models import CorpusRelease

LISTED: Final = f"All corpora are listed at {settings.WIRE_SITE_URL}/api/timeline/corpora.json."


@dataclass(frozen=True, slots=True)
class CorpusMember:
    """A corpus that has a release."""

    slug: str
    name: str
    about: str
    licence: str

    def describe(self) -> dict[str, Any]:
        """Return how the card of its server differs from the wire's."""
        return describe_server(
            f"timeline-{self.slug}",
            self.name,
            f"{self.name}: dated reports with evidence grades, claims, motifs, threads and events.",
            f"{settings.WIRE_SITE_URL}/timeline/{self.slug}/",
            f"{settings.WIRE_MCP_URL}/timeline/{self.slug}",
            {"licence": self.licence, "authentication": "none"},
        )


def roll() -> Mapping[str, CorpusMember | NotFound]:
    """Return every corpus by its slug, as its newest release describes it."""
    newest = CorpusRelease.objects.filter(number=F("corpus__release")).select_related("corpus").order_by("corpus__slug")
    members: dict[str, CorpusMember | NotFound] = {}
    for release in newest:
        said = parse_corpus(release.written)
        members[release.corpus.slug] = CorpusMember(release.corpus.slug, said.name, said.about, said.licence)
    return members


def list_cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield how the card of each corpus's server differs from the wire's, and what a list of servers says beside it."""
    for member in list_served(roll()):
        card = f"{settings.WIRE_SITE_URL}/mcp/timeline/{member.slug}/server-card"
        yield member.describe(), {"server_card": card, "licence": member.licence}
