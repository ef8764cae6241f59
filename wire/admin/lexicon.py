"""Edit the lexicon term by term or import a file (previewed, then saved all or nothing); export any table as CSV or JSON."""

import csv
import datetime as dt
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION
from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from sources import raw_store
from wire.admin.base import PREVIEW, Form, FreshAdmin, ModelAdmin, PreviewedForm, action, deny, join_lines, link, log_change, table
from wire.admin.commands import read_command_log, show_command
from wire.admin.dashboard import get_environment_label
from wire.admin.stories import link_story
from wire.ingest import classifier_terms
from wire.models import LexiconTerm, WireState
from wire.text.plain_text import plain_line

COLUMNS: Final = ("kind", "target", "term", "weight")
MAX_ROWS: Final = 40_000  # of a file; the lexicon as it ships has 27,000 terms
MAX_CHANGES: Final = 10_000  # of one file; checking that many takes a second
MAX_ERRORS: Final = 20  # invalid rows before reading stops
MAX_SHOWN: Final = 200  # changes that the preview shows; all are counted


class ExportingAdmin(ModelAdmin[Any]):
    """A table that can be downloaded, with the columns `exported`."""

    exported: ClassVar[tuple[str, ...]]

    @action(description="Export CSV", icon="download", permissions=["view"], url_path="export.csv")
    def export_csv(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(self.exported)
        for row in self.model._default_manager.values_list(*self.exported):
            writer.writerow([json.dumps(value) if isinstance(value, list) else value for value in row])
        return self._build_download(text.getvalue(), "text/csv", "csv")

    @action(description="Export JSON", icon="download", permissions=["view"], url_path="export.json")
    def export_json(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002
        rows = list(self.model._default_manager.values(*self.exported))
        return self._build_download(json.dumps(rows, cls=DjangoJSONEncoder, indent=1), "application/json", "json")

    def _build_download(self, text: str, content_type: str, ending: str) -> HttpResponse:
        headers = {"Content-Disposition": f'attachment; filename="{self.opts.model_name}.{ending}"'}
        return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)


class TermsForm(Form):
    """A file of terms, or the changes that its preview showed. The cleaned `changes` are the terms to save."""

    file = forms.FileField(
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text=(
            f"CSV or JSON in UTF-8 with exactly the columns {', '.join(COLUMNS)}; "
            f"at most {MAX_ROWS:,} rows and {MAX_CHANGES:,} changes."
        ),
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        file, text = self.cleaned_data.get("file"), self.cleaned_data.get("shown", "")
        if file is None and not text:
            raise ValidationError("Choose a file.")
        try:
            rows = list(_read_rows(file.read().decode("utf-8-sig") if file else text))
        except UnicodeDecodeError as error:
            raise ValidationError(f"The file is not text in UTF-8: byte {error.start + 1:,} is invalid.") from error
        except (ValueError, RecursionError, csv.Error) as error:
            raise ValidationError(f"The file cannot be read: {plain_line(str(error), 300)}") from error
        self.cleaned_data["changes"] = _list_changes(rows)
        return self.cleaned_data


def _read_rows(text: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a file, every value as text. Raises: ValueError, RecursionError, csv.Error."""
    if text.lstrip().startswith(("[", "{")):
        if text.count("{") + text.count("[") > 2 * MAX_ROWS:  # before they are built; a term may hold brackets, too
            raise ValueError(f"it has more than {MAX_ROWS:,} rows.")
        items = json.loads(text)
    else:
        items = csv.DictReader(io.StringIO(text), skipinitialspace=True, strict=True)
        if len(set(items.fieldnames or ())) < len(items.fieldnames or ()):
            raise ValueError(f"it names a column twice: {', '.join(items.fieldnames or ())[:100]}.")
    number = 0
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict) or item.keys() != set(COLUMNS):
            found = ", ".join(map(str, item)) if isinstance(item, dict) else str(item)
            raise ValueError(f"row {number} must have exactly the columns {', '.join(COLUMNS)}, but has {found[:100]}.")
        if number > MAX_ROWS:
            raise ValueError(f"it has more than {MAX_ROWS:,} rows.")
        yield {name: "" if value is None else str(value) for name, value in item.items()}
    if not number:
        raise ValueError("it has no rows.")


def _list_changes(rows: list[Mapping[str, str]]) -> list[tuple[LexiconTerm, float | None]]:
    """Return the terms that rows add or change, as an editor's, with their old weights. Raises: ValidationError."""
    stored = {tuple(key): (pk, weight) for *key, weight, pk in LexiconTerm.objects.values_list(*COLUMNS, "pk")}
    changes: dict[tuple[str, ...], tuple[LexiconTerm, float | None]] = {}
    errors = []
    for number, row in enumerate(rows, 1):
        key = row["kind"], row["target"], row["term"]
        pk, was = stored.get(key, (None, None))
        changes.pop(key, None)  # of an earlier row of the file
        if was is not None and row["weight"] == str(was):
            continue
        term = LexiconTerm(**row, pk=pk, origin=LexiconTerm.Origin.EDITOR)
        try:
            term.clean_fields()
            term.clean()
        except ValidationError as error:
            errors.append(plain_line(f"Row {number}: {' '.join(error.messages)}", 300))
            if len(errors) == MAX_ERRORS:
                errors.append("Reading stopped here.")
                break
        if term.weight != was:
            changes[key] = term, was
        if len(changes) > MAX_CHANGES:
            errors.append(f"The file changes more than {MAX_CHANGES:,} terms; split it.")
            break
    if errors:
        raise ValidationError([*errors, "Nothing was changed: correct the file and import it again."])
    return list(changes.values())


class RebuildForm(Form):
    since = forms.DateField(
        label="Since (UTC day)", widget=UnfoldAdminTextInputWidget({"type": "date"}), initial=lambda: timezone.now().date()
    )
    final_days = forms.BooleanField(
        label="Include final days",
        required=False,
        widget=UnfoldBooleanWidget,
        help_text="Each gets a new revision, which says publicly that newer rules were applied.",
    )

    @property
    def unavailable(self) -> str:
        return "This is the sample wire, which fetches nothing: there is nothing to rebuild." if get_environment_label() else ""

    def clean_since(self) -> dt.date:
        since: dt.date = self.cleaned_data["since"]
        first, today = (timezone.now() - raw_store.RETENTION).date(), timezone.now().date()
        if not first <= since <= today:
            raise ValidationError(f"Choose a day from {first:%-d %b %Y} to {today:%-d %b %Y}: older fetches are gone.")
        return since

    def arguments(self) -> list[str]:
        return ["--since", str(self.cleaned_data["since"]), *(["--final-days"] if self.cleaned_data["final_days"] else [])]


_IS_PATTERN: Final = Q(term__regex="[#…^:?|%$€£]")
PARTS: Final = {
    "topics": ("Topic words", Q(kind=LexiconTerm.Kind.TOPIC) & ~_IS_PATTERN),
    "categories": ("Category words", Q(kind=LexiconTerm.Kind.CATEGORY) & ~_IS_PATTERN),
    "relevance": ("Relevance: about AI or not", Q(kind=LexiconTerm.Kind.RELEVANCE) & ~_IS_PATTERN),
    "makers": ("Makers' publications", Q(kind=LexiconTerm.Kind.MAKER)),
    "patterns": ("Patterns, mostly machine-made", _IS_PATTERN & ~Q(kind=LexiconTerm.Kind.MAKER)),
    "edited": ("Set by editors", Q(origin=LexiconTerm.Origin.EDITOR)),
}


class PartFilter(admin.SimpleListFilter):
    """The list opens with the words of topics; a search or another filter looks through all parts, unless one is chosen."""

    title = "Part"
    parameter_name = "part"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(name, title) for name, (title, _) in PARTS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LexiconTerm]) -> QuerySet[LexiconTerm]:
        part = self.value() or ("" if request.GET else next(iter(PARTS)))
        return queryset.filter(PARTS[part][1]) if part in PARTS else queryset


class TermForm(PreviewedForm[LexiconTerm]):
    def clean(self) -> dict[str, Any]:
        data = super().clean()
        key = {name: data.get(name) for name in COLUMNS[:3]}
        if same := LexiconTerm.objects.filter(**key).exclude(pk=self.instance.pk).first():
            self.add_error("term", format_html("The lexicon has this term already: {}.", link(same, "change that one")))
        return data


@admin.register(LexiconTerm)
class LexiconTermAdmin(ExportingAdmin, FreshAdmin[LexiconTerm]):
    form = TermForm
    list_display = ("term", "kind", "target", "weight", "origin")
    list_filter = (PartFilter, "kind", "target", "origin")
    list_before_template = "admin/lexicon_parts.html"
    search_fields = ("term",)
    search_help_text = "Search the part you chose, or the whole lexicon if you chose none"
    fields = ("kind", "target", "term", "weight", "seen")
    change_form_template = "admin/term.html"
    exported = COLUMNS
    has_delete_permission = deny  # the next update would restore it; a weight of 0 switches a term off for good
    actions_list = ("rebuild", "import_terms", "export_csv", "export_json")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        chosen = request.GET.get("part", "" if request.GET else next(iter(PARTS)))
        parts = [(name, title, name == chosen) for name, (title, _) in PARTS.items()]
        return super().changelist_view(request, {"parts": parts, **(extra_context or {})})

    @action(description="Rebuild days…", icon="replay", permissions=["change"], url_path="rebuild")
    def rebuild(self, request: HttpRequest) -> HttpResponse:
        """Apply today's lexicon to what was fetched, after showing what that would change."""
        since, first = read_command_log("rebuild").since, (timezone.now() - raw_store.RETENTION).date()
        initial = {"since": since} if since and since >= first else {}
        form = RebuildForm(request.POST if request.method == "POST" and "confirmed" not in request.POST else None, initial=initial)
        points = (
            "Everything fetched since the day you choose is read, classified and published again, with today's lexicon and rules.",
            f"Fetched items are stored for {raw_store.RETENTION.days} days. Changes that editors made by hand stay, "
            "and so do stories loaded from an archive, for which nothing was fetched.",
            "You first see what would change, and then apply it.",
        )
        return show_command(self, request, "rebuild", "Rebuild days", points, form)

    @action(description="Import…", icon="upload", permissions=["change"], url_path="import")
    @transaction.atomic
    def import_terms(self, request: HttpRequest) -> HttpResponse:
        """Show what a file would change; only a post of exactly these changes saves them."""
        if "confirmed" in request.POST:
            WireState.lock()  # so that they are still compared with what is stored when they are saved
        form = TermsForm(request.POST or None, request.FILES or None)
        context = {**self.admin_site.each_context(request), "title": "Import terms", "form": form}
        if form.is_valid():
            changes = form.cleaned_data["changes"]
            if "confirmed" in request.POST:
                new = LexiconTerm.objects.bulk_create([term for term, was in changes if was is None])
                known = [term for term, was in changes if was is not None]
                LexiconTerm.objects.bulk_update(known, ["weight", "origin"], batch_size=500)
                log_change(request, new, "Imported.", ADDITION)
                log_change(request, known, "Imported.")
                messages.success(request, f"Saved: {len(changes):,} terms.")
                return HttpResponseRedirect(reverse("admin:wire_lexiconterm_changelist"))
            rows = [(str(term), "new" if was is None else f"{was:+g}") for term, was in changes]
            values = [{name: getattr(term, name) for name in COLUMNS} for term, _ in changes]
            context |= {
                "changes": len(changes),
                "preview": table(("Would be", "Was"), rows[:MAX_SHOWN], "The file changes nothing."),
                "confirm": TermsForm(initial={"shown": json.dumps(values, ensure_ascii=False)}),
            }
        return render(request, "admin/import_terms.html", context)

    def save_model(self, request: HttpRequest, obj: LexiconTerm, form: Any, change: bool) -> None:
        obj.origin = LexiconTerm.Origin.EDITOR  # kept through every later update of the shipped lexicon
        super().save_model(request, obj, form, change)
        self.message_user(request, "Nothing was published. New stories use the term; “Rebuild days…” applies it to earlier ones.")

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        form = context["adminform"].form
        if PREVIEW in request.POST and not form.errors:
            shown = classifier_terms.preview_changes(form.instance)
            changes = shown.changes
            context |= {**shown._asdict(), "changes": len(changes)}
            oldest = timezone.now() - raw_store.RETENTION
            context["not_rebuilt"] = sum(story.feed is None or story.first_seen_at < oldest for story, _ in changes)
            context["preview"] = table(
                ("Story", "Would change"),
                [(link_story(story), join_lines("{}: {} → {}", found)) for story, found in changes[: classifier_terms.SHOWN]],
                "None of them would change.",
            )
        return super().render_change_form(request, context, *args, **kwargs)
