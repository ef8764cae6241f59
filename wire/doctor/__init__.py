"""Looks the whole installation over and says what is wrong with it, and what to do. Changes nothing.

May import wire.snapshots, wire.models and below.
"""

import datetime as dt
from collections.abc import Iterator

from django.db import DatabaseError
from django.utils import timezone

from wire import beside
from wire.doctor import database, machine, news
from wire.doctor.finding import Finding, Level, fail

__all__ = ["Finding", "Level", "examine"]


def examine(now: dt.datetime | None = None) -> Iterator[Finding]:
    """Every check in turn. Without a database it says so and goes on with what needs none."""
    now = now or timezone.now()
    yield from machine.settings_agree()
    yield from machine.key_files()
    yield machine.disk()
    away = database.away()
    if away:
        yield away
        return
    for name, check in (*database.CHECKS.items(), *news.CHECKS.items(), *beside.CHECKS.items()):
        try:
            yield from check(now)
        except DatabaseError as error:
            yield fail(name, f"The database cannot answer: {error}.", "Run manage.py migrate; if that fails, restore a backup.")
