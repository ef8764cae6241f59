"""Publishers who agreed to be read by agents, where their articles are found, and the articles.

All times are UTC. A publisher that was removed keeps its row and nothing else: the tombstone that its addresses answer with.
"""

import datetime as dt
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import idna
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator, slug_re
from django.db import models
from django.db.models import Q

from config.database.row_seal import Sealed, SealedQuerySet
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials, mask_address
from sources.fetch.url import WebAddress
from sources.models import Leased
from wire.corpora.articles.url_keys import is_path_below
from wire.corpora.articles.x402 import InvalidPrice, describe_price, parse_price

OWN: Final = "wire"  # the slug of the wire's own publisher, which is there from the start
RESERVED: Final = frozenset({"publishers"})  # slugs that would be addresses of the API: /api/articles/publishers.json
MAX_LICENCE: Final = 300  # characters of a licence that are given with the terms
AT_ONCE: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)  # `Article.ask_at` of a page that changed: before all that are due
SUFFIX_HINT: Final = "Name the publisher's own host, such as www.example.org."
NAMED_REFUSALS: Final = 3  # refused items of a reason
Refusals = dict[str, dict[str, Any]]  # refused items by reason: their `count`, and the `first` of them by name
_HOST: Final = RegexValidator(
    r"^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?$", "Use a plain host name such as example.org."
)


class LicenceKind(models.TextChoices):
    """What the text in `Publisher.licence` is."""  # stands in the OpenAPI document

    NONE = "none", "all rights reserved"
    CC = "cc", "Creative Commons licence"
    RSL = "rsl", "address of RSL terms"
    TEXT = "text", "terms in words"


class PublisherQuerySet(SealedQuerySet["Publisher"]):
    def live(self) -> Self:
        return self.filter(removed_at=None)

    def with_slug(self, slug: str) -> Self:
        """Removed or not; none for text that is no slug, which Postgres may refuse to look for."""
        return self.filter(slug=slug) if slug_re.match(slug) else self.none()


class Publisher(Sealed):
    UNSEALED: ClassVar = frozenset({"next_number", "indexed_at"})

    slug = models.SlugField(
        max_length=40, unique=True, help_text="Part of its address: /mcp/articles/{slug}. It cannot be changed later."
    )
    name = models.CharField(max_length=120)
    homepage = models.URLField(max_length=500)
    domains = models.JSONField(
        default=list,
        help_text="Its own host names, subdomains included, with a port if it is not the usual one; nothing else is fetched.",
    )
    consent_note = models.TextField(help_text="Who agreed to what, and where that is written down. Not shown to readers.")
    consented_on = models.DateField(help_text="UTC date of the consent.")
    full_text = models.BooleanField(default=True, help_text="Give whole articles; otherwise an excerpt and the address.")
    excerpt_length = models.PositiveIntegerField(
        default=600,
        validators=[MaxValueValidator(5_000)],
        help_text="Length of the excerpt if whole articles are not given, in characters.",
    )
    left_out = models.JSONField(default=list, blank=True, help_text="Path prefixes that are not indexed, such as /private/.")
    licence_kind = models.CharField(max_length=4, choices=LicenceKind.choices, default=LicenceKind.NONE)
    licence = models.TextField(blank=True, help_text="The licence: its name or address, or the terms.")
    may_answer = models.BooleanField(default=True, help_text="Models may use the text to answer a question, citing it.")
    may_train = models.BooleanField(default=False, help_text="Models may be trained on the text.")
    per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(6_000)],
        help_text="The most requests a minute from one client. The wire's own limit applies as well, even if this is empty.",
    )
    price = models.JSONField(
        default=dict,
        blank=True,
        help_text="What one article costs, as x402 payment requirements; empty if nothing. Searches and lists stay free.",
    )
    next_number = models.PositiveIntegerField(default=0, editable=False, help_text="Of its next article; none is used twice.")
    created_at = models.DateTimeField(auto_now_add=True)
    indexed_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="When indexing last finished.")
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = PublisherQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        wrong: dict[str, str] = {}  # all of it, so that an editor corrects it in one go
        if has_credentials(self.homepage):
            wrong["homepage"] = CREDENTIALS_REFUSED
        if self.slug in RESERVED:
            wrong["slug"] = f"“{self.slug}” is an address of the API. Choose another."
        if objections := list(filter(None, map(_find_objection, self.domains))):
            wrong["domains"] = " ".join(objections)
        elif not self.domains:
            wrong["domains"] = "Name at least one host name of the publisher."
        if paths := [path for path in self.left_out if not path.startswith("/") or not path.isprintable() or " " in path]:
            wrong["left_out"] = " ".join(f"“{path}” is not a path prefix." for path in paths)
            wrong["left_out"] += " Start it with a slash, such as /private/."
        try:
            self.price = parse_price(self.price)
        except InvalidPrice as error:
            wrong["price"] = str(error)
        else:
            if self.price and not settings.WIRE_X402_FACILITATOR:
                wrong["price"] = "Nobody could pay it until the operator sets WIRE_X402_FACILITATOR."
        if wrong:
            raise ValidationError(wrong)

    @property
    def page(self) -> str:
        return f"{settings.WIRE_SITE_URL}/articles/{self.slug}"

    @property
    def mcp(self) -> str:
        return f"{settings.WIRE_MCP_URL}/articles/{self.slug}"

    @property
    def terms(self) -> str:
        answer = "may use the text to answer questions, citing it" if self.may_answer else "must not use the text in answers"
        train = "may be trained on it" if self.may_train else "must not be trained on it"
        joined = "and" if self.may_answer == self.may_train else "but"
        excerpts = "" if self.full_text else " Articles are given as excerpts."
        costs = f" An article costs {describe_price(self.price)}, paid by x402." if self.price else ""
        licence = " ".join(self.licence[:MAX_LICENCE].split()).rstrip(".")
        if self.licence_kind == LicenceKind.NONE or not licence:
            rights = "All rights reserved."
        else:
            rights = f"{'Terms' if self.licence_kind == LicenceKind.TEXT else 'Licence'}: {licence}."
        return f"Models {answer}, {joined} {train}.{excerpts}{costs} {rights}"

    def owns(self, host: str) -> bool:
        """Return whether a host (with its port, unless that is the usual one) is one of its domains or below one."""
        return any(host == domain or host.endswith(f".{domain}") for domain in self.own_domains)

    @property
    def own_domains(self) -> tuple[str, ...]:
        """Domains without public suffixes, which no form takes but other ways into the database may."""
        return tuple(domain for domain in self.domains if not is_public_suffix(domain))

    def leaves_out(self, target: str) -> bool:
        """Return whether a path, with or without a query, is below one that is left out, however it is spelled."""
        return is_path_below(target, self.left_out)

    def has_address(self, url: str) -> bool:
        """Return whether an address is on one of its hosts and not left out; False for what is no web address."""
        try:
            address = WebAddress.parse(url)
        except ValueError:
            return False
        return self.owns(address.authority) and not self.leaves_out(address.target)


class Source(models.Model):
    class Type(models.TextChoices):
        FEED = "feed", "feed"
        SITEMAP = "sitemap", "sitemap"

    publisher = models.ForeignKey(Publisher, on_delete=models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=7, choices=Type.choices)
    url = models.URLField("URL", max_length=2048, help_text="Where the feed or sitemap is, on a host of the publisher.")
    etag = models.CharField(max_length=512, blank=True, editable=False)
    last_modified = models.CharField(max_length=512, blank=True, editable=False)
    digest = models.CharField(max_length=64, blank=True, editable=False, help_text="SHA-256 of the document that was read last.")
    read_at = models.DateTimeField(null=True, editable=False, help_text="When it was read whole, not merely found unchanged.")
    children = models.JSONField(
        default=dict, editable=False, help_text="The sitemaps that it leads to, by address, with what the next request needs."
    )
    asked_at = models.DateTimeField("last tried at", null=True, editable=False)
    worked_at = models.DateTimeField("last succeeded at", null=True, editable=False)
    found = models.PositiveIntegerField(default=0, editable=False, help_text="Articles listed in it when it was last read.")
    refused = models.JSONField(
        default=dict, editable=False, help_text="How many of its items were refused, by reason, and the first of them."
    )
    failures = models.PositiveSmallIntegerField(default=0, editable=False, help_text="In a row.")
    error_code = models.CharField(max_length=30, blank=True, editable=False)
    error = models.CharField(max_length=500, blank=True, editable=False)

    class Meta:
        ordering = ["publisher", "pk"]
        constraints = [models.UniqueConstraint(fields=["publisher", "url"], name="article_source_once")]

    def __str__(self) -> str:
        return mask_address(self.url)  # as everybody may see it; `url` alone holds the whole address

    def clean(self) -> None:
        if has_credentials(self.url):
            raise ValidationError({"url": CREDENTIALS_REFUSED})
        domains = self.publisher.domains
        try:
            host = WebAddress.parse(self.url).authority if self.url and domains else ""
        except ValueError:
            raise ValidationError({"url": "This is not a web address."}) from None
        if host and not self.publisher.owns(host):
            hint = f"If {host} is the publisher's own host, add exactly that to Domains."
            raise ValidationError({"url": f"This is not on the publisher's own hosts: {', '.join(domains)}. {hint}"})

    @property
    def refusals(self) -> Refusals:
        """Items refused when it, and each sitemap that it leads to, was read last."""
        merged: Refusals = {}
        for refusals in (self.refused, *(child.get("refused", {}) for child in self.children.values())):
            for reason, refused in refusals.items():
                total = merged.setdefault(reason, {"count": 0, "first": []})
                total["count"] += refused["count"]
                total["first"] = [*total["first"], *refused["first"]][:NAMED_REFUSALS]
        return merged


class IndexLease(Leased):
    publisher = models.OneToOneField(Publisher, on_delete=models.CASCADE, primary_key=True, related_name="+")


class ArticleQuerySet(SealedQuerySet["Article"]):
    def live(self) -> Self:
        return self.filter(state=Article.State.LIVE)

    def waiting(self) -> Self:
        """Articles whose page is to be fetched: never read, or changed since."""
        changed = Q(state__in=(Article.State.LIVE, Article.State.GONE), ask_at=AT_ONCE)
        return self.filter(Q(state=Article.State.WAITING, missing_since=None) | changed)

    def missing(self) -> Self:
        """Articles whose page was not found when it was last asked for, and that do not count as gone yet."""
        return self.filter(missing_since__isnull=False, gone_at=None)

    def newest_first(self) -> Self:
        """Articles without a date come last."""
        return self.order_by("-place", "number")


class Article(Sealed):
    """An article as it was read last. `number` counts a publisher's articles from 0 and is what its postings name."""

    class State(models.TextChoices):
        WAITING = "waiting", "listed in a sitemap, not read yet"
        LIVE = "live", "served"
        FAILED = "failed", "its page cannot be read as an article"
        GONE = "gone", "removed by its publisher"

    UNSEALED: ClassVar = frozenset({"last_seen_at", "read_at", "listed_change", "ask_at", "missing_since", "failures", "error"})

    publisher = models.ForeignKey(Publisher, on_delete=models.CASCADE, related_name="articles")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    url = models.CharField(max_length=2048, help_text="As the publisher gives it; fetched, and shown in answers.")
    key = models.CharField(max_length=2048, help_text="Its canonical form, by which it is recognised.")
    title = models.CharField(max_length=500, blank=True)
    author = models.CharField(max_length=300, blank=True)
    published_at = models.DateTimeField(null=True)
    place = models.BigIntegerField(default=0, help_text="Publication time in milliseconds since 1970; 0 if undated or earlier.")
    description = models.TextField(blank=True, help_text="Plain text.")
    language = models.CharField(max_length=35, blank=True)
    markdown = models.TextField("text", blank=True, help_text="In Markdown; empty until the article has been read.")
    content_sha256 = models.CharField("SHA-256", max_length=64, blank=True, help_text="Of title, author, date, description, text.")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(help_text="When a feed, a sitemap or its page last showed it.")
    read_at = models.DateTimeField(null=True, help_text="When its text was last read.")
    listed_change = models.DateTimeField(null=True, help_text="The last change that its sitemap states.")
    ask_at = models.DateTimeField(null=True, help_text="When its page is fetched next, whatever sources say; 1970 means at once.")
    missing_since = models.DateTimeField(null=True, help_text="When the present run of 404 or 410 answers began.")
    gone_at = models.DateTimeField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)

    objects = ArticleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["publisher", "key"], name="article_once"),
            models.UniqueConstraint(fields=["publisher", "number"], name="article_number_once"),
            models.CheckConstraint(condition=~Q(state="gone") | Q(gone_at__isnull=False), name="article_gone_since"),
        ]
        indexes = [
            models.Index(fields=["publisher", "state", "-place", "number"], name="article_newest"),
            models.Index(fields=["publisher", "state", "id"], name="article_by_state"),
            models.Index(fields=["publisher", "state", "ask_at"], name="article_to_ask"),
            models.Index(
                fields=["publisher", "missing_since"],
                name="article_missing",
                condition=Q(missing_since__isnull=False, gone_at=None),
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.url

    @property
    def is_read(self) -> bool:
        """False also for live articles whose text is not stored yet: a feed of titles alone lists them before they are read."""
        return self.state == Article.State.LIVE and bool(self.content_sha256)


class ArticleAlias(Sealed):
    publisher = models.ForeignKey(Publisher, on_delete=models.CASCADE, related_name="+")
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="aliases")
    key = models.CharField(max_length=2048)

    objects = SealedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["publisher", "key"], name="article_alias_once")]

    def __str__(self) -> str:
        return self.key


class ArticleRevision(Sealed):
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="revisions")
    title = models.CharField(max_length=500)
    author = models.CharField(max_length=300, blank=True)
    description = models.TextField(blank=True)
    markdown = models.TextField("text", blank=True)
    published_at = models.DateTimeField(null=True, help_text="Empty also for one that was replaced before dates were stored here.")
    content_sha256 = models.CharField("SHA-256", max_length=64)
    replaced_at = models.DateTimeField()

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ["article", "-replaced_at"]

    def __str__(self) -> str:
        return f"{self.title} until {self.replaced_at:%Y-%m-%d %H:%M}"


class ArticleCount(models.Model):
    """Calls to a publisher's server on one UTC day, by tool and article; nothing about the caller."""

    publisher = models.ForeignKey(Publisher, on_delete=models.CASCADE, related_name="counts")
    day = models.DateField()
    tool = models.CharField(max_length=20)
    number = models.IntegerField(default=-1, help_text="The article's number; -1 where a tool asks for none.")
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["publisher", "-day", "tool", "number"]
        constraints = [models.UniqueConstraint(fields=["publisher", "day", "tool", "number"], name="article_count_once")]

    def __str__(self) -> str:
        return f"{self.publisher_id} {self.day} {self.tool}: {self.count}"


class Payment(models.Model):
    """A payment for one article, taken once and never deleted after it was charged. Nothing about the payer."""

    publisher = models.ForeignKey(Publisher, on_delete=models.CASCADE, related_name="payments")
    sha256 = models.CharField(max_length=64, unique=True, help_text="Of network, asset, payer and nonce, or of the transaction.")
    signature_sha256 = models.CharField(max_length=64, blank=True, help_text="Of the signature that it came with.")
    key = models.CharField(max_length=2048, help_text="Of the article's address.")
    amount = models.CharField(max_length=40, help_text="In the asset's smallest unit.")
    asset = models.CharField(max_length=100)
    network = models.CharField(max_length=100)
    terms = models.JSONField(default=dict, help_text="The price when it came: what the facilitator is asked to settle.")
    transaction = models.CharField(max_length=200, blank=True, help_text="As the facilitator named it when it was settled.")
    settlement = models.CharField(  # noqa: DJ001  many are not settled yet, and unique
        max_length=400, null=True, unique=True, help_text="Network and transaction, which pay for one article."
    )
    taken_at = models.DateTimeField(help_text="When it came last.")
    settling_at = models.DateTimeField(
        null=True, help_text="When the facilitator was last asked to settle it: from then on it may have been charged."
    )
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["publisher", "-taken_at"]

    def __str__(self) -> str:
        return f"{self.amount} of {self.asset} for {self.key}"


def _find_objection(domain: object) -> str:
    """Return why a domain cannot be a publisher's; "" if it can."""
    try:
        _HOST(domain)
    except ValidationError:
        return f"“{domain}” is not a host name. Write it alone, such as example.org."
    if "." not in str(domain) and str(domain).partition(":")[0] != "localhost":
        return f"“{domain}” would be a whole top-level domain. Name the publisher's own host."
    return f"“{domain}” is a public suffix: anybody may own a name below it. {SUFFIX_HINT}" if is_public_suffix(str(domain)) else ""


@lru_cache(maxsize=1_000)
def is_public_suffix(domain: str) -> bool:
    """Return whether strangers may own names below a host (co.uk, github.io), by a library's copy of publicsuffix.org."""
    from tld import is_tld  # reads the list, which few processes need

    name = domain.partition(":")[0]
    try:
        return is_tld(name) or is_tld(idna.decode(name))  # names of other scripts are on the list in their own letters
    except idna.IDNAError:
        return False


def to_sort_key(published_at: dt.datetime | None) -> int:
    return 0 if published_at is None else max(0, int(published_at.timestamp() * 1000))
