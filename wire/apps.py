import logging
from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from config.errors import WireError


def prepare_reference_data(**_kwargs: Any) -> None:
    from wire.ingest import classifier_terms
    from wire.models import WireState
    from wire.publishing import changelog, entity_links, signing
    from wire.publishing.transparency import log

    WireState.objects.get_or_create(pk=1)
    classifier_terms.sync_shipped_terms()
    entity_links.sync_shipped_entities()
    try:
        log.append_missing_snapshots()  # of a wire from before there was one
        signing.sign_newest_checkpoint()
    except WireError as error:  # a damaged log stops no migration: it is signed no further, and verifywire names it
        logging.getLogger(__name__).error("%s %s", error.message, error.hint)
    changelog.create_missing_log()


def create_roles(**_kwargs: Any) -> None:
    from django.contrib.auth.management import create_permissions

    from wire import permissions

    for app in apps.get_app_configs():  # Django makes them app by app, and those behind auth have none yet
        create_permissions(app, verbosity=0)
    permissions.create_groups()


class WireConfig(AppConfig):
    name = "wire"
    verbose_name = "Wire"

    def ready(self) -> None:
        # Django's own hook for reference data: a migrated database has its lexicon and its one state row, also after a flush.
        post_migrate.connect(prepare_reference_data, sender=self, dispatch_uid="wire.prepare_reference_data")
        post_migrate.connect(create_roles, sender=apps.get_app_config("auth"), dispatch_uid="wire.found_roles")
