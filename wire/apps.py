from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


def prepare_reference_data(**_kwargs: Any) -> None:
    from wire.intake import lexicon
    from wire.models import WireState
    from wire.snapshots import changes, log, signing

    WireState.objects.get_or_create(pk=1)
    lexicon.sync()
    log.catch_up()  # of a wire from before there was one
    signing.sign_newest()
    changes.found()


def found_roles(**_kwargs: Any) -> None:
    from wire import roles

    roles.found()


class WireConfig(AppConfig):
    name = "wire"
    verbose_name = "Wire"

    def ready(self) -> None:
        # Django's own hook for reference data: a migrated database has its lexicon and its one state row, also after a flush.
        post_migrate.connect(prepare_reference_data, sender=self, dispatch_uid="wire.prepare_reference_data")
        # Permissions are made app by app, in the order of INSTALLED_APPS; at the turn of auth, the last, those of all are there.
        post_migrate.connect(found_roles, sender=apps.get_app_config("auth"), dispatch_uid="wire.found_roles")
