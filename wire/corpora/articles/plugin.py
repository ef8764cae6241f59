"""The plugin of publisher content: what it brings to the house."""

from collections.abc import Callable
from typing import Any

from django.core.management import call_command
from django.urls import path

from config.plugins import MenuItem, Plugin
from wire.corpora.articles import api, cache_rules, mcp_card, pages, rate_limit, rights_files

INDEX_SECONDS = 300  # a run at most for all publishers: the wire's own feeds are never kept waiting for long


def index_publishers(*, stop: Callable[[], bool], **output: Any) -> None:
    call_command("publishers", "index", f"--seconds={INDEX_SECONDS}", stop=stop, **output)


PLUGIN = Plugin(
    label="articles",
    title="Publisher content",
    urlpatterns=[
        path("articles", pages.publishers, name="publishers"),
        path("articles/<str:slug>", pages.publisher, name="publisher"),
        path("articles/<str:slug>/asked", pages.asked_page, name="publisher-asked"),
        path("articles/<str:slug>/asked.csv", pages.asked_csv, name="publisher-asked-csv"),
        path("articles/<str:slug>/llms.txt", rights_files.llms_txt, name="publisher-llms"),
        path("articles/<str:slug>/ai.txt", rights_files.ai_txt, name="publisher-ai"),
        path("articles/<str:slug>/license.xml", rights_files.license_xml, name="publisher-license"),
        path("sitemap-articles.xml", pages.sitemap, name="sitemap-articles"),
        *mcp_card.urlpatterns,
    ],
    router=api.router,
    tag="publisher content",
    navigation=[("Publishers", "/articles")],
    sitemaps=["/sitemap-articles.xml"],
    directives="articles/directives.txt",
    mcp_servers={"/mcp/articles/": "mcpserver.servers.articles"},
    list_server_cards=mcp_card.cards,
    get_page_parameters=cache_rules.parameters_of,
    is_slow=cache_rules.may_read_live,
    get_rate_limit=rate_limit.limit_at,
    menu=[
        MenuItem(title="Publishers", icon="domain", model="articles.publisher"),
        MenuItem(title="Their sources", icon="rss_feed", model="articles.source"),
        MenuItem(title="Their articles", icon="description", model="articles.article"),
        MenuItem(title="Payments", icon="payments", model="articles.payment"),
    ],
    edit_permissions=[
        *("add_publisher", "change_publisher"),  # its terms
        "delete_publisher",  # its removal, which leaves a tombstone
        *("add_source", "change_source", "delete_source"),
    ],
    after_ingest=index_publishers,
    sample_command="publishers sample",
)
