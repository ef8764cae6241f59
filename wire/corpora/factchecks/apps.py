from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from config import plugins


def create_defaults(**_kwargs: Any) -> None:
    from wire.corpora.factchecks import store

    store.create_defaults()


class FactchecksConfig(AppConfig):
    name = "wire.corpora.factchecks"
    label = "factchecks"
    verbose_name = "Fact-checks"

    def ready(self) -> None:
        plugins.register(self.name)
        # Django's own hook for reference data: a migrated database has the table of rating labels, also after a flush.
        post_migrate.connect(create_defaults, sender=self, dispatch_uid="factchecks.found")

    def has_content(self) -> bool:
        """Tell whether any claim was loaded."""
        from wire.corpora.factchecks.models import Claim

        return Claim.objects.exists()
