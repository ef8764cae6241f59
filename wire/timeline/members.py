"""All corpora at once: what their servers, and the directories of servers, say of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from django.conf import settings
from django.db.models import F

from config.errors import NotFound
from wire.timeline.corpusfile import of
from wire.timeline.models import CorpusRelease

LISTED: Final = f"All corpora are listed at {settings.WIRE_SITE_URL}/api/timeline/corpora.json."


@dataclass(frozen=True, slots=True)
class Member:
    """A corpus that has a release."""

    slug: str
    name: str
    about: str
    licence: str

    @property
    def mcp(self) -> str:
        return f"{settings.WIRE_MCP_URL}/timeline/{self.slug}"


def roll() -> Mapping[str, Member | NotFound]:
    """Every corpus by its slug, as its newest release says."""
    newest = CorpusRelease.objects.filter(number=F("corpus__release")).select_related("corpus").order_by("corpus__slug")
    found: dict[str, Member | NotFound] = {}
    for release in newest:
        said = of(orjson.loads(release.written))
        found[release.corpus.slug] = Member(release.corpus.slug, said.name, said.about, said.licence)
    return found
