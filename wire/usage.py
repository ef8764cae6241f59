"""Adds up how the wire is used."""

import datetime as dt
from collections.abc import Mapping
from typing import Final, NamedTuple

from django.db import connection, transaction

from wire.models import UsageCount


class UsageKey(NamedTuple):
    """The row that a call is counted in."""

    server: str
    kind: str
    name: str
    minute: dt.datetime
    outcome: str


_ADD: Final = (
    "INSERT INTO wire_usagecount (server, kind, name, minute, outcome, count) VALUES (%s, %s, %s, %s, %s, %s) "
    "ON CONFLICT (server, kind, name, minute, outcome) DO UPDATE SET count = wire_usagecount.count + excluded.count"
)


def add(counts: Mapping[UsageKey, int]) -> None:
    """Add counts to what is stored, in one transaction; processes that count the same minute add up."""
    minute = UsageCount._meta.get_field("minute")
    rows = [
        [key.server, key.kind, key.name, minute.get_db_prep_save(key.minute, connection), key.outcome, number]
        for key, number in sorted(counts.items())
        if number
    ]
    if rows:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(_ADD, rows)
