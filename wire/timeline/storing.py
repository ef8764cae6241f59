"""Writes a corpus's draft: rows that were changed, added or taken away. For callers in a transaction that hold the wire's lock."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import orjson
from django.db import connections, models, router

from wire.timeline import canonical, searching
from wire.timeline.models import (
    MODELS,
    Anchor,
    CatalogItem,
    Claim,
    Corpus,
    Frame,
    Mention,
    Report,
    Row,
    Thread,
)
from wire.timeline.rules import key_of
from wire.timeline.vocabulary import FRAMES

BATCH: Final = 2_000
Placed = tuple[int, Any]
"""A row, and its position in its file."""


def replace(corpus: Corpus, table: str, rows: Iterable[Placed], told: Callable[[int], object] = lambda _: None) -> Counter[str]:
    """Make these the rows of a table's draft. How many were `new`, `changed` and `removed`; again changes nothing."""
    model = MODELS[table]
    known = {
        key: (pk, sha256, position)
        for pk, key, sha256, position in model.objects.draft(corpus.pk).values_list("pk", "key", "sha256", "position")
    }
    counted = Counter[str]()
    for batch in batches(rows):
        fresh, old = [], []
        for position, row in batch:
            key, sha256 = key_of(table, row), canonical.sha256(row)
            pk, *same = known.pop(key, (None,))
            if same == [sha256, position]:
                continue
            counted["new" if pk is None else "changed"] += 1
            old += [] if pk is None else [pk]
            fresh.append(made(corpus, table, key, position, row, sha256))
        drop(model, old)
        add(table, fresh)
        told(len(batch))
    drop(model, [pk for pk, *_ in known.values()])
    counted["removed"] += len(known)
    return +counted


def put(corpus: Corpus, table: str, row: Any) -> bool:
    """Write one row of the draft, in its place if it is there already, else at the end. Whether that changed anything."""
    model, key, sha256 = MODELS[table], key_of(table, row), canonical.sha256(row)
    there = model.objects.draft(corpus.pk).filter(key=key).first()
    if there is not None and there.sha256 == sha256:
        return False
    last = model.objects.draft(corpus.pk).aggregate(last=models.Max("position"))["last"]
    position = there.position if there is not None else 0 if last is None else last + 1
    if there is not None:
        drop(model, [there.pk])
    add(table, [made(corpus, table, key, position, row, sha256)])
    return True


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
    """By table, how many rows the next release adds, changes and removes. A changed row is one that goes and comes."""
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


def made(corpus: Corpus, table: str, key: str, position: int, row: Any, sha256: str) -> Row:
    """The row as a table holds it."""
    common: dict[str, Any] = {"corpus": corpus, "key": key, "position": position, "sha256": sha256, "body": _json(row)}
    return MODELS[table](**common, **_COLUMNS.get(table, _none)(row))


def add(table: str, rows: Sequence[Row]) -> None:
    """Store rows, with what hangs on them."""
    if table == "reports":
        _add_reports([row for row in rows if isinstance(row, Report)])
        return
    MODELS[table].objects.bulk_create(rows, batch_size=BATCH)
    if table == "threads":
        _add_threads([(row, row.row) for row in rows if isinstance(row, Thread)])
    elif table == "items":
        items = [(row, row.row) for row in rows if isinstance(row, CatalogItem)]
        Mention.objects.bulk_create(Mention(item=item, report_key=key) for item, row in items for key in row["related_report_ids"])


def _number(reports: Sequence[Report]) -> None:
    """Give reports the numbers that the search index knows them by. None is used twice, even if its report is never released."""
    corpus = reports[0].corpus
    first = Corpus.objects.values_list("next_number", flat=True).get(pk=corpus.pk)
    for number, report in enumerate(reports, first):
        report.number = number
    Corpus.objects.filter(pk=corpus.pk).update(next_number=first + len(reports))


def _add_reports(reports: Sequence[Report]) -> None:
    if not reports:
        return
    _number(reports)
    _insert(Report, reports)
    numbered = Report.objects.filter(corpus=reports[0].corpus, number__gte=reports[0].number)
    pks = dict(numbered.values_list("number", "pk"))
    written = [(pks[report.number], report.row) for report in reports]
    _insert(
        Claim,
        [
            Claim(
                report_id=pk,
                place=place,
                text=claim["text"],
                claim_type=claim["claim_type"],
                status=claim["status"],
                source_url=claim.get("source_url") or "",
            )
            for pk, row in written
            for place, claim in enumerate(row["claims"])
        ],
    )
    anchors = [
        Anchor(report_id=pk, anchor_id=anchor["anchor_id"], relation=anchor["relation"])
        for pk, row in written
        for anchor in row.get("anchors") or ()
    ]
    _insert(Anchor, anchors)


def _insert(model: type[models.Model], rows: Sequence[models.Model]) -> None:
    """Store new rows, which are not told their keys: four times as fast as bulk_create, which wraps each value in an expression."""
    connection = connections[router.db_for_write(model)]
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    values = [[field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields] for row in rows]
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({places})", values)  # noqa: S608  ours


def _add_threads(threads: Sequence[tuple[Thread, Any]]) -> None:
    frames = [
        Frame(thread=one, name=name, text=text) for one, row in threads for name in FRAMES if (text := row.get(f"{name}_frame"))
    ]
    Frame.objects.bulk_create(frames)
    Mention.objects.bulk_create(Mention(thread=one, report_key=key) for one, row in threads for key in row["report_ids"])


def _report(row: Any) -> dict[str, Any]:
    return {
        "date_observed": _day(row.get("date_observed")),
        "phenomenon_type": row["phenomenon_type"],
        "source_type": row["source"]["source_type"],
        "evidence_grade": row["evidence_grade"],
        "stance": row["stance"] or "",
        "motifs": _listed(row["motifs"]),
    }


def _motif(row: Any) -> dict[str, Any]:
    names = (row["id"].replace("-", " "), row["label"], row["short_definition"], row.get("long_definition"), row["aliases"])
    return {"family": row["family"], "motifs": _listed([row["id"]]), "words": searching.index_words(*names)}


def _event(row: Any) -> dict[str, Any]:
    texts = (row["title"], row["summary"], row.get("attribution"), row.get("date_label"), row["motifs"], row["layer"])
    return {
        "layer": row["layer"],
        "date": _day(row["date"]),
        "motifs": _listed(row["motifs"]),
        "words": searching.index_words(*texts),
    }


def _thread(row: Any) -> dict[str, Any]:
    frames = [row.get(f"{name}_frame") for name in FRAMES]
    texts = (row["id"], row["title"], row["public_summary"], row.get("anchor_label"), frames, row["motifs"])
    return {"motifs": _listed(row["motifs"]), "words": searching.index_words(*texts)}


def _item(row: Any) -> dict[str, Any]:
    texts = [row[name] for name in ("title", "remembered_variant", "current_variant", "community_notes")]
    return {
        "category": row["category"],
        "status": row["status"],
        "motifs": _listed(row["motifs"]),
        "words": searching.index_words(texts, row.get("mainstream_notes"), row["motifs"]),
    }


def _none(_row: Any) -> dict[str, Any]:
    return {}


_COLUMNS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "reports": _report,
    "motifs": _motif,
    "events": _event,
    "threads": _thread,
    "items": _item,
}


def _listed(names: Sequence[str]) -> str:
    return f"|{'|'.join(names)}|"


def _day(text: str | None) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def batches(values: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    """`size` values at a time."""
    left = iter(values)
    while batch := list(islice(left, size)):
        yield batch
