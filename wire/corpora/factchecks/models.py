"""Claims that fact-checkers rated, their index, the jobs that load them, links with stories, and keys.

All times are UTC. `Claim.number` counts claims from 0 and is what postings and vectors name.
"""

from typing import Final, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from config.database.row_seal import Sealed, SealedQuerySet
from wire.corpora.factchecks.ratings import Rating
from wire.models import Story

MAX_LABEL: Final = 200
PUBLISHED: Final = "published"


class ClaimQuerySet(SealedQuerySet["Claim"]):
    def public(self) -> Self:
        """Claims that anybody may read: also withdrawn and superseded ones, which say so."""
        return self.filter(internal=False).filter(Q(status__in=settings.FACTCHECKS_STATUSES) | Q(withdrawn_at__isnull=False))

    def live(self) -> Self:
        """Claims that are found and listed."""
        return self.filter(internal=False, status__in=settings.FACTCHECKS_STATUSES, withdrawn_at=None, superseded_by="")

    def with_name(self, given: str) -> Self:
        """The claim with this id or short id; an id before a short id that is spelled the same."""
        return self.filter(Q(external_id=given) | Q(short_id=given)).order_by(
            models.Case(models.When(external_id=given, then=0), default=1), "-number"
        )

    def newest_first(self) -> Self:
        """In the order of lists; claims without a date come last."""
        return self.order_by(models.F("published_at").desc(nulls_last=True), "number")


class Claim(Sealed):
    """A claim and its rating, as its fact-checker published it last."""

    number = models.PositiveIntegerField(unique=True, editable=False)
    external_id = models.CharField("ID", max_length=200, unique=True, help_text="The fact-checker's own id, such as a UUID.")
    short_id = models.CharField("short ID", max_length=200, blank=True, db_index=True, help_text="Such as 2025/11/20-2.")
    process_id = models.CharField("process ID", max_length=200, blank=True)
    status = models.CharField(
        max_length=40, default=PUBLISHED, help_text="Readers see `published` ones only, unless set otherwise."
    )
    internal = models.BooleanField(default=False, help_text="Never shown to readers.")
    synopsis = models.TextField(blank=True, help_text="The claim.")
    rating_label = models.CharField(max_length=MAX_LABEL, blank=True, help_text="The rating in the fact-checker's words.")
    rating_key = models.CharField(max_length=MAX_LABEL, blank=True, editable=False, help_text="The label, folded.")
    rating_summary = models.TextField(blank=True)
    rating_statement = models.TextField(blank=True)
    publishing_url = models.CharField("URL", max_length=2048, blank=True)
    publisher = models.CharField(max_length=200, blank=True, help_text="Who checked the claim.")
    claimant = models.CharField(max_length=200, blank=True, help_text="Who made the claim.")
    published_at = models.DateTimeField(null=True, blank=True)
    language = models.CharField(max_length=2, blank=True, help_text="One of the 18 codes; empty if not known.")
    categories = models.JSONField(default=list, blank=True, help_text="{name, de, en} each.")
    facts = models.JSONField(default=list, blank=True)
    origins = models.JSONField(default=list, blank=True, help_text="Where the claim was seen.")
    content_sha256 = models.CharField("SHA-256", max_length=64, help_text="Of all that was imported.")
    first_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.CharField(max_length=500, blank=True)
    superseded_by = models.CharField(max_length=200, blank=True, help_text="The id of the claim that takes its place.")

    objects = ClaimQuerySet.as_manager()

    class Meta:
        verbose_name = "fact-check"
        ordering = ["number"]
        indexes = [
            models.Index(fields=["status", "internal", "-published_at", "number"], name="factcheck_newest"),
            models.Index(fields=["rating_key"], name="factcheck_rating"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        return self.synopsis or self.short_id or self.external_id

    @property
    def id_shown(self) -> str:
        return self.short_id or self.external_id

    @property
    def is_live(self) -> bool:
        return self.is_public and self.withdrawn_at is None and not self.superseded_by

    @property
    def is_public(self) -> bool:
        return not self.internal and (self.status in settings.FACTCHECKS_STATUSES or self.withdrawn_at is not None)


class ClaimRevision(Sealed):
    """A version of a claim that a later load replaced. Rows are written once."""

    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="revisions")
    revision = models.PositiveIntegerField(help_text="From 1, the first version.")
    fields = models.JSONField(help_text="What was imported, by column of the claim.")
    content_sha256 = models.CharField(max_length=64)
    since = models.DateTimeField()
    until = models.DateTimeField()

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ["claim", "revision"]
        constraints = [models.UniqueConstraint(fields=["claim", "revision"], name="factcheck_revision_once")]

    def __str__(self) -> str:
        return f"{self.claim_id}, revision {self.revision}"

    @property
    def is_public(self) -> bool:
        return not self.fields["internal"] and self.fields["status"] in settings.FACTCHECKS_STATUSES


class ClaimCategory(models.Model):
    """Membership of a claim that is found in a category; lists of categories count these rows."""

    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "claim"], name="factcheck_category_once")]

    def __str__(self) -> str:
        return f"{self.claim_id}: {self.name}"


class RatingName(Sealed):
    """Meaning of a fact-checker's label on the common scale. Labels that nobody knew yet are added when they are loaded."""

    key = models.CharField(max_length=200, primary_key=True, help_text="The label, folded.")
    label = models.CharField(max_length=MAX_LABEL)
    rating = models.CharField(max_length=12, choices=Rating.choices, default=Rating.UNKNOWN)
    is_edited = models.BooleanField(
        "edited", default=False, editable=False, help_text="An editor chose the rating; no release changes it any more."
    )

    objects = SealedQuerySet.as_manager()

    class Meta:
        verbose_name = "rating label"
        ordering = ["key"]

    def __str__(self) -> str:
        return f"{self.label}: {self.rating}"


class Word(models.Model):
    """A token that the index held at some time, in the order in which they came: compounds are looked for among them."""

    token = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.token


class ClaimVector(models.Model):
    """Vector of one part of a claim. One of another model than the one in use serves until it is made again."""

    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="vectors")
    part = models.PositiveSmallIntegerField(help_text="Which of its chunks, from 0.")
    model = models.CharField(max_length=100)
    dimensions = models.PositiveSmallIntegerField()
    vector = models.BinaryField(help_text="A vector of length 1, in IEEE 754 binary16, little-endian.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["claim", "part", "model"], name="factcheck_vector_once")]
        indexes = [models.Index(fields=["model", "id"], name="factcheck_vector_model")]

    def __str__(self) -> str:
        return f"{self.claim_id}.{self.part} by {self.model}"


class FactcheckState(models.Model):
    """The one row that every writer of claims locks first."""

    next_number = models.PositiveIntegerField(default=0)
    found = models.PositiveIntegerField(default=0, help_text="Claims in the index.")
    version = models.PositiveBigIntegerField(default=0, help_text="Raised by every change of the index.")
    model = models.CharField(max_length=100, blank=True, help_text="The model whose vectors are searched.")
    linked = models.CharField(max_length=100, blank=True, help_text="State of the stories and claims at the last linking.")
    vectors_dropped = models.PositiveBigIntegerField(default=0, help_text="Raised when vectors were deleted or made again.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="factcheck_state_is_one_row")]

    def __str__(self) -> str:
        return f"version {self.version}"

    @classmethod
    def lock(cls) -> "FactcheckState":
        return cls.objects.select_for_update().get(pk=1)


class LoadJob(models.Model):
    """A load of claims: how far it is, and whether somebody wants it to stop."""

    class Status(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELED = "canceled", "canceled"

    source = models.CharField(max_length=500, help_text="The file.")
    fingerprint = models.CharField(
        max_length=64, help_text="Of the file and how it is read; the same load goes on where it stopped."
    )
    language = models.CharField(max_length=2, blank=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PENDING)
    total = models.PositiveIntegerField(default=0)
    processed = models.PositiveIntegerField("entries", default=0, help_text="Those that are done, whatever became of them.")
    created = models.PositiveIntegerField("new", default=0)
    updated = models.PositiveIntegerField("changed", default=0)
    skipped = models.PositiveIntegerField("already there", default=0)
    errors = models.PositiveIntegerField("refused", default=0)
    messages = models.JSONField(default=list, help_text="The first of these errors.")
    cancel_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    beat_at = models.DateTimeField(null=True, help_text="When it last stored a batch.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "load"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.source}: {self.status}"


class StoryLink(Sealed):
    class Origin(models.TextChoices):
        FOUND = "found", "found"
        PINNED = "pinned", "pinned by an editor"
        CUT = "cut", "cut by an editor"

    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="links")
    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=6, choices=Origin.choices, default=Origin.FOUND)
    similarity = models.FloatField(default=0, help_text="0 to 1.")

    objects = SealedQuerySet.as_manager()

    class Meta:
        verbose_name = "link to a story"
        verbose_name_plural = "links to stories"
        constraints = [models.UniqueConstraint(fields=["story", "claim"], name="factcheck_link_once")]

    def __str__(self) -> str:
        return f"{self.claim}: {self.get_kind_display()}"


class ApiKey(models.Model):
    name = models.CharField(max_length=100, help_text="Who the key is for.")
    token_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "key"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class EndedSession(models.Model):
    session = models.CharField(max_length=64, primary_key=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.session
