"""Adds up how the wire is used."""

import datetime as dt
from collections.abc import Mapping
from typing import NamedTuple

from config.database.counters import add_counts
from wire.models import UsageCount


class UsageKey(NamedTuple):
    """The row that a call is counted in."""

    server: str
    kind: str
    name: str
    minute: dt.datetime
    outcome: str


def add_usage_counts(counts: Mapping[UsageKey, int]) -> None:
    """Add counts to what is stored, in one transaction; processes that count the same minute add up."""
    add_counts(UsageCount, UsageKey._fields, counts)
