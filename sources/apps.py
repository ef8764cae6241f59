from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def create_roster(**_kwargs: Any) -> None:
    from sources import roster

    roster.create_if_missing()


class SourcesConfig(AppConfig):
    name = "sources"
    verbose_name = "Roster"

    def ready(self) -> None:
        from sources import checks  # noqa: F401  (registers them)

        # Django's own hook for reference data: a migrated database has its roster, also after a flush.
        post_migrate.connect(create_roster, sender=self, dispatch_uid="sources.found_roster")
