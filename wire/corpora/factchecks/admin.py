"""Fact-checks at the desk: withdrawing and superseding, what labels mean, loads, links with stories, and keys."""

import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlencode

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget

from config.errors import WireError
from wire.admin import base, commands
from wire.admin.review_queues import QueuedAdmin, QueueFilter
from wire.corpora.factchecks import api_keys, file_formats, load_jobs, store
from wire.corpora.factchecks.languages import CODES
from wire.corpora.factchecks.models import ApiKey, Claim, LoadJob, RatingName, StoryLink
from wire.corpora.factchecks.ratings import Rating
from wire.corpora.factchecks.serializers import build_permalink
from wire.models import Story
from wire.text.identity import STORY_ID_PATTERN

KEPT: Final = 3_600.0  # seconds that the file of a load which is over stays
_STORY_ID: Final = re.compile(STORY_ID_PATTERN.strip("^$"))
MAX_UPLOAD: Final = 10_485_760  # bytes, also of what a packed file holds


class RetractForm(base.ModelForm[Claim]):
    class Meta:
        model = Claim
        fields = ("withdrawn_reason", "superseded_by")
        field_classes = {"withdrawn_reason": base.ReasonField}
        help_texts = {
            "withdrawn_reason": "A sentence here withdraws the fact-check; readers see it. Clear it to restore the fact-check.",
            "superseded_by": "The id of the fact-check that replaces this one, if any.",
        }

    def clean_superseded_by(self) -> str:
        given = self.cleaned_data["superseded_by"].strip()
        found = Claim.objects.with_name(given).first() if given else None
        if given and found is None:
            raise forms.ValidationError("There is no such fact-check.")
        return found.external_id if found else ""


@admin.register(Claim)
class ClaimAdmin(QueuedAdmin[Claim]):
    """A claim as its fact-checker published it. Only loads change it; here it is withdrawn or superseded, and given back."""

    form = RetractForm
    list_display = ("title", "id_column", "rating_label", "language", "status", "mark", "published_at", "public")
    list_filter = (QueueFilter, "status", "internal", "language", "rating_label")
    search_fields = ("synopsis", "short_id", "external_id")
    readonly_fields = (
        *("external_id", "short_id", "process_id", "status", "internal", "synopsis", "rating_label", "rating_summary"),
        *("rating_statement", "publishing_url", "publisher", "claimant", "published_at", "language", "category_names"),
        *("content_sha256", "first_seen_at", "changed_at", "withdrawn_at", "earlier"),
    )
    show_full_result_count = False
    has_add_permission = has_delete_permission = base.deny
    empty = "There are no fact-checks yet. Load a file under Loads, “Upload claims”."
    search_help_text = "Words of the claim, or its ID"
    public = base.column("Public page", lambda claim: base.link_public(build_permalink(claim), claim) if claim.is_public else "")
    id_column = base.column("ID", lambda claim: claim.id_shown)
    category_names = base.column("Categories", lambda claim: ", ".join(one["name"] for one in claim.categories) or "none")

    @admin.display(description="")
    def mark(self, claim: Claim) -> str:
        if claim.withdrawn_at:
            return base.marks("withdrawn")
        return base.marks("superseded") if claim.superseded_by else base.marks("internal") if claim.internal else ""

    @admin.display(description="Earlier versions")
    def earlier(self, claim: Claim) -> str:
        revisions = claim.revisions.order_by("-revision")[:20]
        rows = [(base.utc_time(one.until), one.fields["rating_label"] or "not rated", one.fields["synopsis"]) for one in revisions]
        return format_html_join("", "<p>Until {}: {} · {}</p>", rows) or "None."

    def save_model(self, request: HttpRequest, obj: Claim, form: Any, change: bool) -> None:  # noqa: ARG002
        reason = form.cleaned_data["withdrawn_reason"]
        if "superseded_by" in form.changed_data:
            store.supersede_claim(obj, form.cleaned_data["superseded_by"])
        if "withdrawn_reason" in form.changed_data:
            store.withdraw_claim(obj, reason, timezone.now()) if reason else store.restore_claim(obj, timezone.now())

    def view_on_site(self, claim: Claim) -> str | None:
        return build_permalink(claim) if claim.is_public else None

    def response_change(self, request: HttpRequest, obj: Claim) -> HttpResponse:
        address = self.view_on_site(obj)
        shown = format_html('<a href="{}">{}</a>', address, obj.title) if address else base.link(obj, obj.title)
        self.message_user(request, format_html("Saved: {}.", shown))
        return HttpResponseRedirect(request.path) if "_continue" in request.POST else self.response_post_save_change(request, obj)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:  # noqa: ARG002
        return " ".join(f"{form.fields[name].label}: {form.cleaned_data[name] or 'none'}." for name in form.changed_data)


class RatingForm(base.ModelForm[RatingName]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "rating" in self.fields and self.instance.rating == Rating.UNKNOWN and not self.instance.is_edited:
            self.fields["rating"].choices = [("", "choose"), *(one for one in Rating.choices if one[0] != Rating.UNKNOWN)]  # type: ignore[attr-defined]


@admin.register(RatingName)
class RatingNameAdmin(QueuedAdmin[RatingName]):
    """The meaning of fact-checkers' labels on the common scale. New ones come with loads, as unknown where no rule knows them."""

    form = RatingForm
    list_display = ("label", "rating", "claims", "is_edited")
    list_filter = (QueueFilter, "rating", "is_edited")
    search_fields = ("label",)
    fields = ("label", "rating")
    readonly_fields = ("label",)
    claims = base.column("Claims", lambda name: int(name.claims), "claims")
    has_add_permission = has_delete_permission = base.deny

    def get_queryset(self, request: HttpRequest) -> QuerySet[RatingName]:  # noqa: ARG002
        counted = (
            Claim.objects.filter(rating_key=OuterRef("pk")).order_by().values("rating_key").annotate(n=Count("pk")).values("n")
        )
        return RatingName.objects.annotate(claims=Coalesce(Subquery(counted), 0))

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:  # noqa: ARG002
        return ("-claims", "key")

    def save_model(self, request: HttpRequest, obj: RatingName, form: Any, change: bool) -> None:
        obj.is_edited = True
        super().save_model(request, obj, form, change)
        store.invalidate_caches()
        number = Claim.objects.filter(rating_key=obj.pk).count()
        text = f"{base.plural(number, 'fact-check has', 'fact-checks have')} this label. Readers see the rating within a minute."
        self.message_user(request, text)


class UploadForm(base.Form):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text="A table (CSV, TSV), Faktenforum dump or ClaimReview (JSON), feed (XML) or page (HTML); at most 10 MB unpacked. "
        "The first row of a table names its columns. Required: <code>claim</code> or <code>title</code>. Optional: "
        "<code>rating</code>, <code>url</code> (of the fact-check), <code>publisher</code>, <code>date</code>, "
        "<code>claimant</code>, <code>summary</code>, <code>statement</code>, <code>categories</code>, <code>language</code>, "
        "<code>status</code>, <code>id</code>. Other columns are ignored.",
    )
    language = forms.ChoiceField(
        choices=[("", "as stated, else detected"), *((code, code) for code in CODES)],
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="For claims whose language is not stated.",
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]  # only its name says which form it has
        if not str(file.name).lower().removesuffix(".gz").endswith(file_formats.SUFFIXES):
            raise forms.ValidationError(f"The file's name must end in {', '.join(file_formats.SUFFIXES)}.")
        return file


@admin.register(LoadJob)
class LoadJobAdmin(base.ReadOnly):
    """Loads of claims, the newest first. A file that is uploaded is loaded by a process of its own, which the job's page shows."""

    list_display = ("source", "status", "processed", "created", "updated", "skipped", "errors", "start")
    list_filter = ("status",)
    actions = ("cancel",)
    actions_list = ("upload",)
    empty = "There are no fact-checks yet. Load a file with “Upload claims” above."
    start = base.column("Started", lambda job: base.utc_time(job.created_at))

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        """Show how far a job is and what was refused, or cancel it or let it go on (POST)."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = get_object_or_404(LoadJob, pk=object_id if object_id.isdecimal() and len(object_id) < 19 else 0)
        file, log = _find_upload(job), commands.read_command_log(f"load-{job.pk}")
        is_open = job.status in (LoadJob.Status.PENDING, LoadJob.Status.RUNNING)
        is_silent = timezone.now() - (job.beat_at or job.created_at) > load_jobs.SILENT
        has_stopped = is_open and not log.is_running and (is_silent or file is not None)
        may_resume = file is not None and (has_stopped or (job.status == LoadJob.Status.FAILED and job.processed > 0))
        if request.method == "POST":
            if not self.has_upload_permission(request):
                raise PermissionDenied
            if "cancel" in request.POST and load_jobs.request_cancel(job, is_dead=has_stopped):
                base.log_change(request, [job], "Cancelled.")
                self.message_user(request, "It stops after the current batch. What was stored stays.")
                if has_stopped:
                    shutil.rmtree(_get_upload_folder() / job.fingerprint, ignore_errors=True)
            elif "resume" in request.POST and may_resume and file is not None:
                LoadJob.objects.filter(pk=job.pk).update(cancel_requested=False)
                self._start_load(request, job, file)
            return HttpResponseRedirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            **{"title": f"Load of {job.source}", "opts": self.opts, "job": job, "log": log},
            "is_running": is_open and not has_stopped,
            "has_stopped": has_stopped,
            "may_resume": may_resume,
            "may_change": self.has_upload_permission(request),
            "shown": load_jobs.MOST_MESSAGES,
            "incomplete": load_jobs.format_remark_count(job),
            **_link_loaded_claims(job),
        }
        return render(request, "admin/load_job.html", context)

    @admin.action(description="Cancel after the current batch", permissions=["upload"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[LoadJob]) -> None:
        chosen = [job for job in queryset if load_jobs.request_cancel(job)]
        base.log_change(request, chosen, "Cancelled.")
        self.message_user(request, f"{base.plural(len(chosen), 'load stops', 'loads stop')} after the current batch.")

    def has_upload_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("factchecks.change_loadjob")

    @base.action(description="Upload claims", icon="upload", permissions=["upload"], url_path="upload")
    def upload(self, request: HttpRequest) -> HttpResponse:
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            job, file = _store_upload(form.cleaned_data["file"], form.cleaned_data["language"])
            self._start_load(request, job, file)
            return HttpResponseRedirect(reverse("admin:factchecks_loadjob_change", args=[job.pk]))
        context = {**self.admin_site.each_context(request), "title": "Upload claims", "opts": self.opts, "form": form}
        return render(request, "admin/factcheck_upload.html", context, status=400 if form.errors else 200)

    def _start_load(self, request: HttpRequest, job: LoadJob, file: Path) -> None:
        arguments = [str(file), "--no-vectors", f"--most-bytes={MAX_UPLOAD}"]
        arguments += ["--language", job.language] if job.language else []
        try:
            commands.start_command(f"load-{job.pk}", "loadfactchecks", *arguments, user=request.user.get_username())
        except WireError as error:
            self.message_user(request, f"This file is already being loaded. {error.hint}", messages.WARNING)
        else:
            base.log_change(request, [job], f"Uploaded {job.source}.", ADDITION)


def _link_loaded_claims(job: LoadJob) -> dict[str, str]:
    """Return the lists of the claims that were new and that changed while the job ran."""
    page, begun = reverse("admin:factchecks_claim_changelist"), job.created_at.isoformat()
    ended = (job.beat_at or job.created_at).isoformat()
    new = urlencode({"first_seen_at__gte": begun, "first_seen_at__lte": ended})
    changed = urlencode({"first_seen_at__lt": begun, "changed_at__gte": begun, "changed_at__lte": ended})
    return {"new_claims": f"{page}?{new}", "changed_claims": f"{page}?{changed}"}


def _get_upload_folder() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "desk" / "uploads"


def _find_upload(job: LoadJob) -> Path | None:
    """Return the file that was uploaded for a job; None once it was loaded, or where it came from a terminal."""
    return next(iter((_get_upload_folder() / job.fingerprint).glob("*")), None)


def _store_upload(uploaded: Any, language: str) -> tuple[LoadJob, Path]:
    """Store a file until its job is over; those of jobs that are over go an hour later, when another one comes."""
    unfinished = LoadJob.objects.exclude(status__in=(LoadJob.Status.DONE, LoadJob.Status.CANCELED))
    for folder in _get_upload_folder().glob("*"):
        is_old = time.time() - folder.stat().st_mtime > KEPT
        if is_old and not unfinished.filter(fingerprint=folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)
    _get_upload_folder().mkdir(parents=True, exist_ok=True)
    name = Path(str(uploaded.name)).name
    # A name of 255 characters may be too long for a file; what it ends with says which form it has.
    suffix = next(end for end in file_formats.SUFFIXES if name.lower().removesuffix(".gz").endswith(end))
    with tempfile.TemporaryDirectory(dir=_get_upload_folder().parent) as directory:
        file = Path(directory) / f"upload{suffix}{'.gz' * name.lower().endswith('.gz')}"
        with file.open("wb") as stored:
            for chunk in uploaded.chunks():
                stored.write(chunk)
        job = load_jobs.get_or_create_job(file, language)
        job.source = name[:500]
        job.save(update_fields=["source"])
        folder = _get_upload_folder() / job.fingerprint
        folder.mkdir(exist_ok=True)
        # An upload that goes on under another name has the same bytes.
        known = _find_upload(job) or file.rename(folder / file.name)
    return job, known


class StoryLinkForm(base.ModelForm[StoryLink]):
    claim = base.text_field(label="Fact-check", help_text="The id of a fact-check, or the address of its page.")
    story = base.text_field(help_text="The id of a story, or the address of its page.")

    def clean_claim(self) -> Claim:
        name = unquote(self.cleaned_data["claim"].rpartition("/factcheck/")[2])
        if (found := Claim.objects.with_name(name).first()) is None:
            raise forms.ValidationError("There is no such fact-check.")
        return found

    def clean_story(self) -> Story:
        named = _STORY_ID.search(self.cleaned_data["story"])
        if named is None or (found := Story.objects.filter(chatbotnews_id=named[0]).first()) is None:
            raise forms.ValidationError("There is no such story.")
        return found


@admin.register(StoryLink)
class StoryLinkAdmin(base.ModelAdmin[StoryLink]):
    """Links of stories with claims. What an editor cuts stays cut; what an editor adds is pinned."""

    form = StoryLinkForm
    list_display = ("claim", "story", "kind", "similarity")
    list_filter = ("kind",)
    list_select_related = ("claim", "story")
    fields = ("claim", "story", "kind")
    search_fields = ("claim__synopsis", "story__chatbotnews_id")
    has_delete_permission = base.deny

    def formfield_for_choice_field(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        kwargs["choices"] = [(kind.value, kind.label) for kind in (StoryLink.Origin.PINNED, StoryLink.Origin.CUT)]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: StoryLink | None = None) -> tuple[str, ...]:  # noqa: ARG002
        return ("claim", "story") if obj else ()

    def save_model(self, request: HttpRequest, obj: StoryLink, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        store.invalidate_caches()


@admin.register(ApiKey)
class ApiKeyAdmin(base.KeyedAdmin[ApiKey]):
    """Keys that were handed out. From the first one on everybody needs one: to revoke the last closes fact-checks."""

    server = "factchecks"
    list_display = ("name", "created_at", "revoked_at")
    fields = ("name",)
    actions = ("revoke",)
    has_delete_permission = base.deny

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:  # noqa: ARG002
        obj.issued = api_keys.issue_key(obj.name)  # type: ignore[attr-defined]
        obj.pk = ApiKey.objects.latest("pk").pk

    @admin.action(description="Revoke selected keys", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        chosen = list(queryset.filter(revoked_at=None))
        for key in chosen:
            api_keys.revoke_key(key)
        base.log_change(request, chosen, "Revoked.")
        self.message_user(request, f"Revoked: {base.plural(len(chosen), 'key', 'keys')}.")
