"""Differences between two releases, or between a release and a directory: row by row, by key."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from wire.corpora.timeline.models import MODELS, Corpus, RowQuerySet
from wire.corpora.timeline.reader import TABLES, Written
from wire.corpora.timeline.validation import key_of

Rows = Mapping[str, Mapping[str, Any]]  # by table, rows by their keys


class Difference(NamedTuple):
    """A row that differs. `fields` of a changed one are those whose values differ."""

    table: str
    key: str
    what: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.table} {self.key} {self.what}{': ' if self.fields else ''}{', '.join(self.fields)}"


def read_release(corpus: Corpus, number: int) -> Rows:
    return {name: _by_key(model.objects.in_release(corpus.pk, number)) for name, model in MODELS.items()}


def read_draft(corpus: Corpus) -> Rows:
    return {name: _by_key(model.objects.draft(corpus.pk)) for name, model in MODELS.items()}


def read_files(written: Written) -> Rows:
    return {table: {key_of(table, row): row for row in rows} for table, rows in written.rows.items()}


def _by_key(rows: RowQuerySet) -> dict[str, Any]:
    return {row.key: row.row for row in rows.in_order()}


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
