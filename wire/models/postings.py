"""The table of `wire.postings`."""

from django.db import models


class Postings(models.Model):
    """Which documents of one block of an index hold a token, and with what weight."""

    index = models.CharField(max_length=60)
    token = models.CharField(max_length=100)
    block = models.PositiveIntegerField()
    found = models.BinaryField(
        help_text="wire.postings: a little-endian 32-bit word each, the number in the block above eight bits of weight."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["index", "token", "block"], name="postings_once")]

    def __str__(self) -> str:
        return f"{self.index}: {self.token} in block {self.block}"
