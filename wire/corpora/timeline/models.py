"""Corpora, their releases and their rows. All times are UTC.

A row belongs to the releases from `since` on, and before `until`; a release that was made never changes. What editors are at is the
draft: rows without `since` are new, rows that are `dropped` leave with the next release.
"""

from typing import Any, Final, Self

import orjson
from django.db import models
from django.db.models import Q

from config.database.row_seal import Sealed, SealedQuerySet
from wire.text.provenance_manifest import to_rfc3339


class Corpus(models.Model):
    """A corpus, with the corpus.json of its draft. `release` is the number of its newest release, 0 before it."""

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=500)
    release = models.PositiveIntegerField(default=0, editable=False)
    next_number = models.PositiveIntegerField(default=0, editable=False, help_text="Of its next report in the search index.")
    written = models.TextField(help_text="corpus.json.")
    meta = models.TextField(default="{}", help_text="What each file says besides its rows.")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["slug"]
        verbose_name_plural = "corpora"

    def __str__(self) -> str:
        return self.name


class CorpusRelease(Sealed):
    """A release: what is hashed (`manifest`, RFC 8785), its link to the release before, and what was counted when it was made."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField()
    released_at = models.DateTimeField()
    note = models.CharField(max_length=500, blank=True)
    previous_sha256 = models.CharField("SHA-256 of the previous release", max_length=64, blank=True)
    sha256 = models.CharField("SHA-256", max_length=64)
    manifest = models.TextField()
    signature = models.CharField(max_length=100)
    key_id = models.CharField("key ID", max_length=16, help_text="The signing key, listed in /.well-known/wire-keys.json.")
    public_key = models.CharField(max_length=64, help_text="That key: raw 32 bytes, base64.")
    written = models.TextField()
    meta = models.TextField()
    counts = models.TextField(help_text="Statistics of its rows.")

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ["corpus", "-number"]
        constraints = [models.UniqueConstraint(fields=["corpus", "number"], name="timeline_release_once")]

    def __str__(self) -> str:
        return f"{self.corpus}, release {self.number}"

    @property
    def timestamp(self) -> str:
        return to_rfc3339(self.released_at)


class RowQuerySet(models.QuerySet[Any]):
    def in_release(self, corpus: int, number: int) -> Self:
        return self.filter(Q(until=None) | Q(until__gt=number), corpus_id=corpus, since__lte=number)

    def draft(self, corpus: int) -> Self:
        return self.filter(corpus_id=corpus, until=None, dropped=False)

    def in_order(self) -> Self:
        return self.order_by("position", "pk")


class Row(models.Model):
    """Base of the rows of every table. `body` is the row as it was written; other columns only repeat it, for queries."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=250, editable=False)
    position = models.PositiveIntegerField(editable=False, help_text="In its file.")
    since = models.PositiveIntegerField(null=True, editable=False, help_text="The first release that has it.")
    until = models.PositiveIntegerField(null=True, editable=False, help_text="The first release that no longer has it.")
    dropped = models.BooleanField(default=False, editable=False, help_text="The next release will not have it.")
    body = models.TextField(editable=False)
    sha256 = models.CharField(max_length=64, editable=False, help_text="Of the row as canonical JSON (RFC 8785).")

    objects = RowQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["corpus", "position"]
        indexes = [
            models.Index(fields=["corpus", "until", "position"], name="tl_%(class)s_order"),
            models.Index(fields=["corpus", "key"], name="tl_%(class)s_key"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["corpus", "key"], condition=Q(until=None, dropped=False), name="tl_%(class)s_draft_once"
            ),
        ]

    def __str__(self) -> str:
        return str(self.row.get("title") or self.row.get("label"))[:120]

    @property
    def row(self) -> Any:
        return orjson.loads(self.body)


class Searched(Row):
    """Rows that lists filter: `motifs` is "|one|two|", `words` " stem stem "."""

    motifs = models.TextField(default="", editable=False)
    words = models.TextField(default="", editable=False)

    class Meta(Row.Meta):
        abstract = True


class SourceFamily(Row):
    class Meta(Row.Meta):
        verbose_name_plural = "source families"


class Motif(Searched):
    family = models.CharField(max_length=60, editable=False)


class MotifEdge(Row):
    def __str__(self) -> str:
        return self.key


class TimelineEvent(Searched):
    layer = models.CharField(max_length=60, editable=False)
    date = models.DateField(editable=False)


class CatalogItem(Searched):
    category = models.CharField(max_length=60, editable=False)
    status = models.CharField(max_length=60, editable=False)


class Thread(Searched):
    pass


class Report(Row):
    """`number` is what its postings name; a changed report is another one."""

    number = models.PositiveIntegerField(null=True, editable=False)
    date_observed = models.DateField(null=True, editable=False)
    phenomenon_type = models.CharField(max_length=60, editable=False)
    source_type = models.CharField(max_length=60, editable=False)
    evidence_grade = models.CharField(max_length=20, editable=False)
    stance = models.CharField(max_length=20, editable=False, help_text="Empty where nobody judged it.")
    motifs = models.TextField(default="", editable=False)

    class Meta(Row.Meta):
        constraints = [
            *Row.Meta.constraints,
            models.UniqueConstraint(fields=["corpus", "number"], name="timeline_report_number_once"),
        ]


class Anchor(models.Model):
    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="anchors")
    anchor_id = models.CharField(max_length=120, db_index=True)
    relation = models.CharField(max_length=60)

    def __str__(self) -> str:
        return self.anchor_id


class Mention(models.Model):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, null=True, related_name="mentions")
    item = models.ForeignKey(CatalogItem, on_delete=models.CASCADE, null=True, related_name="mentions")
    report_key = models.CharField(max_length=120, db_index=True)

    def __str__(self) -> str:
        return self.report_key


MODELS: Final[dict[str, type[Row]]] = {
    "sources": SourceFamily,
    "motifs": Motif,
    "edges": MotifEdge,
    "events": TimelineEvent,
    "reports": Report,
    "items": CatalogItem,
    "threads": Thread,
}
