"""Checks of the whole installation, with advice; nothing is changed. May import wire.publishing, wire.models and below."""

import datetime as dt
from collections.abc import Iterator

from django.db import DatabaseError
from django.utils import timezone

from config.plugins import list_plugins
from wire.ops.doctor import database, machine, news
from wire.ops.doctor.finding import Finding, Level, fail

__all__ = ["Finding", "Level", "examine"]


def examine(now: dt.datetime | None = None) -> Iterator[Finding]:
    """Run every check in turn; without a database only those that need none."""
    now = now or timezone.now()
    yield from machine.check_settings()
    yield from machine.check_key_files()
    yield machine.check_disk()
    away = database.find_outage()
    if away:
        yield away
        return
    tables = list(database.check_migrations(now))
    yield from tables
    if any(finding.level is Level.FAIL for finding in tables):  # all other checks would only say the same
        return
    of_apps = [check for plugin in list_plugins() for check in plugin.checks.items()]
    for name, check in (*database.CHECKS.items(), *news.CHECKS.items(), *of_apps):
        try:
            yield from check(now)
        except DatabaseError as error:
            yield fail(name, f"The database cannot answer: {error}.", "Run manage.py migrate; if that fails, restore a backup.")
