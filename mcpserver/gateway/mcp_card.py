"""The resource gateway's server card, and its entry in the list of MCP servers."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from wire.corpora.common.server_card import answer_card, describe_server


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    return answer_card(_describe())


def cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the differences from the wire's card, and the links beside them in the list of servers."""
    yield _describe(), {"server_card": f"{settings.WIRE_SITE_URL}/mcp/gateway/server-card"}


def _describe() -> dict[str, Any]:
    return describe_server(
        "gateway",
        "Resource gateway",
        "Resources of upstream servers with limit, cache, fallback and an account of where each answer came from.",
        settings.WIRE_SITE_URL,
        f"{settings.WIRE_MCP_URL}/gateway",
        {"authentication": "bearer, or none for news://"},
    )


urlpatterns = [path("mcp/gateway/server-card", server_card, name="gateway-server-card")]
