"""Every address of the site and of REST; /mcp is routed in config.asgi, in front of Django."""

from django.contrib import admin
from django.urls import path

from config.api import api
from wire import views

urlpatterns = [
    path("", views.home, name="home"),
    path("story/<str:story_id>", views.story, name="story"),
    path("editor-take/<str:day>", views.editor_take, name="editor-take"),
    path("sources", views.sources, name="sources"),
    path("freshness", views.freshness, name="freshness"),
    path("api/", api.urls),
    path("mcp-spec", views.mcp_spec, name="mcp-spec"),
    path("llms.txt", views.llms_txt, name="llms-txt"),
    path(".well-known/mcp/server-card.json", views.server_card, name="server-card"),
    path("mcp/server-card", views.server_card),
    path(".well-known/wire-keys.json", views.wire_keys, name="wire-keys"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("admin/", admin.site.urls),
]
handler400 = "wire.views.unreadable"
handler404 = "wire.views.missing"
handler500 = "wire.views.failed"
