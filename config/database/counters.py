"""Adds counts to a table that has one row for each key."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, models, transaction


def add_counts(model: type[models.Model], columns: Sequence[str], counts: Mapping[Any, int]) -> None:
    """Raise `count` of the row of each key, whose values fill the unique `columns` (attribute names), in one transaction."""
    fields = [field for name in columns for field in model._meta.concrete_fields if field.attname == name]
    names, table = ", ".join(str(field.column) for field in fields), model._meta.db_table
    sql = (
        f"INSERT INTO {table} ({names}, count) VALUES ({'%s, ' * len(fields)}%s) "  # noqa: S608  names of our own tables
        f"ON CONFLICT ({names}) DO UPDATE SET count = {table}.count + excluded.count"
    )
    rows = [
        [*(field.get_db_prep_save(value, connection) for field, value in zip(fields, key, strict=True)), count]
        for key, count in sorted(counts.items())  # in order, so that two processes never wait for each other in turn
        if count
    ]
    if rows:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(sql, rows)
