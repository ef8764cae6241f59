"""All publishers at once: what their servers, and the directories of servers, say of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models.functions import Left

from config.errors import NotFound
from wire.articles.models import LicenceKind, Publisher, PublisherQuerySet
from wire.articles.price import Price, in_words

LISTED: Final = f"All publishers are listed at {settings.WIRE_SITE_URL}/.well-known/mcp.json."
MAX_LICENCE: Final = 300  # characters of a licence that are told with the terms


@dataclass(frozen=True, slots=True)
class Member:
    """A publisher that is served, and its terms."""

    slug: str
    name: str
    homepage: str
    full_text: bool
    licence_kind: str
    licence: str
    may_answer: bool
    may_train: bool
    price: Price

    @property
    def mcp(self) -> str:
        """Address of its MCP server."""
        return f"{settings.WIRE_MCP_URL}/articles/{self.slug}"

    @property
    def card(self) -> str:
        """Address of its server's card."""
        return f"{settings.WIRE_SITE_URL}/mcp/articles/{self.slug}/server-card"

    @property
    def terms(self) -> str:
        """What models may do with its articles, in sentences."""
        answer = "may use the text to answer questions, citing it" if self.may_answer else "must not use the text in answers"
        train = "may be trained on it" if self.may_train else "must not be trained on it"
        joined = "and" if self.may_answer == self.may_train else "but"
        excerpts = "" if self.full_text else " Articles are given as excerpts."
        costs = f" An article costs {in_words(self.price)}, paid by x402." if self.price else ""
        return f"Models {answer}, {joined} {train}.{excerpts}{costs} {self._licence}"

    @property
    def _licence(self) -> str:
        told = " ".join(self.licence.split()).rstrip(".")
        if self.licence_kind == LicenceKind.NONE or not told:
            return "All rights reserved."
        return f"{'Terms' if self.licence_kind == LicenceKind.TEXT else 'Licence'}: {told}."


def roll() -> Mapping[str, Member | NotFound]:
    """Every publisher by its slug; one that was removed as the error that its addresses answer with."""
    return _told(Publisher.objects.order_by("slug"))


def served() -> list[Member]:
    """Those that are served, by slug."""
    return [member for member in _told(Publisher.objects.live().order_by("slug")).values() if isinstance(member, Member)]


def member_of(slug: str) -> Member:
    """Raises: NotFound, which says when one was removed."""
    found = _told(Publisher.objects.called(slug)).get(slug) or NotFound("There is no publisher of this name.", LISTED)
    if isinstance(found, NotFound):
        raise found
    return found


def _told(publishers: PublisherQuerySet) -> dict[str, Member | NotFound]:
    columns = ("slug", "name", "homepage", "full_text", "licence_kind", "may_answer", "may_train", "price", "removed_at")
    found: dict[str, Member | NotFound] = {}
    for row in publishers.values(*columns, told=Left("licence", MAX_LICENCE)):
        licence, removed_at = row.pop("told"), row.pop("removed_at")
        if removed_at is None:
            found[row["slug"]] = Member(**row, licence=licence)
        else:
            found[row["slug"]] = NotFound(f"{row['name']} was removed on {removed_at:%Y-%m-%d} and is served no more.", LISTED)
    return found
