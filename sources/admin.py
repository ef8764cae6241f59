"""The roster in the admin. Its 24 seats change by replacement only (wire.admin), so nothing is added or deleted here."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from sources.models import Feed, Publication


class FeedInline(admin.TabularInline[Feed, Publication]):
    model = Feed
    extra = 0
    show_change_link = True  # to its health, and to trying it


@admin.register(Publication)
class PublicationAdmin(admin.ModelAdmin[Publication]):
    """Aliases and feeds may be tuned; name, tier and domains are what the fingerprint is made of."""

    list_display = ("name", "tier", "in_roster", "admitted_on", "retired_on")
    list_filter = ("tier",)
    search_fields = ("name", "aliases")
    readonly_fields = ("slug", "name", "tier", "domains", "homepage", "seat", "admitted_on", "retired_on")
    inlines = (FeedInline,)

    @admin.display(boolean=True, description="In the roster")
    def in_roster(self, publication: Publication) -> bool:
        return publication.active

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
