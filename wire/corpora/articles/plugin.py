"""The plugin of publisher content: what it adds to the installation, and the rules of its addresses: cached, slow, limited."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from django.urls import path

from config.database import routing
from config.database.threads import run_in_thread
from config.errors import Unavailable
from config.http import memory_cache
from config.plugins import MenuItem, Plugin
from wire.corpora.articles import api, directory, documents, pages
from wire.corpora.articles.models import Publisher
from wire.corpora.common.page_cache_rules import build_page_matcher

_LIVE: Final = re.compile(r"/api/articles/[^/]+/article\.json")
_OF_PUBLISHER: Final = re.compile(r"/(?:mcp|api)/articles/([^/.]+)")
_LIMITS: Final = ("limits", "articles")

# Pages that depend on the tables alone, not on what agents asked.
get_page_parameters = build_page_matcher(
    (r"/articles|/sitemap-articles\.xml|/articles/[^/]+/(llms\.txt|ai\.txt|license\.xml)",), ("/articles/[^/]+", "query", "cursor")
)


def may_read_live(path: str) -> bool:
    """Return whether an answer may have to wait for a publisher's own server, which must not hold up readers of the database."""
    return _LIVE.fullmatch(path) is not None


async def get_rate_limit(path: str) -> tuple[str, int] | None:
    """Return a path's publisher and its requests a minute of one client; None without a limit, or without the database."""
    if (found := _OF_PUBLISHER.match(path)) is None:
        return None
    limits: Mapping[str, int] | None = memory_cache.answers.get(_LIMITS)
    if limits is None:
        try:
            limits = await memory_cache.answers.make(_LIMITS, _read_limits)
        except Unavailable:  # whoever answers says so
            return None
    slug = found[1]
    return (slug, limits[slug]) if limits and slug in limits else None


async def _read_limits() -> tuple[Mapping[str, int], int]:
    rows = Publisher.objects.live().exclude(per_minute=None).values_list("slug", "per_minute")
    limits: dict[str, Any] = dict(await run_in_thread(partial(routing.run_query, lambda: list(rows))))
    return limits, 200 * (1 + len(limits))  # bytes of memory, about


PLUGIN = Plugin(
    label="articles",
    title="Publisher content",
    urlpatterns=[
        path("articles", pages.publishers, name="publishers"),
        path("articles/<str:slug>", pages.publisher, name="publisher"),
        path("articles/<str:slug>/asked", pages.usage_page, name="publisher-asked"),
        path("articles/<str:slug>/asked.csv", pages.usage_csv, name="publisher-asked-csv"),
        path("articles/<str:slug>/llms.txt", pages.llms_txt, name="publisher-llms"),
        path("articles/<str:slug>/ai.txt", pages.ai_txt, name="publisher-ai"),
        path("articles/<str:slug>/license.xml", pages.license_xml, name="publisher-license"),
        path("sitemap-articles.xml", pages.sitemap, name="sitemap-articles"),
        path("mcp/articles/<str:slug>/server-card", directory.server_card, name="publisher-server-card"),
    ],
    router=api.router,
    tag="publisher content",
    navigation=[("Publishers", "/articles")],
    sitemaps=["/sitemap-articles.xml"],
    directives="articles/directives.txt",
    mcp_servers={"/mcp/articles/": "mcpserver.servers.articles"},
    list_server_cards=directory.list_cards,
    get_page_parameters=get_page_parameters,
    is_slow=may_read_live,
    get_rate_limit=get_rate_limit,
    document_kind=documents.KIND,
    menu=[
        MenuItem(title="Publishers", icon="domain", model="articles.publisher"),
        MenuItem(title="Publishers' sources", icon="rss_feed", model="articles.source"),
        MenuItem(title="Publishers' articles", icon="description", model="articles.article"),
        MenuItem(title="Payments", icon="payments", model="articles.payment"),
    ],
    edit_permissions=[
        *("add_publisher", "change_publisher"),  # its terms
        "delete_publisher",  # its removal, which leaves a tombstone
        *("add_source", "change_source", "delete_source"),
    ],
    # At most five minutes for all publishers: the wire's own feeds never wait for long.
    after_ingest="publishers index --seconds=300",
    sample_command="publishers sample",
)
