"""Feeds and their health: what they bring, why they fail, and trying them by hand."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from config.errors import WireError
from sources import health
from sources.models import Feed, FeedHealth
from wire.admin.base import FreshAdmin, FreshForm, StackedInline, moment, never, remember
from wire.admin.queues import QueuedAdmin, QueueFilter
from wire.intake.ingest import collect, try_out
from wire.intake.normalise import Rejected
from wire.models import WireState


class HealthInline(StackedInline[FeedHealth, Feed]):
    model = FeedHealth
    can_delete = False
    fields = readonly_fields = (
        *("tried_at", "succeeded_at", "changed_at", "newest_item_at", "usual_gap", "items", "outcomes"),
        *("failures", "failure_code", "failure", "next_try_at", "moved_to"),
    )

    has_add_permission = never


class FeedForm(FreshForm[Feed]):
    """A feed of the publication that it has."""

    def clean(self) -> dict[str, Any]:
        """The publication is not asked for, so that Django leaves the rule out that it belongs to: `feed_once`."""
        data = super().clean()
        same = Feed.objects.filter(publication=self.instance.publication, url=data.get("url"), query=data.get("query"))
        if same.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(f"{self.instance.publication} has a feed with this address and search already.")
        return data


@admin.register(Feed)
class FeedAdmin(QueuedAdmin[Feed], FreshAdmin[Feed]):
    """Where items are looked for. A feed may be tried without taking anything in, or fetched at once."""

    form = FeedForm
    list_display = ("publication", "feed_type", "address", "state", "newest", "health__items")
    list_filter = (QueueFilter, "active", "feed_type", "publication__tier")
    list_select_related = ("publication", "health")
    search_fields = ("publication__name", "url", "query")
    fields = ("publication", "feed_type", "url", "query", "ai_only", "active", "note", "seen", "by_hand")
    readonly_fields = ("publication", "by_hand")
    change_form_template = "admin/feed.html"
    inlines = (HealthInline,)
    has_add_permission = never  # a feed belongs to a publication; it is added there
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}

    def save_model(self, request: HttpRequest, obj: Feed, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        WireState.raise_version()  # the roster tells the kind of each source's feed

    @admin.display(description="Address")
    def address(self, feed: Feed) -> str:
        return str(feed)[:80]

    @admin.display(description="Newest item", ordering="health__newest_item_at")
    def newest(self, feed: Feed) -> str:
        known = getattr(feed, "health", None)
        return moment(known.newest_item_at) if known and known.newest_item_at else ""

    @admin.display(description="State")
    def state(self, feed: Feed) -> str:
        known, now = getattr(feed, "health", None), timezone.now()
        if not feed.active:
            return f"switched off: {known.failure}" if known and known.failure else "switched off"
        if known is None or known.tried_at is None:
            return "not fetched yet"
        if known.failure:
            return f"failing ({known.failures} in a row, {health.circuit(known, now).label.lower()}): {known.failure}"
        return "silent" if health.is_silent(known, now) else "fine"

    @admin.display(description="By hand")
    def by_hand(self, feed: Feed) -> str:  # noqa: ARG002
        """Buttons of forms of their own (an admin page is one form already); see the template."""
        return format_html(
            '<span class="desk"><button form="test-feed" type="submit" class="plain">Test this feed</button> '
            '<button form="fetch-feed" type="submit" class="plain">Fetch now</button> {}</span>',
            "A test shows what would be taken in and writes nothing.",
        )

    def get_fields(self, request: HttpRequest, obj: Feed | None = None) -> Any:
        fields = super().get_fields(request, obj)
        return fields if _may_try(request) else [field for field in fields if field != "by_hand"]

    def get_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/test", self.admin_site.admin_view(require_POST(self.test)), name="sources_feed_test"),
            path("<int:pk>/fetch", self.admin_site.admin_view(require_POST(self.fetch)), name="sources_feed_fetch"),
            *super().get_urls(),
        ]

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What would be taken in, item by item."""
        feed = self._feed(request, pk)
        report, tried = try_out(feed)
        rows: Sequence[tuple[str, str, str, str]] = [
            (entry.title, entry.url, *((o.code, o.message) if isinstance(o, Rejected) else (str(o), ""))) for entry, o in tried
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": f"Test of {feed}",
            "feed": feed,
            "report": report,
            "counts": sorted(report.counts.items()),
            "rows": rows,
        }
        return render(request, "admin/feed_test.html", context)

    def fetch(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A run of ingest for this feed alone, now."""
        feed = self._feed(request, pk)
        try:
            run = collect([feed], by_hand=True)
        except WireError as error:
            messages.error(request, f"{error.message} {error.hint}")
        else:
            (report,) = run.reports
            counts = ", ".join(f"{number} {name}" for name, number in sorted(report.counts.items()))
            outcome = (
                f"{report.failure} Nothing was lost."
                if report.failure
                else f"{report.result.capitalize()}: {counts or 'nothing new'}."
            )
            outcome += f" {len(run.published)} snapshots published."
            messages.add_message(request, messages.WARNING if report.failure else messages.SUCCESS, outcome)
            remember(request, [feed], f"Fetched by hand. {outcome}")
        return HttpResponseRedirect(reverse("admin:sources_feed_change", args=[pk]))

    def _feed(self, request: HttpRequest, pk: int) -> Feed:
        feed = get_object_or_404(Feed.objects.select_related("publication", "health"), pk=pk)
        if not _may_try(request):
            raise PermissionDenied
        return feed


def _may_try(request: HttpRequest) -> bool:
    return request.user.has_perm("sources.try_feed")
