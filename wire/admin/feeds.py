"""Feeds and their health, and trying them by hand."""

import datetime as dt
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminSelectWidget

from config.errors import WireError
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials, mask_address
from sources import feed_health
from sources.models import Feed, FeedHealth, Publication
from wire.admin import base
from wire.admin.review_queues import QueuedAdmin, QueueFilter
from wire.admin.stories import list_published
from wire.ingest.feed_entries import list_feeds
from wire.ingest.run import preview_feed, run_ingest
from wire.models import WireState


class HealthInline(base.StackedInline[FeedHealth, Feed]):
    model = FeedHealth
    can_delete = False
    fields = readonly_fields = (
        *("warnings", "tried_at", "succeeded_at", "changed_at", "newest_item_at", "usual_gap"),
        *("items", "by_outcome", "last_items"),
        *("failures", "failure", "next_try_at", "moved_address"),
    )

    warnings = base.column("To review", lambda known: " ".join(warning.message for warning in feed_health.list_warnings(known)))

    by_outcome = base.column(
        "Items by outcome",
        lambda known: ", ".join(
            f"{number:,} {name.replace(':', ': ').replace('_', ' ')}" for name, number in known.outcomes.items()
        ),
    )

    @admin.display(description="Last items by outcome")
    def last_items(self, known: FeedHealth) -> str:
        rows = [
            (name, item["headline"], item["address"], item["why"], base.utc_time(dt.datetime.fromisoformat(item["at"])))
            for name, items in sorted(known.recent_items.items())
            for item in items
        ]
        cells = format_html_join("", f"<tr>{'<td>{}</td>' * 5}</tr>", rows)
        heads = format_html(5 * '<th scope="col">{}</th>', "Outcome", "Headline", "Address", "Why", "When")
        return format_html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", heads, cells) if rows else ""

    moved_address = base.column("Moved to", lambda known: mask_address(known.moved_to))

    has_add_permission = base.deny


class FeedForm(base.FreshForm[Feed]):
    def clean(self) -> dict[str, Any]:
        data = super().clean()
        # The form does not show the publication, so Django skips the constraint `feed_once`.
        same = Feed.objects.filter(publication=self.instance.publication, url=data.get("url"), query=data.get("query"))
        if same.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(f"{self.instance.publication} already has a feed with this address and search.")
        return data


class TrialForm(base.Form):
    url = base.address_field(label="Address of a feed", max_length=2048)
    publication = forms.ModelChoiceField(
        Publication.objects.none(),
        empty_label="Select value",
        widget=UnfoldAdminSelectWidget,
        help_text="The publication whose rules apply: names, domains, and whether everything is about AI.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_feed = Publication.objects.active().filter(feeds__active=True).distinct()
        self.fields["publication"].queryset = with_feed  # type: ignore[attr-defined]

    def clean_url(self) -> str:
        url = str(self.cleaned_data["url"])
        if not url.startswith(("http://", "https://")):
            raise forms.ValidationError("Give a web address: https://…")
        if has_credentials(url):
            raise forms.ValidationError(CREDENTIALS_REFUSED)
        return url


@admin.register(Feed)
class FeedAdmin(base.MaskedAddressAdmin, QueuedAdmin[Feed], base.FreshAdmin[Feed]):
    """Sources of items. A feed may be tried without storing anything, or fetched at once."""

    form = FeedForm
    list_display = ("publication", "feed_type", "address", "state", "newest", "health__items")
    list_filter = (QueueFilter, "active", "feed_type", "publication__tier")
    list_select_related = ("publication", "health")
    search_fields = ("publication__name", "url", "query")
    fields = ("publication", "feed_type", "url", "query", "ai_only", "active", "note", "seen", "by_hand")
    readonly_fields = ("publication", "by_hand")
    change_form_template = "admin/feed.html"
    inlines = (HealthInline,)
    actions_list = ("trial",)
    has_add_permission = base.deny  # a feed belongs to a publication; it is added there
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changes = super().get_changelist_instance(request)
        if changes.queue and not FeedHealth.objects.exclude(tried_at=None).exists():
            changes.queue = replace(changes.queue, empty="No feed has been fetched yet, so nothing is known about any of them.")
        return changes

    def save_model(self, request: HttpRequest, obj: Feed, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        WireState.raise_version()  # the roster shows the type of each feed

    address = base.column("Address", lambda feed: str(feed)[:80])

    @admin.display(description="Newest item", ordering="health__newest_item_at")
    def newest(self, feed: Feed) -> str:
        known = getattr(feed, "health", None)
        return base.utc_time(known.newest_item_at) if known and known.newest_item_at else ""

    @admin.display(description="State")
    def state(self, feed: Feed) -> str:
        known, now = getattr(feed, "health", None), timezone.now()
        if not feed.active:
            return f"switched off: {known.failure}" if known and known.failure else "switched off"
        if known is None or known.tried_at is None:
            return "not fetched yet"
        if known.failure:
            again = "at the next ingest" if feed_health.is_due(known, now) else f"after {base.utc_time(known.next_try_at)}"
            return f"failing ({known.failures} in a row), tried again {again}: {known.failure}"
        odd = ["silent"] if feed_health.is_silent(known, now) else []
        odd += [f"{warning.code}: {warning.message}" for warning in feed_health.list_warnings(known)]
        return "; ".join(odd) or "fine"

    # These buttons belong to forms of their own (an admin page is one form already); see the template.
    by_hand = base.column(
        "Test and fetch",
        lambda _feed: mark_safe(
            '<span class="desk"><button form="test-feed" type="submit" class="plain">Test this feed</button> '
            '<button form="fetch-feed" type="submit" class="plain">Fetch now</button> '
            "A test shows what would be stored, and stores nothing.</span>"
        ),
    )

    def get_fields(self, request: HttpRequest, obj: Feed | None = None) -> Any:
        fields = super().get_fields(request, obj)
        return fields if _may_test_feeds(request) else [field for field in fields if field != "by_hand"]

    def get_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/test", self.admin_site.admin_view(require_POST(self.test)), name="sources_feed_test"),
            path("<int:pk>/fetch", self.admin_site.admin_view(require_POST(self.fetch)), name="sources_feed_fetch"),
            *super().get_urls(),
        ]

    @base.action(description="Try an address…", icon="science", permissions=["trial"], url_path="trial")
    def trial(self, request: HttpRequest) -> HttpResponse:
        """Show what would be stored from a feed at any address; it is not added to the roster."""
        form = TrialForm(request.POST if request.method == "POST" else None)
        context = {**self.admin_site.each_context(request), "title": "Try an address", "opts": self.opts, "form": form}
        if form.is_valid():
            url, publication = form.cleaned_data["url"], form.cleaned_data["publication"]
            report, items = preview_feed(list_feeds(publication.slug)[0], url)
            context |= {"report": report, "counts": sorted(report.counts.items()), "items": items}
            context |= {"tried": mask_address(url), "publication": publication}
        return render(request, "admin/feed_test.html", context)

    def has_trial_permission(self, request: HttpRequest) -> bool:
        return _may_test_feeds(request)

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what would be stored, item by item."""
        feed = self._get_testable_feed(request, pk)
        report, items = preview_feed(feed)
        context = {**self.admin_site.each_context(request), "title": f"Test of {feed}", "feed": feed, "report": report}
        return render(request, "admin/feed_test.html", context | {"counts": sorted(report.counts.items()), "items": items})

    def fetch(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Run ingest for this feed alone, now."""
        feed = self._get_testable_feed(request, pk)
        try:
            run = run_ingest([feed], by_hand=True)
        except WireError as error:
            messages.error(request, f"{error.message} {error.hint}")
        else:
            (report,) = run.reports
            counts = ", ".join(f"{number} {name}" for name, number in sorted(report.counts.items())) or "nothing new"
            failed = f"The feed could not be read: {report.failure} What was stored before stays."
            outcome = failed if report.failure else f"{report.result.capitalize()}: {counts}."
            outcome += f" {list_published(run.published)}" if run.published else ""
            messages.add_message(request, messages.WARNING if report.failure else messages.SUCCESS, outcome)
            base.log_change(request, [feed], f"Fetched by hand. {outcome}")
        return HttpResponseRedirect(reverse("admin:sources_feed_change", args=[pk]))

    def _get_testable_feed(self, request: HttpRequest, pk: int) -> Feed:
        feed = get_object_or_404(Feed.objects.select_related("publication", "health"), pk=pk)
        if not _may_test_feeds(request):
            raise PermissionDenied
        return feed


def _may_test_feeds(request: HttpRequest) -> bool:
    return request.user.has_perm("sources.try_feed")
