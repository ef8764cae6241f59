"""The append-only sequence of snapshots, the keys that signed it, and the wire version."""

import datetime as dt
import logging
import zlib
from typing import Any, Final, Self, cast

import orjson
from django.db import models, transaction
from django.db.models import F
from django.utils import timezone

from config.errors import Damaged
from config.http import memory_cache

log = logging.getLogger(__name__)

SEAL_AFTER: Final = dt.timedelta(hours=72)


def find_first_open_day(now: dt.datetime) -> dt.date:
    """Return the first UTC day that did not end 72 hours ago or more. Earlier ones are sealed: their derived fields are frozen."""
    return (now.astimezone(dt.UTC) - SEAL_AFTER).date()


def is_sealed(day: dt.date, now: dt.datetime) -> bool:
    return day < find_first_open_day(now)


class WireState(models.Model):
    """The one row that every writer of public content locks first.

    `version` is the wire version: every public change raises it inside its own transaction. `is_sample` marks a database
    that holds the sample wire; it can never hold real news. `lexicon_sha256` is of the file whose shipped terms are stored,
    `entities_sha256` of that of companies, people and products.
    `changes_epoch` names the log of changes: another one, made again after a restore, has other numbers.
    """

    version = models.PositiveBigIntegerField(default=0)
    is_sample = models.BooleanField(default=False)
    lexicon_sha256 = models.CharField(max_length=64, default="", blank=True)
    entities_sha256 = models.CharField(max_length=64, default="", blank=True)
    changes_epoch = models.CharField(max_length=16, default="", blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="wire_state_is_one_row")]

    def __str__(self) -> str:
        return f"version {self.version}"

    @classmethod
    def lock(cls) -> "WireState":
        """Wait until no other writer holds the wire. Call inside a transaction; SQLite's IMMEDIATE already waits at BEGIN."""
        return cls.objects.select_for_update().get(pk=1)

    @classmethod
    def raise_version(cls) -> None:
        """Tell every reader that public content changed; call in the transaction that changes it."""
        cls.objects.filter(pk=1).update(version=F("version") + 1)
        transaction.on_commit(memory_cache.answers.clear)


class SigningKey(models.Model):
    """A public Ed25519 key. Retired ones stay published, so that old days still verify."""

    ALGORITHM: Final = "Ed25519"

    key_id = models.CharField("key ID", max_length=16, primary_key=True, help_text="First 16 digits of the public key's SHA-256.")
    public_key = models.CharField(max_length=64, help_text="Raw 32 bytes, base64.")
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "key_id"]

    def __str__(self) -> str:
        return self.key_id


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def days(self) -> Self:
        """Return the first revision of each wire date. A day may have hundreds, so its newest is looked up: `newest_of_day`."""
        return self.filter(revision=1)


class Snapshot(models.Model):
    """A published revision of a wire date. Rows are only ever added, each linked to the one before by its hash."""

    sequence = models.PositiveBigIntegerField(primary_key=True, help_text="1, 2, 3 … across all days.")
    wire_date = models.DateField("day (UTC)")
    revision = models.PositiveIntegerField(help_text="1, 2, 3 … within the day.")
    wire_sha256 = models.CharField("SHA-256", max_length=64, unique=True)
    previous_sha256 = models.CharField("SHA-256 of the previous snapshot", max_length=64, null=True)  # noqa: DJ001  null marks the first of the chain
    roster_sha256 = models.CharField("SHA-256 of the roster", max_length=64)
    generated_at = models.DateTimeField()
    story_count = models.PositiveIntegerField()
    packed = models.BinaryField(help_text="The canonical bytes whose hash is wire_sha256, compressed with zlib.")
    signature = models.CharField(max_length=128, help_text="Ed25519 over the 64 hex digits of wire_sha256, base64.")
    key = models.ForeignKey(SigningKey, on_delete=models.PROTECT, related_name="snapshots")
    reason = models.CharField(max_length=500, blank=True, help_text="Why a final day was published again; public.")

    objects = SnapshotQuerySet.as_manager()

    class Meta:
        ordering = ["-sequence"]
        constraints = [models.UniqueConstraint(fields=["wire_date", "revision"], name="snapshot_revision_once")]
        indexes = [
            models.Index(fields=["revision", "-wire_date"], name="snapshot_day"),  # each day has one revision 1
            # A year's days are read from it alone.
            models.Index(fields=["wire_date", "-revision", "story_count"], name="snapshot_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.wire_date} r{self.revision}"

    @property
    def canonical(self) -> bytes:
        """Raises: Damaged."""
        try:
            return zlib.decompress(self.packed)
        except (zlib.error, TypeError) as error:  # SQLite keeps a text, too, where bytes belong
            raise self._report_damage(error) from error

    @property
    def manifest(self) -> dict[str, Any]:
        """The hashed value, {v, wire_date, revision, previous_sha256, roster_sha256, editor_take, stories}. Raises: Damaged."""
        try:
            return cast(dict[str, Any], orjson.loads(self.canonical))
        except orjson.JSONDecodeError as error:
            raise self._report_damage(error) from error

    def _report_damage(self, error: Exception) -> Damaged:
        log.error("Snapshot %d (%s) is damaged: %s. Run manage.py verifywire, then restore a backup.", self.sequence, self, error)
        return Damaged(
            f"The record of {self.wire_date}, revision {self.revision}, is damaged and cannot be read.",
            "Other days are not affected; this one comes back when the wire's operator has restored it.",
        )


def newest_of_day(field: str = "pk") -> models.Subquery:
    """Return an annotation of snapshots: a field of the newest one of the same wire date."""
    newest = Snapshot.objects.filter(wire_date=models.OuterRef("wire_date")).order_by("-revision")
    return models.Subquery(newest.values(field)[:1])


class EditorTake(models.Model):
    """The brief of one wire date as an editor wrote it. Where there is none, publishing generates one."""

    wire_date = models.DateField("day (UTC)", unique=True, help_text="The day whose generated brief this replaces.")
    markdown = models.TextField(max_length=20_000)
    author = models.CharField(max_length=150, help_text="Who wrote it; shown in admin only.")
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-wire_date"]

    def __str__(self) -> str:
        return f"Editor's take of {self.wire_date}"
