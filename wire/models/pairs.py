"""Pairs of stories that may report one happening: editors decide, and their decisions stay as labels."""

from typing import Final, Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from wire.models.story import Story
from wire.text.vocabulary import PairLabel, Status

LONGEST_NAME: Final = 150  # characters of an account's name, as Django has it


class StoryPairQuerySet(models.QuerySet["StoryPair"]):
    def waiting(self) -> Self:
        """Pairs for an editor to decide: of live stories, of two events that no other pair was decided for."""
        decided = StoryPair.objects.exclude(label="").filter(
            Q(story__event=OuterRef("story__event"), other__event=OuterRef("other__event"))
            | Q(story__event=OuterRef("other__event"), other__event=OuterRef("story__event"))
        )
        published = self.filter(~Exists(decided), label="", story__current__isnull=False, other__current__isnull=False)
        live = published.exclude(story__status=Status.WITHDRAWN).exclude(other__status=Status.WITHDRAWN)
        return live.exclude(story__event=F("other__event"))


class StoryPair(models.Model):
    """Two stories of different events, each the likeliest of its event to be about the other's happening; `story` came first."""

    story = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Story, on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField(help_text="That both report one happening, 0–1.")
    label = models.CharField(max_length=1, choices=PairLabel.choices, blank=True, help_text="An editor's decision.")
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=LONGEST_NAME, blank=True)

    objects = StoryPairQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["story", "other"], name="one_row_a_pair"),)
        indexes = (models.Index(fields=["-probability"], condition=Q(label=""), name="undecided_pairs"),)

    def __str__(self) -> str:
        return f"{self.story_id} and {self.other_id}: {self.probability:.2f}"
