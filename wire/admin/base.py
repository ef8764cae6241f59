"""What the desk's pages are made of: Unfold's classes, typed as Django's own since they publish no types, and reading only."""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from config.errors import WireError
from wire.models import WireState

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, StackedInline, TabularInline
    from django.contrib.admin.helpers import ActionForm

    Method = TypeVar("Method", bound=Callable[..., Any])

    def action(**_options: Any) -> Callable[[Method], Method]: ...
else:
    from unfold.admin import ModelAdmin, StackedInline, TabularInline
    from unfold.decorators import action
    from unfold.forms import ActionForm

Row = TypeVar("Row", bound=Model)

PREVIEW: Final = "_preview"
"""The button that shows what a form would make, and saves nothing."""


class TellsRefusals(ModelAdmin[Row]):
    """Where saving may be refused by the wire: the editor is told why, and nothing is changed."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except WireError as error:  # its transaction is rolled back
            self.message_user(request, f"{error} {error.hint} Nothing was changed.", messages.ERROR)
            return HttpResponseRedirect(request.path)


class FreshForm(forms.ModelForm[Row]):
    """Saves nothing over what somebody else saved since it was opened: its page would undo that, in this editor's name."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)  # the fingerprint of what the form was opened with

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["seen"] = self.fingerprint() if self.instance.pk else ""

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        WireState.lock()
        if self.instance.pk and data.get("seen") != self.fingerprint():
            raise forms.ValidationError("Somebody saved this meanwhile. Nothing was saved: open it again, and change it there.")
        return data

    def fingerprint(self) -> str:
        """Of all that the page shows to be changed, as the database has it now."""
        return hashlib.sha256(repr(self.stored()).encode()).hexdigest()

    def stored(self) -> object:
        return list(self._meta.model._base_manager.filter(pk=self.instance.pk).values_list())


class PreviewedForm(FreshForm[Row]):
    """A form that is only previewed never passes as valid, so that the admin shows its page again."""

    @property
    def is_preview(self) -> bool:
        return PREVIEW in self.data

    def is_valid(self) -> bool:
        return super().is_valid() and not self.is_preview


class FreshAdmin(ModelAdmin[Row]):
    """For a `FreshForm`: what it keeps for itself is not shown to whoever only looks."""

    def get_fields(self, request: HttpRequest, obj: Row | None = None) -> Any:
        hidden = () if self.has_change_permission(request, obj) else ("seen",)
        return [field for field in super().get_fields(request, obj) if field not in hidden]


class PreviewedAdmin(ModelAdmin[Row]):
    """For a `PreviewedForm`: a button beside Save shows the page again, with what `preview` gives above the form."""

    def preview(self, form: Any) -> str:
        """What readers would see, as safe HTML; asked only of a form without errors."""
        raise NotImplementedError

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        form, obj = context["adminform"].form, kwargs.get("obj")
        if self.has_change_permission(request, obj) if obj else self.has_add_permission(request):
            button = SimpleNamespace(action_name=PREVIEW, description="Preview", icon="visibility", attrs=None)
            context["actions_submit_line"] = [button]
        if PREVIEW in request.POST and not form.errors:
            context["preview"] = self.preview(form)
        return super().render_change_form(request, context, *args, **kwargs)


def never(*_args: object, **_kwargs: object) -> bool:
    """In place of `has_add_permission` and its like, for what nobody does at the desk."""
    return False


class ReadOnly(ModelAdmin[Any]):
    """Looked at, never touched."""

    has_add_permission = has_change_permission = has_delete_permission = never


def remember(request: HttpRequest, what: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Note in the history who did this to each; in the transaction that does it."""
    LogEntry.objects.log_actions(request.user.pk, list(what), flag, message)  # type: ignore[arg-type]


def moment(when: dt.datetime) -> str:
    """A time as the site writes it: 15 Oct 2026 14:05 UTC."""
    return f"{when.astimezone(dt.UTC):%-d %b %Y %H:%M} UTC"


def marks(*labels: str) -> SafeString:
    """Small labels, one beside the other; nothing for what is as usual."""
    return format_html_join(" ", '<span class="mark">{}</span>', ((label,) for label in labels))


def count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def link(to: Model, text: str) -> SafeString:
    """`text`, leading to the page of `to` at the desk."""
    return format_html('<a href="{}">{}</a>', reverse(f"admin:{to._meta.label_lower.replace('.', '_')}_change", args=[to.pk]), text)


def lines(form: str, rows: Iterable[Sequence[object]]) -> SafeString:
    """Each row put into `form`, one below the other; values are escaped."""
    return format_html_join(mark_safe("<br>"), form, rows)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> Mapping[str, Any]:
    """A table as templates/admin/_table.html shows it; `empty` is said in place of no rows."""
    return {"headers": headers, "rows": list(rows), "empty": empty}
