"""The app of the roster, and its system check, part of `manage.py check --database default` and of `migrate`."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.models.signals import post_migrate
from django.db.utils import DatabaseError


class SourcesConfig(AppConfig):
    name = "sources"
    verbose_name = "Roster"

    def ready(self) -> None:
        # Django's own hook for reference data: a migrated database has its roster, also after a flush.
        post_migrate.connect(create_roster, sender=self, dispatch_uid="sources.found_roster")


def create_roster(**_kwargs: Any) -> None:
    from sources import roster

    roster.create_if_missing()


@register(Tags.database)
def check_roster_lock(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
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
    hint = "Restore a backup, or start over with an empty database."
    return [Error(problem, hint=hint, id="sources.E001")] if problem else []
