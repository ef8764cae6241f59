"""The addresses of fact-checks outside of REST, and what directories of MCP servers say of theirs."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from wire.corpora.common.server_card import answer_card, describe_server
from wire.corpora.factchecks import api_keys, pages


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    return answer_card(_describe())


def cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield how the card differs from the wire's, and what the list of servers says beside it."""
    yield _describe(), {"server_card": f"{settings.WIRE_SITE_URL}/mcp/factchecks/server-card"}


def _describe() -> dict[str, Any]:
    return describe_server(
        "factchecks",
        "Fact-checks",
        "Claims that fact-checkers rated, found by words and by meaning.",
        f"{settings.WIRE_SITE_URL}/factchecks",
        f"{settings.WIRE_MCP_URL}/factchecks",
        {"authentication": "bearer" if api_keys.rule_for("mcp").is_required else "none"},
    )


urlpatterns = [
    path("factchecks", pages.factchecks, name="factchecks"),
    path("factcheck/<path:claim_id>", pages.factcheck, name="factcheck"),
    path("sitemap-factchecks.xml", pages.sitemap, name="sitemap-factchecks"),
    path("mcp/factchecks/server-card", server_card, name="factchecks-server-card"),
]
