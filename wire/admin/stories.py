"""Stories: what is published is never edited in place; every change goes through `wire.editorial`, with a reason."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest

from config.errors import WireError
from wire import editorial
from wire.models import Snapshot, Story, StoryRevision
from wire.vocabulary import Category, Status, Topic


class StoryForm(forms.ModelForm[Story]):
    """What an editor may do to a story. Left as they are, fields change nothing."""

    headline = forms.CharField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))
    summary = forms.CharField(max_length=480, required=False, widget=forms.Textarea(attrs={"rows": 4}))
    author = forms.CharField(max_length=200, required=False)
    category = forms.ChoiceField(choices=Category.choices)
    topics = forms.MultipleChoiceField(choices=Topic.choices, required=False, widget=forms.CheckboxSelectMultiple)
    withdraw = forms.BooleanField(required=False, help_text="Leaves every list and is not cited any more. There is no way back.")
    reason = forms.CharField(max_length=500, required=False, help_text="One sentence; published with the change.")

    class Meta:
        model = Story
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        latest = self.instance.revisions.order_by("-revision").first()
        if latest:
            self.initial.update(headline=latest.headline, summary=latest.summary_medium, author=latest.author or "")
            self.initial.update(category=latest.category, topics=latest.topics)

    def clean(self) -> dict[str, Any] | None:
        if self.has_changed() and not self.cleaned_data.get("reason"):
            self.add_error("reason", "Every change needs a reason; readers see it.")
        return self.cleaned_data


class EventForm(ActionForm):
    """What is asked beside an action on events."""

    reason = forms.CharField(max_length=500, required=False, widget=forms.TextInput(attrs={"placeholder": "Reason, published"}))


class RevisionInline(admin.TabularInline[StoryRevision, Story]):
    model = StoryRevision
    extra = 0
    can_delete = False
    fields = readonly_fields = ("revision", "status", "headline", "recorded_at", "reason")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Story)
class StoryAdmin(admin.ModelAdmin[Story]):
    form = StoryForm
    list_display = ("chatbotnews_id", "headline", "publication", "category", "status", "event", "event_pinned", "published_at")
    list_filter = ("status", "event_pinned", "category", "tier", "publication")
    list_select_related = ("current", "publication")
    search_fields = ("chatbotnews_id", "current__headline", "event__event_id")
    date_hierarchy = "published_at"
    readonly_fields = (
        "chatbotnews_id",
        "original_url",
        "publication",
        "wire_date",
        "status",
        "event",
        "event_pinned",
        "consensus_score",
    )
    inlines = (RevisionInline,)
    action_form = EventForm
    actions = ("merge_events", "split_off", "pin", "unpin")

    @admin.display(description="Headline")
    def headline(self, story: Story) -> str:
        return story.current.headline[:100] if story.current else "(not published yet)"

    @admin.action(description="Merge their events into one", permissions=["change"])
    def merge_events(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        events = {str(story.event_id) for story in stories if story.event_id}
        self._settle(request, lambda reason: editorial.merge(events, reason=reason))

    @admin.action(description="Split off into an event of their own", permissions=["change"])
    def split_off(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        ids = [story.chatbotnews_id for story in stories]
        self._settle(request, lambda reason: editorial.split(ids, reason=reason))

    @admin.action(description="Pin to their events", permissions=["change"])
    def pin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        editorial.pin([story.chatbotnews_id for story in stories])
        self.message_user(request, "Pinned: the machine leaves them in their events.")

    @admin.action(description="Unpin: let the machine tell their events", permissions=["change"])
    def unpin(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        editorial.pin([story.chatbotnews_id for story in stories], pinned=False)
        self.message_user(request, "Unpinned: events of unsealed days are told anew at the next publish.")

    def _settle(self, request: HttpRequest, change: Callable[[str], list[Snapshot]]) -> None:
        try:
            published = change(request.POST.get("reason", ""))
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
        if "withdraw" in changed:
            editorial.withdraw(obj.chatbotnews_id, reason=said["reason"])
            return
        texts = {name: said[name] for name in ("headline", "summary", "author") if name in changed}
        if texts:
            editorial.correct(obj.chatbotnews_id, reason=said["reason"], **texts)
        if changed & {"category", "topics"}:
            topics = [Topic(topic) for topic in said["topics"]]
            editorial.classify(obj.chatbotnews_id, category=Category(said["category"]), topics=topics, reason=said["reason"])
