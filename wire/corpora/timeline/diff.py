"""Differences between two releases, or between a release and a directory: row by row, by key."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from wire.corpora.timeline.models import MODELS, Corpus
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


def of_release(corpus: Corpus, number: int) -> Rows:
    rows = {name: model.objects.in_release(corpus.pk, number).in_order() for name, model in MODELS.items()}
    return {name: {row.key: row.row for row in some} for name, some in rows.items()}


def of_draft(corpus: Corpus) -> Rows:
    return {name: {row.key: row.row for row in model.objects.draft(corpus.pk).in_order()} for name, model in MODELS.items()}


def of_files(written: Written) -> Rows:
    return {table: {key_of(table, row): row for row in rows} for table, rows in written.rows.items()}


def differences(old: Rows, new: Rows) -> Iterator[Difference]:
    for table in TABLES:
        before, after = old[table.name], new[table.name]
        for key in before:
            if key not in after:
                yield Difference(table.name, key, "removed")
        for key, row in after.items():
            if key not in before:
                yield Difference(table.name, key, "added")
            elif row != before[key]:
                yield Difference(table.name, key, "changed", tuple(_fields(before[key], row)))


def _fields(old: Any, new: Any) -> Iterator[str]:
    if not isinstance(new, dict):
        yield "weight"
        return
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name) or (name in old) != (name in new):
            yield name
