"""Queries compiled once: Django takes ten times as long to write the SQL of a list as a database takes to answer it."""

import datetime as dt
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from config.database.routing import connection

Row = tuple[Any, ...]

LISTED: Final = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT value::bigint FROM json_array_elements_text(%s::json)",
}
_MOMENT: Final = dt.datetime(1000, 1, 1, tzinfo=dt.UTC)  # with its days counted up, stands for a moment that is given later


class _Argument(int):
    """The place of an argument that a parameter stands for."""


class Compiled:
    """The rows of a QuerySet of plain values, as the database gives them: SQLite gives moments as text.

    `make` builds the QuerySet. Texts and moments among its arguments are parameters of one statement; of anything else (a
    limit, None) each value has a statement of its own.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, Any]]) -> None:
        self._make = make
        self._compile = lru_cache(maxsize=500)(self._write_sql)

    def rows(self, *arguments: Any, whole: str = "{}") -> list[Row]:
        shape = tuple(type(one) if isinstance(one, str | dt.datetime) else one for one in arguments)
        sql, template = self._compile(connection.vendor, shape)
        parameters = [_adapt(arguments[value]) if isinstance(value, _Argument) else value for value in template]
        with quick_cursor() as cursor:
            cursor.execute(whole.format(sql), parameters)
            found: list[Row] = cursor.fetchall()
        return found

    def count(self, *arguments: Any) -> int:
        number: int = self.rows(*arguments, whole="SELECT COUNT(*) FROM ({}) AS counted")[0][0]
        return number

    def _write_sql(self, _vendor: str, shape: tuple[Any, ...]) -> tuple[str, list[Any]]:
        """Return the statement, and its parameters: an `_Argument`, or a value."""
        marks, places = list(shape), dict[Any, _Argument]()
        for place, kind in enumerate(shape):
            if isinstance(kind, type):
                is_moment = issubclass(kind, dt.datetime)
                marks[place] = _MOMENT + dt.timedelta(days=place) if is_moment else f"argument {place} of a compiled query"
                places[_adapt(marks[place])] = _Argument(place)
        sql, parameters = self._make(*marks).query.sql_with_params()
        return sql, [places.get(value, value) if isinstance(value, str | dt.datetime) else value for value in parameters]


def quick_cursor() -> Any:
    """Return Django's cursor, or on Postgres a binary one: as text, stored JSON is twice as long and takes twice the time."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    connection.ensure_connection()
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    return wrapped(_load_binary_cursor()(connection.connection))


@cache
def _load_binary_cursor() -> Any:
    import psycopg  # a wire on SQLite need not carry it

    class BinaryCursor(psycopg.Cursor[Row]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            return super().execute(query, params, **{"binary": True} | options)

    return BinaryCursor


def list_keys(keys: str) -> RawSQL:
    """Return keys, given as a JSON list, as rows: the statement is the same for any number of them."""
    return RawSQL(LISTED[connection.vendor], [keys])  # noqa: S611  no text of anybody's is part of it


def _adapt(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, dt.datetime) else str(value)
