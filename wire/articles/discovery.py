"""Where MCP servers are found by clients that did not connect yet: a list of all, and each publisher's card."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http.responses import BRIEFLY, error_answer, json_answer
from wire.articles.roll import Member, member_of, served
from wire.site import directives

OTHERS: Final[list[Callable[[], Iterable[tuple[dict[str, Any], dict[str, Any]]]]]] = []
"""What other apps say of their servers: how each one's card differs from the wire's, and what the list says beside it."""


@require_safe
def mcp_servers(_request: HttpRequest) -> HttpResponse:
    """Every MCP server of this site, the wire's first; any site's script may read it."""
    others = [_listed(_wires_card() | card) | more for cards in OTHERS for card, more in cards()]
    return _open({"servers": [_listed(_wires_card()), *(_listed(_card(member), member) for member in served()), *others]})


@require_safe
def server_card(_request: HttpRequest, slug: str) -> HttpResponse:
    """Who a publisher's server is and on what terms; any site's script may read it."""
    try:
        return _open(_card(member_of(slug)))
    except NotFound as error:
        return error_answer(error)


urlpatterns = [
    path(".well-known/mcp.json", mcp_servers, name="mcp-servers"),
    path("mcp/articles/<str:slug>/server-card", server_card, name="publisher-server-card"),
]


def _wires_card() -> dict[str, Any]:
    card: dict[str, Any] = orjson.loads(directives.server_card().encode())
    return card


def _card(member: Member) -> dict[str, Any]:
    """In the form of the wire's own: the transport and its revisions are the same."""
    card = _wires_card()
    (remote,) = card["remotes"]
    return card | {
        "name": f"ai.chatbotnews/articles-{member.slug}",
        "title": member.name,
        "description": f"Articles of {member.name}, searched and read on its own terms.",
        "websiteUrl": member.homepage,
        "remotes": [remote | {"url": member.mcp}],
        "_meta": {"ai.chatbotnews/terms": _terms(member) | {"authentication": "none"}},
    }


def _listed(card: dict[str, Any], member: Member | None = None) -> dict[str, Any]:
    """A server in the list, with the address of its card."""
    told = {name: card[name] for name in ("name", "title", "description")} | {"url": card["remotes"][0]["url"]}
    if member is None:
        return told | {"server_card": f"{directives.addresses()['site']}/.well-known/mcp/server-card.json"}
    return told | {"server_card": member.card} | _terms(member)


def _terms(member: Member) -> dict[str, Any]:
    return {
        "terms": member.terms,
        "full_text": member.full_text,
        "may_answer": member.may_answer,
        "may_train": member.may_train,
        "licence": member.licence or None,
    }


def _open(value: Any) -> HttpResponse:
    response = json_answer(value, BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response
