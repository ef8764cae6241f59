"""Addresses of the site and of REST; /mcp is routed in config.asgi, in front of Django, but for browsers."""

from django.conf import settings
from django.urls import path, re_path
from django.views.generic import RedirectView

from config.api import api
from config.plugins import list_plugins
from wire.site import about_pages, docs_pages, errors, exports, metrics, pages, pictures, search, syndication, well_known
from wire.site.preview_images import describe_day, describe_event, describe_site, describe_story

urlpatterns = [
    path("", pages.home, name="home"),
    path("day/<str:day>", pages.day, name="day"),
    path("story/<str:story_id>", pages.story, name="story"),
    path("event/<str:event_id>", pages.event, name="event"),
    path("storyline/<str:event_id>", pages.storyline, name="storyline"),
    path("category/<str:category>", pages.category, name="category"),
    path("topic/<str:topic>", pages.topic, name="topic"),
    path("new", pages.new_stories, name="new"),
    path("week", pages.week, name="week"),
    path("week/<str:week>", pages.week, name="week-of"),
    path("topics", pages.topics, name="topics"),
    path("names", pages.named_entities, name="names"),
    path("about/<str:slug>", pages.entity, name="entity"),
    path("search", search.search, name="search"),
    path("archive", pages.archive, name="archive"),
    path("export/<str:form>", exports.export_list, name="export"),
    path("archive/<str:day>.ndjson", exports.ndjson, name="day-ndjson"),
    path("archive/<str:day>.manifest.json", exports.manifest, name="day-manifest"),
    path("editor-take/<str:day>", pages.editor_take, name="editor-take"),
    path("corrections", pages.corrections, name="corrections"),
    path("sources", about_pages.sources, name="sources"),
    path("source/<str:slug>", about_pages.source, name="source"),
    path("freshness", about_pages.freshness, name="freshness"),
    path("provenance", about_pages.provenance, name="provenance"),
    path("provenance/<str:day>", about_pages.provenance, name="provenance-of"),
    path("verify", about_pages.verify, name="verify"),
    path("usage", about_pages.usage, name="usage"),
    path("for-agents.html", about_pages.for_agents, name="for-agents"),
    path("mcp-spec", about_pages.mcp_spec, name="mcp-spec"),
    *(path(name, about_pages.text_page, {"name": name}, name=name) for name in ("about", "methodology", "privacy", "terms")),
    path("consensus", RedirectView.as_view(url="/methodology#consensus")),
    path("gateway", RedirectView.as_view(url="/mcp/gateway" if settings.WITH_MCP else "/for-agents.html")),
    path("docs", RedirectView.as_view(url="/docs/")),
    path("docs/", docs_pages.document, name="docs"),
    path("docs/files/<path:name>", docs_pages.linked_file, name="docs-file"),
    path("docs/<path:name>.md", docs_pages.document_markdown, name="docs-markdown"),
    path("docs/<path:name>", docs_pages.document, name="docs-page"),
    path("og/site.png", describe_site, name="card"),
    path("og/story/<str:story_id>.png", describe_story, name="story-card"),
    path("og/event/<str:event_id>.png", describe_event, name="event-card"),
    path("og/day/<str:day>.png", describe_day, name="day-card"),
    path("pictures/<str:story_id>.webp", pictures.picture, name="picture"),
    path("feeds/<str:name>.<str:form>", syndication.feed, name="feed"),
    path("sitemap.xml", well_known.sitemap, name="sitemap"),
    path("sitemap-pages.xml", well_known.sitemap_pages, name="sitemap-pages"),
    path("sitemap-stories-<int:number>.xml", well_known.sitemap_stories, name="sitemap-stories"),
    path("sitemap-news.xml", well_known.news_sitemap, name="sitemap-news"),
    path("robots.txt", well_known.robots_txt, name="robots"),
    path(".well-known/security.txt", well_known.security_txt, name="security"),
    path("favicon.ico", well_known.favicon, name="favicon"),
    path("api/", api.urls),
    path("llms.txt", well_known.llms_txt, name="llms-txt"),
    path("llms-full.txt", well_known.llms_full_txt, name="llms-full-txt"),
    path("mcp-spec.md", well_known.mcp_spec_md, name="mcp-spec-md"),
    path(".well-known/mcp/server-card.json", well_known.server_card, name="server-card"),
    path("mcp/server-card", well_known.server_card),
    path(".well-known/mcp.json", well_known.mcp_servers, name="mcp-servers"),
    path(".well-known/wire-keys.json", well_known.wire_keys, name="wire-keys"),
    path(".well-known/wire-checkpoint", well_known.checkpoint, name="wire-checkpoint"),
    path("healthz", errors.healthz, name="healthz"),
    path("readyz", errors.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("admin", RedirectView.as_view(url="/admin/")),
    *(pattern for plugin in list_plugins() for pattern in plugin.urlpatterns),
]
if settings.WITH_MCP:
    from mcpserver.pages import show_server

    urlpatterns.append(re_path(r"^mcp(?:/[^/]+){0,2}$", show_server, name="mcp-server"))
handler400 = "wire.site.errors.bad_request_page"
handler403 = "wire.site.errors.forbidden"
handler404 = "wire.site.errors.not_found"
handler500 = "wire.site.errors.server_error"
