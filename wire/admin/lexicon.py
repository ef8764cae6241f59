"""The lexicon: edited term by term, with a preview of the changes, or as a whole file."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from wire.admin.base import PREVIEW, FreshAdmin, PreviewedForm, action, lines, never, table
from wire.admin.import_export import COLUMNS, ExportingAdmin, import_terms
from wire.admin.stories import story_link
from wire.ingest import lexicon
from wire.models import LexiconTerm


class TermForm(PreviewedForm[LexiconTerm]):
    """A term."""


@admin.register(LexiconTerm)
class LexiconTermAdmin(ExportingAdmin, FreshAdmin[LexiconTerm]):
    form = TermForm
    list_display = ("term", "kind", "target", "weight", "origin")
    list_filter = ("kind", "target", "origin")
    search_fields = ("term",)
    fields = ("kind", "target", "term", "weight", "seen")
    change_form_template = "admin/term.html"
    exported = COLUMNS
    has_delete_permission = never  # the next update would ship it again; a weight of 0 switches a term off for good
    actions_list = ("import_terms", "export_csv", "export_json")

    @action(description="Import…", icon="upload", permissions=["change"], url_path="import")
    def import_terms(self, request: HttpRequest) -> HttpResponse:
        return import_terms(self, request)

    def save_model(self, request: HttpRequest, obj: LexiconTerm, form: Any, change: bool) -> None:
        obj.origin = LexiconTerm.Origin.EDITOR  # kept through every later update of the shipped lexicon
        super().save_model(request, obj, form, change)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        form = context["adminform"].form
        if PREVIEW in request.POST and not form.errors:
            changes, context["looked_at"] = lexicon.preview_changes(form.instance)
            context["changes"] = len(changes)
            context["preview"] = table(
                ("Story", "Would change"),
                [(story_link(story), lines("{}: {} → {}", found)) for story, found in changes[: lexicon.SHOWN]],
                "Not one of them would change.",
            )
        return super().render_change_form(request, context, *args, **kwargs)
