"""Base classes and texts of the desk's pages. Unfold's classes are typed as Django's own, since they publish no types."""

import datetime as dt
import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import display
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold import widgets

from config.errors import WireError
from config.url_secrets import mask_address
from wire.models import WireState
from wire.text.plain_text import REASON, plain_line

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin as _ModelAdmin
    from django.contrib.admin import StackedInline as _StackedInline
    from django.contrib.admin import TabularInline as _TabularInline
    from django.contrib.admin.helpers import ActionForm

    Method = TypeVar("Method", bound=Callable[..., Any])

    def action(**_options: Any) -> Callable[[Method], Method]: ...
else:
    from unfold.admin import ModelAdmin as _ModelAdmin
    from unfold.admin import StackedInline as _StackedInline
    from unfold.admin import TabularInline as _TabularInline
    from unfold.decorators import action
    from unfold.forms import ActionForm

Row = TypeVar("Row", bound=Model)
Parent = TypeVar("Parent", bound=Model)

SHOWN: Final = 100  # characters of a changed value in the history
PREVIEW: Final = "_preview"  # the button that shows what a form would make, and saves nothing


def address_field(**options: Any) -> forms.URLField:
    """Return a field for a web address. The widget for stored addresses would repeat what was typed as “Currently: …”."""
    return forms.URLField(**{"assume_scheme": "https", "widget": widgets.UnfoldAdminTextInputWidget({"type": "url"})} | options)


def text_field(**options: Any) -> forms.CharField:
    """Return a one-line form field."""
    return forms.CharField(**{"widget": widgets.UnfoldAdminTextInputWidget} | options)


class ReasonField(forms.CharField):
    """A field for a one-sentence reason, stored as a plain line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": REASON, "widget": widgets.UnfoldAdminTextInputWidget} | options)

    def clean(self, value: Any) -> str:
        return plain_line(super().clean(value), REASON)


class LinesField(forms.CharField):
    """A list, written with one value per line, or chosen where its widget offers choices."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}), **options)

    def prepare_value(self, value: Any) -> Any:
        is_text = isinstance(value, list) and not getattr(self.widget, "allow_multiple_selected", False)
        return "\n".join(map(str, value)) if is_text else value

    def to_python(self, value: Any) -> Any:
        text = "\n".join(value) if isinstance(value, list) else str(value or "")
        return [stripped for line in text.splitlines() if (stripped := line.strip())]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


def column(description: str, write: Callable[[Any], object], ordering: str | None = None) -> Any:
    """Return a column of a list, or a read-only field, of an admin class: `write` gets the row."""
    return display(description=description, ordering=ordering)(lambda _admin, row: write(row))


class FocusedForm(forms.BaseForm):
    """A form that is shown again with the cursor in its first wrong field, to which the browser scrolls."""

    def add_error(self, field: str | None, error: Any) -> None:
        super().add_error(field, error)
        wrong = [one for name, one in self.fields.items() if name in self.errors]
        for one in wrong:
            one.widget.attrs.pop("autofocus", None)
        if wrong:
            wrong[0].widget.attrs["autofocus"] = True


class Form(FocusedForm, forms.Form):
    """A form on one of the desk's own pages."""


class ModelForm(FocusedForm, forms.ModelForm[Row]):
    """A form for a row."""


class EmptyChoices:
    """Fields with choices and without a default begin empty. Without it, a table's spare row could not be left empty."""

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("choices", db_field.get_choices(db_field.blank or not db_field.has_default(), [("", "Select value")]))
        return super().formfield_for_choice_field(db_field, request, **kwargs)  # type: ignore[misc]


class ModelAdmin(EmptyChoices, _ModelAdmin[Row]):
    """A list, titled as in the menu, and the pages of its rows. `empty` says what to do if there are no rows."""

    form: Any = ModelForm
    empty = ""

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        from wire.admin.menu import find_list_title  # the menu is built from the lists

        changes: Any = super().get_changelist_instance(request)
        changes.title = find_list_title(self.model) or changes.title
        if not (changes.query or changes.get_filters_params()):
            changes.full_result_count = changes.result_count  # so that “Show all” is offered only where something is left out
        return changes

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Name each changed field as Django does, with its old and its new value."""
        message = super().construct_change_message(request, form, formsets, add)
        inlines = [one for formset in formsets or () for one in formset.initial_forms if one not in formset.deleted_forms]
        forms_ = [one for one in ([] if add else [form]) + inlines if one.has_changed()]
        for entry, changed in zip((entry["changed"] for entry in message if "changed" in entry), forms_, strict=True):
            entry["fields"] = [_describe_change(changed, name) for name in changed.changed_data]
        return message


def _describe_change(form: forms.BaseForm, name: str) -> str:
    was, becomes = (_format_value(form.fields[name], values.get(name)) for values in (form.initial, form.cleaned_data))
    return f"{form.fields[name].label or name}: {was} → {becomes}"


def _format_value(field: forms.Field, value: Any) -> str:
    """Return the value of a field as the history shows it: short, and an address without what may be a token."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(field, forms.ModelChoiceField) and not isinstance(value, (Model, Iterable)) and value is not None:
        value = field.queryset.filter(pk=value).first() if field.queryset is not None else value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(_format_value(field, one) for one in value) or "none"
    text = str(dict(getattr(field, "choices", ())).get(value, value)) if isinstance(value, (str, int)) else str(value or "")
    return mask_address(text) if "://" in text else plain_line(text, SHOWN) or "none"


class StackedInline(_StackedInline[Row, Parent]):
    form: Any = ModelForm


class TabularInline(EmptyChoices, _TabularInline[Row, Parent]):
    form: Any = ModelForm

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs["aria-label"] = str(field.label)  # a table has no label beside each field
        return field


class TellsRefusals(ModelAdmin[Row]):
    """A page that the wire may refuse to save: the editor is shown why, and nothing is changed."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except WireError as error:  # its transaction is rolled back
            self.message_user(request, f"{error} {error.hint} Nothing was changed.", messages.ERROR)
            return HttpResponseRedirect(request.path)


class FreshForm(ModelForm[Row]):
    """A form that refuses to save over another editor's later change."""

    seen = forms.CharField(label="", widget=forms.HiddenInput, required=False)  # the fingerprint of what the form was opened with

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["seen"] = self.fingerprint() if self.instance.pk else ""

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        WireState.lock()
        if self.instance.pk and data.get("seen") != self.fingerprint():
            raise forms.ValidationError("Somebody else saved this meanwhile. Your change was not saved: reopen this and repeat it.")
        return data

    def fingerprint(self) -> str:
        return hashlib.sha256(repr(self.read_fingerprinted_rows()).encode()).hexdigest()

    def read_fingerprinted_rows(self) -> object:
        return list(self._meta.model._base_manager.filter(pk=self.instance.pk).values_list())


class PreviewedForm(FreshForm[Row]):
    """A form that never passes as valid when previewed, so that the admin shows its page again."""

    @property
    def is_preview(self) -> bool:
        return PREVIEW in self.data

    def is_valid(self) -> bool:
        return super().is_valid() and not self.is_preview


class FreshAdmin(ModelAdmin[Row]):
    """The admin of a `FreshForm`; its hidden field is left out for users who may not change the row."""

    def get_fields(self, request: HttpRequest, obj: Row | None = None) -> Any:
        hidden = () if self.has_change_permission(request, obj) else ("seen",)
        return [field for field in super().get_fields(request, obj) if field not in hidden]


class PreviewedAdmin(ModelAdmin[Row]):
    """The admin of a `PreviewedForm`: a button beside Save shows the page again, with `preview` above the form."""

    @abstractmethod
    def preview(self, form: Any) -> str:
        """Return what readers would see, as safe HTML; called only for a form without errors."""

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        form, obj = context["adminform"].form, kwargs.get("obj")
        if self.has_change_permission(request, obj) if obj else self.has_add_permission(request):
            button = SimpleNamespace(action_name=PREVIEW, description="Preview", icon="visibility", attrs=None)
            context["actions_submit_line"] = [button]
        if PREVIEW in request.POST and not form.errors:
            context["preview"] = self.preview(form)
        return super().render_change_form(request, context, *args, **kwargs)


class KeyedAdmin(ModelAdmin[Row]):
    """The admin of rows with a key that is stored only as a hash: a new row's `issued` is shown once, on the next page."""

    server: str  # that the keys are for

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:  # noqa: ARG002
        return self.show_keys(request, [(str(obj), obj.issued)])

    def show_keys(self, request: HttpRequest, keys: Sequence[tuple[str, str]]) -> HttpResponse:
        context = {**self.admin_site.each_context(request), "title": "The key, shown only once", "opts": self.opts, "keys": keys}
        addresses = {"mcp": f"{settings.WIRE_MCP_URL}/{self.server}", "api": f"{settings.WIRE_SITE_URL}/api/{self.server}/"}
        return render(request, "admin/keys.html", context | addresses)

    def get_changeable_row(self, request: HttpRequest, pk: int) -> Row:
        """Raises: Http404; PermissionDenied."""
        row: Row = get_object_or_404(self.model, pk=pk)
        if not super().has_change_permission(request, row):
            raise PermissionDenied
        return row

    def show_confirmation(self, request: HttpRequest, row: Row, title: str, points: Sequence[str], button: str) -> HttpResponse:
        """Show what a post to this address does."""
        context = {"title": title, "opts": self.opts, "original": row, "points": points, "button": button}
        return render(request, "admin/confirm.html", self.admin_site.each_context(request) | context)


def deny(*_args: object, **_kwargs: object) -> bool:
    """Replace `has_add_permission` and the like, for what nobody may do at the desk."""
    return False


class MaskedAddressAdmin:
    """The admin of rows with a `url` that may hold a token: users who may not change the row see it masked."""

    address = column("Address", lambda row: mask_address(row.url))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)  # type: ignore[misc]
        if self.has_change_permission(request, obj):  # type: ignore[attr-defined]
            return fields
        return list(dict.fromkeys("address" if field == "url" else field for field in fields))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)  # type: ignore[misc]
        return fields if self.has_change_permission(request, obj) else (*fields, "address")  # type: ignore[attr-defined]


class ReadOnly(ModelAdmin[Any]):
    has_add_permission = has_change_permission = has_delete_permission = deny


def log_change(request: HttpRequest, what: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Note in the history that this user did this to each row; call it in the transaction of the change."""
    columns = {"user_id": request.user.pk, "action_time": timezone.now(), "action_flag": flag, "change_message": message}
    # One time for all: the history shows them as one action. Django's `log_actions` gives each its own.
    LogEntry.objects.bulk_create(
        LogEntry(content_type=ContentType.objects.get_for_model(row), object_id=row.pk, object_repr=str(row)[:200], **columns)
        for row in what
    )


def utc_time(when: dt.datetime) -> str:
    """Write a time as the site does: 15 Oct 2026 14:05 UTC."""
    return f"{when.astimezone(dt.UTC):%-d %b %Y %H:%M} UTC"


def marks(*labels: str) -> SafeString:
    """Write small labels, side by side; nothing without labels."""
    return format_html_join(" ", '<span class="mark">{}</span>', ((label,) for label in labels))


def plural(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def link(to: Model, text: str) -> SafeString:
    """Link `text` to the page of `to` at the desk."""
    return format_html('<a href="{}">{}</a>', reverse(f"admin:{to._meta.label_lower.replace('.', '_')}_change", args=[to.pk]), text)


def link_public(address: str, row: object) -> str:
    return format_html('<a href="{}" aria-label="Public page of {}">View</a>', address, row)


def see_public(address: str | None) -> SafeString:
    """End a message with a link to what readers see; nothing without an address."""
    return format_html('See the <a href="{}">public page</a>.', address) if address else mark_safe("")


def join_lines(form: str, rows: Iterable[Sequence[object]]) -> SafeString:
    """Put each row into `form`, one below the other; values are escaped."""
    return format_html_join(mark_safe("<br>"), form, rows)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> Mapping[str, Any]:
    """Return a table for templates/admin/_table.html; `empty` is shown when there are no rows."""
    return {"headers": headers, "rows": list(rows), "empty": empty}
