"""Many rows into a table with one prepared statement: a quarter of bulk_create's time, most of which goes into writing SQL."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from django.db import connection, models

_AS_THEY_ARE: Final = (models.CharField, models.TextField, models.IntegerField, models.FloatField, models.BooleanField)

OR_NOTHING: Final = " ON CONFLICT DO NOTHING"


def insert(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]], on_conflict: str = "") -> None:
    """Add rows of plain values, in the order of `names`: attributes' names, `story_id` and not `story`. A key that is not named is
    given by the database. Raises: IntegrityError.
    """
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    columns = ", ".join(str(field.column) for field in fields)
    converted = [(place, _converter(field)) for place, field in enumerate(fields) if not _is_plain(field)]
    given = []
    for row in rows:
        values = list(row)
        for place, convert in converted:
            values[place] = convert(values[place])
        given.append(values)
    if given:
        sql = f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({', '.join(['%s'] * len(fields))}){on_conflict}"  # noqa: S608  ours
        with connection.cursor() as cursor:
            cursor.executemany(sql, given)


def insert_all(objects: Sequence[models.Model]) -> None:
    """Add new objects of one model; they do not learn the keys that they are given."""
    if objects:
        names = [field.attname for field in objects[0]._meta.concrete_fields if not field.primary_key]
        insert(type(objects[0]), names, map(attrgetter(*names), objects))


def or_else(key: str, names: Sequence[str]) -> str:
    """What a row does that is there already: takes the new values of these columns."""
    return f" ON CONFLICT ({key}) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in names)}"


def _is_plain(field: Any) -> bool:
    """Whether the database takes values of this kind as they are."""
    field = field.target_field if isinstance(field, models.ForeignKey) else field
    return isinstance(field, _AS_THEY_ARE)


def _converter(field: Any) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        return field.get_db_prep_save(value, connection)

    is_moment = isinstance(field, models.DateField)  # and DateTimeField: many are alike, and each takes long
    return lru_cache(maxsize=1000)(convert) if is_moment else convert
