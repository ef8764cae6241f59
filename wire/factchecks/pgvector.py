"""The extension of Postgres that searches vectors, where it is installed: a table beside `ClaimVector` that fill keeps in step.

Plain SQL, since the extension's types are none of Django's; the table is made when vectors are, not by a migration, because most
installations have no such extension, and its columns depend on the model.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from django.db import Error, connection, transaction
from django.db.models.expressions import RawSQL
from numpy.typing import NDArray

from config.database import routing
from wire.factchecks.models import ClaimVector
from wire.vectors.embedder import Vectors

TABLE: Final = "factchecks_pgvector"
MOST_DIMENSIONS: Final = 4_000  # that an HNSW index of halves takes
FEW: Final = 5_000  # claims that pass the filters, up to which each is compared: an index finds too few of them
BATCH: Final = 1_000


def is_installable() -> bool:
    """Whether this database has the extension, or may get it."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        return cursor.fetchone() is not None


def prepare(model: str, dimensions: int) -> bool:
    """Make extension, table and index if they can be had, and bring them in step with `ClaimVector`; whether they are there."""
    if dimensions > MOST_DIMENSIONS or not is_installable():
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {TABLE} (id bigint PRIMARY KEY REFERENCES factchecks_claimvector ON DELETE CASCADE, "
                "number integer NOT NULL, model varchar(100) NOT NULL, embedding halfvec NOT NULL)"
            )
            cursor.execute(f"CREATE INDEX IF NOT EXISTS {TABLE}_number ON {TABLE} (number)")
            cursor.execute(
                f"CREATE INDEX IF NOT EXISTS {TABLE}_{dimensions} ON {TABLE} USING hnsw "
                f"((embedding::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = '{_quoted(model)}'"
            )
    except Error:
        return False
    follow(model)
    return True


def follow(model: str) -> None:
    """Copy vectors that the table lacks."""
    known = RawSQL(f"SELECT id FROM {TABLE}", [])  # noqa: S611, S608  ours
    lacking = ClaimVector.objects.filter(model=model).exclude(pk__in=known).order_by("pk")
    while rows := list(lacking.values_list("pk", "claim__number", "vector")[:BATCH]):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {TABLE} (id, number, model, embedding) VALUES (%s, %s, %s, %s::halfvec) ON CONFLICT DO NOTHING",  # noqa: S608  ours
                [(pk, number, model, written(np.frombuffer(bytes(vector), dtype="<f2"))) for pk, number, vector in rows],
            )


def is_ready(dimensions: int) -> bool:
    """Whether the index of this model is there and in step."""
    found = routing.connection
    if found.vendor != "postgresql" or dimensions > MOST_DIMENSIONS:
        return False
    with found.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s), to_regclass(%s)", [TABLE, f"{TABLE}_{dimensions}"])
        return all(one is not None for one in cursor.fetchone())


def written(vector: "Vectors | NDArray[np.float16]") -> str:
    """As the extension reads it."""
    return f"[{','.join(f'{value:.5g}' for value in vector.tolist())}]"


def nearest(model: str, dimensions: int, vector: str, many: int, passing: NDArray[np.int64]) -> dict[int, float]:
    """Cosines of the nearest claims among those that pass the filters, by number."""
    if len(passing) <= FEW:
        found = among(model, dimensions, vector, passing.tolist())
        return dict(sorted(found.items(), key=lambda one: -one[1])[:many])
    cast = f"embedding::halfvec({int(dimensions)})"
    sql = (
        f"SELECT number, 1 - ({cast} <=> %s::halfvec) FROM {TABLE} WHERE model = '{_quoted(model)}' "  # noqa: S608  ours
        f"ORDER BY {cast} <=> %s::halfvec LIMIT %s"
    )
    allowed = set(passing.tolist())
    with transaction.atomic(using=routing.connection.alias), routing.connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL hnsw.ef_search = {min(1000, 4 * many)}")
        cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        cursor.execute(sql, [vector, vector, 4 * many])
        rows = cursor.fetchall()
    return dict(list(_best(row for row in rows if row[0] in allowed).items())[:many])


def among(model: str, dimensions: int, vector: str, numbers: Sequence[int]) -> dict[int, float]:
    """Cosines of these claims' best parts."""
    if not numbers:
        return {}
    cast = f"embedding::halfvec({int(dimensions)})"
    sql = f"SELECT number, 1 - ({cast} <=> %s::halfvec) FROM {TABLE} WHERE model = %s AND number = ANY(%s)"  # noqa: S608  ours
    with routing.connection.cursor() as cursor:
        cursor.execute(sql, [vector, model, list(numbers)])
        return _best(cursor.fetchall())


def _best(rows: Iterable[tuple[int, float]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for number, cosine in rows:
        found[number] = max(float(cosine), found.get(number, -2.0))
    return found


def _quoted(model: str) -> str:
    """A model's name inside of an SQL text, where no parameter can stand."""
    return model.replace("'", "''").replace("%", "%%")
