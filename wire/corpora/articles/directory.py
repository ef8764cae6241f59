"""The publishers by slug: for queries, for their MCP servers, and for the lists and cards of servers."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http.responses import error_response
from wire.corpora.articles.models import MAX_LICENCE, Publisher
from wire.corpora.common.server_card import describe_server, render_card

LISTED: Final = f"All publishers are listed at {settings.WIRE_SITE_URL}/.well-known/mcp.json."


def find_publisher(slug: str, hint: str = "All publishers are listed at /api/articles/publishers.json.") -> Publisher:
    """Raises: NotFound, which says when one was removed."""
    publisher = Publisher.objects.with_slug(slug).first()
    if publisher is None:
        raise NotFound("There is no publisher with this name.", hint)
    if publisher.removed_at is not None:
        raise _build_removed_error(publisher, hint)
    return publisher


def _build_removed_error(row: Publisher, hint: str) -> NotFound:
    return NotFound(f"{row.name} was removed on {row.removed_at:%Y-%m-%d} and is no longer served.", hint)


def list_members() -> Mapping[str, Publisher | NotFound]:
    """Return publishers by slug, in its order; one that was removed as the error that its addresses answer with."""
    rows = Publisher.objects.defer("consent_note")
    return {row.slug: _build_removed_error(row, LISTED) if row.removed_at else row for row in rows}


def list_cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield for each publisher's server how its card differs from the wire's, and what a list of servers says beside it."""
    for member in Publisher.objects.live().defer("consent_note"):
        card = f"{settings.WIRE_SITE_URL}/mcp/articles/{member.slug}/server-card"
        yield _build_card(member), {"server_card": card} | _list_terms(member)


@require_safe
def server_card(_request: HttpRequest, slug: str) -> HttpResponse:
    try:
        return render_card(_build_card(find_publisher(slug, LISTED)))
    except NotFound as error:
        return error_response(error)


def _build_card(member: Publisher) -> dict[str, Any]:
    about = f"Articles of {member.name}, searched and read on its own terms."
    terms = _list_terms(member) | {"authentication": "none"}
    return describe_server(f"articles-{member.slug}", member.name, about, member.homepage, member.mcp, terms)


def _list_terms(member: Publisher) -> dict[str, Any]:
    names = ("terms", "full_text", "may_answer", "may_train")
    return {name: getattr(member, name) for name in names} | {"licence": member.licence[:MAX_LICENCE] or None}
