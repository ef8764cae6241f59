"""The resource gateway's server card, and its entry in the list of MCP servers."""

from collections.abc import Iterable
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.http.responses import BRIEFLY, json_answer
from wire.site import llms_txt


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Return the card; any site's script may read it."""
    ((card, _),) = cards()
    response = json_answer(_load_wire_card() | card, BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


def cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the differences from the wire's card, and the links beside them in the list of servers."""
    (remote,) = _load_wire_card()["remotes"]
    card = {
        "name": "ai.chatbotnews/gateway",
        "title": "Resource gateway",
        "description": "Resources of upstream servers with limit, cache, fallback and an account of where each answer came from.",
        "websiteUrl": settings.WIRE_SITE_URL,
        "remotes": [remote | {"url": f"{settings.WIRE_MCP_URL}/gateway"}],
        "_meta": {"ai.chatbotnews/terms": {"authentication": "bearer, or none for news://"}},
    }
    yield card, {"server_card": f"{settings.WIRE_SITE_URL}/mcp/gateway/server-card"}


def _load_wire_card() -> dict[str, Any]:
    card: dict[str, Any] = orjson.loads(llms_txt.server_card().encode())
    return card


urlpatterns = [path("mcp/gateway/server-card", server_card, name="gateway-server-card")]
