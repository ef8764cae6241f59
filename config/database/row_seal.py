"""Seals: a keyed hash in each row of the tables that readers see and no signature covers.

A seal is BLAKE2b over the row's table and columns, twice: with a key derived from SECRET_KEY, so SQL alone cannot make one, and
without, so that a row can still be checked after SECRET_KEY changed; `verifywire` counts rows that bear the seal of another key.
`save`, `create`, `update`, `bulk_create` and `bulk_update` renew it, unless the row was already not as it was sealed: that stays
visible until an operator runs `manage.py sealrows`. A column that holds its default is left out of the hash, so a new column needs
no new seals; a migration that renames a sealed column or changes its values has to seal again.
"""

import datetime as dt
import hmac
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b, sha512
from itertools import islice
from typing import Any, ClassVar, Final, TypeVar

from django.apps import apps
from django.conf import settings
from django.db import connections, models, router, transaction

BATCH: Final = 500
_EDITION: Final = 4  # bytes that say which SECRET_KEY the seal was made with
_KEYED: Final = 16
_PLAIN: Final = 12

M = TypeVar("M", bound=models.Model)


class SealedQuerySet(models.QuerySet[M, M]):
    def update(self, **values: Any) -> int:
        model: Any = self.model
        if model.UNSEALED.issuperset(values):
            return super().update(**values)
        with transaction.atomic(using=router.db_for_write(model)):
            keys = list_intact_keys(model, list(self.values_list("pk", flat=True)))
            number = super().update(**values)
            renew_seals(model, keys)
        return number

    def bulk_create(
        self, objs: Iterable[M], batch_size: int | None = None, ignore_conflicts: bool = False, *args: Any, **options: Any
    ) -> list[M]:
        given = list(objs)
        with transaction.atomic(using=router.db_for_write(self.model)):
            is_new = self._track_inserted_keys(given) if ignore_conflicts else None
            made = super().bulk_create(given, batch_size, ignore_conflicts, *args, **options)
            renew_seals(self.model, [row.pk for row in made] if is_new is None else is_new())
        return made

    def _track_inserted_keys(self, given: Sequence[M]) -> Callable[[], list[Any]]:
        """Return what names the keys of the rows that an insertion without conflicts adds, to be asked after it."""
        rows = self.model._base_manager.using(router.db_for_write(self.model))
        keys = [row.pk for row in given]
        if None in keys:  # the database gives keys in rising order
            last = rows.order_by("-pk").values_list("pk", flat=True).first() or 0
            return lambda: list(rows.filter(pk__gt=last).values_list("pk", flat=True))
        known = set(rows.filter(pk__in=keys).values_list("pk", flat=True))
        return lambda: [key for key in keys if key not in known]


class Sealed(models.Model):
    """A row with a seal. `UNSEALED` names its columns that no reader is shown, or that change with every look at a source."""

    UNSEALED: ClassVar[frozenset[str]] = frozenset()

    seal = models.BinaryField(null=True, editable=False)

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        model = type(self)
        with transaction.atomic(using=router.db_for_write(model)):
            is_intact = self._state.adding or bool(list_intact_keys(model, [self.pk]))
            super().save(*args, **options)
            if is_intact:
                renew_seals(model, [self.pk])


def build_seal_migration(label: str, *names: str) -> Callable[[Any, Any], None]:
    """Return what a migration runs to seal the rows that are there when these tables get their seals."""

    def seal_existing(history: Any, _editor: Any) -> None:
        for name in names:
            model = history.get_model(label, name)
            model.UNSEALED = apps.get_model(label, name).UNSEALED
            renew_all_seals(model)

    return seal_existing


def list_sealed_models() -> list[type[Sealed]]:
    return [model for model in apps.get_models() if issubclass(model, Sealed)]


def renew_seals(model: type[models.Model], keys: Collection[Any]) -> None:
    table, connection = model._meta, connections[router.db_for_write(model)]
    assert table.pk is not None  # noqa: S101  no model is without one
    sql = f'UPDATE "{table.db_table}" SET seal = %s WHERE "{table.pk.column}" = %s'  # noqa: S608  ours
    prepare = table.pk.get_db_prep_save
    for some in batch_keys(keys):
        made = [(digest, prepare(key, connection)) for key, _kept, digest in _compute_seals(model, some)]
        with connection.cursor() as cursor:
            cursor.executemany(sql, made)


def renew_all_seals(model: type[models.Model]) -> int:
    """Seal every row of a table whose seal is not of it; return how many."""
    number = 0
    for some in _batch_all_keys(model):
        other = [key for key, kept, digest in _compute_seals(model, some) if kept != digest]
        renew_seals(model, other)
        number += len(other)
    return number


def list_intact_keys(model: type[models.Model], keys: Collection[Any]) -> list[Any]:
    found = []
    for some in batch_keys(keys):
        found += [key for key, kept, digest in _compute_seals(model, some) if _matches_seal(kept, digest)]
    return found


def count_foreign_seals() -> int:
    """Return how many rows bear the seal of another SECRET_KEY: they are as they were stored, if nobody made that seal by hand."""
    edition = _create_hasher(settings.SECRET_KEY)[0]
    number = 0
    for model in list_sealed_models():
        rows = model._base_manager.using(router.db_for_write(model)).values_list("seal", flat=True)
        number += sum(kept is not None and bytes(kept)[:_EDITION] != edition for kept in rows.iterator(BATCH))
    return number


def _matches_seal(kept: bytes | None, digest: bytes) -> bool:
    """Return whether a stored seal is of the row; of one made with another key only the part without a key can be compared."""
    is_same_key = kept is not None and kept[:_EDITION] == digest[:_EDITION]
    start = 0 if is_same_key else _EDITION + _KEYED
    return kept is not None and len(kept) == len(digest) and hmac.compare_digest(kept[start:], digest[start:])


def list_seal_faults(model: type[models.Model]) -> Iterator[str]:
    """Yield a sentence for each row that is not as it was sealed, naming table and key."""
    table = model._meta.db_table
    for some in _batch_all_keys(model):
        try:
            rows: list[tuple[Any, bytes | None, bytes | None]] = list(_compute_seals(model, some))
        except (TypeError, ValueError):
            rows = [row for key in some for row in _read_row(model, key)]
        for key, kept, digest in rows:
            if digest is None:
                yield f"{table} {key}: a column cannot be read."
            elif kept is None:
                yield f"{table} {key}: it has no seal, so this program did not store it."
            elif not _matches_seal(kept, digest):
                yield f"{table} {key}: it is not as this program stored it."


def _read_row(model: type[models.Model], key: Any) -> list[tuple[Any, bytes | None, bytes | None]]:
    try:
        return list(_compute_seals(model, [key]))
    except (TypeError, ValueError):
        return [(key, None, None)]


def _batch_all_keys(model: type[models.Model]) -> Iterator[tuple[Any, ...]]:
    keys = model._base_manager.using(router.db_for_write(model)).order_by("pk").values_list("pk", flat=True)
    return batch_keys(list(keys))


def batch_keys(keys: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    left = iter(keys)
    return iter(lambda: tuple(islice(left, BATCH)), ())


def _compute_seals(model: type[models.Model], keys: Sequence[Any]) -> Iterator[tuple[Any, bytes | None, bytes]]:
    """Yield key, stored seal and right seal of these rows. Raises: TypeError, ValueError for what cannot be read."""
    table = model._meta
    unsealed: frozenset[str] = getattr(model, "UNSEALED", frozenset())
    fields = [field for field in table.concrete_fields if field.name not in unsealed and field.name != "seal"]
    usual = [(field.attname, type(default := field.get_default()), default) for field in fields]
    rows = model._base_manager.using(router.db_for_write(model)).filter(pk__in=list(keys))
    for key, kept, *values in rows.values_list("pk", "seal", *(field.attname for field in fields)):
        told = {
            name: value
            for (name, kind, default), value in zip(usual, values, strict=True)
            if not (type(value) is kind and value == default)
        }
        yield key, None if kept is None else bytes(kept), _compute_seal(table.db_table, told)


def _compute_seal(table: str, told: dict[str, Any]) -> bytes:
    edition, keyed = _create_hasher(settings.SECRET_KEY)
    text = json.dumps([table, told], sort_keys=True, separators=(",", ":"), default=_to_json_text).encode()
    digest = keyed.copy()
    digest.update(text)
    return edition + digest.digest() + blake2b(text, digest_size=_PLAIN).digest()


@lru_cache(maxsize=10)
def _create_hasher(secret: str) -> tuple[bytes, blake2b]:
    keyed = blake2b(key=sha512(secret.encode()).digest(), digest_size=_KEYED, person=b"wire.row_seal")
    return keyed.digest()[:_EDITION], keyed


def _to_json_text(value: Any) -> str:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    raise TypeError(f"{value!r} cannot be stored in a sealed column")
