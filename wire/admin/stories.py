"""Stories: never edited in place; every change goes through `wire.ingest.corrections`, with a reason."""

import copy
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold import widgets

from config.errors import NotFound, WireError
from wire import queries
from wire.admin import base
from wire.admin.commands import show_command
from wire.admin.review_queues import QueuedAdmin, QueueFilter
from wire.ingest import corrections
from wire.models import Event, Snapshot, Story, StoryRevision
from wire.publishing.story_json import Derived, build_story_out
from wire.text.choices import Category, Status, Topic
from wire.text.plain_text import REASON, plain_line

TEXTS = ("headline", "summary", "author")
NEEDED = {"required": "Every change needs a reason; readers see it."}
WHY = f"Reason: {corrections.SETTLING}"
NAMED = 3  # stories in a message


class FreshStory(base.FreshForm[Story]):
    """A form about the newest revision of a story; a newer one makes it stale."""

    class Meta:
        model = Story
        fields: tuple[str, ...] = ()

    def read_fingerprinted_rows(self) -> object:
        return self.latest().revision

    def latest(self) -> StoryRevision:
        return self.instance.revisions.latest("revision")


class StoryForm(FreshStory, base.PreviewedForm[Story]):
    """Corrections of a story; unchanged fields change nothing."""

    headline = forms.CharField(max_length=1000, widget=widgets.UnfoldAdminTextareaWidget({"rows": 2}))
    summary = forms.CharField(max_length=480, required=False, widget=widgets.UnfoldAdminTextareaWidget({"rows": 4}))
    author = base.text_field(max_length=200, required=False)
    category = forms.ChoiceField(choices=Category.choices, widget=widgets.UnfoldAdminSelectWidget)
    topics = forms.MultipleChoiceField(
        choices=Topic.choices, required=False, widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget
    )
    reason = base.ReasonField(max_length=500, help_text="One sentence; readers see it with the change.", error_messages=NEEDED)

    saved_changes: list[tuple[str, str, str]]  # what saving it changed

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "reason" in self.fields:
            self.fields["reason"].required = not self.is_preview
        latest = self.latest()
        self.initial.update(headline=latest.headline, summary=latest.summary_medium, author=latest.author or "")
        self.initial.update(category=latest.category, topics=latest.topics)

    def clean_headline(self) -> str:
        headline = str(self.cleaned_data["headline"])
        try:
            corrections.clean_typed_texts(headline=headline)
        except WireError as error:
            raise forms.ValidationError(f"{error} {error.hint}") from error
        return headline

    def clean(self) -> dict[str, Any]:
        super().clean()
        if not self.has_changed():
            self.errors.pop("reason", None)  # needed for a change only
            self.cleaned_data.setdefault("reason", "")
        elif not (self.cleaned_data.get("reason") or "reason" in self.errors or self.is_preview):
            self.add_error("reason", NEEDED["required"])  # it had nothing that can be seen
        return self.cleaned_data

    def list_changes(self) -> list[tuple[str, str, str]]:
        """Return each changed field with its old and its new value, in words."""
        return compare_revisions(self.latest(), self.revision(timezone.now().astimezone(dt.UTC).date()))

    def describe_changes(self) -> str:
        """Return the changes in words: "Corrected headline, author; classified"."""
        texts = [name for name in TEXTS if name in self.changed_data]
        changes = [f"corrected {', '.join(texts)}"] if texts else []
        changes += ["classified"] if {"category", "topics"} & set(self.changed_data) else []
        return "; ".join(changes).capitalize()

    def revision(self, today: dt.date) -> StoryRevision:
        """Return the revision that saving the form on `today` (UTC) would make; not saved, without hash."""
        made, data = copy.copy(self.latest()), self.cleaned_data
        texts = corrections.clean_typed_texts(**{name: data[name] for name in TEXTS if name in self.changed_data})
        for name, value in texts.items():
            setattr(made, name, value)
        made.category, made.topics = data["category"], data["topics"]
        if texts:
            made.status, made.corrected_on = Status.CORRECTED, today
        return made


def compare_revisions(old: StoryRevision, new: StoryRevision) -> list[tuple[str, str, str]]:
    """Return what readers see change from one revision to another: what, before, after."""
    was, becomes = (
        {
            "Headline": one.headline,
            "Summary": one.summary_medium,
            "Author": one.author or "",
            "Category": str(Category(one.category).label),
            "Topics": one.topic_labels,
        }
        for one in (old, new)
    )
    return [(name, was[name] or "none", becomes[name] or "none") for name in was if was[name] != becomes[name]]


class WithdrawForm(FreshStory):
    reason = base.ReasonField(max_length=500, help_text="One sentence; readers see it on the story's page.")


class EventForm(base.ActionForm):
    look = widgets.UnfoldAdminTextInputWidget({"placeholder": "Reason, stored in the history", "aria-label": WHY, "title": WHY})
    reason = base.text_field(label="", max_length=500, required=False, widget=look)


@admin.register(Story)
class StoryAdmin(QueuedAdmin[Story], base.TellsRefusals[Story], base.PreviewedAdmin[Story]):
    form = StoryForm
    change_form_template = "admin/story.html"
    list_display = ("headline", "publication", "category", "published", "marks", "reports", "public")
    list_filter = (QueueFilter, "status", "event_pinned", "category", "tier", "publication")
    list_select_related = ("current", "publication", "event")
    list_per_page = 50
    search_fields = ("chatbotnews_id", "current__headline", "event__event_id")
    search_help_text = "Words of the headline, or the id of a story or an event"
    date_hierarchy = "published_at"
    empty = "No story is stored yet. Ingest brings them; the dashboard says whether it is working."
    actions_list = ("twins",)
    readonly_fields = ("changes", "story_id", "publication", "published", "day", "state", "reports", "figures", "address")
    action_form = EventForm
    actions = ("merge_events", "split_off", "pin", "unpin")
    has_add_permission = has_delete_permission = base.deny

    def get_queryset(self, request: HttpRequest) -> QuerySet[Story]:
        same = Story.objects.live().filter(event=OuterRef("event")).order_by().values("event")
        return super().get_queryset(request).annotate(in_event=Subquery(same.annotate(number=Count("pk")).values("number")))

    def get_fieldsets(self, request: HttpRequest, obj: Story | None = None) -> Any:
        sections = [("Correct", TEXTS), ("Classify", ("category", "topics")), ("Why", ("reason", "seen"))]
        shown = sections if self.has_change_permission(request, obj) else []
        facts = ("What changed so far", ("changes",)), ("Facts", self.readonly_fields[1:])
        return [(title, {"fields": fields}) for title, fields in (*shown, *facts)]

    def get_urls(self) -> list[URLPattern]:
        withdraw = self.admin_site.admin_view(self.withdraw)
        return [path("<int:pk>/withdraw/", withdraw, name="wire_story_withdraw"), *super().get_urls()]

    def view_on_site(self, story: Story) -> str | None:
        return reverse("story", args=[story.chatbotnews_id]) if story.current else None

    headline = base.column("Headline", lambda story: get_headline(story)[:140], "current__headline")
    published = base.column("Published", lambda story: base.utc_time(story.published_at), "published_at")
    day = base.column("Day on the wire (UTC)", lambda story: f"{story.wire_date:%-d %b %Y}")
    marks = base.column("Status", lambda story: base.marks(*list_labels(story)))
    state = base.column("Status", lambda story: ", ".join(list_labels(story)) or str(Status(story.status).label).lower())

    @admin.display(description="Before and after")
    def changes(self, story: Story) -> str:
        """Show every published revision after the first: when, why, and each changed field before and after."""
        revisions = list(story.revisions.order_by("revision"))
        rows = [
            (base.utc_time(new.recorded_at), what, was, becomes, new.reason)
            for old, new in pairwise(revisions)
            for what, was, becomes in compare_revisions(old, new)
            or [("Status", str(Status(old.status).label), str(Status(new.status).label))]
        ]
        table = base.table(("When", "What", "Before", "After", "Why"), rows[::-1], "Nothing since it was first published.")
        return format_html('<div class="desk">{}</div>', render_to_string("admin/_table.html", {"table": table}))

    @admin.display(description="Event")
    def reports(self, story: Story) -> str:
        number = base.plural(getattr(story, "in_event", None) or 0, "report", "reports")
        return format_html('<a href="{}">{}</a>', get_event_url(story.event_id), number) if story.event_id else "none yet"

    @admin.display(description="Public page")
    def public(self, story: Story) -> str:
        page = self.view_on_site(story)
        return base.link_public(page, get_headline(story)) if page else ""

    story_id = base.column("Story id", lambda story: story.chatbotnews_id)
    figures = base.column(
        "Corroboration",
        lambda story: (
            "none: a withdrawn story is not counted"
            if story.status == Status.WITHDRAWN
            else base.plural(story.cross_source_count, "independent source", "independent sources")
            + f", consensus {story.consensus_score:.2f}"
        ),
    )

    address = base.column(
        "Original address", lambda row: format_html('<a href="{0}" rel="noopener noreferrer">{0}</a>', row.original_url)
    )

    @admin.action(description="Merge their events into one", permissions=["change"])
    def merge_events(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        events = {str(story.event_id) for story in stories if story.event_id}
        regroup(request, list(stories), "Events merged", lambda reason: corrections.merge_events(events, reason=reason))

    @admin.action(description="Split off into an event of their own", permissions=["change"])
    def split_off(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        ids = [story.chatbotnews_id for story in stories]
        change = "Split off into an event of their own"
        regroup(request, list(stories), change, lambda reason: corrections.split_event(ids, reason=reason))

    @admin.action(description="Pin to their events", permissions=["change"])
    def pin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        pin_stories(request, list(stories), pinned=True)

    @admin.action(description="Unpin (regroup automatically)", permissions=["change"])
    def unpin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        pin_stories(request, list(stories), pinned=False)

    def has_change_permission(self, request: HttpRequest, obj: Story | None = None) -> bool:
        withdrawn = obj is not None and obj.status == Status.WITHDRAWN
        return super().has_change_permission(request, obj) and not withdrawn

    def preview(self, form: StoryForm) -> str:
        """Return the card of a list and the layered citation, as the site would show them."""
        story = form.instance
        revision = form.revision(timezone.now().astimezone(dt.UTC).date())
        shown = build_story_out(story, revision, Derived.from_story(story))
        table = base.table(("What", "Before", "After"), form.list_changes(), "")
        needed = "" if form.cleaned_data.get("reason") else NEEDED["required"]
        context = {"story": shown, "changed": form.describe_changes(), "table": table, "needed": needed}
        return render_to_string("admin/story_preview.html", context)

    def save_model(self, request: HttpRequest, obj: Story, form: StoryForm, change: bool) -> None:  # noqa: ARG002
        changed, data = set(form.changed_data), form.cleaned_data
        form.saved_changes = form.list_changes()
        texts = {name: data[name] for name in TEXTS if name in changed}
        published = [corrections.correct_texts(obj.chatbotnews_id, reason=data["reason"], **texts)] if texts else []
        if changed & {"category", "topics"}:
            topics = [Topic(topic) for topic in data["topics"]]
            category = Category(data["category"])
            published.append(
                corrections.classify_story(obj.chatbotnews_id, category=category, topics=topics, reason=data["reason"])
            )
        self.message_user(request, list_published([snapshot for snapshot in published[-1:] if snapshot]))

    def response_change(self, request: HttpRequest, obj: Story) -> HttpResponse:
        saved = Story.objects.with_text().get(pk=obj.pk)
        see = base.see_public(self.view_on_site(saved))
        self.message_user(request, format_html("Saved: “{}”. {}", link_story(saved), see))
        return HttpResponseRedirect(request.path) if "_continue" in request.POST else self.response_post_save_change(request, obj)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:  # noqa: ARG002
        if not form.describe_changes():
            return []
        changes = "; ".join(f"{what}: “{was}” → “{becomes}”" for what, was, becomes in form.saved_changes)
        return f"{add_reason(form.describe_changes(), form.cleaned_data['reason'])} ({changes})"

    @base.action(description="Merge twins…", icon="merge", permissions=["change"], url_path="twins")
    def twins(self, request: HttpRequest) -> HttpResponse:
        """Merge stories that are one article under two addresses, after a look at which these are."""
        points = (
            "Stories that are one article under two addresses are merged into the older one, whose page and citations stay.",
            "The other one's id and addresses lead there. A story that an editor changed is not merged.",
            "You see the stories first, and then merge them.",
        )
        return show_command(self, request, "mergetwins", "Merge twins", points)

    def withdraw(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for a reason and show the consequences; only a post of that form withdraws."""
        story = get_object_or_404(Story.objects.select_related("current", "publication"), pk=pk)
        back = HttpResponseRedirect(reverse("admin:wire_story_change", args=[pk]))
        if not super().has_change_permission(request, story):
            raise PermissionDenied
        if story.status == Status.WITHDRAWN:
            self.message_user(request, "This story is already withdrawn. Nothing was changed.", messages.WARNING)
            return back
        with transaction.atomic():
            form = WithdrawForm(request.POST if request.method == "POST" else None, instance=story)
            if request.method == "POST" and form.is_valid():
                reason = form.cleaned_data["reason"]
                with show_refusal(request):
                    snapshot = corrections.withdraw_story(story.chatbotnews_id, reason=reason)
                    base.log_change(request, [story], add_reason("Withdrawn", reason))
                    shown = list_published([snapshot] if snapshot else [], "Published again without it")
                    see = base.see_public(self.view_on_site(story))
                    messages.success(request, format_html("Withdrawn: “{}”. {} {}", link_story(story), shown, see))
                    return back
        context = {**self.admin_site.each_context(request), "title": "Withdraw a story", "story": story, "form": form}
        context |= {"headline": get_headline(story), "when": base.utc_time(story.published_at), "opts": self.opts}
        return render(request, "admin/withdraw.html", context)


def get_headline(story: Story) -> str:
    return story.current.headline if story.current else "(not published yet)"


def link_story(story: Story) -> str:
    return base.link(story, get_headline(story))


def get_event_url(event_id: str) -> str:
    return reverse("admin:wire_event_change", args=[event_id])


def get_event_headline(event_id: str) -> str:
    """Return the headline of an event's lead, or the event's id if readers see none of its stories."""
    try:
        return queries.view_event(event_id).lead.headline
    except NotFound:
        return event_id


def _describe_event(event_id: str) -> str:
    number = Story.objects.live().filter(event=event_id).count()
    return f"“{get_event_headline(event_id)}” with {base.plural(number, 'report', 'reports')}"


def link_event(event_id: str) -> str:
    return format_html('<a href="{}">{}</a>', get_event_url(event_id), get_event_headline(event_id))


def describe_storyline(event_id: str) -> str:
    """Return a sentence about the storyline of an event; "" if readers see none of its stories."""
    try:
        first, *later = queries.view_storyline(event_id)[1]
    except NotFound:
        return ""
    if not later:
        return "Their event is in no storyline with other events."
    number = base.plural(len(later) + 1, "event", "events")
    return format_html("Their event is in the storyline of {} that began with “{}”.", number, link_event(first.event_id))


def list_labels(story: Story) -> list[str]:
    """Return the unusual properties of a story."""
    labels = (
        (story.status != Status.LIVE, str(Status(story.status).label).lower()),
        (not story.current_id, "not published yet"),
        (story.event_pinned, "pinned"),
        (story.leads_event, "leads its event"),
    )
    return [label for is_so, label in labels if is_so]


@contextmanager
def show_refusal(request: HttpRequest) -> Iterator[None]:
    """Run a change in a transaction; if the wire refuses it, show the editor why."""
    try:
        with transaction.atomic():
            yield
    except WireError as error:
        messages.error(request, f"{error} {error.hint}")


def regroup(
    request: HttpRequest, stories: Sequence[Story], done: str, change: Callable[[str], list[Snapshot]], merged: str = ""
) -> bool:
    """Change which event stories belong to, with the posted reason; show what was published, or why nothing was changed.

    `merged`: the events of a merge, which the message names instead of stories. Return whether anything was changed.
    """
    reason = plain_line(request.POST.get("reason", ""), REASON)
    with show_refusal(request):
        before = list(dict.fromkeys(str(story.event_id) for story in stories if story.event_id))
        was = ", ".join(_describe_event(event) for event in before[:NAMED])
        had_storyline = Event.objects.filter(pk__in=before).exclude(storyline=None).exists()
        published = change(reason)
        event = Story.objects.filter(pk__in=[story.pk for story in stories], event__isnull=False).values_list("event", flat=True)[0]
        becomes = get_event_headline(event)
        base.log_change(request, stories, f"{add_reason(done, reason)} ({was} → {_describe_event(event)})")
        named = format_html_join("; ", "“{}” ({})", ((link_story(story), story.publication) for story in stories[:NAMED]))
        more = f"; {len(stories) - NAMED} more" if len(stories) > NAMED and not merged else ""
        # A message that names the lead already links to its event in other words.
        leads = any(get_headline(story) == becomes for story in stories[:NAMED]) and not merged
        now = '<a href="{}">Open their event</a>.' if leads else 'Their event now: “<a href="{}">{}</a>”.'
        said = format_html("{}: {}{}. {}", done, merged or named, more, format_html(now, get_event_url(event), becomes))
        storyline = describe_storyline(event) if had_storyline else ""
        given = f"Reason: {end_sentence(reason)}"
        stays = "Automatic grouping leaves these stories where they are now."
        parts = (said, storyline, list_published(published), given, stays, base.see_public(reverse("event", args=[event])))
        messages.success(request, format_html_join(" ", "{}", ((part,) for part in parts if part)))
        return True
    return False


def pin_stories(request: HttpRequest, stories: Sequence[Story], *, pinned: bool) -> None:
    done = "Pinned" if pinned else "Unpinned"
    with transaction.atomic():
        if not corrections.pin_stories([story.chatbotnews_id for story in stories], pinned=pinned):
            messages.warning(request, f"Nothing was changed: {done.lower()} already.")
            return
        base.log_change(request, stories, add_reason(done, request.POST.get("reason", "")))
    stays = "Pinned: these stories stay in their events. Nothing needed to be published."
    moves = "Unpinned: the next publish regroups them and may move them to other events, unless their day is final."
    messages.success(request, stays if pinned else moves)


def list_published(snapshots: Iterable[Snapshot], done: str = "Published") -> str:
    """Return what was published, in a sentence."""
    snapshots = list(snapshots)
    if not snapshots:
        return "Nothing that readers see changed, so nothing was published."
    days = [f"{snapshot.wire_date:%-d %b %Y} (revision {snapshot.revision})" for snapshot in snapshots]
    return f"{done}: {', '.join(days)}."


def find_newest_snapshot() -> int:
    """Return the number of the newest snapshot; 0 before the first."""
    return Snapshot.objects.order_by("-sequence").values_list("sequence", flat=True).first() or 0


def end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def add_reason(describe_changes: str, reason: str) -> str:
    reason = plain_line(reason, REASON)
    return f"{describe_changes}: {reason}" if reason else describe_changes
