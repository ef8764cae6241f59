"""The plugin of the resource gateway: what it brings to the house."""

from config.plugins import MenuItem, Plugin
from mcpserver.gateway import api, cache, mcp_card, metrics

PLUGIN = Plugin(
    label="gateway",
    title="Resource gateway",
    urlpatterns=mcp_card.urlpatterns,
    router=api.router,
    tag="resource gateway",
    directives="gateway/directives.txt",
    mcp_servers={"/mcp/gateway": "mcpserver.servers.gateway"},
    list_server_cards=mcp_card.cards,
    is_slow=lambda path: path.startswith("/api/gateway/"),
    list_metrics=metrics.lines,
    menu=[
        MenuItem(title="Agents", icon="smart_toy", model="gateway.agent"),
        MenuItem(title="Upstreams", icon="dns", model="gateway.upstreamstate"),
        MenuItem(title="Overrides", icon="tune", model="gateway.override"),
        MenuItem(title="Requests", icon="swap_vert", model="gateway.requestlog"),
        MenuItem(title="Calls by hour", icon="bar_chart", model="gateway.callcount"),
        MenuItem(title="Heartbeats", icon="favorite", model="gateway.heartbeat"),
    ],
    list_faults=cache.list_faults,
    edit_permissions=["change_agent", "add_override", "change_override", "delete_override"],
)
