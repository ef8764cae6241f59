"""Published snapshots, keys, use and history, read-only; the editor's own takes; users and groups, for superusers."""

import datetime as dt
import re
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Min, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.errors import NotFound
from wire import queries
from wire.admin import base
from wire.admin.stories import NAMED, find_newest_snapshot, get_headline, list_published
from wire.models import EditorTake, SigningKey, Snapshot, Story, UsageCount
from wire.models.snapshot import find_first_open_day, is_sealed
from wire.publishing import editors_take
from wire.publishing.publish import publish_day

CLEARED: Final = "Cleared: the generated brief is back."
_STORY_ADDRESS: Final = re.compile(r"/story/(cbn-\w+)")


@admin.register(Snapshot)
class SnapshotAdmin(base.ReadOnly):
    list_display = ("sequence", "wire_date", "revision", "story_count", "generated_at", "wire_sha256")
    date_hierarchy = "wire_date"
    exclude = ("packed",)
    readonly_fields = ("as_served",)

    def get_form(self, *args: Any, **kwargs: Any) -> Any:
        return super().get_form(*args, help_texts={"reason": "Why a final day was published again; public."}, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Snapshot]:
        return super().get_queryset(request).defer("packed")

    as_served = base.column(
        "As served", lambda row: format_html('<a href="{0}">{0}</a>', f"/api/archive/{row.wire_date}.json?revision={row.revision}")
    )


@admin.register(SigningKey)
class SigningKeyAdmin(base.ReadOnly):
    list_display = ("key_id", "created_at", "retired_at")


@admin.register(UsageCount)
class UsageCountAdmin(base.ReadOnly):
    """Calls a minute to the MCP server; nothing about the callers."""

    list_display = ("minute", "kind", "name", "outcome", "count")
    list_filter = ("kind", "outcome", "name")
    date_hierarchy = "minute"


@admin.register(LogEntry)
class HistoryAdmin(base.ReadOnly):
    list_display = ("action_time", "user", "content_type", "what", "reason")
    list_display_links = None
    list_filter = ("content_type", "user")
    list_select_related = ("user", "content_type")
    list_per_page = 50
    search_fields = ("object_repr", "change_message", "user__username")
    show_full_result_count = False
    date_hierarchy = "action_time"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LogEntry], search_term: str
    ) -> tuple[QuerySet[LogEntry], bool]:
        """Show one row for each action, however many rows it changed."""
        found, _ = super().get_search_results(request, queryset, search_term)
        first = found.order_by().values("action_time", "user").annotate(first=Min("pk")).values("first")
        return queryset.filter(pk__in=first), False

    @admin.display(description="What")
    def what(self, entry: LogEntry) -> str:
        together = LogEntry.objects.filter(action_time=entry.action_time, user=entry.user).order_by("pk")
        names = base.join_lines("{}", ((_link_row(one),) for one in together[:NAMED]))
        more = together.count() - NAMED
        return format_html("{}{}", names, f" and {more} more" if more > 0 else "")

    reason = base.column("What was done, and why", lambda entry: entry.get_change_message() or entry.get_action_flag_display())


def _link_row(entry: LogEntry) -> str:
    """Return the present name of what an entry is about, with a link; the stored one of what is gone."""
    model = entry.content_type.model_class() if entry.content_type else None
    row = model._base_manager.filter(pk=entry.object_id).first() if model else None
    name = get_headline(row) if isinstance(row, Story) else str(row or entry.object_repr)
    address = entry.get_admin_url() if row else None
    return format_html('<a href="{}">{}</a>', address, name) if address else name


class TakeForm(base.PreviewedForm[EditorTake]):
    """A day's own brief; saved empty, an existing one is cleared."""

    now: dt.datetime  # when the day was found to be open, with the wire locked: it is published as of then

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if day := self.fields.get("wire_date"):
            day.help_text = "If you change the day, the text below stays as it is."
        if text := self.fields.get("markdown"):  # none for whoever only looks
            text.label = "Text"
            text.error_messages["required"] = "Write a text. To bring a generated brief back, open the saved take and empty it."
            text.help_text = "In Markdown: # Title, **bold**, [words](address). A text without a title gets one with the date."
            if self.instance.pk:
                text.required = False
                text.help_text += " If you save it empty, the generated brief comes back."

    def clean(self) -> dict[str, Any]:
        super().clean()
        self.now = timezone.now()
        day = self.cleaned_data.get("wire_date", self.instance.wire_date)
        is_published = Snapshot.objects.filter(wire_date=day).exists()
        if day and is_published and is_sealed(day, self.now):
            raise forms.ValidationError(f"{day} is final: its brief stays as it was published. Nothing was saved.")
        same = None if self.instance.pk else EditorTake.objects.filter(wire_date=day).first()
        if same:
            why = format_html(
                "{} already has a take: {}. The text below was not saved.", f"{day:%-d %b %Y}", base.link(same, "change that one")
            )
            self.add_error("wire_date", why)
        if day and not is_published and day > self.now.astimezone(dt.UTC).date():
            raise forms.ValidationError(f"{day} is in the future. Nothing was saved: write its take when it comes.")
        return self.cleaned_data


@admin.register(EditorTake)
class EditorTakeAdmin(base.TellsRefusals[EditorTake], base.PreviewedAdmin[EditorTake], base.FreshAdmin[EditorTake]):
    """An editor's own brief replaces the generated one; saving or clearing it publishes the day again."""

    form = TakeForm
    empty = "Every day has a generated brief. Your own take replaces the brief of an open day."
    change_form_template = "admin/take.html"
    list_display = ("wire_date", "author", "saved_at")
    fields = ("wire_date", "markdown", "seen")
    has_delete_permission = base.deny

    saved_at = base.column("Saved", lambda take: base.utc_time(take.updated_at), "updated_at")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Start from the generated brief of the day in the address, else of the newest day without an own take."""
        days = _list_open_days(timezone.now())
        taken = dict(EditorTake.objects.filter(wire_date__in=days).values_list("wire_date", "pk"))
        asked = _parse_day(request)
        if asked in taken and request.method == "GET":
            return HttpResponseRedirect(reverse("admin:wire_editortake_change", args=[taken[asked]]))
        free = [day for day in days if day not in taken]
        context = {"days": free, "start": asked or next(iter(free), None), **(extra_context or {})}
        return super().add_view(request, form_url, context)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        taken = set(EditorTake.objects.values_list("wire_date", flat=True))
        day = _parse_day(request) or next((day for day in _list_open_days(timezone.now()) if day not in taken), None)
        if day is None:
            return {}
        try:
            return {"wire_date": day, "markdown": editors_take.build_draft(queries.get_editor_take(day).markdown)}
        except NotFound:
            return {"wire_date": day, "markdown": ""}

    def preview(self, form: TakeForm) -> str:
        day = form.cleaned_data.get("wire_date", form.instance.wire_date)
        text = form.cleaned_data["markdown"]
        named = set(_STORY_ADDRESS.findall(text))
        known = set(Story.objects.published().filter(chatbotnews_id__in=named).values_list("chatbotnews_id", flat=True))
        context = {"text": editors_take.label_own_take(day, text) if text.strip() else "", "unknown": sorted(named - known)}
        return render_to_string("admin/take_preview.html", context)

    def get_readonly_fields(self, request: HttpRequest, obj: EditorTake | None = None) -> tuple[str, ...]:  # noqa: ARG002
        return ("wire_date",) if obj else ()  # moved elsewhere, its old day would go on showing it

    def save_model(self, request: HttpRequest, obj: EditorTake, form: TakeForm, change: bool) -> None:
        if obj.markdown:
            obj.author, obj.updated_at = request.user.get_username(), form.now
            super().save_model(request, obj, form, change)
        else:
            EditorTake.objects.filter(pk=obj.pk).delete()
        before = find_newest_snapshot()
        publish_day(obj.wire_date, now=form.now)
        if obj.markdown and not Snapshot.objects.filter(wire_date=obj.wire_date).exists():
            messages.warning(request, "Saved. It is published with the first story of the day.")
        else:
            published = list_published(Snapshot.objects.filter(sequence__gt=before))
            see = base.see_public(reverse("editor-take", args=[obj.wire_date]))
            messages.success(request, format_html("{} {}", published, see))

    def log_change(self, request: HttpRequest, obj: EditorTake, message: Any) -> Any:
        return super().log_change(request, obj, message) if obj.markdown else base.log_change(request, [obj], CLEARED, DELETION)

    def response_change(self, request: HttpRequest, obj: EditorTake) -> HttpResponse:
        if obj.markdown:
            return super().response_change(request, obj)
        self.message_user(request, CLEARED)
        return self.response_post_save_change(request, obj)


def _list_open_days(now: dt.datetime) -> list[dt.date]:
    """Return published days that are not final, newest first: those whose brief may still change."""
    first, today = find_first_open_day(now), now.astimezone(dt.UTC).date()
    days = Snapshot.objects.days().filter(wire_date__range=(first, today)).order_by("-wire_date")
    return list(days.values_list("wire_date", flat=True))


def _parse_day(request: HttpRequest) -> dt.date | None:
    try:
        return dt.date.fromisoformat(request.GET.get("wire_date", ""))
    except ValueError:
        return None


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(DjangoUserAdmin, base.ModelAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    # Editors read the history and see nothing of accounts: it names changed fields without their values.
    construct_change_message = DjangoUserAdmin.construct_change_message


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, base.ModelAdmin):  # type: ignore[type-arg]
    """Each migrate sets the permissions of `editor` and `publisher` again; other ones belong in a group of one's own."""
