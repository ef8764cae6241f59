"""The table of pgvector, where Postgres has it: a copy of `ClaimVector` with an index, which `embedding.fill` keeps in step.

Plain SQL, since Django does not know the extension's types. The table is made with the first vectors, not by a migration: most
installations have no such extension, and its index depends on the model.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from django.db import Error, connection, transaction
from django.db.models.expressions import RawSQL
from numpy.typing import NDArray

from config.database import routing
from wire.corpora.factchecks.models import ClaimVector
from wire.search.vectors import Vectors

TABLE: Final = "factchecks_pgvector"
MOST_DIMENSIONS: Final = 4_000  # that an HNSW index of halves takes
FEW: Final = 5_000  # claims that pass the filters, up to which each is compared: an index finds too few of them
BATCH: Final = 1_000


def prepare(model: str, dimensions: int) -> bool:
    """Create extension, table and index if possible, and bring them in step with `ClaimVector`; return whether they are there."""
    if dimensions > MOST_DIMENSIONS or connection.vendor != "postgresql":
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
            if cursor.fetchone() is None:
                return False
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {TABLE} (id bigint PRIMARY KEY REFERENCES factchecks_claimvector ON DELETE CASCADE, "
                "number integer NOT NULL, model varchar(100) NOT NULL, embedding halfvec NOT NULL)"
            )
            cursor.execute(f"CREATE INDEX IF NOT EXISTS {TABLE}_number ON {TABLE} (number)")
            cursor.execute(
                f"CREATE INDEX IF NOT EXISTS {TABLE}_{dimensions} ON {TABLE} USING hnsw "
                f"((embedding::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = '{_escape(model)}'"
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
                [(pk, number, model, to_literal(np.frombuffer(bytes(vector), dtype="<f2"))) for pk, number, vector in rows],
            )


def is_ready(dimensions: int) -> bool:
    found = routing.connection
    if found.vendor != "postgresql" or dimensions > MOST_DIMENSIONS:
        return False
    with found.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s), to_regclass(%s)", [TABLE, f"{TABLE}_{dimensions}"])
        return all(one is not None for one in cursor.fetchone())


def to_literal(vector: "Vectors | NDArray[np.float16]") -> str:
    return f"[{','.join(f'{value:.5g}' for value in vector.tolist())}]"


def nearest(model: str, dimensions: int, vector: str, many: int, passing: NDArray[np.int64]) -> dict[int, float]:
    if len(passing) <= FEW:
        cosines = among(model, dimensions, vector, passing.tolist())
        return dict(sorted(cosines.items(), key=lambda one: -one[1])[:many])
    cast = f"embedding::halfvec({int(dimensions)})"
    sql = (
        f"SELECT number, 1 - ({cast} <=> %s::halfvec) FROM {TABLE} WHERE model = '{_escape(model)}' "  # noqa: S608  ours
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
    if not numbers:
        return {}
    cast = f"embedding::halfvec({int(dimensions)})"
    sql = f"SELECT number, 1 - ({cast} <=> %s::halfvec) FROM {TABLE} WHERE model = %s AND number = ANY(%s)"  # noqa: S608  ours
    with routing.connection.cursor() as cursor:
        cursor.execute(sql, [vector, model, list(numbers)])
        return _best(cursor.fetchall())


def _best(rows: Iterable[tuple[int, float]]) -> dict[int, float]:
    best: dict[int, float] = {}
    for number, cosine in rows:
        best[number] = max(float(cosine), best.get(number, -2.0))
    return best


def _escape(model: str) -> str:
    # Of a model's name inside of an SQL text, where no parameter can stand.
    return model.replace("'", "''").replace("%", "%%")
