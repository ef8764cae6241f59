"""Writes a corpus's draft: rows that were changed, added or taken away. For callers in a transaction that hold the wire's lock."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import orjson
from django.db import connections, models, router

from wire.corpora.timeline import canonical_json, search
from wire.corpora.timeline.models import MODELS, Anchor, Corpus, Mention, Report, Row
from wire.corpora.timeline.validation import key_of
from wire.corpora.timeline.vocabulary import FRAMES

BATCH: Final = 2_000


def replace(corpus: Corpus, table: str, rows: Iterable[Any], progress: Callable[[int], object] = lambda _: None) -> Counter[str]:
    """Make these the rows of a table's draft, in this order. Return what `update` returns; the same again changes nothing."""
    known = set(MODELS[table].objects.draft(corpus.pk).values_list("key", flat=True))
    return update(corpus, table, enumerate(rows), known, progress)


def update(
    corpus: Corpus,
    table: str,
    rows: Iterable[tuple[int | None, Any]],
    candidates: set[str],
    progress: Callable[[int], object] = lambda _: None,
) -> Counter[str]:
    """Write rows of a table's draft, each with its position in its file; None leaves it where it is, or puts it at the end. Remove
    those of `candidates` (keys) that did not come. Return how many were `new`, `changed` and `removed`.
    """
    model, counted = MODELS[table], Counter[str]()
    last = model.objects.filter(corpus=corpus).aggregate(last=models.Max("position"))["last"]
    end = 0 if last is None else last + 1
    for batch in batches(rows):
        by_key = {key_of(table, row): (position, row) for position, row in batch}
        drafted = model.objects.draft(corpus.pk).filter(key__in=by_key)
        known = {key: rest for key, *rest in drafted.values_list("key", "pk", "sha256", "position")}
        fresh, old = [], []
        for key, (given, row) in by_key.items():
            candidates.discard(key)
            pk, before, there = known.get(key, (None, "", None))
            sha256, position = canonical_json.sha256(row), there if given is None else given
            if (sha256, position) == (before, there):
                continue
            if position is None:
                position, end = end, end + 1
            counted["new" if pk is None else "changed"] += 1
            old += [] if pk is None else [pk]
            fresh.append(build_row(corpus, table, key, position, row, sha256))
        drop(model, old)
        add(table, fresh)
        progress(len(batch))
    for some in batches(sorted(candidates)):
        gone = list(model.objects.draft(corpus.pk).filter(key__in=some).values_list("pk", flat=True))
        counted["removed"] += len(gone)
        drop(model, gone)
    return +counted


def drop(model: type[Row], pks: Sequence[int]) -> None:
    """Take rows out of the draft. Those that a release has stay for it."""
    for some in batches(pks):
        model.objects.filter(pk__in=some, since=None).delete()
        model.objects.filter(pk__in=some).update(dropped=True)


def undo(corpus: Corpus) -> None:
    """Give up the draft: back to the newest release."""
    for model in MODELS.values():
        model.objects.filter(corpus=corpus, since=None).delete()
        model.objects.filter(corpus=corpus, dropped=True, until=None).update(dropped=False)
    released = corpus.releases.first()
    if released is not None:
        corpus.written, corpus.meta = released.written, released.meta
        corpus.save(update_fields=["written", "meta", "changed_at"])


def changes(corpus: Corpus) -> dict[str, Counter[str]]:
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


def has_changes(corpus: Corpus) -> bool:
    return bool(changes(corpus)) or not corpus.release


def build_row(corpus: Corpus, table: str, key: str, position: int, row: Any, sha256: str) -> Row:
    body = orjson.dumps(row).decode()
    columns = _COLUMNS[table](row) if table in _COLUMNS else {}
    return MODELS[table](corpus=corpus, key=key, position=position, sha256=sha256, body=body, **columns)


def add(table: str, rows: Sequence[Row]) -> None:
    """Store rows, with the rows that refer from them to others."""
    if table == "reports" and rows:
        corpus = rows[0].corpus
        # Numbers by which the search index knows reports. None is used twice, even if its report is never released.
        first = Corpus.objects.values_list("next_number", flat=True).get(pk=corpus.pk)
        for number, report in enumerate(rows, first):
            report.number = number  # type: ignore[attr-defined]
        Corpus.objects.filter(pk=corpus.pk).update(next_number=first + len(rows))
        _insert(Report, rows)
        pks = dict(Report.objects.filter(corpus=corpus, number__gte=first).values_list("number", "pk"))
        _insert(Anchor, [one for number, row in enumerate(rows, first) for one in references_of(table, row.row, pks[number])])
    elif table != "reports":
        MODELS[table].objects.bulk_create(rows, batch_size=BATCH)
        mentions = (one for row in rows for one in references_of(table, row.row, row.pk))
        Mention.objects.bulk_create(one for one in mentions if isinstance(one, Mention))


def references_of(table: str, row: Any, pk: int) -> list[models.Model]:
    """Return what a row of a table refers to, not saved yet, in the order in which it is stored."""
    if table == "reports":
        anchors = row.get("anchors") or ()
        return [Anchor(report_id=pk, anchor_id=anchor["anchor_id"], relation=anchor["relation"]) for anchor in anchors]
    if table == "threads":
        return [Mention(thread_id=pk, report_key=key) for key in row["report_ids"]]
    return [Mention(item_id=pk, report_key=key) for key in row["related_report_ids"]] if table == "items" else []


def _insert(model: type[models.Model], rows: Sequence[models.Model]) -> None:
    # Four times as fast as bulk_create, which wraps each value in an expression; the rows do not learn their keys.
    connection = connections[router.db_for_write(model)]
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    values = [[field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields] for row in rows]
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({places})", values)  # noqa: S608  ours


def _report_columns(row: Any) -> dict[str, Any]:
    return {
        "date_observed": _day(row.get("date_observed")),
        "phenomenon_type": row["phenomenon_type"],
        "source_type": row["source"]["source_type"],
        "evidence_grade": row["evidence_grade"],
        "stance": row["stance"] or "",
        "motifs": _join(row["motifs"]),
    }


def _motif_columns(row: Any) -> dict[str, Any]:
    names = (row["id"].replace("-", " "), row["label"], row["short_definition"], row.get("long_definition"), row["aliases"])
    return {"family": row["family"], "motifs": _join([row["id"]]), "words": search.index_words(*names)}


def _event_columns(row: Any) -> dict[str, Any]:
    texts = (row["title"], row["summary"], row.get("attribution"), row.get("date_label"), row["motifs"], row["layer"])
    return {"layer": row["layer"], "date": _day(row["date"]), **_searched_columns(row, texts)}


def _thread_columns(row: Any) -> dict[str, Any]:
    frames = [row.get(f"{name}_frame") for name in FRAMES]
    return _searched_columns(row, (row["id"], row["title"], row["public_summary"], row.get("anchor_label"), frames, row["motifs"]))


def _item_columns(row: Any) -> dict[str, Any]:
    texts = [row[name] for name in ("title", "remembered_variant", "current_variant", "community_notes")]
    searched = _searched_columns(row, (texts, row.get("mainstream_notes"), row["motifs"]))
    return {"category": row["category"], "status": row["status"], **searched}


def _searched_columns(row: Any, texts: Sequence[Any]) -> dict[str, Any]:
    return {"motifs": _join(row["motifs"]), "words": search.index_words(*texts)}


_COLUMNS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "reports": _report_columns,
    "motifs": _motif_columns,
    "events": _event_columns,
    "threads": _thread_columns,
    "items": _item_columns,
}


def _join(names: Sequence[str]) -> str:
    return f"|{'|'.join(names)}|"


def _day(text: str | None) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None


def batches(values: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    left = iter(values)
    while batch := list(islice(left, size)):
        yield batch
