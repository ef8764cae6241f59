"""Companies, people and products with a page: the list, and the queue of new names."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from unfold.widgets import UnfoldAdminSelectWidget

from wire.admin.base import FreshAdmin, PreviewedAdmin, PreviewedForm, column, deny, link_public, log_change, plural, table
from wire.admin.lexicon import ExportingAdmin
from wire.admin.review_queues import PARAMETER, QueuedAdmin, QueueFilter
from wire.admin.stories import link_story
from wire.models import Entity, Story, WireState
from wire.publishing.entity_links import relink_entities
from wire.text.entity_names import normalize_typography

LOOKED_AT: Final = 2_000  # newest stories that a preview reads
SHOWN: Final = 25
NEVER: Final = "never"
RELINKING: Final = frozenset({"name", "spellings", "exceptions", "publication", "state"})
BUTTONS: Final = (*Entity.NameKind.choices, (NEVER, "Never"))


class EntityForm(PreviewedForm[Entity]):
    """A name. Saving a proposed one decides about it."""

    state = forms.ChoiceField(
        choices=[choice for choice in Entity.State.choices if choice[0] != Entity.State.PROPOSED],
        widget=UnfoldAdminSelectWidget,
        help_text="“Never” removes the page, and the name is not proposed again.",
    )


@admin.register(Entity)
class EntityAdmin(QueuedAdmin[Entity], ExportingAdmin, PreviewedAdmin[Entity], FreshAdmin[Entity]):
    """The list; in the queue each proposed name has buttons that decide about it."""

    form = EntityForm
    list_filter = (QueueFilter, "kind", "state")
    search_fields = ("name", "spellings")
    fields = ("name", "slug", "kind", "spellings", "exceptions", "publication", "state", "seen")
    change_form_template = "admin/entity.html"
    exported: ClassVar = ("slug", "name", "kind", "spellings", "exceptions", "publication", "state")
    has_delete_permission = deny  # the next update would ship it again; "Never" takes it away for good
    actions = None
    actions_list = ("export_csv", "export_json")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entity]:
        named = Count("story_entities", filter=Q(story_entities__is_official=False))
        return super().get_queryset(request).select_related("publication").annotate(number=named)

    def get_list_display(self, request: HttpRequest) -> Any:
        if request.GET.get(PARAMETER) == "new-names":
            return ("name", "reason", "decide") if self.has_change_permission(request) else ("name", "reason")
        return ("name", "kind", "state", "stories", "publication", "public")

    def get_readonly_fields(self, request: HttpRequest, obj: Entity | None = None) -> Any:  # noqa: ARG002
        return ("slug",) if obj else ()  # its address stays

    def get_prepopulated_fields(self, request: HttpRequest, obj: Entity | None = None) -> Any:  # noqa: ARG002
        return {} if obj else {"slug": ("name",)}

    stories = column("Stories", lambda entity: int(entity.number), "number")

    @admin.display(description="Public page")
    def public(self, entity: Entity) -> str:
        if entity.state != Entity.State.SHOWN:
            return ""
        return link_public(reverse("entity", args=[entity.slug]), entity.name)

    @admin.display(description="What is it?")
    def decide(self, entity: Entity) -> str:
        button = '<button name="decide" value="{} {}" class="plain" aria-label="{}: {}">{}</button>'
        buttons = format_html_join(" ", button, ((entity.pk, kind, entity.name, label, label) for kind, label in BUTTONS))
        return format_html('<span class="desk">{}</span>', buttons)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if "decide" in request.POST:
            self._decide_name(request)
            return HttpResponseRedirect(request.get_full_path())
        return super().changelist_view(request, extra_context)

    @transaction.atomic
    def _decide_name(self, request: HttpRequest) -> None:
        if not self.has_change_permission(request):
            raise PermissionDenied
        WireState.lock()
        key, _, decision = request.POST["decide"].partition(" ")
        proposed = Entity.objects.filter(state=Entity.State.PROPOSED)
        entity = proposed.filter(pk=key).first() if key.isdecimal() and len(key) < 19 else None
        if entity is None or decision not in dict(BUTTONS):
            messages.error(request, "Nothing was changed: somebody decided on this name meanwhile, or it is no longer proposed.")
            return
        if decision == NEVER:
            entity.state = Entity.State.NEVER
        else:
            entity.state, entity.kind = Entity.State.SHOWN, decision
            try:
                entity.clean()
            except ValidationError as error:
                messages.error(request, f"Nothing was changed: {' '.join(error.messages)}")
                return
        entity.save()
        total = relink_entities([entity])
        said = f"{entity} never gets a page." if decision == NEVER else f"{entity} got a page: {plural(total, 'story', 'stories')}."
        log_change(request, [entity], said)
        messages.success(request, said)

    def save_model(self, request: HttpRequest, obj: Entity, form: Any, change: bool) -> None:
        WireState.lock()  # before the row, as publishing does
        obj.is_shipped = False  # so that no update of the shipped list changes it
        super().save_model(request, obj, form, change)
        if not change or RELINKING.intersection(form.changed_data):
            number = relink_entities([obj])
            never = f"Refused for good: {obj} has no page and is not proposed again."
            messages.info(request, never if obj.state == Entity.State.NEVER else f"Stories on its page: {number:,}.")
        else:
            WireState.raise_version()

    def preview(self, form: Any) -> str:
        newest = list(Story.objects.live().newest_first().with_text()[:LOOKED_AT])
        finder = form.instance.finder
        found = [
            story
            for story in newest
            if story.current and finder.is_named_in(normalize_typography(story.current.headline, story.current.summary_medium))
        ]
        rows = [(link_story(story), story.current.summary_medium) for story in found[:SHOWN] if story.current]
        shown = table(("Story", "Summary"), rows, "No story names it.")
        context = {"table": shown, "found": len(found), "looked_at": len(newest)}
        return render_to_string("admin/entity_preview.html", context | {"never": form.instance.state == Entity.State.NEVER})
