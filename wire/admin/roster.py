"""The roster: its publications and its history. A place on it changes hands by replacement only."""

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.widgets import UnfoldAdminTextareaWidget

from sources import names
from sources.models import Feed, Publication, RosterRevision
from sources.vocabulary import ROSTER_SIZE
from wire.admin.base import FreshAdmin, FreshForm, MaskedAddressAdmin, ReadOnly, TabularInline, action, column, marks, never
from wire.admin.import_export import ExportingAdmin
from wire.admin.replacement import replace
from wire.models import WireState


class FeedInline(MaskedAddressAdmin, TabularInline[Feed, Publication]):
    model = Feed
    extra = 0
    show_change_link = True  # to its health, and to trying it
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}


class AliasesField(forms.JSONField):
    """Names as they are read; with escapes where one holds what no page can show, such as half a surrogate pair."""

    widget = UnfoldAdminTextareaWidget

    def prepare_value(self, value: Any) -> Any:
        shown = super().prepare_value(value)
        return shown if isinstance(value, InvalidJSONInput) or shown.isprintable() else json.dumps(value)


class PublicationForm(FreshForm[Publication]):
    aliases = AliasesField(required=False, help_text="Other exact names in common use.")

    def read_stored(self) -> object:
        return super().read_stored(), list(Feed.objects.filter(publication=self.instance).order_by("pk").values_list())

    def clean_aliases(self) -> list[str]:
        """Return a list of names, none of which a reader would take for another publication."""
        aliases = self.cleaned_data["aliases"]
        if not isinstance(aliases, list) or not all(isinstance(alias, str) and alias.strip() for alias in aliases):
            raise forms.ValidationError('Give a list of names: ["Tech Crunch", "TC"].')
        others = [other.as_name() for other in Publication.objects.exclude(pk=self.instance.pk)]
        for alias in aliases:
            if objection := names.find_objection(alias, others):
                raise forms.ValidationError(objection)
        return aliases


@admin.register(Publication)
class PublicationAdmin(ExportingAdmin, FreshAdmin[Publication]):
    """Aliases, owner and feeds may be edited; name, tier and domains make the fingerprint."""

    form = PublicationForm
    list_display = ("name", "tier", "status", "admitted_on", "retired_on")
    list_filter = ("tier",)
    search_fields = ("name", "aliases")
    readonly_fields = ("slug", "name", "tier", "domains", "homepage", "place", "admitted_on", "retired_on")
    inlines = (FeedInline,)
    exported = (
        *("slug", "name", "aliases", "domains", "tier", "homepage", "seat", "admitted_on", "retired_on"),
        *("owner", "owner_since"),
    )
    actions_list = ("replace", "export_csv", "export_json")
    actions_detail = ("replace_this",)
    has_add_permission = has_delete_permission = never

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        WireState.raise_version()  # names and feeds are public

    status = column("Status", lambda row: "" if row.active else marks("retired"))
    place = column("Place on the roster", lambda row: f"{row.seat} of {ROSTER_SIZE}" if row.seat else "none: it left the roster")

    @action(description="Replace…", icon="swap_horiz", permissions=["replace"])
    def replace(self, request: HttpRequest) -> HttpResponse:
        return replace(self, request)

    @action(description="Replace…", icon="swap_horiz", permissions=["replace"], url_path="replace")
    def replace_this(self, request: HttpRequest, object_id: str) -> HttpResponse:  # noqa: ARG002
        return HttpResponseRedirect(f"{reverse('admin:sources_publication_replace')}?retire={object_id}")

    def has_replace_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("sources.add_rosterrevision")


@admin.register(RosterRevision)
class RosterRevisionAdmin(ReadOnly):
    """The roster's history; `PublicationAdmin` adds to it by a replacement."""

    list_display = ("number", "on", "admitted", "retired", "reason", "fingerprint")
    fields = ("number", "on", "fingerprint", "members", "admitted", "retired", "reason")
