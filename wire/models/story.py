"""Stories, their revisions, the events they belong to, and pairs that may report one event."""

import datetime as dt
from collections.abc import Sequence
from typing import Final, Self, TypeVar

from django.db import connections, models
from django.db.models import Exists, F, OuterRef, Q

from sources.choices import Tier
from sources.models import Feed, Publication
from wire.text.choices import NEWER_RULES, Category, PairLabel, Status, Topic

Link = TypeVar("Link", bound=models.Model)

# Revisions that an editor made of a published story.
BY_EDITOR: Final = ~Q(reason="") & ~Q(reason=NEWER_RULES) & Q(revision__gt=1)


class Event(models.Model):
    """Stories of one or more publications about the same thing.

    Its id never changes: the `chatbotnews_id` of its first story. A merged event keeps its row and points to the one it became.
    """

    event_id = models.CharField(max_length=16, primary_key=True)
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="absorbed")
    storyline = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="chapters",
        help_text="First event of the storyline, possibly this one; empty if it belongs to no storyline.",
    )
    storyline_pinned = models.BooleanField(default=False, help_text="An editor chose its storyline; regrouping never changes it.")

    def __str__(self) -> str:
        return self.event_id


class StoryQuerySet(models.QuerySet["Story"]):
    def published(self) -> Self:
        """Stories that a snapshot has published, withdrawn ones too. Surfaces never see any other."""
        return self.filter(current__isnull=False)

    def live(self) -> Self:
        """Published stories that may be listed and cited."""
        return self.published().exclude(status=Status.WITHDRAWN)

    def pending(self) -> Self:
        """Stories with a revision that no snapshot has published yet, or whose event changed since their day was published."""
        return self.filter(pending=True)

    def on(self, day: dt.date) -> Self:
        return self.filter(wire_date=day)

    def newest_first(self) -> Self:
        """The order of every list: (-published_at, chatbotnews_id)."""
        return self.order_by("-published_at", "chatbotnews_id")

    def after(self, published_at: dt.datetime, chatbotnews_id: str) -> Self:
        """Return what follows a position in `newest_first` order (keyset paging)."""
        # Not "before, or the same moment and …": no database begins in the middle of an index for an OR.
        rows = self.filter(published_at__lte=published_at)
        return rows.exclude(published_at=published_at, chatbotnews_id__lte=chatbotnews_id)

    def write(self, stories: Sequence["Story"], fields: Sequence[str]) -> None:
        """Like `bulk_update`, with a prepared statement instead of a CASE of hundreds of branches: some twenty times as fast."""
        columns = [column for column in self.model._meta.concrete_fields if column.name in fields]
        connection = connections[self.db]
        assignments = ", ".join(f"{column.column} = %s" for column in columns)
        rows = [
            [*(column.get_db_prep_save(getattr(story, column.attname), connection) for column in columns), story.pk]
            for story in stories
        ]
        with connection.cursor() as cursor:
            cursor.executemany(f"UPDATE {self.model._meta.db_table} SET {assignments} WHERE id = %s", rows)  # noqa: S608  ours

    def with_text(self) -> Self:
        return self.select_related("current")


class Story(models.Model):
    """An article by a publication. Its texts are in its revisions; this row identifies it and places it in lists.

    The columns from `status` on repeat the published revision, or the day's snapshot, so that lists need one index.
    """

    chatbotnews_id = models.CharField(max_length=16, unique=True)
    original_url = models.CharField(max_length=2048, help_text="Canonical address when first seen; never recomputed.")
    publication = models.ForeignKey(Publication, on_delete=models.PROTECT, related_name="stories", db_index=False)
    guid = models.CharField(max_length=500, blank=True, help_text="The feed's own id of the item.")
    guid_feed = models.ForeignKey(
        Feed,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The feed that `guid` comes from; none for archives.",
    )
    feed = models.ForeignKey(
        Feed,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The feed whose edits it follows; none for archives.",
    )
    image_url = models.CharField(
        max_length=2048, blank=True, help_text="The publisher's picture; fetched only if the publication allows it."
    )
    inputs = models.TextField(
        blank=True, help_text="Digests of the publisher's items it was made from: `wire.ingest.item_digests`."
    )
    wire_date = models.DateField(help_text="UTC day it belongs to; fixed when first published.")
    first_seen_at = models.DateTimeField()
    pending = models.BooleanField(default=True, help_text="Has a revision that is not published yet.")
    merged_into = models.CharField(  # noqa: DJ001  null is the contract's "not merged"
        max_length=16, null=True, blank=True, help_text="Id of the older story of the same article, which replaces this one."
    )
    editor_category = models.CharField(max_length=10, choices=Category.choices, blank=True, help_text="Overrides the lexicon.")
    editor_topics = models.JSONField(null=True, blank=True, help_text="Overrides the lexicon: a list of topics.")
    event = models.ForeignKey(Event, null=True, on_delete=models.PROTECT, related_name="stories")
    event_pinned = models.BooleanField(default=False, help_text="An editor chose its event; regrouping never changes it.")
    leads_event = models.BooleanField(default=False, help_text="An editor chose it to represent its event in lists.")
    current = models.ForeignKey("StoryRevision", null=True, on_delete=models.PROTECT, related_name="+")

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.LIVE)
    category = models.CharField(max_length=10, choices=Category.choices)
    tier = models.PositiveSmallIntegerField(choices=Tier.choices, help_text="The publication's tier when this was published.")
    published_at = models.DateTimeField()
    consensus_score = models.FloatField(default=0.0)
    cross_source_count = models.PositiveSmallIntegerField(default=1)

    objects = StoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "stories"
        ordering = ["-published_at", "chatbotnews_id"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="story_status_known"),
            models.CheckConstraint(condition=Q(category__in=Category.values), name="story_category_known"),
        ]
        indexes = [
            # In list order, with the columns that mark live stories: counting the start of a list reads only the index.
            models.Index(fields=["-published_at", "chatbotnews_id", "status", "current"], name="story_newest"),
            models.Index(fields=["category", "-published_at", "chatbotnews_id", "status", "current"], name="story_category"),
            models.Index(fields=["publication", "-published_at", "chatbotnews_id"], name="story_publication"),
            models.Index(fields=["wire_date"], name="story_day"),
            models.Index(fields=["publication", "guid"], name="story_guid"),
            models.Index(fields=["wire_date"], name="story_pending", condition=Q(pending=True)),
            models.Index(fields=["merged_into"], name="story_merged", condition=Q(merged_into__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.chatbotnews_id


class StoryRevision(models.Model):
    """The text of a story at one time. Never edited once published, so that every old text stays readable."""

    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    revision = models.PositiveIntegerField(help_text="1, 2, 3 … within the story.")
    status = models.CharField(max_length=10, choices=Status.choices)
    headline = models.CharField(max_length=1000)
    author = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001  null is the contract's "no author"
    summary_short = models.CharField(max_length=160, blank=True)
    summary_medium = models.CharField(max_length=480, blank=True)
    category = models.CharField(max_length=10, choices=Category.choices)
    topics = models.JSONField(default=list)
    original_publisher = models.CharField(max_length=120)
    original_publisher_tier = models.PositiveSmallIntegerField(choices=Tier.choices)
    via = models.CharField(max_length=120, null=True, blank=True)  # noqa: DJ001  null is the contract's "directly"
    credited_source = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001
    published_at = models.DateTimeField()
    published_at_estimated = models.BooleanField(default=False)
    language = models.CharField(max_length=35, default="en", help_text="BCP 47.")
    untrusted_instructions = models.BooleanField(default=False, help_text="The text addresses the model that reads it.")
    corrected_on = models.DateField(null=True, blank=True, help_text="UTC date of the editor's latest correction.")
    story_sha256 = models.CharField(max_length=64)
    recorded_at = models.DateTimeField()
    reason = models.CharField(max_length=500, blank=True, help_text="Why this revision was made; public.")

    class Meta:
        ordering = ["story", "revision"]
        constraints = [models.UniqueConstraint(fields=["story", "revision"], name="revision_once")]
        # What editors changed, newest first: a few hundred of a million revisions.
        indexes = [models.Index(fields=["-id"], name="revision_by_editor", condition=BY_EDITOR)]

    def __str__(self) -> str:
        return f"{self.story_id} r{self.revision}"

    @property
    def topic_labels(self) -> str:
        return ", ".join(str(Topic(topic).label) for topic in self.topics)


class StoryJson(models.Model):
    """A published story's JSON, rendered when the story changed.

    It may be missing, old or damaged: `wire.publishing.story_json` renders it anew when `made_of` or the seal does not fit.
    """

    story = models.OneToOneField(Story, on_delete=models.CASCADE, primary_key=True, related_name="json")
    revision = models.PositiveIntegerField(help_text="Which revision of the story it shows.")
    made_of = models.CharField(max_length=100, help_text="Everything that it depends on.")
    packed = models.BinaryField(help_text="A seal of 16 bytes, then the JSON of wire.schemas.story.StoryOut, compressed with zstd.")

    def __str__(self) -> str:
        return f"{self.story_id} r{self.revision}"


class StoryAlias(models.Model):
    """Another address of the same article. After merges, it leads to the story that it was recorded for last."""

    url = models.CharField(max_length=2048, help_text="Canonical.")
    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="aliases")
    seen_at = models.DateTimeField(null=True, help_text="When it was recorded; null if earlier than this column.")

    class Meta:
        verbose_name_plural = "story aliases"
        constraints = [models.UniqueConstraint(fields=["url", "story"], name="alias_once")]

    def __str__(self) -> str:
        return self.url


class StoryListQuerySet(models.QuerySet[Link]):
    """Rows that put a story, with its time, on a list: of a topic, or of a company, person or product."""

    def between(self, since: dt.datetime | None, until: dt.datetime | None) -> Self:
        """Select since <= published_at < until."""
        rows = self if since is None else self.filter(published_at__gte=since)
        return rows if until is None else rows.filter(published_at__lt=until)

    def newest_first(self) -> Self:
        return self.order_by("-published_at", "story__chatbotnews_id")

    def after(self, published_at: dt.datetime, chatbotnews_id: str) -> Self:
        rows = self.filter(published_at__lte=published_at)
        return rows.exclude(published_at=published_at, story__chatbotnews_id__lte=chatbotnews_id)


class StoryTopicQuerySet(StoryListQuerySet["StoryTopic"]):
    def about(self, topic: str, since: dt.datetime | None = None, until: dt.datetime | None = None) -> Self:
        return self.filter(topic=topic).between(since, until)


class StoryTopic(models.Model):
    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="story_topics", db_index=False)
    topic = models.CharField(max_length=10, choices=Topic.choices)
    published_at = models.DateTimeField()

    objects = StoryTopicQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["story", "topic"], name="topic_once")]
        indexes = [models.Index(fields=["topic", "-published_at", "story"], name="topic_newest")]

    def __str__(self) -> str:
        return f"{self.story_id} {self.topic}"


class StoryPairQuerySet(models.QuerySet["StoryPair"]):
    def waiting(self) -> Self:
        """Pairs for an editor to decide: two live stories of two events, where no pair of these events is decided yet."""
        decided = StoryPair.objects.exclude(label="").filter(
            Q(story__event=OuterRef("story__event"), other__event=OuterRef("other__event"))
            | Q(story__event=OuterRef("other__event"), other__event=OuterRef("story__event"))
        )
        published = self.filter(~Exists(decided), label="", story__current__isnull=False, other__current__isnull=False)
        live = published.exclude(story__status=Status.WITHDRAWN).exclude(other__status=Status.WITHDRAWN)
        return live.exclude(story__event=F("other__event"))


class StoryPair(models.Model):
    """Two stories of different events, each the most likely of its event to report the other's; `story` came first."""

    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField(help_text="Probability that both report one event, 0–1.")
    label = models.CharField(max_length=1, choices=PairLabel.choices, blank=True, help_text="An editor's decision.")
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)  # as long as an account's name

    objects = StoryPairQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["story", "other"], name="one_row_a_pair"),)
        indexes = (models.Index(fields=["-probability"], condition=Q(label=""), name="undecided_pairs"),)

    def __str__(self) -> str:
        return f"{self.story_id} and {self.other_id}: {self.probability:.2f}"
