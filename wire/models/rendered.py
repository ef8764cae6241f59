"""Stories as every door shows them, kept as JSON."""

from django.db import models

from wire.models.story import Story


class StoryJson(models.Model):
    """A published story's JSON, made when the story changed, so that nobody who asks has to wait for it.

    It may be missing, old or damaged: `wire.snapshots.story_json` looks at `made_of` and at the seal, and makes what is shown anew
    whenever one of them does not fit.
    """

    story = models.OneToOneField(Story, on_delete=models.CASCADE, primary_key=True, related_name="json")
    revision = models.PositiveIntegerField(help_text="Which revision of the story it shows.")
    made_of = models.CharField(max_length=100, help_text="Everything that it depends on.")
    packed = models.BinaryField(help_text="A seal of 16 bytes, then the JSON of wire.schemas.StoryOut, compressed with zstd.")

    def __str__(self) -> str:
        return f"{self.story_id} r{self.revision}"
