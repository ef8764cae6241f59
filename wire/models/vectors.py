"""What stories mean, as vectors."""

from django.db import models

from wire.models.story import Story


class StoryVector(models.Model):
    """The vector of a story's published headline and summary; `wire.vectors.stored.fill` makes what is missing."""

    story = models.OneToOneField(Story, on_delete=models.CASCADE, primary_key=True, related_name="vector")
    model = models.CharField(max_length=60, help_text="What made it; vectors of two models cannot be compared.")
    vector = models.BinaryField(help_text="Halves (IEEE 754 binary16, little-endian), of length 1 together.")

    def __str__(self) -> str:
        return f"{self.story_id} by {self.model}"
