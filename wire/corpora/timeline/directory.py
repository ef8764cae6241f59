"""Corpora as their servers and the directories of servers describe them, all at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from django.conf import settings
from django.db.models import F

from config.errors import NotFound
from wire.corpora.timeline.corpus_config import parse_corpus_file
from wire.corpora.timeline.models import CorpusRelease

LISTED: Final = f"All corpora are listed at {settings.WIRE_SITE_URL}/api/timeline/corpora.json."


@dataclass(frozen=True, slots=True)
class CorpusMember:
    """A corpus that has a release."""

    slug: str
    name: str
    about: str
    licence: str

    @property
    def mcp(self) -> str:
        return f"{settings.WIRE_MCP_URL}/timeline/{self.slug}"


def roll() -> Mapping[str, CorpusMember | NotFound]:
    """Return every corpus by its slug, as its newest release describes it."""
    newest = CorpusRelease.objects.filter(number=F("corpus__release")).select_related("corpus").order_by("corpus__slug")
    members: dict[str, CorpusMember | NotFound] = {}
    for release in newest:
        said = parse_corpus_file(orjson.loads(release.written))
        members[release.corpus.slug] = CorpusMember(release.corpus.slug, said.name, said.about, said.licence)
    return members
