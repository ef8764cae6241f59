"""How many there are, without counting them all."""

from typing import Any, Final

from django.db.models import QuerySet

COUNTED: Final = 1000  # up to so many are counted; of more it is only said that there are more


def counted(rows: QuerySet[Any]) -> tuple[int, bool]:
    """How many `rows` there are, at most COUNTED; and whether that is all."""
    found = rows.order_by()[: COUNTED + 1].count()
    return min(found, COUNTED), found <= COUNTED
