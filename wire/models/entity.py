"""Companies, people and products with a page of their own, and the stories that name them.

Editors tune the list; fixtures/entities.json ships it.
"""

import datetime as dt
from typing import Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from sources.models import Publication
from wire.models.story import Story, StoryListQuerySet
from wire.text.entity_names import NameFinder


class Entity(models.Model):
    """A company, person or product that is in the news. `spellings` and `exceptions` hold one a line."""

    class NameKind(models.TextChoices):
        COMPANY = "company", "Company"
        PERSON = "person", "Person"
        PRODUCT = "product", "Product"

    class State(models.TextChoices):
        SHOWN = "shown", "Has a page"
        PROPOSED = "proposed", "Proposed"
        NEVER = "never", "Never"

    slug = models.SlugField(max_length=60, unique=True, help_text="Used in its address: /about/…")
    name = models.CharField(
        max_length=80,
        help_text="Shown to readers. Its page lists stories that contain it in exactly this spelling, capitals included.",
    )
    kind = models.CharField(max_length=7, choices=NameKind.choices)
    spellings = models.TextField(
        blank=True, max_length=2000, help_text="Other spellings, one per line. Only whole words with exactly these capitals match."
    )
    exceptions = models.TextField(
        blank=True,
        max_length=2000,
        help_text="Phrases that contain a spelling but mean something else, one per line: Big Apple, Claude Monet.",
    )
    publication = models.ForeignKey(
        Publication,
        # By its slug and without a constraint: restoring a dump deletes all publications and writes them again.
        to_field="slug",
        db_constraint=False,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        help_text="The name's own publication, if it is one of the 24; its stories are shown apart, as official posts.",
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.SHOWN)
    is_shipped = models.BooleanField(
        default=False, editable=False, help_text="Whether it is as the wire ships it; an editor's change ends that."
    )
    reason = models.CharField(max_length=200, blank=True, editable=False, help_text="Why it was proposed.")

    class Meta:
        verbose_name = "name"
        verbose_name_plural = "companies, people and products"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["company", "person", "product"]), name="entity_kind_known"),
            models.CheckConstraint(condition=Q(state__in=["shown", "proposed", "never"]), name="entity_state_known"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Raises: ValidationError: a spelling that nobody sees, or that another name has."""
        if not all(spelling.isprintable() for spelling in self.list_spellings()):
            raise ValidationError({"spellings": "Use visible characters."})
        others = Entity.objects.exclude(pk=self.pk).exclude(state=self.State.PROPOSED)
        known = {name.casefold(): other for other in others for name in (*other.list_spellings(), other.slug)}
        for name in (*self.list_spellings(), self.slug):
            if other := known.get(name.casefold()):
                has = "never gets a page" if other.state == self.State.NEVER else "has a page"
                raise ValidationError(f"“{name}” already leads to {other}, which {has}. Change that name instead.")

    def list_spellings(self) -> tuple[str, ...]:
        return (self.name, *filter(None, map(str.strip, self.spellings.splitlines())))

    def list_exceptions(self) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, self.exceptions.splitlines())))

    @property
    def finder(self) -> NameFinder:
        return NameFinder(self.list_spellings(), self.list_exceptions())


class StoryEntityQuerySet(StoryListQuerySet["StoryEntity"]):
    def about(self, entity: int, since: dt.datetime | None = None, until: dt.datetime | None = None) -> Self:
        """Stories of other publications that name it."""
        return self.filter(entity=entity, is_official=False).between(since, until)

    def official(self, entity: int) -> Self:
        """Stories of its own publication, whether they name it or not."""
        return self.filter(entity=entity, is_official=True)


class StoryEntity(models.Model):
    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="story_entities", db_index=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="story_entities", db_index=False)
    is_official = models.BooleanField(help_text="By its own publication.")
    published_at = models.DateTimeField()

    objects = StoryEntityQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["story", "entity"], name="entity_once")]
        indexes = [models.Index(fields=["entity", "is_official", "-published_at", "story"], name="entity_newest")]

    def __str__(self) -> str:
        return f"{self.story_id} {self.entity_id}"
