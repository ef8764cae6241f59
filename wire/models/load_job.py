"""Loads under way, so that one that was killed goes on where it stopped."""

from django.db import models


class Load(models.Model):
    """Progress of `loadwire` in one input, written in the transaction of the batch it counts; gone once it is through."""

    name = models.CharField(max_length=500)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the input's bytes and of the map.")
    line = models.PositiveBigIntegerField(default=0, help_text="Lines (or items) dealt with.")
    counts = models.JSONField(default=dict, help_text="Outcomes so far, by name.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name}: line {self.line}"
