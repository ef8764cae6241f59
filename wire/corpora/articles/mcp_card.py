"""MCP servers for clients that did not connect yet: a list of all, and the card of each publisher's."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http.responses import error_answer
from wire.corpora.articles.directory import ServedPublisher, get_member, list_members
from wire.corpora.common.directory import list_served
from wire.corpora.common.server_card import answer_card, describe_server


def cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield for each publisher's server how its card differs from the wire's, and what a list of servers says beside it."""
    for member in list_served(list_members()):
        yield _card(member), {"server_card": member.card} | _terms(member)


@require_safe
def server_card(_request: HttpRequest, slug: str) -> HttpResponse:
    try:
        return answer_card(_card(get_member(slug)))
    except NotFound as error:
        return error_answer(error)


urlpatterns = [
    path("mcp/articles/<str:slug>/server-card", server_card, name="publisher-server-card"),
]


def _card(member: ServedPublisher) -> dict[str, Any]:
    """Return the fields in which its card differs from the wire's."""
    return describe_server(
        f"articles-{member.slug}",
        member.name,
        f"Articles of {member.name}, searched and read on its own terms.",
        member.homepage,
        member.mcp,
        _terms(member) | {"authentication": "none"},
    )


def _terms(member: ServedPublisher) -> dict[str, Any]:
    return {
        "terms": member.terms,
        "full_text": member.full_text,
        "may_answer": member.may_answer,
        "may_train": member.may_train,
        "licence": member.licence or None,
    }
