"""Django's admin, loaded by config.urls when somebody asks for the desk, or for checks, instead of at every start."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class DeskConfig(SimpleAdminConfig):
    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_admin, checks.Tags.admin)


def check_admin(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[checks.CheckMessage]:
    import_module(settings.ROOT_URLCONF)
    return check_admin_app(app_configs, **options)
