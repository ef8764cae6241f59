"""The roster: its publications and its history. A place on it changes hands by replacement only: a form, a preview, a change."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from unfold import widgets

from config.errors import WireError
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials
from sources import picture_store, publication_names, roster
from sources.choices import ROSTER_SIZE, FeedType, Tier
from sources.models import Feed, Publication, RosterRevision
from wire.admin import base
from wire.admin.lexicon import ExportingAdmin
from wire.admin.stories import find_newest_snapshot, list_published
from wire.ingest import corrections
from wire.models import Snapshot, Story, WireState

ALIASES: Final = "Other names in common use, spelled exactly as they are used, one per line."
FIXED: Final = "These are the roster's public record, so nobody can edit them. “Replace…” gives this place to another publication."


class ReplacementForm(base.Form):
    retire = forms.ModelChoiceField(
        Publication.objects.none(),
        widget=widgets.UnfoldAdminSelectWidget,
        help_text="Leaves the roster; its stories stay as they are.",
    )
    name = base.text_field(max_length=120)
    slug = forms.SlugField(
        max_length=60,
        widget=widgets.UnfoldAdminTextInputWidget,
        help_text="Part of its address, /sources/…: letters, digits, hyphens, underscores. It can never be changed.",
    )
    aliases = base.LinesField(required=False, help_text=ALIASES)
    domains = base.LinesField(help_text="Host names, one per line; the main one first.")
    tier = forms.TypedChoiceField(choices=Tier.choices, coerce=int, widget=widgets.UnfoldAdminSelectWidget)
    homepage = base.address_field(max_length=500)
    feed_type = forms.ChoiceField(choices=FeedType.choices, widget=widgets.UnfoldAdminSelectWidget)
    feed_url = base.address_field(label="Feed address", required=False, max_length=500)
    feed_query = base.text_field(
        label="Feed search", required=False, max_length=300, help_text="For a feed of search results: the search terms."
    )
    ai_only = forms.BooleanField(
        label="AI only",
        required=False,
        widget=widgets.UnfoldBooleanWidget,
        help_text="Everything in the feed is about AI; otherwise items are filtered.",
    )

    reason = forms.CharField(
        max_length=500, widget=widgets.UnfoldAdminTextareaWidget({"rows": 2}), help_text="One sentence; readers see it."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["retire"].queryset = Publication.objects.active()  # type: ignore[attr-defined]

    def clean_domains(self) -> list[str]:
        domains: list[str] = self.cleaned_data["domains"]
        for domain in domains:
            found = publication_names.ADDRESS.fullmatch(domain)
            if found is None or found["scheme"]:
                raise forms.ValidationError(f"{domain} is not a host name; write it like example.com or example.com/ai.")
        return domains

    def clean_reason(self) -> str:
        try:
            return corrections.validate_reason(self.cleaned_data["reason"])
        except WireError as error:
            raise forms.ValidationError(f"{error} {error.hint}") from error

    def clean(self) -> dict[str, Any] | None:
        data = self.cleaned_data
        for field in ("homepage", "feed_url"):
            if has_credentials(str(data.get(field, ""))):
                self.add_error(field, CREDENTIALS_REFUSED)
        if not data.get("feed_url") and data.get("feed_type") != FeedType.QUERY:
            self.add_error("feed_url", "A feed of this type needs its address.")
        if not str(data.get("feed_query", "")).isprintable():
            self.add_error("feed_query", "Use visible characters.")
        elif not data.get("feed_query") and data.get("feed_type") == FeedType.QUERY:
            self.add_error("feed_query", "A query feed needs its search terms.")
        known = Publication.objects.filter(slug=data.get("slug", "")).first()
        if known and known.active:
            self.add_error("slug", "This publication is in the roster already.")
        elif known and data.get("name") not in {known.name, None}:
            why = f"{known.name} had this slug, and its stories still use it. Choose another slug, or give its name to readmit it."
            self.add_error("slug", why)
        if Publication.objects.exclude(slug=data.get("slug", "")).filter(name=data.get("name", "")).exists():
            self.add_error("name", "Another publication has this name.")
        if not self.errors:  # no name that a reader would take for a publication that stays in the roster
            stay = [publication.as_name() for publication in Publication.objects.active().exclude(pk=data["retire"].pk)]
            for field in ("name", "aliases", "domains"):
                for text in [data[field]] if field == "name" else data[field]:
                    if objection := publication_names.find_objection(text, stay):
                        self.add_error(field, objection)
        return data

    def build_publication_facts(self) -> dict[str, Any]:
        """Return the publication to admit, with the keys of fixtures/roster.json."""
        data = self.cleaned_data
        feed = {"feed_type": data["feed_type"], "url": data["feed_url"], "query": data["feed_query"], "ai_only": data["ai_only"]}
        return {
            **{name: data[name] for name in ("slug", "name", "tier", "homepage", "aliases", "domains")},
            "feeds": [feed],
        }


def _confirm_replacement(request: HttpRequest, form: ReplacementForm, context: Mapping[str, Any]) -> HttpResponse:
    data, facts = form.cleaned_data, form.build_publication_facts()
    before, after = roster.get_current_roster(), roster.preview_replacement(data["retire"], facts, reason=data["reason"])
    proposal = f"{after.number} {after.fingerprint}"
    confirmed = request.POST.get("confirmed")
    if confirmed == proposal:
        with transaction.atomic():
            newest = find_newest_snapshot()
            made = corrections.replace_publication(data["retire"], facts, reason=data["reason"])
            base.log_change(request, [made], data["reason"], ADDITION)
        snapshots = Snapshot.objects.filter(sequence__gt=newest)
        published = list_published(snapshots) if snapshots else "No day is open, so none was published; /sources shows the change."
        left = f"{data['retire']} left and {data['name']} joined. The next ingest fetches the new feed; the stories of both stay."
        messages.success(request, f"{left} {published} The roster's fingerprint is now {made.fingerprint}.")
        return HttpResponseRedirect(reverse("admin:sources_rosterrevision_change", args=[made.pk]))
    if confirmed:
        messages.warning(request, "The roster or the form has changed, so nothing was replaced. Look again, then confirm.")
    changes = _list_changes(before, after, data["retire"], facts)
    return render(request, "admin/replace.html", {**context, "changes": changes, "proposal": proposal})


def _list_changes(
    before: RosterRevision, after: RosterRevision, retire: Publication, facts: Mapping[str, Any]
) -> Sequence[Mapping[str, object]]:
    known = Publication.objects.filter(slug=facts["slug"]).first()
    (feed,) = facts["feeds"]
    leaves = [
        ("Leaves the roster", retire.name),
        ("Tier", retire.tier_label),
        ("Domains", ", ".join(retire.domains)),
        ("Its stories, which stay as they are", Story.objects.filter(publication=retire).count()),
        ("Its feeds, which are no longer fetched", ", ".join(map(str, retire.feeds.all())) or "none"),
    ]
    comes = [
        ("Readmitted" if known else "Admitted", facts["name"]),
        ("Slug", facts["slug"]),
        ("Aliases", ", ".join(facts["aliases"]) or "none"),
        ("Domains", ", ".join(facts["domains"])),
        ("Tier", Tier(facts["tier"]).label),
        ("Home page", facts["homepage"]),
        ("Feed", f"{FeedType(feed['feed_type']).label}: {feed['url'] or feed['query']}"),
        ("Everything in it is about AI", "yes" if feed["ai_only"] else "no; items are filtered"),
    ]
    lock = [
        ("Revision of the roster", f"{before.number} → {after.number}"),
        ("Place on the roster", retire.seat),
        ("Fingerprint now", before.fingerprint),
        ("Fingerprint then", after.fingerprint),
        ("Reason, public", after.reason),
    ]
    return [base.table(("", title), rows, "") for title, rows in (("Out", leaves), ("In", comes), ("The roster", lock))]


class FeedInline(base.MaskedAddressAdmin, base.TabularInline[Feed, Publication]):
    model = Feed
    extra = 0
    show_change_link = True  # to its health, and to trying it
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}


class PublicationForm(base.FreshForm[Publication]):
    aliases = base.LinesField(required=False, help_text=ALIASES)

    def read_fingerprinted_rows(self) -> object:
        return super().read_fingerprinted_rows(), list(Feed.objects.filter(publication=self.instance).order_by("pk").values_list())

    def clean_aliases(self) -> list[str]:
        """Return a list of names, none of which a reader would take for another publication."""
        aliases: list[str] = self.cleaned_data["aliases"]
        others = [other.as_name() for other in Publication.objects.exclude(pk=self.instance.pk)]
        for alias in aliases:
            if objection := publication_names.find_objection(alias, others):
                raise forms.ValidationError(objection)
        return aliases


@admin.register(Publication)
class PublicationAdmin(ExportingAdmin, base.FreshAdmin[Publication]):
    """Aliases, owner, feeds and the permission for pictures may be edited; name, tier and domains make the fingerprint."""

    form = PublicationForm
    list_display = ("name", "tier", "status", "admitted_on", "retired_on")
    list_filter = ("tier",)
    search_fields = ("name", "aliases")
    readonly_fields = ("slug", "name", "tier", "its_domains", "homepage", "place", "admitted_on", "retired_on")
    exclude = ("domains",)  # shown line by line
    inlines = (FeedInline,)
    exported = (
        *("slug", "name", "aliases", "domains", "tier", "homepage", "seat", "admitted_on", "retired_on"),
        *("owner", "owner_since", "allows_pictures"),
    )
    actions_list = ("replace", "export_csv", "export_json")
    actions_detail = ("replace_this",)
    has_add_permission = has_delete_permission = base.deny

    def view_on_site(self, publication: Publication) -> str:
        return reverse("source", args=[publication.slug])

    def get_fieldsets(self, request: HttpRequest, obj: Publication | None = None) -> Any:
        own = [field for field in self.get_fields(request, obj) if field not in self.readonly_fields]
        who = "" if self.has_change_permission(request, obj) else "Only the group “publisher” may change these."
        return (None, {"fields": own, "description": who}), ("Fixed", {"fields": self.readonly_fields, "description": FIXED})

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not (form.has_changed() or any(formset.has_changed() for formset in formsets)):
            self.message_user(request, "Nothing was changed.")
            return
        WireState.raise_version()  # names, feeds and pictures are public
        see = base.see_public(self.view_on_site(form.instance))
        self.message_user(request, format_html("Saved. Readers see the change within a minute. {}", see))
        if not form.instance.allows_pictures:
            transaction.on_commit(lambda: picture_store.delete_publication(form.instance.slug), robust=True)

    def log_change(self, request: HttpRequest, obj: Publication, message: Any) -> Any:
        return super().log_change(request, obj, message) if message else None

    def response_change(self, request: HttpRequest, obj: Publication) -> HttpResponse:
        return HttpResponseRedirect(request.path) if "_continue" in request.POST else self.response_post_save_change(request, obj)

    its_domains = base.column("Domains", lambda row: base.join_lines("{}", [(domain,) for domain in row.domains]))
    status = base.column("Status", lambda row: "" if row.active else base.marks("retired"))
    place = base.column(
        "Place on the roster", lambda row: f"{row.seat} of {ROSTER_SIZE}" if row.seat else "none: it left the roster"
    )

    @base.action(description="Replace…", icon="swap_horiz", permissions=["replace"])
    def replace(self, request: HttpRequest) -> HttpResponse:
        """Ask, then show what would change; only a post that confirms exactly that replaces."""
        asked = request.method == "POST"
        form = ReplacementForm(request.POST if asked else None, initial={"retire": request.GET.get("retire")})
        context = {**self.admin_site.each_context(request), "title": "Replace a publication", "form": form}
        if asked and "back" not in request.POST and form.is_valid():
            try:
                return _confirm_replacement(request, form, context)
            except WireError as error:
                form.add_error("retire", f"{error} {error.hint} Nothing was replaced.")
        return render(request, "admin/replace.html", context)

    @base.action(description="Replace…", icon="swap_horiz", permissions=["replace"], url_path="replace")
    def replace_this(self, request: HttpRequest, object_id: str) -> HttpResponse:  # noqa: ARG002
        return HttpResponseRedirect(f"{reverse('admin:sources_publication_replace')}?retire={object_id}")

    def has_replace_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("sources.add_rosterrevision")


@admin.register(RosterRevision)
class RosterRevisionAdmin(base.ReadOnly):
    """The roster's history; `PublicationAdmin` adds to it by a replacement."""

    list_display = ("number", "on", "admitted", "retired", "reason", "fingerprint")
    fields = ("number", "on", "fingerprint", "its_members", "admitted", "retired", "reason")
    readonly_fields = ("its_members",)
    its_members = base.column(
        "Members",
        lambda row: base.join_lines("{}, tier {}, {}", [(a["name"], a["tier"], a["domain"]) for a in row.members]),
    )
