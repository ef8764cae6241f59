"""Files for programs: sitemaps, directives, keys, and the small files that crawlers expect."""

import datetime as dt
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http.responses import BRIEFLY, dump_json, schema_response
from config.plugins import list_plugins
from sources import queries as sources_queries
from wire import queries
from wire.site import docs_pages
from wire.site import llms_txt as directives
from wire.site.pages import public_page
from wire.text.choices import Category, Topic

PER_SITEMAP: Final = 10_000
STATIC_PAGES: Final = (
    *(
        "/",
        "/new",
        "/week",
        "/archive",
        "/topics",
        "/names",
        "/search",
        "/sources",
        "/freshness",
        "/provenance",
        "/verify",
        "/usage",
        "/corrections",
    ),
    *("/for-agents.html", "/mcp-spec", "/about", "/methodology", "/privacy", "/terms"),
)


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    others = [path for plugin in list_plugins() for path in plugin.sitemaps]
    return render_xml(request, "sitemap_index.xml", {"maps": range(queries.count_sitemaps(PER_SITEMAP)), "others": others})


@public_page
def sitemap_pages(request: HttpRequest) -> HttpResponse:
    """List all pages but stories and events: fixed ones, lists, days with their brief and proof."""
    lists = [f"/category/{category}" for category in Category] + [f"/topic/{topic}" for topic in Topic]
    lists += [f"/about/{entity.slug}" for entity in queries.list_entities().entities if entity.stories]
    lists += [f"/source/{slug}" for slug in sources_queries.get_slugs_by_name().values()]
    days = [f"/{kind}/{day}" for day in queries.list_published_dates() for kind in ("day", "editor-take", "provenance")]
    days += [f"/week/{week}" for week in queries.list_weeks()]
    days += [f"/archive/{day}.ndjson" for day in queries.list_published_dates()]
    fixed = (*STATIC_PAGES, *docs_pages.list_addresses())
    return render_xml(request, "sitemap.xml", {"pages": [(path, None) for path in (*fixed, *lists, *days)]})


@public_page
def sitemap_stories(request: HttpRequest, number: int) -> HttpResponse:
    """List ten thousand stories and their events."""
    if number >= queries.count_sitemaps(PER_SITEMAP):
        raise NotFound("There is no such sitemap.", "The index is /sitemap.xml.")
    return render_xml(request, "sitemap.xml", {"pages": queries.list_sitemap_stories(number, PER_SITEMAP)})


@public_page
def news_sitemap(request: HttpRequest) -> HttpResponse:
    """List stories of the last two days, as news crawlers want them."""
    since = timezone.now() - dt.timedelta(days=2)
    stories = [story for story in queries.list_stories(100).stories if story.published_at >= since]
    return render_xml(request, "sitemap_news.xml", {"stories": stories})


@require_safe
def robots_txt(request: HttpRequest) -> HttpResponse:
    return _to_text(render(request, "robots.txt", directives.list_addresses()).content)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Answer RFC 9116, valid for half a year from the beginning of this month."""
    first = timezone.now().astimezone(dt.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    host = urlsplit(settings.WIRE_SITE_URL).hostname
    contact = settings.WIRE_SECURITY_CONTACT or f"mailto:security@{host}"
    return _to_text(render(request, "security.txt", {"expires": first + dt.timedelta(days=184), "contact": contact}).content)


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    return HttpResponsePermanentRedirect(static("wire/icon.svg"))


@require_safe
def llms_txt(_request: HttpRequest) -> HttpResponse:
    return _to_text(directives.llms_txt().encode())


@require_safe
def llms_full_txt(_request: HttpRequest) -> HttpResponse:
    return _to_text(directives.llms_full_txt().encode())


@require_safe
def mcp_spec_md(_request: HttpRequest) -> HttpResponse:
    """Answer the contract's own bytes: llms.txt and the server card name their hash."""
    return _to_text(directives.read_mcp_spec(), "text/markdown")


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Describe the MCP server to clients that did not connect yet; open to scripts of any site."""
    headers = {"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(directives.build_server_card(), content_type="application/json", headers=headers)


@require_safe
def mcp_servers(_request: HttpRequest) -> HttpResponse:
    """Return every MCP server of this site, the wire's first; any site's script may read it."""
    wires = orjson.loads(directives.build_server_card().encode())
    cards: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"server_card": f"{settings.WIRE_SITE_URL}/.well-known/mcp/server-card.json"}),
        *(card for plugin in list_plugins() for card in plugin.list_server_cards()),
    ]
    servers = []
    for changes, more in cards:
        card = wires | changes
        servers.append({name: card[name] for name in ("name", "title", "description")} | {"url": card["remotes"][0]["url"]} | more)
    response = dump_json({"servers": servers}, BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


@require_safe
def wire_keys(_request: HttpRequest) -> HttpResponse:
    """Answer the public keys that ever signed a snapshot; open to scripts of any site."""
    response = schema_response(queries.list_wire_keys(), BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


@public_page
def checkpoint(_request: HttpRequest) -> HttpResponse:
    """Answer the newest signed checkpoint of the log over all snapshots; open to scripts of any site."""
    response = _to_text(queries.get_checkpoint().encode())
    response["Access-Control-Allow-Origin"] = "*"
    return response


def render_xml(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context | directives.list_addresses(), content_type="application/xml; charset=utf-8")
    response["Cache-Control"] = BRIEFLY
    return response


def _to_text(body: bytes, kind: str = "text/plain") -> HttpResponse:
    return HttpResponse(body, content_type=f"{kind}; charset=utf-8", headers={"Cache-Control": BRIEFLY})
