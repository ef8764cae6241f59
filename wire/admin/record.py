"""What was published, how it is used and who did what, looked at and never touched; the editor's own takes."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from wire.admin.base import ReadOnly, TellsRefusals
from wire.models import EditorTake, SigningKey, Snapshot, UsageCount
from wire.publish import publish


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnly):
    list_display = ("sequence", "wire_date", "revision", "story_count", "generated_at", "wire_sha256")
    date_hierarchy = "wire_date"
    exclude = ("packed",)
    readonly_fields = ("served",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Snapshot]:
        return super().get_queryset(request).defer("packed")

    @admin.display(description="As served")
    def served(self, snapshot: Snapshot) -> str:
        address = f"/api/archive/{snapshot.wire_date}.json?revision={snapshot.revision}"
        return format_html('<a href="{}">{}</a>', address, address)


@admin.register(SigningKey)
class SigningKeyAdmin(ReadOnly):
    list_display = ("key_id", "created_at", "retired_at")


@admin.register(UsageCount)
class UsageCountAdmin(ReadOnly):
    """Calls a minute through the MCP door; nothing of who called."""

    list_display = ("minute", "kind", "name", "outcome", "count")
    list_filter = ("kind", "outcome", "name")
    date_hierarchy = "minute"


@admin.register(LogEntry)
class HistoryAdmin(ReadOnly):
    """Who did what at the desk, when, and why."""

    list_display = ("action_time", "user", "content_type", "what", "reason")
    list_display_links = None
    list_filter = ("content_type", "user")
    list_select_related = ("user", "content_type")
    search_fields = ("object_repr", "change_message", "user__username")
    date_hierarchy = "action_time"

    @admin.display(description="What")
    def what(self, entry: LogEntry) -> str:
        address = None if entry.is_deletion() else entry.get_admin_url()
        return format_html('<a href="{}">{}</a>', address, entry.object_repr) if address else entry.object_repr

    @admin.display(description="What was done, and why")
    def reason(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()


@admin.register(EditorTake)
class EditorTakeAdmin(TellsRefusals[EditorTake]):
    """An editor's own brief takes the place of the generated one, and the day is published with it."""

    list_display = ("wire_date", "author", "updated_at")
    fields = ("wire_date", "markdown")

    def get_readonly_fields(self, request: HttpRequest, obj: EditorTake | None = None) -> tuple[str, ...]:  # noqa: ARG002
        return ("wire_date",) if obj else ()  # moved elsewhere, its old day would go on showing it

    def save_model(self, request: HttpRequest, obj: EditorTake, form: Any, change: bool) -> None:
        obj.author = request.user.get_username()
        super().save_model(request, obj, form, change)
        if publish(obj.wire_date) is None:
            messages.warning(request, "Kept, but not published: the day is sealed or holds no story yet.")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
