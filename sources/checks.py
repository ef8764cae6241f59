"""System checks of the roster, part of `manage.py check --database default` and of `migrate`."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.utils import DatabaseError


@register(Tags.database)
def roster_is_locked(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Return an error unless the stored roster has exactly 24 publications and matches its fingerprint."""
    from sources import roster
    from sources.models import Publication

    if "default" not in (databases or ()):
        return []
    try:
        if Publication._meta.db_table not in connections["default"].introspection.table_names():
            return []  # before the first migrate
        problem = roster.find_problem() if Publication.objects.exists() else None
    except DatabaseError as error:
        return [Error(f"The roster cannot be read: {error}", hint="Run manage.py migrate.", id="sources.E002")]
    hint = "Restore a backup, or found the roster anew in an empty database."
    return [Error(problem, hint=hint, id="sources.E001")] if problem else []
