"""Stories: what is published is never edited in place; every change goes through `wire.editorial`, with a reason."""

from collections.abc import Callable, Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from config.errors import InvalidArgument, WireError
from wire import consensus, editorial
from wire.admin.base import ActionForm, TellsRefusals, lines, remember, table
from wire.models import Snapshot, Story, StoryRevision, WireState
from wire.text import REASON, plain_line
from wire.vocabulary import Category, Status, Topic

TEXTS = ("headline", "summary", "author")
COMPARED = ("status", "headline", "summary_medium", "author", "category", "topics", "credited_source", "via", "language")
MOST_REVISIONS = 20
MOST_SIBLINGS = 50
WHY = f"Reason: {editorial.SETTLING}"
OUTDATED = "The story got a new revision meanwhile."


class StoryForm(forms.ModelForm[Story]):
    """What an editor may do to a story. Left as they are, fields change nothing."""

    headline = forms.CharField(max_length=1000, widget=UnfoldAdminTextareaWidget({"rows": 2}))
    summary = forms.CharField(max_length=480, required=False, widget=UnfoldAdminTextareaWidget({"rows": 4}))
    author = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)
    category = forms.ChoiceField(choices=Category.choices, widget=UnfoldAdminSelectWidget)
    topics = forms.MultipleChoiceField(choices=Topic.choices, required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget)
    withdraw = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanWidget,
        help_text="Leaves every list and is not cited any more. There is no way back.",
    )
    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="One sentence; published with the change.",
    )

    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)  # the revision that the other fields are of

    class Meta:
        model = Story
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        latest = self.instance.revisions.order_by("-revision").first()
        if latest:
            self.initial.update(headline=latest.headline, summary=latest.summary_medium, author=latest.author or "")
            self.initial.update(category=latest.category, topics=latest.topics, seen=latest.revision)

    def clean_reason(self) -> str:
        return plain_line(self.cleaned_data["reason"], REASON)

    def clean(self) -> dict[str, Any] | None:
        if self.cleaned_data.get("seen") != self.initial.get("seen"):
            raise forms.ValidationError(f"{OUTDATED} Nothing was saved: open it again.")
        if self.has_changed() and not self.cleaned_data.get("reason"):
            self.add_error("reason", "Every change needs a reason; readers see it.")
        return self.cleaned_data

    def done(self) -> str:
        """What the editor does, in words: "Corrected headline, author; classified"."""
        changed = self.changed_data
        if "withdraw" in changed:
            return "Withdrawn"
        texts = [name for name in TEXTS if name in changed]
        told = [f"corrected {', '.join(texts)}"] if texts else []
        told += ["classified"] if {"category", "topics"} & set(changed) else []
        return "; ".join(told).capitalize()


class EventForm(ActionForm):
    """What is asked beside an action on events."""

    reason = forms.CharField(
        label="",
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "Reason, kept in the history", "aria-label": WHY, "title": WHY}),
    )


@admin.register(Story)
class StoryAdmin(TellsRefusals[Story]):
    form = StoryForm
    list_display = ("chatbotnews_id", "headline", "publication", "category", "status", "event", "event_pinned", "published_at")
    list_filter = ("status", "event_pinned", "category", "tier", "publication")
    list_select_related = ("current", "publication", "event")
    search_fields = ("chatbotnews_id", "current__headline", "event__event_id")
    date_hierarchy = "published_at"
    readonly_fields = (
        *("chatbotnews_id", "address", "publication", "wire_date", "status"),
        *("event", "event_pinned", "consensus_score", "cross_source_count"),
    )
    change_form_outer_after_template = "admin/story_panels.html"
    action_form = EventForm
    actions = ("merge_events", "split_off", "pin", "unpin")

    def get_fieldsets(self, request: HttpRequest, obj: Story | None = None) -> Any:
        facts = (None, {"fields": self.readonly_fields})
        if not self.has_change_permission(request, obj):
            return (facts,)
        return (
            facts,
            ("Correct", {"fields": TEXTS}),
            ("Classify", {"fields": ("category", "topics")}),
            ("Withdraw", {"fields": ("withdraw",)}),
            ("Why", {"fields": ("reason", "seen")}),
        )

    @admin.display(description="Headline")
    def headline(self, story: Story) -> str:
        return story.current.headline[:100] if story.current else "(not published yet)"

    @admin.display(description="Original address")
    def address(self, story: Story) -> str:
        return format_html('<a href="{0}" rel="noopener noreferrer">{0}</a>', story.original_url)

    @admin.action(description="Merge their events into one", permissions=["change"])
    def merge_events(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        events = {str(story.event_id) for story in stories if story.event_id}
        self._settle(request, stories, "Events merged", lambda reason: editorial.merge(events, reason=reason))

    @admin.action(description="Split off into an event of their own", permissions=["change"])
    def split_off(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        ids = [story.chatbotnews_id for story in stories]
        self._settle(request, stories, "Split off into an event of their own", lambda reason: editorial.split(ids, reason=reason))

    @admin.action(description="Pin to their events", permissions=["change"])
    def pin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        self._pin(request, stories, "Pinned", pinned=True)
        self.message_user(request, "Pinned: the machine leaves them in their events.")

    @admin.action(description="Unpin: let the machine tell their events", permissions=["change"])
    def unpin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        self._pin(request, stories, "Unpinned", pinned=False)
        self.message_user(request, "Unpinned: events of unsealed days are told anew at the next publish.")

    def _pin(self, request: HttpRequest, stories: QuerySet[Story], done: str, *, pinned: bool) -> None:
        with transaction.atomic():
            editorial.pin([story.chatbotnews_id for story in stories], pinned=pinned)
            remember(request, stories, _because(done, request.POST.get("reason", "")))

    def _settle(self, request: HttpRequest, stories: QuerySet[Story], done: str, change: Callable[[str], list[Snapshot]]) -> None:
        reason = request.POST.get("reason", "")
        chosen = list(stories)
        try:
            with transaction.atomic():
                published = change(reason)
                remember(request, chosen, _because(done, reason))
        except WireError as error:
            self.message_user(request, f"{error} {error.hint}", messages.ERROR)
            return
        days = ", ".join(str(snapshot) for snapshot in published) or "nothing that is public changed"
        self.message_user(request, f"Settled for good. Published: {days}.")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Story | None = None) -> bool:
        withdrawn = obj is not None and obj.status == Status.WITHDRAWN
        return super().has_change_permission(request, obj) and not withdrawn

    def save_model(self, request: HttpRequest, obj: Story, form: StoryForm, change: bool) -> None:  # noqa: ARG002
        changed, said = set(form.changed_data), form.cleaned_data
        WireState.lock()  # two forms that were read at once are saved one after the other, and the second is of an older revision
        if said["seen"] != _newest(obj):
            raise InvalidArgument(OUTDATED, "Look at it again.")
        if "withdraw" in changed:
            editorial.withdraw(obj.chatbotnews_id, reason=said["reason"])
            return
        texts = {name: said[name] for name in TEXTS if name in changed}
        if texts:
            editorial.correct(obj.chatbotnews_id, reason=said["reason"], **texts)
        if changed & {"category", "topics"}:
            topics = [Topic(topic) for topic in said["topics"]]
            editorial.classify(obj.chatbotnews_id, category=Category(said["category"]), topics=topics, reason=said["reason"])

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:  # noqa: ARG002
        return _because(form.done(), form.cleaned_data["reason"]) if form.done() else []

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        story: Story = context["original"]
        revisions = list(story.revisions.order_by("-revision")[: MOST_REVISIONS + 1])
        before: list[StoryRevision | None] = [*revisions[1:], None]
        context["revisions"] = table(
            ("Revision", "Recorded", "What changed", "Reason"),
            [
                (one.revision, f"{one.recorded_at:%Y-%m-%d %H:%M}", _what_changed(old, one), one.reason)
                for one, old in zip(revisions, before, strict=True)
            ][:MOST_REVISIONS],
            "It has no revision.",
        )
        context["siblings"] = table(
            ("Headline", "Publication", "Similarity", "Published"),
            _siblings(story),
            "No other story tells of the same event.",
        )
        return super().render_change_form(request, context, *args, **kwargs)


def story_link(story: Story) -> str:
    """A story's headline, leading to its page at the desk."""
    headline = story.current.headline if story.current else "(not published yet)"
    return format_html('<a href="{}">{}</a>', reverse("admin:wire_story_change", args=[story.pk]), headline)


def _newest(story: Story) -> int | None:
    return story.revisions.order_by("-revision").values_list("revision", flat=True).first()


def _because(done: str, reason: str) -> str:
    reason = plain_line(reason, REASON)
    return f"{done}: {reason}" if reason else done


def _what_changed(old: StoryRevision | None, new: StoryRevision) -> str:
    """Every field that differs, before and after."""
    if old is None:
        return format_html("first told: {}", new.headline)
    told = ((name, _said(old, name), _said(new, name)) for name in COMPARED)
    changed = [(name.removesuffix("_medium").replace("_", " "), was, now) for name, was, now in told if was != now]
    return lines("{}: {} → {}", changed) or "nothing that is shown"


def _said(revision: StoryRevision, name: str) -> str:
    value = getattr(revision, name)
    return (", ".join(value) if isinstance(value, list) else str(value or "")) or "none"


def _siblings(story: Story) -> Iterator[tuple[object, ...]]:
    """The other live stories of its event, newest first."""
    if story.current is None or story.event_id is None:
        return
    others = (
        Story.objects.live()
        .filter(event=story.event_id)
        .exclude(pk=story.pk)
        .with_text()
        .select_related("publication")
        .newest_first()
    )
    for other in others[:MOST_SIBLINGS]:
        assert other.current is not None, "live stories are published"  # noqa: S101
        alike = consensus.similarity(story.current.headline, other.current.headline)
        yield story_link(other), other.publication.name, f"{alike:.2f}", f"{other.published_at:%Y-%m-%d %H:%M}"
