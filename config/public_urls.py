"""Every address of the site and of REST; /mcp is routed in config.asgi, in front of Django."""

from django.apps import apps
from django.urls import path
from django.views.generic import RedirectView

from config.api import api
from wire.articles import discovery
from wire.articles import files as articles_files
from wire.articles import site as articles_site
from wire.site import cards, errors, exports, feeds, machine, metrics, pages, reference, search

urlpatterns = [
    path("", pages.home, name="home"),
    path("day/<str:day>", pages.day, name="day"),
    path("story/<str:story_id>", pages.story, name="story"),
    path("event/<str:event_id>", pages.event, name="event"),
    path("category/<str:category>", pages.category, name="category"),
    path("topic/<str:topic>", pages.topic, name="topic"),
    path("topics", pages.topics, name="topics"),
    path("search", search.search, name="search"),
    path("archive", pages.archive, name="archive"),
    path("export/<str:form>", exports.listed, name="export"),
    path("archive/<str:day>.ndjson", exports.ndjson, name="day-ndjson"),
    path("archive/<str:day>.manifest.json", exports.manifest, name="day-manifest"),
    path("editor-take/<str:day>", pages.editor_take, name="editor-take"),
    path("corrections", pages.corrections, name="corrections"),
    path("sources", reference.sources, name="sources"),
    path("source/<str:slug>", reference.source, name="source"),
    path("freshness", reference.freshness, name="freshness"),
    path("provenance", reference.provenance, name="provenance"),
    path("provenance/<str:day>", reference.provenance, name="provenance-of"),
    path("verify", reference.verify, name="verify"),
    path("usage", reference.usage, name="usage"),
    path("for-agents.html", reference.for_agents, name="for-agents"),
    path("mcp-spec", reference.mcp_spec, name="mcp-spec"),
    *(path(name, reference.text, {"name": name}, name=name) for name in ("about", "privacy", "terms")),
    path("og/site.png", cards.site, name="card"),
    path("og/story/<str:story_id>.png", cards.story, name="story-card"),
    path("og/event/<str:event_id>.png", cards.event, name="event-card"),
    path("og/day/<str:day>.png", cards.day, name="day-card"),
    path("articles", articles_site.publishers, name="publishers"),
    path("articles/<str:slug>", articles_site.publisher, name="publisher"),
    path("articles/<str:slug>/asked", articles_site.asked_page, name="publisher-asked"),
    path("articles/<str:slug>/asked.csv", articles_site.asked_csv, name="publisher-asked-csv"),
    path("articles/<str:slug>/llms.txt", articles_files.llms_txt, name="publisher-llms"),
    path("articles/<str:slug>/ai.txt", articles_files.ai_txt, name="publisher-ai"),
    path("articles/<str:slug>/license.xml", articles_files.license_xml, name="publisher-license"),
    path("feeds/<str:name>.<str:form>", feeds.feed, name="feed"),
    path("sitemap.xml", machine.sitemap, name="sitemap"),
    path("sitemap-pages.xml", machine.sitemap_pages, name="sitemap-pages"),
    path("sitemap-articles.xml", articles_site.sitemap, name="sitemap-articles"),
    path("sitemap-stories-<int:number>.xml", machine.sitemap_stories, name="sitemap-stories"),
    path("sitemap-news.xml", machine.news_sitemap, name="sitemap-news"),
    path("robots.txt", machine.robots_txt, name="robots"),
    path(".well-known/security.txt", machine.security_txt, name="security"),
    path("favicon.ico", machine.favicon, name="favicon"),
    path("api/", api.urls),
    path("llms.txt", machine.llms_txt, name="llms-txt"),
    path("llms-full.txt", machine.llms_full_txt, name="llms-full-txt"),
    path("mcp-spec.md", machine.mcp_spec_md, name="mcp-spec-md"),
    path(".well-known/mcp/server-card.json", machine.server_card, name="server-card"),
    path("mcp/server-card", machine.server_card),
    *discovery.urlpatterns,
    path(".well-known/wire-keys.json", machine.wire_keys, name="wire-keys"),
    path(".well-known/wire-checkpoint", machine.checkpoint, name="wire-checkpoint"),
    path("healthz", errors.healthz, name="healthz"),
    path("readyz", errors.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("admin", RedirectView.as_view(url="/admin/")),
]
if apps.is_installed("wire.factchecks"):
    from wire.factchecks import addresses as factchecks_addresses

    urlpatterns = [*factchecks_addresses.urlpatterns, *urlpatterns]  # before REST, whose addresses end in .json
    discovery.OTHERS.append(factchecks_addresses.cards)
    machine.SITEMAPS.append("/sitemap-factchecks.xml")

if apps.is_installed("wire.timeline"):
    from wire.timeline.addresses import cards as timeline_cards
    from wire.timeline.addresses import urlpatterns as timeline_urlpatterns

    urlpatterns += timeline_urlpatterns
    discovery.OTHERS.append(timeline_cards)
    machine.SITEMAPS.append("/sitemap-timeline.xml")

if apps.is_installed("sources.gateway"):
    from wire.site import gateway

    urlpatterns += gateway.urlpatterns
    discovery.OTHERS.append(gateway.cards)
handler400 = "wire.site.errors.unreadable"
handler403 = "wire.site.errors.forbidden"
handler404 = "wire.site.errors.missing"
handler500 = "wire.site.errors.failed"
