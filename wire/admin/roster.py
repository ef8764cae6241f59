"""The roster's history. Adding to it is a replacement."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from sources.models import Publication, RosterRevision
from sources.vocabulary import FeedType, Tier
from wire import editorial


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
