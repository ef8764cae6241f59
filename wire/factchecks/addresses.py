"""The addresses of fact-checks outside of REST, and what directories of MCP servers say of theirs."""

from collections.abc import Iterable
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.decorators.http import require_safe

from config.http.responses import BRIEFLY, json_answer
from wire.factchecks import keys, site
from wire.site import directives


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Who the server is; any site's script may read it."""
    wires: dict[str, Any] = orjson.loads(directives.server_card().encode())
    response = json_answer(wires | _card(wires["remotes"][0]), BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


def cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """How the card differs from the wire's, and what the list of servers says beside it."""
    wires = orjson.loads(directives.server_card().encode())
    yield _card(wires["remotes"][0]), {"server_card": f"{settings.WIRE_SITE_URL}/mcp/factchecks/server-card"}


def _card(remote: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "ai.chatbotnews/factchecks",
        "title": "Fact-checks",
        "description": "Claims that fact-checkers rated, found by words and by meaning.",
        "websiteUrl": f"{settings.WIRE_SITE_URL}/factchecks",
        "remotes": [remote | {"url": f"{settings.WIRE_MCP_URL}/factchecks"}],
        "_meta": {"ai.chatbotnews/terms": {"authentication": "bearer" if keys.in_force("mcp") else "none"}},
    }


urlpatterns = [
    path("factchecks", site.factchecks, name="factchecks"),
    path("factcheck/<path:claim_id>", site.factcheck, name="factcheck"),
    path("sitemap-factchecks.xml", site.sitemap, name="sitemap-factchecks"),
    path("mcp/factchecks/server-card", server_card, name="factchecks-server-card"),
    path("api/v1/", include("wire.factchecks.compat")),
]
