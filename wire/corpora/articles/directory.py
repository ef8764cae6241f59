"""The publishers with their terms, for their servers and the directories of servers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models.functions import Left

from config.errors import NotFound
from wire.corpora.articles.models import LicenceKind, Publisher, PublisherQuerySet
from wire.corpora.articles.pricing import Price, describe_price
from wire.corpora.common.directory import find_member

LISTED: Final = f"All publishers are listed at {settings.WIRE_SITE_URL}/.well-known/mcp.json."
MAX_LICENCE: Final = 300  # characters of a licence that are given with the terms


@dataclass(frozen=True, slots=True)
class ServedPublisher:
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
        return f"{settings.WIRE_MCP_URL}/articles/{self.slug}"

    @property
    def card(self) -> str:
        return f"{settings.WIRE_SITE_URL}/mcp/articles/{self.slug}/server-card"

    @property
    def terms(self) -> str:
        answer = "may use the text to answer questions, citing it" if self.may_answer else "must not use the text in answers"
        train = "may be trained on it" if self.may_train else "must not be trained on it"
        joined = "and" if self.may_answer == self.may_train else "but"
        excerpts = "" if self.full_text else " Articles are given as excerpts."
        costs = f" An article costs {describe_price(self.price)}, paid by x402." if self.price else ""
        licence = " ".join(self.licence.split()).rstrip(".")
        if self.licence_kind == LicenceKind.NONE or not licence:
            rights = "All rights reserved."
        else:
            rights = f"{'Terms' if self.licence_kind == LicenceKind.TEXT else 'Licence'}: {licence}."
        return f"Models {answer}, {joined} {train}.{excerpts}{costs} {rights}"


def get_member(slug: str) -> ServedPublisher:
    """Raises: NotFound, which says when one was removed."""
    return find_member(
        list_members(Publisher.objects.with_slug(slug)), slug, NotFound("There is no publisher of this name.", LISTED)
    )


def list_members(publishers: PublisherQuerySet | None = None) -> Mapping[str, ServedPublisher | NotFound]:
    """Return publishers by slug, in its order; one that was removed as the error that its addresses answer with."""
    rows = Publisher.objects.order_by("slug") if publishers is None else publishers
    columns = ("slug", "name", "homepage", "full_text", "licence_kind", "may_answer", "may_train", "price", "removed_at")
    found: dict[str, ServedPublisher | NotFound] = {}
    for row in rows.values(*columns, short_licence=Left("licence", MAX_LICENCE)):
        licence, removed_at = row.pop("short_licence"), row.pop("removed_at")
        if removed_at is None:
            found[row["slug"]] = ServedPublisher(**row, licence=licence)
        else:
            found[row["slug"]] = NotFound(f"{row['name']} was removed on {removed_at:%Y-%m-%d} and is served no more.", LISTED)
    return found
