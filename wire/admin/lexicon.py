"""The lexicon: tuned term by term, with a look at what a term would change, or as a whole file."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from import_export.formats.base_formats import CSV, JSON
from unfold.contrib.import_export.forms import ImportForm, SelectableFieldsExportForm

from wire import preview
from wire.admin.base import FreshAdmin, FreshForm, ImportExportMixin, ModelResource, lines, table
from wire.admin.stories import story_link
from wire.models import LexiconTerm

PREVIEW = "_preview"
"""The button that shows what would change and saves nothing."""
SHOWN = "imports_shown"
"""Where a session keeps the imports that its editor was shown: the format of each by the name of its file."""
MOST_SHOWN = 10


class TermForm(FreshForm[LexiconTerm]):
    """A term. One that is only looked at never passes as valid, so that the admin shows the page again."""

    def is_valid(self) -> bool:
        return super().is_valid() and PREVIEW not in self.data


class TermResource(ModelResource):
    """A term as a file has it. What an import adds or changes is an editor's; what it repeats stays whose it was."""

    class Meta:
        model = LexiconTerm
        fields = export_order = ("kind", "target", "term", "weight")
        import_id_fields = ("kind", "target", "term")
        clean_model_instances = True
        skip_unchanged = True
        report_skipped = False

    def before_save_instance(self, instance: LexiconTerm, row: Any, **_kwargs: Any) -> None:  # noqa: ARG002
        instance.origin = LexiconTerm.Origin.EDITOR


@admin.register(LexiconTerm)
class LexiconTermAdmin(ImportExportMixin, FreshAdmin[LexiconTerm]):
    form = TermForm
    list_display = ("term", "kind", "target", "weight", "origin")
    list_filter = ("kind", "target", "origin")
    search_fields = ("term",)
    fields = ("kind", "target", "term", "weight", "seen")
    change_form_template = "admin/term.html"
    resource_classes = (TermResource,)
    import_form_class = ImportForm
    export_form_class = SelectableFieldsExportForm
    formats = (CSV, JSON)

    def get_confirm_form_initial(self, request: HttpRequest, import_form: Any) -> dict[str, Any]:
        """Remembers what this editor is being shown: that alone may be confirmed, and only as what it was read."""
        said: dict[str, Any] = super().get_confirm_form_initial(request, import_form)
        if import_form:
            earlier = list(request.session.get(SHOWN, {}).items())[1 - MOST_SHOWN :]
            request.session[SHOWN] = {**dict(earlier), said["import_file_name"]: said["format"]}
        return said

    def process_import(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Take in what was shown. What is not there (any more) is told, with what to do."""
        if request.method == "POST" and self.has_import_permission(request) and not _was_shown(request):
            return self._nothing_to_confirm(request)
        try:
            answer: HttpResponse = super().process_import(request, **kwargs)
        except FileNotFoundError:
            return self._nothing_to_confirm(request)
        return answer

    def _nothing_to_confirm(self, request: HttpRequest) -> HttpResponse:
        told = "This import was not found: it was taken in already, is older than a day, or was never shown. Nothing was changed; "
        self.message_user(request, f"{told}import the file again to see what it would do.", messages.ERROR)
        return HttpResponseRedirect(reverse("admin:wire_lexiconterm_import"))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False  # the next update would ship it again; a weight of 0 switches a term off for good

    def save_model(self, request: HttpRequest, obj: LexiconTerm, form: Any, change: bool) -> None:
        obj.origin = LexiconTerm.Origin.EDITOR  # kept through every later update of the shipped lexicon
        super().save_model(request, obj, form, change)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        form = context["adminform"].form
        if PREVIEW in request.POST and not form.errors:
            changes, context["looked_at"] = preview.changes(form.instance)
            context["changes"] = len(changes)
            context["preview"] = table(
                ("Story", "Would change"),
                [(story_link(change.story), _told(change)) for change in changes[: preview.SHOWN]],
                "Not one of them would change.",
            )
        return super().render_change_form(request, context, *args, **kwargs)


def _was_shown(request: HttpRequest) -> bool:
    shown = request.session.get(SHOWN, {})
    return request.POST.get("import_file_name") in shown and shown[request.POST["import_file_name"]] == request.POST.get("format")


def _told(change: preview.Change) -> str:
    return lines("{}: {} → {}", change.told)
