"""Stories: what is published is never edited in place; every change goes through `wire.editorial`, with a reason."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from wire import editorial
from wire.models import Story, StoryRevision
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
    list_display = ("chatbotnews_id", "headline", "publication", "category", "status", "published_at")
    list_filter = ("status", "category", "tier", "publication")
    list_select_related = ("current", "publication")
    search_fields = ("chatbotnews_id", "current__headline")
    date_hierarchy = "published_at"
    readonly_fields = ("chatbotnews_id", "original_url", "publication", "wire_date", "status", "event", "consensus_score")
    inlines = (RevisionInline,)

    @admin.display(description="Headline")
    def headline(self, story: Story) -> str:
        return story.current.headline[:100] if story.current else "(not published yet)"

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
