"""Queries compiled once: Django takes ten times as long to write the SQL of a list as a database takes to answer it."""

import datetime as dt
from collections.abc import Callable, Sequence
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


class Compiled:
    """The rows of a QuerySet of plain values, as the database gives them: SQLite gives moments as text.

    `make` builds the QuerySet. Texts and moments among its arguments are parameters of one statement; of anything else (a
    limit, None) each value has a statement of its own.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, Any]]) -> None:
        self._make = make
        self._statement = lru_cache(maxsize=500)(self._compiled)

    def rows(self, *arguments: Any) -> list[Row]:
        return self._run("{}", arguments)

    def count(self, *arguments: Any) -> int:
        """How many rows there are, without fetching them."""
        number: int = self._run("SELECT COUNT(*) FROM ({}) AS counted", arguments)[0][0]
        return number

    def _run(self, whole: str, arguments: Sequence[Any]) -> list[Row]:
        shape = tuple(type(one) if _is_parameter(one) else one for one in arguments)
        sql, given = self._statement(connection.vendor, shape)
        parameters = [_stored(arguments[value.place]) if isinstance(value, _Given) else value for value in given]
        with quick_cursor() as cursor:
            cursor.execute(whole.format(sql), parameters)
            found: list[Row] = cursor.fetchall()
        return found

    def _compiled(self, _vendor: str, shape: tuple[Any, ...]) -> tuple[str, list[Any]]:
        """The statement, and its parameters: which argument each is, or its value."""
        marks = [_mark(one, place) if isinstance(one, type) else one for place, one in enumerate(shape)]
        places = {_stored(mark): _Given(place) for place, mark in enumerate(marks) if isinstance(shape[place], type)}
        sql, parameters = self._make(*marks).query.sql_with_params()
        return sql, [places.get(value, value) if isinstance(value, str | dt.datetime) else value for value in parameters]


def quick_cursor() -> Any:
    """Django's, or on Postgres one that gets values as they are: as text, kept JSON is twice as long and takes twice the time."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    connection.ensure_connection()
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    return wrapped(_binary()(connection.connection))


@cache
def _binary() -> Any:
    import psycopg  # a wire on SQLite need not carry it

    class Binary(psycopg.Cursor[Row]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            return super().execute(query, params, **{"binary": True} | options)

    return Binary


def listed(keys: str) -> RawSQL:
    """Keys, given as a JSON list, as rows: the statement is the same for any number of them."""
    return RawSQL(LISTED[connection.vendor], [keys])  # noqa: S611  no text of anybody's is part of it


class _Given(int):
    """Which argument a parameter is."""

    @property
    def place(self) -> int:
        return int(self)


def _is_parameter(value: Any) -> bool:
    return isinstance(value, str | dt.datetime)


def _mark(kind: type, place: int) -> Any:
    return _MOMENT + dt.timedelta(days=place) if issubclass(kind, dt.datetime) else f"argument {place} of a compiled query"


def _stored(value: Any) -> Any:
    """A value as this database's driver takes it."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, dt.datetime) else str(value)
