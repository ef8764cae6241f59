"""What was published, looked at and never touched; the editor's own takes; the lexicon."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.html import format_html

from wire.models import EditorTake, LexiconTerm, SigningKey, Snapshot
from wire.publish import publish


class ReadOnly(admin.ModelAdmin[Any]):
    """Looked at, never touched."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnly):
    list_display = ("sequence", "wire_date", "revision", "story_count", "generated_at", "wire_sha256")
    date_hierarchy = "wire_date"
    exclude = ("packed",)
    readonly_fields = ("served",)

    @admin.display(description="As served")
    def served(self, snapshot: Snapshot) -> str:
        address = f"/api/archive/{snapshot.wire_date}.json?revision={snapshot.revision}"
        return format_html('<a href="{}">{}</a>', address, address)


@admin.register(SigningKey)
class SigningKeyAdmin(ReadOnly):
    list_display = ("key_id", "created_at", "retired_at")


@admin.register(EditorTake)
class EditorTakeAdmin(admin.ModelAdmin[EditorTake]):
    """An editor's own brief takes the place of the generated one, and the day is published with it."""

    list_display = ("wire_date", "author", "updated_at")
    fields = ("wire_date", "markdown")

    def save_model(self, request: HttpRequest, obj: EditorTake, form: Any, change: bool) -> None:
        obj.author = request.user.get_username()
        super().save_model(request, obj, form, change)
        if publish(obj.wire_date) is None:
            messages.warning(request, "Kept, but not published: the day is sealed or holds no story yet.")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(LexiconTerm)
class LexiconTermAdmin(admin.ModelAdmin[LexiconTerm]):
    list_display = ("term", "kind", "target", "weight", "origin")
    list_filter = ("kind", "target", "origin")
    search_fields = ("term",)
    fields = ("kind", "target", "term", "weight")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False  # the next update would ship it again; a weight of 0 switches a term off for good

    def save_model(self, request: HttpRequest, obj: LexiconTerm, form: Any, change: bool) -> None:
        obj.origin = LexiconTerm.Origin.EDITOR  # kept through every later update of the shipped lexicon
        super().save_model(request, obj, form, change)
