"""Checks of the whole installation, with advice; nothing is changed. May import wire.publishing, wire.models and below."""

import datetime as dt
from collections.abc import Iterator

from django.db import DatabaseError
from django.utils import timezone

from config.plugins import list_plugins
from wire.ops.doctor import checks
from wire.ops.doctor.finding import Finding, Level, fail

__all__ = ["Finding", "Level", "run_checks"]


def run_checks(now: dt.datetime | None = None) -> Iterator[Finding]:
    """Run every check in turn; without a database only those that need none."""
    now = now or timezone.now()
    yield from (*checks.check_settings(), *checks.check_key_files(), checks.check_disk(), *checks.check_redis())
    away = checks.find_outage()
    tables = [away] if away else list(checks.check_migrations())
    yield from tables
    if any(finding.level is Level.FAIL for finding in tables):  # all other checks would only say the same
        return
    of_apps = [check for plugin in list_plugins() for check in plugin.checks.items()]
    for name, check in (*checks.CHECKS.items(), *of_apps):
        try:
            yield from check(now)
        except DatabaseError as error:
            yield fail(name, f"The database cannot answer: {error}.", "Run manage.py migrate; if that fails, restore a backup.")
