"""Timeline corpora at the desk: rows are edited in a draft, and a release makes the draft public."""

from typing import Any, ClassVar, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from config.errors import WireError
from sources.models import utc_today
from wire.admin.base import Form, ModelAdmin, ReadOnly, ReasonField, column, deny, link_public, log_change, marks, plural, utc_time
from wire.corpora.common.forms import to_label
from wire.corpora.timeline import releases, store
from wire.corpora.timeline.corpus_files import Problem, RefusedCorpus
from wire.corpora.timeline.forms import PARTS, PREFIX, CorpusForm, build_form
from wire.corpora.timeline.models import MODELS, Corpus, CorpusRelease, MotifEdge, Report, TimelineEvent
from wire.models import WireState

_LANGUAGE: Final = ("say", "avoid", "rules", "search_words")
_FIRST: Final = ("name", "slug", "kind", "about", "licence")  # fields that a new corpus needs; the others are collapsed
_PAGES: Final = {
    **{"reports": "timeline-report", "threads": "timeline-threads", "events": "timeline-events"},
    **{"motifs": "timeline-motifs", "items": "timeline-catalog"},
}
SHOWN: Final = 200  # differences that a page lists; all are counted


class ReleaseForm(Form):
    note = ReasonField(help_text="One sentence, shown with the release.")


class DraftAdmin(ModelAdmin[Any]):
    """The admin of what readers see after a release: a message links to the release and to what they see now."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        answer = super().response_add(request, obj, post_url_continue)
        self.remind_of_release(request, obj)
        return answer

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        answer = super().response_change(request, obj)
        self.remind_of_release(request, obj)
        return answer

    def remind_of_release(self, request: HttpRequest, obj: Any) -> None:
        corpus = obj if isinstance(obj, Corpus) else obj.corpus
        if not store.count_changes(corpus):
            return
        text = "Readers see this after the next release."
        if request.user.has_perm("timeline.add_corpusrelease"):
            release = reverse("admin:timeline_corpus_release", args=[corpus.pk])
            text = format_html('{} <a class="underline" href="{}">Release…</a>', text, release)
        if public := self.get_view_on_site_url(obj):
            text = format_html('{} · <a class="underline" href="{}">Public page as it is now</a>', text, public)
        self.message_user(request, text)


@admin.register(Corpus)
class CorpusAdmin(DraftAdmin):
    """A corpus: what it says about itself, and its release."""

    form = CorpusForm
    empty = "There is no corpus yet. Add one here, or load a directory: manage.py timeline load DIR."
    list_display = ("name", "slug", "release", "waiting", "public")
    search_fields = ("name", "slug")
    change_form_template = "admin/timeline_corpus.html"
    has_delete_permission = deny

    def get_fieldsets(self, request: HttpRequest, obj: Corpus | None = None) -> Any:
        if obj and not self.has_change_permission(request, obj):
            return [(None, {"fields": ("slug", "name", "its_words")})]
        sections: dict[str, list[str]] = {}
        for name, (keys, _) in PARTS.items():
            if name not in _FIRST:
                title = keys[0].capitalize() if len(keys) > 1 else "Language" if name in _LANGUAGE else "More details"
                sections.setdefault(title, []).append(name)
        collapsed = [(title, {"fields": names, "classes": ["collapse"]}) for title, names in sections.items()]
        return [(None, {"fields": (*_FIRST, "seen")}), *collapsed]

    def get_readonly_fields(self, request: HttpRequest, obj: Corpus | None = None) -> Any:
        return ("its_words",) if obj and not self.has_change_permission(request, obj) else ()

    def get_form(self, request: HttpRequest, obj: Corpus | None = None, change: bool = False, **kwargs: Any) -> Any:
        if obj and not self.has_change_permission(request, obj):
            return super().get_form(request, obj, change, **kwargs)
        return CorpusForm

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.release)
        return [path("<int:pk>/release/", view, name="timeline_corpus_release"), *super().get_urls()]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        corpus = self.get_object(request, object_id)
        return super().change_view(
            request, object_id, form_url, {"has_changes": bool(corpus and store.count_changes(corpus)), **(extra_context or {})}
        )

    def view_on_site(self, corpus: Corpus) -> str | None:
        return reverse("timeline", args=[corpus.slug]) if corpus.release else None  # readers see nothing before the first release

    its_words = column("corpus.json", lambda corpus: format_html('<pre class="output">{}</pre>', corpus.written))
    waiting = column("Not released yet", lambda corpus: _render_change_count(corpus))
    public = column(
        "Public page",
        lambda corpus: (
            link_public(reverse("timeline", args=[corpus.slug]), corpus) if corpus.release else "after its first release"
        ),
    )

    def release(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what the next release changes; posting the form makes it. With `?undo`, ask whether to discard the draft, and do."""
        if not request.user.has_perm("timeline.add_corpusrelease"):
            raise PermissionDenied
        corpus = get_object_or_404(Corpus, pk=pk)
        back = HttpResponseRedirect(reverse("admin:timeline_corpus_change", args=[pk]))
        form, problems = ReleaseForm(request.POST if request.method == "POST" else None), list[Problem]()
        if "undo" in request.GET:
            return self._confirm_discard(request, corpus, back)
        try:
            with transaction.atomic():
                if form.is_valid():
                    if made := releases.release_draft(corpus, form.cleaned_data["note"]):
                        log_change(request, [corpus], f"Released {made.number}: {made.note}")
                        self.message_user(request, f"Release {made.number} is public.", messages.SUCCESS)
                    else:
                        unchanged = "Nothing changed since the last release, so nothing was released."
                        self.message_user(request, unchanged, messages.WARNING)
                    return back
        except RefusedCorpus as refused:
            problems = refused.problems
        except WireError as error:
            self.message_user(request, f"{error} {error.hint} Nothing was released.", messages.ERROR)
            return back
        old, new = store.read_rows(corpus, corpus.release), store.read_rows(corpus, None)
        differences = list(store.list_differences(old, new))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Release {corpus.name}",
            "opts": self.opts,
            "corpus": corpus,
            "next": corpus.release + 1,
            "form": form,
            "problems": problems[:SHOWN],
            "differences": [_describe_difference(one, old, new) for one in differences[:SHOWN]],
            "number": len(differences),
            "described": store.count_changes(corpus).get("corpus"),
        }
        return render(request, "admin/timeline_release.html", context, status=422 if problems else 200)

    def _confirm_discard(self, request: HttpRequest, corpus: Corpus, back: HttpResponse) -> HttpResponse:
        if request.method != "POST":
            points = ["All unreleased changes are lost, including those of other editors.", "This cannot be undone."]
            title = f"Discard the unreleased changes of {corpus.name}"
            context = {"title": title, "opts": self.opts, "original": corpus, "points": points, "button": "Discard all changes"}
            return render(request, "admin/confirm.html", self.admin_site.each_context(request) | context)
        with transaction.atomic():
            WireState.lock()
            store.discard_draft(corpus)
            log_change(request, [corpus], "Discarded all unreleased changes")
        self.message_user(request, "All unreleased changes were discarded.")
        return back


def _describe_difference(one: store.Difference, old: store.Rows, new: store.Rows) -> dict[str, Any]:
    row = (old if one.what == "removed" else new)[one.table][one.key]
    title = one.key if one.table == "edges" else row.get("title") or row["label"]
    return {**one._asdict(), "fields": [*map(to_label, one.fields)], "title": title, "kind": MODELS[one.table]._meta.verbose_name}


def _render_change_count(corpus: Corpus) -> str:
    changed = sum(counted.total() for counted in store.count_changes(corpus).values())
    return marks(plural(changed, "change", "changes")) if changed else ""


@admin.register(CorpusRelease)
class ReleaseAdmin(ReadOnly):
    """A release, which never changes."""

    list_display = ("corpus", "number", "when", "note", "sha256")
    when = column("Released", lambda release: utc_time(release.released_at), "released_at")
    list_filter = ("corpus",)
    list_select_related = ("corpus",)
    fields = ("corpus", "number", "released_at", "note", "sha256", "previous_sha256", "signature", "key_id", "manifest")


@admin.register(*(MODELS[table] for table in ("items", "motifs", "sources", "threads")))
class RowAdmin(DraftAdmin):
    """Rows of drafts, which the next release will have. Released rows stay with their releases."""

    title = column("Title", str)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, str | list[str]]:
        """Begin a new row today, in the corpus that the list was filtered by."""
        filters = QueryDict(request.GET.get("_changelist_filters", ""))
        begun = {"corpus": filters.get("corpus__id__exact", ""), f"{PREFIX}date_added": str(utc_today())}
        return begun | super().get_changeform_initial_data(request)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        answer = super().response_add(request, obj, post_url_continue)
        # Another row is mostly of the same corpus.
        return HttpResponseRedirect(f"{request.path}?corpus={obj.corpus_id}") if "_addanother" in request.POST else answer

    def view_on_site(self, row: Any) -> str | None:
        """Return the public page that shows the released row."""
        released = self.model.objects.in_release(row.corpus_id, row.corpus.release).filter(key=row.key)
        if self.table not in _PAGES or not released.exists():
            return None
        return reverse(_PAGES[self.table], args=[row.corpus.slug, *([row.key] if self.table == "reports" else [])])

    state = column("State", lambda row: marks("not released") if row.since is None else "")
    list_display: tuple[str, ...] = ("key", "title", "corpus", "state")
    list_filter: ClassVar[tuple[str, ...]] = ("corpus",)
    list_select_related = ("corpus",)
    search_fields = ("key", "body")
    list_per_page = 50
    show_full_result_count = False
    ordering = ("corpus", "position")

    @property
    def table(self) -> str:
        return next(table for table, model in MODELS.items() if model is self.model)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changes = super().get_changelist_instance(request)
        if changes.params.keys() == {"corpus__id__exact"}:
            changes.has_active_filters = False  # a corpus without rows is empty; nothing needs to match
        return changes

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request).filter(until=None, dropped=False)
        return found

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return (
            build_form(self.table) if self.has_change_permission(request, obj) else super().get_form(request, obj, change, **kwargs)
        )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if not self.has_change_permission(request, obj):
            return ("corpus", "key", "body")
        own = [name for name in build_form(self.table).base_fields if name.startswith(PREFIX)]
        return [*([] if obj else ["corpus"]), *own, "seen"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: ARG002
        """Replace the draft's row; a released row is never overwritten."""
        store.update_draft_rows(obj.corpus, self.table, [(None, form.row)], set())
        stored = type(obj).objects.draft(obj.corpus_id).get(key=form.row["id"])
        obj.pk, obj.key, obj.body = stored.pk, stored.key, stored.body

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        store.drop_draft_rows(type(obj), [obj.pk])
        self.remind_of_release(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:  # noqa: ARG002
        store.drop_draft_rows(self.model, list(queryset.values_list("pk", flat=True)))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Released rows are only left out of the next release.
        names = [f"{one.key}: {one}" for one in objs]
        missing = set() if self.has_delete_permission(request) else {self.opts.verbose_name}
        return names, {self.opts.verbose_name_plural: len(names)}, missing, []


@admin.register(Report)
class ReportAdmin(RowAdmin):
    list_display = ("key", "title", "evidence_grade", "stance", "date_observed", "corpus", "state")
    list_filter = ("corpus", "evidence_grade", "stance")


@admin.register(TimelineEvent)
class EventAdmin(RowAdmin):
    list_display = ("key", "title", "date", "layer", "corpus", "state")
    list_filter = ("corpus", "layer")


@admin.register(MotifEdge)
class EdgeAdmin(ReadOnly):
    """Links written by curators, which `timeline load` imports."""

    list_display = ("key", "corpus", "body")
    list_filter = ("corpus",)
    list_select_related = ("corpus",)
    fields = ("corpus", "key", "body", "since", "until")
