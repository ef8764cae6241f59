"""Stories: what is published is never edited in place; every change goes through `wire.intake.corrections`, with a reason."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from config.errors import WireError
from wire.admin.base import ActionForm, FreshForm, TellsRefusals, link, never, remember
from wire.intake import corrections
from wire.models import Snapshot, Story, StoryRevision
from wire.stories.text import REASON, plain_line
from wire.stories.vocabulary import Category, Status, Topic

TEXTS = ("headline", "summary", "author")
WHY = f"Reason: {corrections.SETTLING}"


class StoryForm(FreshForm[Story]):
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

    class Meta:
        model = Story
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        latest = self._latest()
        if latest:
            self.initial.update(headline=latest.headline, summary=latest.summary_medium, author=latest.author or "")
            self.initial.update(category=latest.category, topics=latest.topics)

    def clean_reason(self) -> str:
        return plain_line(self.cleaned_data["reason"], REASON)

    def stored(self) -> object:
        return latest.revision if (latest := self._latest()) else None

    def _latest(self) -> StoryRevision | None:
        return self.instance.revisions.order_by("-revision").first()

    def clean(self) -> dict[str, Any]:
        super().clean()
        if self.has_changed() and not self.cleaned_data.get("reason"):
            self.add_error("reason", "Every change needs a reason; readers see it.")
        return self.cleaned_data

    def done(self) -> str:
        """What the editor does, in words: "Corrected headline, author; classified"."""
        changed = self.changed_data
        if "withdraw" in changed:
            return "Withdrawn"
        texts = [name for name in TEXTS if name in changed]
        done = [f"corrected {', '.join(texts)}"] if texts else []
        done += ["classified"] if {"category", "topics"} & set(changed) else []
        return "; ".join(done).capitalize()


class EventForm(ActionForm):
    """What is asked beside an action on events."""

    reason = forms.CharField(
        label="",
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "Reason, stored in the history", "aria-label": WHY, "title": WHY}),
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
    action_form = EventForm
    actions = ("merge_events", "split_off", "pin", "unpin")
    has_add_permission = has_delete_permission = never

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

    def view_on_site(self, story: Story) -> str | None:
        """Its revisions and the other stories of its event are on its public page."""
        return reverse("story", args=[story.chatbotnews_id]) if story.current else None

    @admin.display(description="Headline")
    def headline(self, story: Story) -> str:
        return story.current.headline[:100] if story.current else "(not published yet)"

    @admin.display(description="Original address")
    def address(self, story: Story) -> str:
        return format_html('<a href="{0}" rel="noopener noreferrer">{0}</a>', story.original_url)

    @admin.action(description="Merge their events into one", permissions=["change"])
    def merge_events(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        events = {str(story.event_id) for story in stories if story.event_id}
        self._settle(request, stories, "Events merged", lambda reason: corrections.merge(events, reason=reason))

    @admin.action(description="Split off into an event of their own", permissions=["change"])
    def split_off(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        ids = [story.chatbotnews_id for story in stories]
        self._settle(request, stories, "Split off into an event of their own", lambda reason: corrections.split(ids, reason=reason))

    @admin.action(description="Pin to their events", permissions=["change"])
    def pin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        self._pin(request, stories, "Pinned", pinned=True)
        self.message_user(request, "Pinned: they stay in their events.")

    @admin.action(description="Unpin (regroup automatically)", permissions=["change"])
    def unpin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        self._pin(request, stories, "Unpinned", pinned=False)
        self.message_user(request, "Unpinned: regrouped at the next publish, unless their day is final.")

    def _pin(self, request: HttpRequest, stories: QuerySet[Story], done: str, *, pinned: bool) -> None:
        with transaction.atomic():
            corrections.pin([story.chatbotnews_id for story in stories], pinned=pinned)
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
        self.message_user(request, f"Final. Published: {days}.")

    def has_change_permission(self, request: HttpRequest, obj: Story | None = None) -> bool:
        withdrawn = obj is not None and obj.status == Status.WITHDRAWN
        return super().has_change_permission(request, obj) and not withdrawn

    def save_model(self, request: HttpRequest, obj: Story, form: StoryForm, change: bool) -> None:  # noqa: ARG002
        changed, data = set(form.changed_data), form.cleaned_data
        if "withdraw" in changed:
            corrections.withdraw(obj.chatbotnews_id, reason=data["reason"])
            return
        texts = {name: data[name] for name in TEXTS if name in changed}
        if texts:
            corrections.correct(obj.chatbotnews_id, reason=data["reason"], **texts)
        if changed & {"category", "topics"}:
            topics = [Topic(topic) for topic in data["topics"]]
            corrections.classify(obj.chatbotnews_id, category=Category(data["category"]), topics=topics, reason=data["reason"])

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:  # noqa: ARG002
        return _because(form.done(), form.cleaned_data["reason"]) if form.done() else []


def story_link(story: Story) -> str:
    """A story's headline, leading to its page at the desk."""
    return link(story, story.current.headline if story.current else "(not published yet)")


def _because(done: str, reason: str) -> str:
    reason = plain_line(reason, REASON)
    return f"{done}: {reason}" if reason else done
