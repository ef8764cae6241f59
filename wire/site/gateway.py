"""The resource gateway's server card, and what the list of MCP servers says of it."""

from collections.abc import Iterable
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.http.responses import BRIEFLY, json_answer
from wire.site import directives


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Who the server is; any site's script may read it."""
    ((card, _),) = cards()
    response = json_answer(_wires() | card, BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


def cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """How the card differs from the wire's, and what the list of servers says beside it."""
    (remote,) = _wires()["remotes"]
    card = {
        "name": "ai.chatbotnews/gateway",
        "title": "Resource gateway",
        "description": "Resources of upstream servers with limit, cache, fallback and an account of where each answer came from.",
        "websiteUrl": settings.WIRE_SITE_URL,
        "remotes": [remote | {"url": f"{settings.WIRE_MCP_URL}/gateway"}],
        "_meta": {"ai.chatbotnews/terms": {"authentication": "bearer, or none for news://"}},
    }
    yield card, {"server_card": f"{settings.WIRE_SITE_URL}/mcp/gateway/server-card"}


def _wires() -> dict[str, Any]:
    card: dict[str, Any] = orjson.loads(directives.server_card().encode())
    return card


urlpatterns = [path("mcp/gateway/server-card", server_card, name="gateway-server-card")]
