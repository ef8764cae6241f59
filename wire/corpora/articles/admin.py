"""Publisher content at the desk: consent and terms, sources and their health, articles, payments, and removing a publisher."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import slugify
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from wire.admin import base
from wire.corpora.articles import indexer, store
from wire.corpora.articles.models import OWN, Article, ArticleRevision, LicenceKind, Payment, Publisher, Source
from wire.corpora.articles.x402 import CURRENCIES, MAX_TEXT, InvalidPrice, build_price, describe_price

ACCOUNT: Final = re.compile(r"0x[0-9a-fA-F]{40}")
SHOWN: Final = 100  # articles of a test; all are counted
TEST_BUTTON: Final = '<span class="desk"><button form="test-source" type="submit" class="plain">Test this source</button> {}</span>'
LINK: Final = '<a href="{0}" rel="noopener noreferrer">{0}</a>'
TEST_HINT: Final = "A test fetches the source now, shows what would be stored, and stores nothing."
STATES: Final = {
    Article.State.LIVE: "served",
    Article.State.WAITING: "waiting: named by a sitemap, page not read yet",
    Article.State.FAILED: "failed: page cannot be read as an article",
    Article.State.GONE: "gone: removed by the publisher",
}


class PublisherForm(base.FreshForm[Publisher]):
    domains = base.LinesField(
        help_text="Host names, with the port if it is not the usual one, one per line. Nothing but these and subdomains is fetched."
    )
    left_out = base.LinesField(required=False, help_text="Path prefixes that are not indexed, one per line, such as /private/.")
    price = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=20,
        widget=UnfoldAdminTextInputWidget,
        help_text="What one article costs, such as 0.01; empty if nothing. Searches and lists stay free.",
    )
    currency = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    pay_to = base.text_field(
        required=False, max_length=MAX_TEXT, help_text="The publisher's own account, to which readers pay: 0x…"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        price = self.instance.price
        if "slug" in self.fields:
            self.fields["slug"].required = False
            self.fields[
                "slug"
            ].help_text = "Part of its addresses, such as /articles/the-quill; if empty, made from the name. It never changes."
        if "currency" not in self.fields:  # for whoever only looks
            return
        if not settings.WIRE_X402_FACILITATOR:
            self.fields["price"].help_text = "Every article is free until the operator sets WIRE_X402_FACILITATOR."
            for name in ("price", "currency", "pay_to"):  # a price from earlier must be removed before anything else is saved
                self.fields[name].disabled = not price
        self._terms = dict(CURRENCIES)
        if price:
            same = (name for name, one in CURRENCIES.items() if all(price[key] == one[key] for key in ("network", "asset")))
            name = next(same, f"{price['extra'].get('name', price['asset'])} on {price['network']}")
            self._terms[name] = price
            amount = Decimal(price["amount"]).scaleb(-price["extra"].get("decimals", 0)).normalize()
            self.initial.update(currency=name, pay_to=price["payTo"])
        self.initial["price"] = f"{amount:f}" if price else None
        self.fields["currency"].choices = [("", "choose"), *((name, name) for name in self._terms)]  # type: ignore[attr-defined]

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"]).lower() or slugify(self.cleaned_data.get("name", ""))[:40].strip("-")
        if not slug and "name" in self.cleaned_data:
            raise forms.ValidationError("None can be made from this name. Write one.")
        return slug

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        data["left_out"] = list(dict.fromkeys(data["left_out"]))
        if "domains" in data:
            data["domains"] = list(dict.fromkeys(domain.lower() for domain in data["domains"]))
        if not str(data.get("homepage") or "https://").startswith(("https://", "http://")):
            self.add_error("homepage", "Give a web address: https://…")
        self._clean_price(data)
        kind, licence = data.get("licence_kind"), str(data.get("licence") or "")
        if kind != LicenceKind.NONE and not licence:
            self.add_error("licence", "Name the licence, or write the terms.")
        if kind == LicenceKind.RSL and licence and not licence.startswith(("https://", "http://")):
            self.add_error("licence", "Give the address of the RSL terms: https://…")
        return data

    def _clean_price(self, data: dict[str, Any]) -> None:
        amount, currency, pay_to = data.get("price"), str(data.get("currency", "")), str(data.get("pay_to", ""))
        data["price"] = {}
        if not amount and "price" not in self.errors:
            return
        if not currency:
            self.add_error("currency", "Choose the currency of the price.")
        if not pay_to:
            self.add_error("pay_to", "Name the account to which readers pay.")
        elif currency in CURRENCIES and not ACCOUNT.fullmatch(pay_to):
            self.add_error("pay_to", "Write the account as 0x and 40 digits or letters from a to f.")
        if amount and not {"price", "currency", "pay_to"} & self.errors.keys():
            try:
                data["price"] = build_price(amount, pay_to, self._terms[currency])
            except InvalidPrice as error:
                self.add_error("price", str(error))

    def read_fingerprinted_rows(self) -> object:
        own = {"seen", "currency", "pay_to"}
        columns = [field for field in self.fields if field not in own]  # without those that indexing writes
        rows = Publisher.objects.filter(pk=self.instance.pk).values_list(*columns, "removed_at")
        return list(rows), list(Source.objects.filter(publisher=self.instance).order_by("pk").values_list("pk", "kind", "url"))


def describe_source_state(source: Source) -> str:
    if source.asked_at is None:
        return "not fetched yet: the next ingest fetches it"
    if source.failures:
        return f"failing ({source.failures} in a row): {source.error or source.error_code}"
    refused = sum(refusal["count"] for refusal in source.refusals.values())
    not_taken = f", {refused:,} refused" if refused else ""
    return f"fine: {base.plural(source.found, 'article', 'articles')}{not_taken} on {base.utc_time(source.asked_at)}"


def _render_test_link(source: Source) -> str:
    if source.pk is None:
        return ""
    page = reverse("admin:articles_source_change", args=[source.pk])
    return format_html('<span class="desk">{} <a href="{}">Test…</a></span>', describe_source_state(source), page)


class SourceInline(base.MaskedAddressAdmin, base.TabularInline[Source, Publisher]):
    model = Source
    extra = 1  # pages work without a script, too
    fields = ("kind", "url", "state")
    readonly_fields = ("state",)
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    state = base.column("State", _render_test_link)


class RemoveForm(base.Form):
    reason = base.ReasonField(help_text="One sentence for the desk's history; readers never see it.")


def _render_state_counts(publisher: Publisher) -> str:
    page = reverse("admin:articles_article_changelist")
    rows = [
        (f"{page}?publisher__id__exact={publisher.pk}&state__exact={state}", f"{getattr(publisher, f'in_{state}'):,}", meaning)
        for state, meaning in STATES.items()
    ]
    return format_html('<span class="desk">{}</span>', base.join_lines('<a href="{}">{}</a> {}', rows))


def _count_column(state: Article.State) -> Callable[[Publisher], str]:
    @admin.display(description="Articles" if state == Article.State.LIVE else state.capitalize(), ordering=f"in_{state}")
    def count_articles(publisher: Publisher) -> str:
        return f"{getattr(publisher, f'in_{state}'):,}"

    count_articles.__name__ = state  # of the column, in the page
    return count_articles


@admin.register(Publisher)
class PublisherAdmin(base.ModelAdmin[Publisher]):
    """Publishers who agreed that agents may read their articles here. None is ever deleted: removing one leaves a tombstone."""

    form = PublisherForm
    list_display = ("name", "slug", *map(_count_column, STATES), "health", "status", "public")
    search_fields = ("name", "slug", "homepage")
    change_form_template = "admin/publisher.html"
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    inlines = (SourceInline,)
    has_delete_permission = base.deny
    articles = base.column("Articles", _render_state_counts)
    its_domains = base.column("Domains", lambda publisher: ", ".join(publisher.domains))
    its_price = base.column("Price", lambda publisher: describe_price(publisher.price) or "none")
    its_left_out = base.column("Left out", lambda publisher: ", ".join(publisher.left_out) or "nothing")
    last_indexed = base.column(
        "Last indexed", lambda publisher: base.utc_time(publisher.indexed_at) if publisher.indexed_at else "never"
    )
    health = base.column(
        "Sources", lambda row: base.join_lines("{}", [(describe_source_state(source),) for source in row.sources.all()]) or "none"
    )
    status = base.column("Status", lambda publisher: base.marks("removed") if publisher.removed_at else "")
    public = base.column("Public page", lambda publisher: base.link_public(reverse("publisher", args=[publisher.slug]), publisher))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Publisher]:
        counts = {f"in_{state}": Count("articles", filter=Q(articles__state=state)) for state in STATES}
        return super().get_queryset(request).annotate(**counts).prefetch_related("sources")

    def get_fieldsets(self, request: HttpRequest, obj: Publisher | None = None) -> Any:
        is_form = obj is None or self.has_change_permission(request, obj)
        domains, left_out, seen = ("domains", "left_out", ("seen",)) if is_form else ("its_domains", "its_left_out", ())
        price = ("price", "currency", "pay_to") if is_form else ("its_price",)
        return (
            ("Who", {"fields": ("name", "slug", "homepage", domains)}),
            ("Consent", {"fields": ("consent_note", "consented_on")}),
            ("What agents get", {"fields": ("full_text", "excerpt_length", left_out, "per_minute", *price)}),
            ("Terms", {"fields": ("licence_kind", "licence", "may_answer", "may_train", *seen)}),
            *((("Health", {"fields": ("articles", "last_indexed")}),) if obj else ()),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Publisher | None = None) -> tuple[str, ...]:  # noqa: ARG002
        return ("slug", "its_domains", "its_left_out", "its_price", "articles", "last_indexed") if obj else ()

    def get_inlines(self, request: HttpRequest, obj: Publisher | None) -> Any:  # noqa: ARG002
        return () if obj and obj.removed_at else self.inlines

    def has_change_permission(self, request: HttpRequest, obj: Publisher | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and obj.removed_at)

    def get_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/remove/", self.admin_site.admin_view(self.confirm_removal), name="articles_publisher_remove"),
            *super().get_urls(),
        ]

    def view_on_site(self, publisher: Publisher) -> str:
        return reverse("publisher", args=[publisher.slug])

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if form.instance.slug != OWN:
            store.delete_excluded(form.instance)
        store.invalidate_caches()  # terms are public: whoever asks gets the new ones from now on
        page = format_html('<a href="{}">{}</a>', self.view_on_site(form.instance), form.instance)
        self.message_user(request, format_html("Public page: {}.", page))
        if form.instance.sources.filter(asked_at=None).exists():
            period = f", which starts every {settings.WIRE_INGEST.total_seconds() / 60:g} minutes" if settings.WIRE_INGEST else ""
            at_once = f"manage.py publishers index {form.instance.slug}"
            self.message_user(request, f"Articles are read by the next ingest{period}, or at once by {at_once}.")

    def confirm_removal(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what will happen and ask why; only a post of that form removes."""
        if not request.user.has_perm("articles.delete_publisher"):
            raise PermissionDenied
        publisher = get_object_or_404(self.get_queryset(request), pk=pk)
        back = HttpResponseRedirect(reverse("admin:articles_publisher_change", args=[pk]))
        if publisher.removed_at:
            self.message_user(request, "This publisher is already removed. Nothing was changed.", messages.WARNING)
            return back
        form = RemoveForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            with transaction.atomic():
                number = store.remove_publisher(publisher, timezone.now())
                done = f"Removed, with {base.plural(number, 'article', 'articles')}"
                base.log_change(request, [publisher], f"{done}. Reason: {form.cleaned_data['reason']}")
            self.message_user(request, f"{done}. Its addresses now answer that it was removed.")
            return back
        context = {**self.admin_site.each_context(request), "title": "Remove a publisher", "opts": self.opts}
        return render(request, "admin/publisher_remove.html", context | {"publisher": publisher, "form": form})


def _render_refusals(source: Source) -> str:
    rows = [(reason, refused["count"], ", ".join(refused["first"])) for reason, refused in source.refusals.items()]
    return format_html('<span class="desk">{}</span>', base.join_lines("{}: {}, such as {}", rows)) if rows else "nothing"


@admin.register(Source)
class SourceAdmin(base.MaskedAddressAdmin, base.ReadOnly):
    """A feed or sitemap and its health. It is changed at its publisher's page; here it may be tested without storing anything."""

    list_display = ("address", "publisher", "kind", "state", "found")
    list_filter = ("kind", "publisher")
    list_select_related = ("publisher",)
    search_fields = ("url", "publisher__name")
    fields = ("publisher", "kind", "url", "state", "found", "not_taken", "asked_at", "worked_at", "by_hand")
    readonly_fields = ("state", "not_taken", "by_hand")
    change_form_template = "admin/article_source.html"
    state = base.column("State", describe_source_state)
    not_taken = base.column("Refused", _render_refusals)
    # The button of a form of its own (an admin page is one form already); see the template.
    by_hand = base.column("Test", lambda _source: format_html(TEST_BUTTON, TEST_HINT))

    def get_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:
        may_test = request.user.has_perm("articles.change_source")
        return [field for field in super().get_fields(request, obj) if may_test or field != "by_hand"]

    def get_urls(self) -> list[URLPattern]:
        test = self.admin_site.admin_view(require_POST(self.show_source_test))
        return [path("<int:pk>/test", test, name="articles_source_test"), *super().get_urls()]

    def show_source_test(self, request: HttpRequest, pk: int) -> HttpResponse:
        source = get_object_or_404(Source.objects.select_related("publisher"), pk=pk)
        if not request.user.has_perm("articles.change_source"):
            raise PermissionDenied
        tried = indexer.preview_source(source)
        drafts = [] if isinstance(tried, str) else tried
        context = {
            **self.admin_site.each_context(request),
            "title": f"Test of {source}",
            "source": source,
            "failure": tried if isinstance(tried, str) else "",
            "whole": sum(draft.markdown is not None for draft in drafts),
            "named": sum(draft.markdown is None for draft in drafts),
            "drafts": drafts[:SHOWN],
        }
        return render(request, "admin/article_source_test.html", context)


class RevisionInline(base.StackedInline[ArticleRevision, Article]):
    model = ArticleRevision
    extra = 0
    fields = readonly_fields = ("replaced_at", "title", "author", "description", "markdown", "content_sha256")
    has_add_permission = has_change_permission = has_delete_permission = base.deny


def _describe_article_state(article: Article) -> str:
    word = STATES[Article.State(article.state)].partition(":")[0]
    return f"{word}: {article.error[:140]}" if article.error else word


@admin.register(Article)
class ArticleAdmin(base.ReadOnly):
    list_display = ("headline", "publisher", "standing", "publication", "read")
    list_filter = ("state", "publisher")
    list_select_related = ("publisher",)
    search_fields = ("title", "url", "author")
    search_help_text = "Words of the title or the address, or the author"
    ordering = ("-pk",)  # in the order of an index, for lists of any length
    list_per_page = 50
    show_full_result_count = False
    fields = (
        *("title", "publisher", "state", "address", "author", "published_at", "language", "description", "markdown"),
        *("content_sha256", "first_seen_at", "last_seen_at", "read_at", "gone_at", "failures", "error"),
    )
    readonly_fields = ("address",)
    inlines = (RevisionInline,)
    headline = base.column("Title", lambda article: str(article)[:140], "title")
    standing = base.column("State", _describe_article_state, "state")
    publication = base.column(
        "Published", lambda article: base.utc_time(article.published_at) if article.published_at else "", "place"
    )
    read = base.column("Read", lambda article: base.utc_time(article.read_at) if article.read_at else "", "read_at")
    address = base.column("Page on the publisher's site", lambda article: format_html(LINK, article.url))


@admin.register(Payment)
class PaymentAdmin(base.ReadOnly):
    list_display = ("taken_at", "publisher", "amount", "asset", "network", "key", "settling_at", "settled_at")
    list_filter = ("publisher",)
    list_select_related = ("publisher",)
    search_fields = ("transaction", "key")
    list_per_page = 50
    show_full_result_count = False
    fields = ("publisher", "key", "amount", "asset", "network", "transaction", "taken_at", "settling_at", "settled_at")
