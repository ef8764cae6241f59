"""Counts that are added to rows of their own keys."""

import datetime as dt

import pytest

from config.database.counters import add_counts
from wire.models import UsageCount


@pytest.mark.django_db
def test_counts_add_up() -> None:
    minute = dt.datetime(2026, 1, 14, 9, 30, tzinfo=dt.UTC)
    columns = ("server", "kind", "name", "minute", "outcome")
    one, two = (("wire", "tools/call", name, minute, "success") for name in ("search_wire", "get_story"))
    add_counts(UsageCount, columns, {one: 2, two: 0})
    add_counts(UsageCount, columns, {one: 3, two: 1})
    add_counts(UsageCount, columns, {})
    assert dict(UsageCount.objects.values_list("name", "count")) == {"search_wire": 5, "get_story": 1}
