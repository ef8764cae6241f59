from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def prepare_reference_data(**_kwargs: Any) -> None:
    from wire import taxonomy
    from wire.models import WireState

    WireState.objects.get_or_create(pk=1)
    taxonomy.sync()


class WireConfig(AppConfig):
    name = "wire"
    verbose_name = "Wire"

    def ready(self) -> None:
        # Django's own hook for reference data: a migrated database has its lexicon and its one state row, also after a flush.
        post_migrate.connect(prepare_reference_data, sender=self, dispatch_uid="wire.prepare_reference_data")
