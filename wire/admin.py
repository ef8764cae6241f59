"""The editors' desk. What is published is never edited in place: every change goes through `wire.editorial`, with a reason."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from sources.models import Publication, RosterRevision
from sources.vocabulary import FeedType, Tier
from wire import editorial
from wire.models import EditorTake, LexiconTerm, SigningKey, Snapshot, Story, StoryRevision
from wire.publish import publish
from wire.vocabulary import Category, Status, Topic


class ReadOnly(admin.ModelAdmin[Any]):
    """Looked at, never touched."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


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


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnly):
    list_display = ("sequence", "wire_date", "revision", "story_count", "generated_at", "wire_sha256")
    date_hierarchy = "wire_date"
    exclude = ("packed",)
    readonly_fields = ("served",)

    @admin.display(description="As served")
    def served(self, snapshot: Snapshot) -> str:
        address = f"/api/archive/{snapshot.wire_date}.json?revision={snapshot.revision}"
        return format_html('<a href="{}">{}</a>', address, address)


@admin.register(SigningKey)
class SigningKeyAdmin(ReadOnly):
    list_display = ("key_id", "created_at", "retired_at")


@admin.register(EditorTake)
class EditorTakeAdmin(admin.ModelAdmin[EditorTake]):
    """An editor's own brief takes the place of the generated one, and the day is published with it."""

    list_display = ("wire_date", "author", "updated_at")
    fields = ("wire_date", "markdown")

    def save_model(self, request: HttpRequest, obj: EditorTake, form: Any, change: bool) -> None:
        obj.author = request.user.get_username()
        super().save_model(request, obj, form, change)
        if publish(obj.wire_date) is None:
            messages.warning(request, "Kept, but not published: the day is sealed or holds no story yet.")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(LexiconTerm)
class LexiconTermAdmin(admin.ModelAdmin[LexiconTerm]):
    list_display = ("term", "kind", "target", "weight", "origin")
    list_filter = ("kind", "target", "origin")
    search_fields = ("term",)
    fields = ("kind", "target", "term", "weight")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False  # the next update would ship it again; a weight of 0 switches a term off for good

    def save_model(self, request: HttpRequest, obj: LexiconTerm, form: Any, change: bool) -> None:
        obj.origin = LexiconTerm.Origin.EDITOR  # kept through every later update of the shipped lexicon
        super().save_model(request, obj, form, change)


class ReplacementForm(forms.ModelForm[RosterRevision]):
    """One publication out, one in."""

    retire = forms.ModelChoiceField(Publication.objects.none(), help_text="Leaves the roster; its stories stay as they are.")
    slug = forms.SlugField(max_length=60)
    name = forms.CharField(max_length=120)
    aliases = forms.CharField(required=False, help_text="Comma-separated exact names in common use.")
    domains = forms.CharField(help_text="Comma-separated; the canonical one first.")
    tier = forms.TypedChoiceField(choices=Tier.choices, coerce=int)
    homepage = forms.URLField(assume_scheme="https")
    feed_type = forms.ChoiceField(choices=FeedType.choices)
    feed_url = forms.URLField(required=False, assume_scheme="https")
    feed_query = forms.CharField(required=False, max_length=300)
    ai_only = forms.BooleanField(required=False)

    class Meta:
        model = RosterRevision
        fields = ("reason",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "retire" in self.fields:
            self.fields["retire"].queryset = Publication.objects.active()  # type: ignore[attr-defined]
            self.fields["reason"].required = True

    def clean(self) -> dict[str, Any] | None:
        said = self.cleaned_data
        if not said.get("feed_url") and said.get("feed_type") != FeedType.QUERY:
            self.add_error("feed_url", "A feed of this type needs its address.")
        others = Publication.objects.exclude(slug=said.get("slug", ""))
        if Publication.objects.active().filter(slug=said.get("slug", "")).exists():
            self.add_error("slug", "This publication is in the roster already.")
        if others.filter(name=said.get("name", "")).exists():
            self.add_error("name", "Another publication has this name.")
        if not said.get("feed_query") and said.get("feed_type") == FeedType.QUERY:
            self.add_error("feed_query", "A query feed needs its search terms.")
        return said

    def facts(self) -> dict[str, Any]:
        """The publication to admit, with the keys of fixtures/roster.json."""
        said = self.cleaned_data
        feed = {"feed_type": said["feed_type"], "url": said["feed_url"], "query": said["feed_query"], "ai_only": said["ai_only"]}
        return {
            **{name: said[name] for name in ("slug", "name", "tier", "homepage")},
            "aliases": _split(said["aliases"]),
            "domains": _split(said["domains"]),
            "feeds": [feed],
        }


@admin.register(RosterRevision)
class RosterRevisionAdmin(admin.ModelAdmin[RosterRevision]):
    """The roster's history. Adding to it is a replacement."""

    form = ReplacementForm
    list_display = ("number", "on", "admitted", "retired", "reason", "fingerprint")
    fields_shown = ("number", "on", "fingerprint", "members", "admitted", "retired", "reason")

    def get_fields(self, request: HttpRequest, obj: RosterRevision | None = None) -> Any:
        return self.fields_shown if obj else super().get_fields(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: RosterRevision, form: ReplacementForm, change: bool) -> None:  # noqa: ARG002
        said = form.cleaned_data
        made = editorial.replace_publication(said["retire"], form.facts(), reason=said["reason"])
        for column in RosterRevision._meta.concrete_fields:
            setattr(obj, column.attname, getattr(made, column.attname))
        obj._state.adding = False

    def response_add(self, request: HttpRequest, obj: RosterRevision, post_url_continue: str | None = None) -> HttpResponse:
        messages.info(request, f"The roster's fingerprint is now {obj.fingerprint}.")
        return super().response_add(request, obj, post_url_continue)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
