"""The log over all snapshots, witnessed logs, and the log of changes.

The first is a function of the snapshots and can be made again from them; so can a beginning of the last.
"""

from django.db import models

from config.database.row_seal import Sealed, SealedQuerySet
from wire.text.choices import ChangeKind


class LogEntry(models.Model):
    """A leaf of the Merkle tree over all snapshots, and the tree as it was with this leaf its last.

    `signature` may be empty: the log was made again, after a restore, by a wire that no longer has the key.
    """

    sequence = models.PositiveBigIntegerField(primary_key=True, help_text="The snapshot's number; the leaf's index is one less.")
    stories_root = models.BinaryField(help_text="Root of the Merkle tree over the lines of the day's stories.")
    leaf = models.BinaryField(help_text="RFC 9162 leaf hash.")
    root = models.BinaryField(help_text="Root of the tree of this many leaves.")
    origin = models.CharField(max_length=300, blank=True, help_text="The log's name in the checkpoint.")
    signature = models.BinaryField(help_text="The checkpoint's key id and the Ed25519 signature of its text.")

    def __str__(self) -> str:
        return f"leaf {self.sequence}"


class LogNode(models.Model):
    """A perfect subtree of that tree, above the leaves."""

    level = models.PositiveSmallIntegerField()
    position = models.PositiveBigIntegerField()
    digest = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["level", "position"], name="log_node_once")]

    def __str__(self) -> str:
        return f"{self.level}/{self.position}"


class Witnessed(Sealed):
    """The newest checkpoint of another wire's log that this one saw to hold all it saw before, and signed."""

    origin = models.CharField(max_length=300, primary_key=True)
    url = models.CharField(max_length=500)
    public_key = models.CharField(max_length=64, help_text="The log's key, as first seen; base64.")
    size = models.PositiveBigIntegerField()
    root = models.BinaryField()
    note = models.TextField(help_text="The checkpoint with this wire's signature under it.")
    seen_at = models.DateTimeField()
    fault = models.CharField(
        max_length=500, blank=True, help_text="What the last check found wrong; `note` is then the one before."
    )

    objects = SealedQuerySet.as_manager()

    class Meta:
        verbose_name = "witnessed log"

    def __str__(self) -> str:
        return f"{self.origin} at {self.size}"


class Change(Sealed):
    """A change of the public record, written in its transaction. Numbers have no gaps and are committed in their order, since every
    writer holds WireState.
    """

    number = models.PositiveBigIntegerField(primary_key=True, help_text="1, 2, 3 …")
    kind = models.CharField(max_length=16, choices=ChangeKind.choices)
    subject = models.CharField(max_length=40, help_text="A story, an event, a day, or the roster's revision.")
    revision = models.PositiveIntegerField(null=True, help_text="The revision of the story or day.")
    other = models.CharField(max_length=40, blank=True, help_text="The event that a story is in, or that an event was merged into.")
    at = models.DateTimeField()

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [models.CheckConstraint(condition=models.Q(kind__in=ChangeKind.values), name="change_kind_known")]

    def __str__(self) -> str:
        return f"{self.number} {self.kind} {self.subject}"
