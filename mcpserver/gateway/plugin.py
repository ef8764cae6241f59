"""The plugin of the resource gateway: what it adds to the installation, its server card among it."""

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.plugins import MenuItem, Plugin
from mcpserver.gateway import api, cache, metrics
from wire.corpora.common.server_card import describe_server, render_card

TITLE: Final = "ChatbotNews.ai resource gateway"  # of the MCP server


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    return render_card(_describe_server())


def list_cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the differences from the wire's card, and the links beside them in the list of servers."""
    yield _describe_server(), {"server_card": f"{settings.WIRE_SITE_URL}/mcp/gateway/server-card"}


def _describe_server() -> dict[str, Any]:
    return describe_server(
        "gateway",
        TITLE,
        "Resources of upstream servers: limits, cache, fallback, and where each answer came from.",
        settings.WIRE_SITE_URL,
        f"{settings.WIRE_MCP_URL}/gateway",
        {"authentication": "bearer, or none for news://"},
    )


PLUGIN = Plugin(
    label="gateway",
    title="Resource gateway",
    urlpatterns=[path("mcp/gateway/server-card", server_card, name="gateway-server-card")],
    router=api.router,
    tag="resource gateway",
    directives="gateway/directives.txt",
    mcp_servers={"/mcp/gateway": "mcpserver.servers.gateway"},
    list_server_cards=list_cards,
    is_slow=lambda path: path.startswith("/api/gateway/"),
    list_metrics=metrics.render_metrics,
    menu=[
        MenuItem(title="Agents", icon="smart_toy", model="gateway.agent"),
        MenuItem(title="Upstreams", icon="dns", model="gateway.upstreamstate"),
        MenuItem(title="Overrides", icon="tune", model="gateway.override"),
        MenuItem(title="Requests", icon="swap_vert", model="gateway.requestlog"),
        MenuItem(title="Calls by hour", icon="bar_chart", model="gateway.callcount"),
        MenuItem(title="Heartbeats", icon="favorite", model="gateway.heartbeat"),
    ],
    list_faults=cache.list_corrupt_entries,
    edit_permissions=["add_agent", "change_agent", "add_override", "change_override", "delete_override"],
)
