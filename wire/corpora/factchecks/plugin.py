"""The plugin of fact-checks: what they add to the installation."""

from typing import Any

from config.plugins import MenuItem, Plugin
from wire.corpora.common.page_cache_rules import build_page_matcher
from wire.corpora.factchecks import api, documents, health, pages, queries


def list_queues() -> Any:
    from wire.corpora.factchecks.review_queues import QUEUES  # of the desk, which few processes need

    return QUEUES


PLUGIN = Plugin(
    label="factchecks",
    title="Fact-checks",
    urlpatterns=pages.urlpatterns,
    router=api.router,
    tag="fact-checks",
    navigation=[("Fact-checks", "/factchecks")],
    sitemaps=["/sitemap-factchecks.xml"],
    directives="factchecks/directives.txt",
    mcp_servers={"/mcp/factchecks": "mcpserver.servers.factchecks"},
    list_server_cards=pages.list_cards,
    get_page_parameters=build_page_matcher(
        ("/factchecks", "query", "cursor", "category", "rating_label", "language"),
        (r"/factcheck/.+|/sitemap-factchecks\.xml",),
    ),
    knows_keys=True,
    get_story_extras={"factchecks": queries.list_open_story_links},
    document_kind=documents.KIND,
    menu=[
        MenuItem(title="Fact-checks", icon="fact_check", model="factchecks.claim"),
        MenuItem(title="Rating labels", icon="label", model="factchecks.ratingname"),
        MenuItem(title="Links to stories", icon="link", model="factchecks.storylink"),
        MenuItem(title="Loads", icon="upload_file", model="factchecks.loadjob"),
        MenuItem(title="Keys", icon="vpn_key", model="factchecks.apikey"),
    ],
    list_queues=list_queues,
    edit_permissions=["change_claim", "change_ratingname", "change_loadjob", "add_storylink", "change_storylink"],
    publish_permissions=["add_apikey", "change_apikey"],
    checks={"fact-checks": health.check_factchecks},
    list_faults=health.list_lost_claims,
    after_ingest="linkfactchecks --seconds=300",
)
