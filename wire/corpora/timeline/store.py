"""Writes a corpus's draft, for callers in a transaction that hold the wire's lock; and lists differences, row by row, by key."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, cast

import orjson
from django.db.models import Max, Model

from wire.corpora.timeline import search
from wire.corpora.timeline.corpus_files import TABLES
from wire.corpora.timeline.models import MODELS, Anchor, Corpus, Mention, Report, Row
from wire.corpora.timeline.validation import build_row_key
from wire.text.lexicons import load_lexicon
from wire.text.provenance_manifest import hash_json

BATCH: Final = 2_000
_FIELDS: Final = load_lexicon("timeline_fields")
Rows = Mapping[str, Mapping[str, Any]]  # by table, rows by their keys


def replace_draft_rows(corpus: Corpus, table: str, rows: Iterable[Any]) -> Counter[str]:
    """Make these the rows of a table's draft, in this order; the same again changes nothing. Return as `update_draft_rows`."""
    known = set(MODELS[table].objects.draft(corpus.pk).values_list("key", flat=True))
    return update_draft_rows(corpus, table, enumerate(rows), known)


def update_draft_rows(corpus: Corpus, table: str, rows: Iterable[tuple[int | None, Any]], candidates: set[str]) -> Counter[str]:
    """Write rows, each with its position (None: as it is, or last); remove the `candidates` (keys) that did not come. Return how
    many were `new`, `changed` and `removed`.
    """
    model, counted = MODELS[table], Counter[str]()
    last = model.objects.filter(corpus=corpus).aggregate(last=Max("position"))["last"]
    end = 0 if last is None else last + 1
    for batch in split_batches(rows):
        by_key = {build_row_key(table, row): (position, row) for position, row in batch}
        drafted = model.objects.draft(corpus.pk).filter(key__in=by_key)
        known = {key: rest for key, *rest in drafted.values_list("key", "pk", "sha256", "position")}
        fresh, old = [], []
        for key, (given, row) in by_key.items():
            candidates.discard(key)
            pk, before, there = known.get(key, (None, "", None))
            sha256, position = hash_json(row), there if given is None else given
            if (sha256, position) == (before, there):
                continue
            if position is None:
                position, end = end, end + 1
            counted["new" if pk is None else "changed"] += 1
            old += [] if pk is None else [pk]
            fresh.append(build_row(corpus, table, key, position, row, sha256))
        drop_draft_rows(model, old)
        insert_rows(table, fresh)
    for some in split_batches(sorted(candidates)):
        gone = list(model.objects.draft(corpus.pk).filter(key__in=some).values_list("pk", flat=True))
        counted["removed"] += len(gone)
        drop_draft_rows(model, gone)
    return +counted


def drop_draft_rows(model: type[Row], pks: Sequence[int]) -> None:
    """Take rows out of the draft. Those that a release has stay for it."""
    for some in split_batches(pks):
        model.objects.filter(pk__in=some, since=None).delete()
        model.objects.filter(pk__in=some).update(dropped=True)


def discard_draft(corpus: Corpus) -> None:
    for model in MODELS.values():
        model.objects.filter(corpus=corpus, since=None).delete()
        model.objects.filter(corpus=corpus, dropped=True, until=None).update(dropped=False)
    released = corpus.releases.first()
    if released is not None:
        corpus.written, corpus.meta = released.written, released.meta
        corpus.save(update_fields=["written", "meta", "changed_at"])


def count_changes(corpus: Corpus) -> dict[str, Counter[str]]:
    """Count by table the rows that the next release adds, changes and removes. A changed row is one that goes and comes."""
    found = {}
    for table, model in MODELS.items():
        rows = model.objects.filter(corpus=corpus)
        fresh = set(rows.filter(since=None).values_list("key", flat=True))
        gone = set(rows.filter(dropped=True, until=None).values_list("key", flat=True))
        counted = +Counter(new=len(fresh - gone), changed=len(fresh & gone), removed=len(gone - fresh))
        if counted:
            found[table] = counted
    released = corpus.releases.first()
    if released is not None and (released.written, released.meta) != (corpus.written, corpus.meta):
        found["corpus"] = Counter(changed=1)
    return found


def has_unreleased_changes(corpus: Corpus) -> bool:
    return bool(count_changes(corpus)) or not corpus.release


def insert_rows(table: str, rows: Sequence[Row]) -> None:
    if table == "reports" and rows:
        # Numbers by which the search index knows reports. None is used twice, even if its report is never released.
        corpus = Corpus.objects.get(pk=rows[0].corpus_id)
        for number, report in enumerate(cast("Sequence[Report]", rows), corpus.next_number):
            report.number = number
        Corpus.objects.filter(pk=corpus.pk).update(next_number=corpus.next_number + len(rows))
    MODELS[table].objects.bulk_create(rows, batch_size=BATCH)
    references = [one for row in rows for one in build_references(table, row.row, row.pk)]
    if references:
        type(references[0])._default_manager.bulk_create(references, batch_size=BATCH)


def build_references(table: str, row: Any, pk: int) -> list[Model]:
    """Return what a row of a table refers to, not saved yet, in the order in which it is stored."""
    if table == "reports":
        anchors = row.get("anchors") or ()
        return [Anchor(report_id=pk, anchor_id=anchor["anchor_id"], relation=anchor["relation"]) for anchor in anchors]
    if table == "threads":
        return [Mention(thread_id=pk, report_key=key) for key in row["report_ids"]]
    return [Mention(item_id=pk, report_key=key) for key in row["related_report_ids"]] if table == "items" else []


def build_row(corpus: Corpus, table: str, key: str, position: int, row: Any, sha256: str) -> Row:
    body = orjson.dumps(row).decode()
    return MODELS[table](corpus=corpus, key=key, position=position, sha256=sha256, body=body, **build_columns(table, row))


def build_columns(table: str, row: Any) -> dict[str, Any]:
    """Return what lists filter by: columns of the row's own, words, and motifs."""
    if table in {"sources", "edges"}:
        return {}
    found: dict[str, Any] = {name: row[name] for name in _FIELDS["copied"].get(table, ())}
    for name in {"reports": ["date_observed"], "events": ["date"]}.get(table, ()):
        found[name] = dt.date.fromisoformat(row[name]) if row.get(name) else None
    motifs = [row["id"]] if table == "motifs" else row["motifs"]
    found["motifs"] = f"|{'|'.join(motifs)}|"
    if table == "reports":
        return found | {"source_type": row["source"]["source_type"], "stance": row["stance"] or ""}
    texts = [row.get(name) for name in _FIELDS["searched"][table]]
    return found | {"words": search.join_stems(row["id"].replace("-", " ") if table == "motifs" else None, *texts)}


def split_batches(values: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    left = iter(values)
    while batch := list(islice(left, size)):
        yield batch


class Difference(NamedTuple):
    """A row that differs. `fields` of a changed one are those whose values differ."""

    table: str
    key: str
    what: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.table} {self.key} {self.what}{': ' if self.fields else ''}{', '.join(self.fields)}"


def read_rows(corpus: Corpus, release: int | None) -> Rows:
    """Return the rows of a release; None stands for the draft."""
    found = {}
    for name, model in MODELS.items():
        rows = model.objects.draft(corpus.pk) if release is None else model.objects.in_release(corpus.pk, release)
        found[name] = {row.key: row.row for row in rows.in_order()}
    return found


def list_differences(old: Rows, new: Rows) -> Iterator[Difference]:
    for table in TABLES:
        before, after = old[table.name], new[table.name]
        for key in before:
            if key not in after:
                yield Difference(table.name, key, "removed")
        for key, row in after.items():
            if key not in before:
                yield Difference(table.name, key, "added")
            elif row != (old_row := before[key]):
                fields = dict.fromkeys((*old_row, *row)) if isinstance(row, dict) else ()
                changed = [name for name in fields if (name in old_row, old_row.get(name)) != (name in row, row.get(name))]
                yield Difference(table.name, key, "changed", tuple(changed) or ("weight",))
