"""Tables of the roster and its feeds. Exactly 24 publications hold a seat; only `roster.replace_publication` hands one on."""

import datetime as dt
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, slug_re
from django.db import models
from django.db.models import Q

from config.errors import RosterLocked
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials, mask_address
from sources.choices import ROSTER_SIZE, FeedType, Tier
from sources.publication_names import Name

LOCKED = RosterLocked(
    f"The roster is locked at {ROSTER_SIZE} publications.", "Use a replacement: one publication out and one in, in one step."
)


class PublicationQuerySet(models.QuerySet["Publication"]):
    def active(self) -> Self:
        return self.filter(seat__isnull=False)

    def with_slug(self, slug: str) -> Self:
        """Return that of this slug, in the roster or retired; none for text that is no slug, which Postgres may refuse."""
        return self.filter(slug=slug) if slug_re.match(slug) else self.none()

    def in_roster_order(self) -> Self:
        """Sort by tier, then by seat: the order in which the roster is always shown."""
        return self.order_by("tier", "seat", "name")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Raises: RosterLocked, always: a publication's stories and roster history outlive its seat."""
        raise LOCKED


class Publication(models.Model):
    """Outlet. It is in the roster while it holds one of the 24 seats; the database allows no 25th."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120, unique=True)
    aliases = models.JSONField(default=list, blank=True, help_text="Other names in common use, spelled exactly as they are used.")
    domains = models.JSONField(default=list, help_text="Host names, canonical first; with a path if publications share a host.")
    tier = models.PositiveSmallIntegerField(choices=Tier.choices)
    homepage = models.URLField(max_length=500)
    owner = models.CharField(
        max_length=120, blank=True, help_text="The group that owns it, written the same way for each of its publications."
    )
    owner_since = models.DateField(null=True, blank=True, help_text="UTC date; empty if the wire knows of no earlier owner.")
    allows_pictures = models.BooleanField(
        default=False,
        db_default=False,  # processes of the release before may still add a publication
        help_text="Its terms allow its pictures to be shown here, small and with its name. "
        "Off: none is fetched or shown, and stored ones are deleted.",
    )
    seat = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        unique=True,
        editable=False,
        validators=[MinValueValidator(1), MaxValueValidator(ROSTER_SIZE)],
        help_text="1-24 while in the roster, empty once retired.",
    )
    admitted_on = models.DateField(help_text="UTC date of the latest admission.")
    retired_on = models.DateField(null=True, blank=True, help_text="UTC date on which it left the roster.")

    objects = PublicationQuerySet.as_manager()

    class Meta:
        ordering = ["tier", "seat", "name"]
        constraints = [
            models.CheckConstraint(condition=Q(seat__isnull=True) | Q(seat__range=(1, ROSTER_SIZE)), name="publication_seat_range"),
            models.CheckConstraint(condition=Q(tier__in=Tier.values), name="publication_tier_known"),
            models.CheckConstraint(
                condition=Q(seat__isnull=True, retired_on__isnull=False) | Q(seat__isnull=False, retired_on__isnull=True),
                name="publication_seated_or_retired",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Raises: ValidationError for an owner that cannot be shown, a date without an owner, or a homepage with a password."""
        if has_credentials(self.homepage):
            raise ValidationError({"homepage": CREDENTIALS_REFUSED})
        if not self.owner.isprintable():
            raise ValidationError({"owner": "Use visible characters."})
        if self.owner_since and not self.owner:
            raise ValidationError({"owner_since": "Name the owner, too."})

    def delete(self, *_args: Any, **_kwargs: Any) -> tuple[int, dict[str, int]]:
        """Raises: RosterLocked, always; see `PublicationQuerySet.delete`."""
        raise LOCKED

    @property
    def active(self) -> bool:
        return self.seat is not None

    @property
    def domain(self) -> str:
        """The canonical host name, as the roster fingerprint has it."""
        return str(self.domains[0])

    @property
    def tier_label(self) -> str:
        return str(Tier(self.tier).label)

    def as_name(self) -> Name:
        former = None
        if self.retired_on:
            former = f"{self.name} was in the roster from {self.admitted_on} until {self.retired_on} and has left it."
        return Name(self.name, self.tier, tuple(self.aliases), tuple(self.domains), former)


class Feed(models.Model):
    """Address at which a publication's items are found, or search that stands for it."""

    publication = models.ForeignKey(Publication, on_delete=models.CASCADE, related_name="feeds")
    feed_type = models.CharField(max_length=10, choices=FeedType.choices)
    url = models.URLField("URL", max_length=500, blank=True, help_text="Where the feed is; empty for a Google News search.")
    query = models.CharField(max_length=300, blank=True, help_text="The search terms of a Google News search.")
    ai_only = models.BooleanField("AI only", default=False, help_text="Everything in it is about AI; otherwise items are filtered.")
    active = models.BooleanField(default=True, help_text="An inactive feed is not fetched.")
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["publication", "id"]
        permissions = [("try_feed", "Can test and fetch a feed by hand")]
        constraints = [
            models.UniqueConstraint(fields=["publication", "url", "query"], name="feed_once"),
            models.CheckConstraint(
                condition=(Q(feed_type=FeedType.QUERY) & ~Q(query="")) | (~Q(feed_type=FeedType.QUERY) & ~Q(url="")),
                name="feed_has_address_or_query",
            ),
        ]

    def __str__(self) -> str:
        """The address as everybody may see it; `url` alone holds the whole one."""
        return mask_address(self.url) or self.query

    def clean(self) -> None:
        """Raises: ValidationError for a search or note with invisible characters, or an address with a password."""
        if has_credentials(self.url):
            raise ValidationError({"url": CREDENTIALS_REFUSED})
        for field in ("query", "note"):
            if not getattr(self, field).isprintable():
                raise ValidationError({field: "Use visible characters."})


class RosterRevision(models.Model):
    """Dated state of the roster. The first is the roster as shipped; each later one is a replacement. Never edited."""

    number = models.PositiveIntegerField(unique=True)
    on = models.DateField("in force from", help_text="UTC date.")
    fingerprint = models.CharField(max_length=64)
    members = models.JSONField(help_text="[{name, tier, domain}] sorted by name; the fingerprint is computed from this.")
    retired = models.ForeignKey(Publication, null=True, on_delete=models.PROTECT, related_name="+")
    admitted = models.ForeignKey(Publication, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return f"Roster {self.number}, {self.on}"


class FeedHealth(models.Model):
    """State of a feed. Written by ingest alone, in the transaction that stores the feed's items."""

    feed = models.OneToOneField(Feed, on_delete=models.CASCADE, primary_key=True, related_name="health")
    address = models.CharField(max_length=2048, blank=True, help_text="The address that this state is about.")
    tried_at = models.DateTimeField(null=True, help_text="Last request, successful or not.")
    succeeded_at = models.DateTimeField(null=True, help_text="Last answer that could be read, 'nothing new' included.")
    changed_at = models.DateTimeField(null=True, help_text="Time of the last answer that differed from the one before.")
    etag = models.CharField(max_length=500, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    body_sha256 = models.CharField(max_length=64, blank=True)
    items = models.PositiveIntegerField(default=0, help_text="Number of items in the feed as last read.")
    outcomes = models.JSONField(default=dict, help_text="Number of these items by outcome; refusals by reason.")
    recent_items = models.JSONField(
        default=dict, blank=True, help_text="The last three items of each outcome: [{headline, address, why, at}], newest first."
    )
    empty_since = models.DateTimeField(null=True, help_text="The feed has had no items since then, though it had some before.")
    charset_doubt = models.CharField(max_length=200, blank=True, help_text="How the latest body's charset was guessed, if it was.")
    newest_item_at = models.DateTimeField(null=True, help_text="Newest date of any item so far.")
    usual_gap = models.DurationField(null=True, help_text="Mean time between items of the feed as last read.")
    failures = models.PositiveIntegerField(default=0, help_text="Failures in a row.")
    failure_code = models.CharField(max_length=40, blank=True)
    failure = models.CharField(max_length=500, blank=True, help_text="The last failure in words; empty once it is over.")
    next_try_at = models.DateTimeField(null=True, help_text="Not fetched before this time, except by hand.")
    pages = models.JSONField(default=dict, blank=True, help_text="For a sitemap: addresses, and whether each page was read.")
    moved_to = models.CharField(max_length=2048, blank=True, help_text="The feed's permanent new address, says the publisher.")

    class Meta:
        verbose_name_plural = "feed health"

    def __str__(self) -> str:
        return f"{self.feed}: {self.failure or 'fine'}"


class FetchHost(models.Model):
    """State of a host between runs: its robots.txt, and whether it asked to be left alone."""

    host = models.CharField(max_length=260, primary_key=True, help_text="With the port, unless it is the scheme's default.")
    robots = models.TextField(null=True)  # noqa: DJ001  null is "never asked", empty is "no rules"
    robots_at = models.DateTimeField(null=True)
    robots_failed = models.BooleanField(default=False)
    not_before = models.DateTimeField(null=True, help_text="From Retry-After.")

    def __str__(self) -> str:
        return self.host


class RawFetch(models.Model):
    """Body as it was fetched; its bytes are in `sources.raw_store` under their SHA-256."""

    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="fetches")
    fetched_at = models.DateTimeField(db_index=True)
    sha256 = models.CharField(max_length=64, db_index=True)
    url = models.CharField(max_length=2048, help_text="After redirects.")
    content_type = models.CharField(max_length=200, blank=True)
    is_page = models.BooleanField(default=False, help_text="An article's own page, which a sitemap led to.")

    class Meta:
        verbose_name_plural = "raw fetches"
        ordering = ["fetched_at", "id"]

    def __str__(self) -> str:
        return f"{self.feed} {self.fetched_at:%Y-%m-%d %H:%M}"


class Leased(models.Model):
    """Row that names the holder of a lease. `sources.job_lock` takes and returns it."""

    holder = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.holder or "free"


class IngestLease(Leased):
    """The only row: the holder of the ingest."""

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="ingest_lease_is_one_row")]


def utc_today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()
